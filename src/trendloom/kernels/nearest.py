"""skip-till-next-match of one variable's `+` under one order: ends that wait on a stack.

Under `S.x > NEXT(S).x` every partial trend goes on at the first later time point that has a smaller
value, with each such event of it: the nearest smaller value. Nothing needs to be sorted for that.

1. Ends wait on a stack, values never falling from its bottom to its top: whoever came with a
   smaller value has taken the larger ones away.
2. An event takes what is larger off the top. Simultaneous events do so from the largest to the
   smallest value, so that one running sum serves them all; they wait only afterwards.
3. What an event has taken, and itself alone, is new; it is finished, and waits.

Every end is put on the stack once and taken off once: linear in a window's events. Null and NaN
compare with nothing, so their trends end at once. The other comparisons turn the values' sign, or
take equal values, too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.checked import plus_checked
from trendloom.kernels.compiled import kernel
from trendloom.kernels.program import Ints, Work
from trendloom.kernels.replay import FULL, RESULT, Lanes, emit_slot, replay, write
from trendloom.kernels.tape import ADD, CLEAR, EMIT, ONE, TAPE_LENGTH

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

RUNNING, FIRST = 1, 2
"""Cells: RESULT, what simultaneous events have taken so far, and one per event of a run."""
FEW = 16
"""So many simultaneous events are put in order by insertion."""


@kernel
def _gather(value: Floats, present: Flags, at: int, end: int, point: Ints) -> int:
    """The present events of a time point, NaN first, then from the largest value down."""
    count = 0
    for event in range(at, end):
        if present[event]:
            point[count] = event
            count += 1
    if count > FEW:
        falling = np.argsort(value[point[:count]])[::-1]
        point[:count] = point[:count][falling]
        return count
    for k in range(1, count):
        event = point[k]
        x = value[event]
        while k > 0 and (np.isnan(x) or value[point[k - 1]] < x):
            point[k] = point[k - 1]
            k -= 1
        point[k] = event
    return count


@kernel
def _takes(waiting: float, x: float, equal: bool) -> bool:
    return waiting > x or (equal and waiting == x)


@kernel
def count_nearest(
    value: Floats,
    present: Flags,
    equal: bool,
    order: Ints,
    first_event: Ints,
    end_event: Ints,
    out: Ints,
    overflow: Ints,
) -> None:
    """The number of trends of every run. A loop of its own: a tenth of the tape's time."""
    longest = 1
    for run in range(first_event.shape[0]):
        longest = max(longest, end_event[run] - first_event[run])
    # Nothing takes NaN, so the stack never runs empty. What waits is part of the total, so whatever
    # is taken fits where the total does.
    wait_x, wait_n = np.empty(longest + 1), np.empty(longest + 1, np.int64)
    wait_x[0] = np.nan
    point, new = np.empty(longest, np.int64), np.empty(longest, np.int64)
    for run in range(first_event.shape[0]):
        hi = end_event[run]
        total, top = 0, 0
        at = first_event[run]
        while at < hi:
            end = at + 1
            while end < hi and order[end] == order[at]:
                end += 1
            taken = 0
            if end == at + 1:
                # Most time points have one event: without a call in half the time.
                if present[at]:
                    x = value[at]
                    while _takes(wait_x[top], x, equal):
                        taken += wait_n[top]
                        top -= 1
                    taken += 1
                    total = plus_checked(total, taken, overflow)
                    if not np.isnan(x):
                        top += 1
                        wait_x[top], wait_n[top] = x, taken
                at = end
                continue
            count = _gather(value, present, at, end, point)
            for k in range(count):
                x = value[point[k]]
                while _takes(wait_x[top], x, equal):
                    taken += wait_n[top]
                    top -= 1
                new[k] = taken + 1
                total = plus_checked(total, new[k], overflow)
            for k in range(count - 1, -1, -1):
                if not np.isnan(value[point[k]]):
                    top += 1
                    wait_x[top], wait_n[top] = value[point[k]], new[k]
            at = end
        out[run] = total


@kernel
def take_nearest(
    value: Floats,
    present: Flags,
    equal: bool,
    order: Ints,
    work: Work,
    lanes: Lanes,
    span: int,
    found: NDArray[np.uint8],
) -> None:
    """Makes every run of `work`, of at most `span` events, on the tape of all semirings."""
    tape = np.empty((TAPE_LENGTH, 3), np.int64)
    stack, point = np.empty(max(span, 1), np.int64), np.empty(max(span, 1), np.int64)
    for run in range(work.lo.shape[0]):
        lo, hi, slot = work.lo[run], work.hi[run], work.slot[run]
        length = write(tape, 0, CLEAR, RESULT, 0)
        height = 0
        at = lo
        while at < hi:
            end = at + 1
            while end < hi and order[end] == order[at]:
                end += 1
            count = _gather(value, present, at, end, point)
            length = write(tape, length, CLEAR, RUNNING, 0)
            for k in range(count):
                x, cell = value[point[k]], FIRST + point[k] - lo
                while height > 0 and _takes(value[stack[height - 1]], x, equal):
                    height -= 1
                    length = write(tape, length, ADD, RUNNING, FIRST + stack[height] - lo)
                    if length >= FULL:
                        length = replay(tape, length, lanes)
                length = write(tape, length, CLEAR, cell, 0)
                length = write(tape, length, ADD, cell, RUNNING)
                length = write(tape, length, ONE, cell, 0)
                length = write(tape, length, EMIT, cell, point[k])
                length = write(tape, length, ADD, RESULT, cell)
                if length >= FULL:
                    length = replay(tape, length, lanes)
                found[slot] = 1
            for k in range(count - 1, -1, -1):
                if not np.isnan(value[point[k]]):
                    stack[height] = point[k]
                    height += 1
            at = end
            if length >= FULL:
                length = replay(tape, length, lanes)
        replay(tape, length, lanes)
        emit_slot(slot, lo, hi, lanes)
