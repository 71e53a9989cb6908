"""Threads of this process: kernels hold no lock of the interpreter, so they run side by side."""

from __future__ import annotations

import threading
from contextvars import copy_context
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    T = TypeVar("T")


def together(jobs: Sequence[Callable[[], T]]) -> list[T]:
    """What the jobs return, each in a thread of its own, the first in this one.

    An error reaches the caller as it was raised, once all have ended; of several, the first job's.
    """
    if len(jobs) == 1:
        return [jobs[0]()]
    outcomes: list[T | None] = [None] * len(jobs)
    failures: list[BaseException | None] = [None] * len(jobs)

    def do(number: int) -> None:
        try:
            outcomes[number] = jobs[number]()
        except BaseException as error:
            failures[number] = error

    # In a copy of this thread's context, where numpy keeps what it does about bad numbers. Daemons,
    # which a pool's threads are not: the end of the process waits for no kernel.
    others = [
        threading.Thread(target=copy_context().run, args=(do, k), name="trendloom", daemon=True)
        for k in range(1, len(jobs))
    ]
    for other in others:
        other.start()
    do(0)
    for other in others:
        other.join()
    for failure in failures:
        if failure is not None:
            raise failure
    return outcomes  # type: ignore[return-value]
