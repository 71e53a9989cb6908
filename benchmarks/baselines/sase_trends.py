"""Complete trends as SASE++ builds them: events are stored, matches are formed at the window's end.

Compiled, and written for chains `X.dst = NEXT(X).src`. The stack of events is walked back depth
first from every event that nothing follows, so common sub-sequences are built again for each trend
that has them (CET §1, §7.2). Two ways: events only are stored, and the condition is evaluated
against every earlier event at every step of every trend; or, as CET describes its competitor, every
event points to all those it can follow, found once when it comes, and the walk reads the pointers
(`pointers`). A trend ends at an event that follows none. Where accounts come again a longer trend
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


@njit(cache=True)
def _point_back(time, src, dst, ends):
    """Per event, all that it can follow; marks those that nothing follows."""
    start = np.zeros(time.shape[0] + 1, np.int64)
    pointers = np.empty(1_024, np.int64)
    used = 0
    ends[:] = 1
    for event in range(time.shape[0]):
        for before in range(event - 1, -1, -1):
            if dst[before] == src[event] and time[before] < time[event]:
                if used == pointers.shape[0]:
                    pointers = np.concatenate((pointers, np.empty(used, np.int64)))
                pointers[used] = before
                used += 1
                ends[before] = 0
        start[event + 1] = used
    return start, pointers


@njit(cache=True)
def _follow(start, pointers, ends, stack, cursor, out, where, steps):
    depth, at = where[DEPTH], where[NEXT_END]
    written, emitted = where[WRITTEN], where[EMITTED]
    used = 0
    while steps > 0:
        steps -= 1
        if depth == 0:
            while at >= 0 and not ends[at]:
                at -= 1
            if at < 0:
                where[AT_END] = 1
                break
            stack[0], cursor[0] = at, start[at]
            depth = 1
            at -= 1
        here = stack[depth - 1]
        if start[here] == start[here + 1]:
            if used + depth > out.shape[0]:
                used = 0
            for k in range(depth):
                out[used + k] = stack[depth - 1 - k]
            used += depth
            written += 1
            emitted += depth
        if cursor[depth - 1] == start[here + 1]:
            depth -= 1
            continue
        before = pointers[cursor[depth - 1]]
        cursor[depth - 1] += 1
        stack[depth], cursor[depth] = before, start[before]
        depth += 1
    where[DEPTH], where[NEXT_END] = depth, at
    where[WRITTEN], where[EMITTED] = written, emitted


def list_trends(
    time: np.ndarray, src: np.ndarray, dst: np.ndarray, limit: float, *, pointers: bool = False
) -> tuple[int, int]:
    """How many trends, and events in them; `Stopped` after `limit` seconds."""
    size = len(time)
    ends = np.zeros(size, np.uint8)
    stack, cursor = np.empty(size + 1, np.int64), np.empty(size + 1, np.int64)
    found, where = np.zeros(size + 1, np.uint8), np.zeros(5, np.int64)
    out = np.empty(1 << 20, np.int32)
    where[NEXT_END] = size - 1
    if pointers:
        start, back = _point_back(time, src, dst, ends)
    else:
        _last_events(time, src, dst, ends)

    def go_on(steps: int) -> bool:
        if pointers:
            _follow(start, back, ends, stack, cursor, out, where, steps)
        else:
            _go_on(time, src, dst, ends, stack, cursor, found, out, where, steps)
        return bool(where[AT_END])

    drive(go_on, limit)
    return int(where[WRITTEN]), int(where[EMITTED])
