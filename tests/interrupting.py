"""An interrupt after some time, as Ctrl-C is one, but harmless if it comes late."""

from __future__ import annotations

import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Interrupted(BaseException):
    """What the handler raises, wherever the main thread is."""


@contextmanager
def interrupted_after(seconds: float) -> Iterator[Callable[[], float]]:
    """Gives a function that tells how long ago the interrupt was; call it when it has arrived."""
    started = time.monotonic()

    def interrupt(*_: object) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield lambda: time.monotonic() - started - seconds
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
