"""Threads of this process: kernels hold no lock of the interpreter, so they run side by side."""

from __future__ import annotations

import os
from contextvars import copy_context
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    T = TypeVar("T")


def usable_cores() -> int:
    """Cores that this process may run on, which containers often say are fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def together(jobs: Sequence[Callable[[], T]]) -> list[T]:
    """What the jobs return, each in a thread of its own, the first in this one.

    An error reaches the caller as it was raised, once all have ended; of several, the first job's.
    """
    if len(jobs) == 1:
        return [jobs[0]()]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(len(jobs) - 1, thread_name_prefix="trendloom") as pool:
        # In a copy of this thread's context, where numpy keeps what it does about bad numbers.
        others = [pool.submit(copy_context().run, job) for job in jobs[1:]]
        first = jobs[0]()
        return [first, *(other.result() for other in others)]
