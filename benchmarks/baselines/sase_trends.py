"""Complete trends as SASE++ builds them: events are stored, matches are formed at the window's end.

Compiled, and written for chains `X.dst = NEXT(X).src`. The stack of events is walked back depth
first from every event that nothing follows; the condition is evaluated against every earlier event
at every step of every trend, so common sub-sequences are built again for each trend that has them
(CET §1, §7.2). A trend ends at an event that follows none. Where accounts come again a longer trend
may pass between two events of such a path; streams of layers have no such pairs.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from benchmarks.baselines.limits import drive

DEPTH, NEXT_END, WRITTEN, EMITTED, AT_END = range(5)


@njit(cache=True)
def _last_events(time, src, dst, ends):
    """Marks the events that no later one may follow."""
    for event in range(time.shape[0]):
        ends[event] = 1
        for later in range(event + 1, time.shape[0]):
            if src[later] == dst[event] and time[later] > time[event]:
                ends[event] = 0
                break


@njit(cache=True)
def _go_on(time, src, dst, ends, stack, cursor, found, out, where, steps):
    depth, at = where[DEPTH], where[NEXT_END]
    written, emitted = where[WRITTEN], where[EMITTED]
    used = 0
    while steps > 0:
        if depth == 0:
            while at >= 0 and not ends[at]:
                at -= 1
            if at < 0:
                where[AT_END] = 1
                break
            stack[0], cursor[0], found[0] = at, at - 1, 0
            depth = 1
            at -= 1
        here, before = stack[depth - 1], cursor[depth - 1]
        while before >= 0 and not (dst[before] == src[here] and time[before] < time[here]):
            before -= 1
            steps -= 1
        steps -= 1
        if before >= 0:
            cursor[depth - 1], found[depth - 1] = before - 1, 1
            stack[depth], cursor[depth], found[depth] = before, before - 1, 0
            depth += 1
            continue
        if not found[depth - 1]:
            if used + depth > out.shape[0]:
                used = 0
            for k in range(depth):
                out[used + k] = stack[depth - 1 - k]
            used += depth
            written += 1
            emitted += depth
        depth -= 1
    where[DEPTH], where[NEXT_END] = depth, at
    where[WRITTEN], where[EMITTED] = written, emitted


def list_trends(
    time: np.ndarray, src: np.ndarray, dst: np.ndarray, limit: float
) -> tuple[int, int]:
    """How many trends, and events in them; `Stopped` after `limit` seconds."""
    size = len(time)
    ends = np.zeros(size, np.uint8)
    _last_events(time, src, dst, ends)
    stack, cursor = np.empty(size + 1, np.int64), np.empty(size + 1, np.int64)
    found, where = np.zeros(size + 1, np.uint8), np.zeros(5, np.int64)
    out = np.empty(1 << 20, np.int32)
    where[NEXT_END] = size - 1

    def go_on(steps: int) -> bool:
        _go_on(time, src, dst, ends, stack, cursor, found, out, where, steps)
        return bool(where[AT_END])

    drive(go_on, limit)
    return int(where[WRITTEN]), int(where[EMITTED])
