"""A limit of time for compiled loops: they stop by themselves after some steps and can go on."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

STEPS = 20_000_000
"""Between two looks at the clock: less than a tenth of a second."""


class Stopped(Exception):
    """The limit was reached before the result."""


def drive(go_on: Callable[[int], bool], limit: float) -> None:
    """Calls `go_on(steps)` until it says that it is done."""
    until = time.perf_counter() + limit
    while not go_on(STEPS):
        if time.perf_counter() > until:
            raise Stopped
