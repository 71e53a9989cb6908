"""Events that are alone at their time points, added to their rows one after another (`strewn`).

Most events of most inputs are, and a row needs nothing but its sums then. The loop has no lists, no
other semantics than skip-till-any-match and no integers that overflow: 2 M events of 1,000 keys
took 70 ms of processor time, and 140 by the loop that has all of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.counted_bases import PACK
from trendloom.kernels.fetching import prefetch
from trendloom.kernels.open_maps import (
    AHEAD,
    EVENTS,
    FIRST,
    LAST,
    LATE_UNIT,
    LINE,
    UNIT,
    Moves,
)
from trendloom.kernels.program import Ints
from trendloom.kernels.scaled import RADIX


@kernel
def add_alone(
    moves: Moves,
    slot: NDArray[np.int32],
    time: Ints,
    code: NDArray[Any],
    at: int,
    end: int,
    x: NDArray[Any],
    values: NDArray[Any],
    words: Ints,
    stride: int,
    bases: int,
) -> tuple[int, bool]:
    """Adds events `at : end`; returns where it stopped, and whether the last one filled its row.

    It stops before an event that is not alone, and before one that begins a trend in a row whose
    unit is too faint for that.
    """
    nothing = values.dtype.type(0)
    lanes, sources = moves.feeds.shape[1], moves.source.shape[1]
    zero, one, two, three = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3)
    unit, first, last, events = (
        np.uint64(UNIT),
        np.uint64(FIRST),
        np.uint64(LAST),
        np.uint64(EVENTS),
    )
    base, step = np.uint64(2 * lanes * bases), np.uint64(stride)
    for event in range(at, end):
        point = time[event]
        if event + 1 < end and time[event + 1] == point:
            return event, False
        if event + AHEAD < end:
            ahead = base + np.uint64(slot[event + AHEAD]) * step
            for line in range(0, stride, LINE):
                prefetch(values, ahead + np.uint64(line))
        c, row = code[event], base + np.uint64(slot[event]) * step
        target = moves.target[c, 0, 0] * row + moves.target[c, 0, 1]
        begins = moves.begins[c]
        if values[row + unit] < LATE_UNIT and begins != 0 and values[target] == 0:
            return event, False
        if words[row + events] == 0:
            words[row + first] = point
        words[row + last] = point
        words[row + events] += 1
        left = moves.source[c, 0, 0] * row + moves.source[c, 0, 1]
        # Without a second source, the one that is always zero.
        right = zero
        if sources > 1:
            right = moves.source[c, 1, 0] * row + moves.source[c, 1, 1]
        top = nothing
        for pack in range(0, bases, PACK):
            c0, c1, c2, c3 = nothing, nothing, nothing, nothing
            for lane in range(lanes):
                here = np.uint64(lane * bases + pack)
                k, other = left + here, right + here
                s0, s1 = values[k] + values[other], values[k + one] + values[other + one]
                s2, s3 = (
                    values[k + two] + values[other + two],
                    values[k + three] + values[other + three],
                )
                for more in range(2, sources):
                    k = moves.source[c, more, 0] * row + moves.source[c, more, 1] + here
                    s0, s1 = s0 + values[k], s1 + values[k + one]
                    s2, s3 = s2 + values[k + two], s3 + values[k + three]
                if lane == 0:
                    if pack == 0:
                        s0 += begins * values[row + unit]
                    c0, c1, c2, c3 = s0, s1, s2, s3
                else:
                    own = x[lane, event] * moves.feeds[c, lane]
                    s0, s1, s2, s3 = s0 + own * c0, s1 + own * c1, s2 + own * c2, s3 + own * c3
                k = target + here
                s0, s1 = s0 + values[k], s1 + values[k + one]
                s2, s3 = s2 + values[k + two], s3 + values[k + three]
                values[k], values[k + one], values[k + two], values[k + three] = s0, s1, s2, s3
                top = max(top, max(max(abs(s0), abs(s1)), max(abs(s2), abs(s3))))
        if top >= RADIX:
            return event + 1, True
    return end, False
