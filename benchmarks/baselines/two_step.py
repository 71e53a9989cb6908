"""Two steps, as SASE: build every trend, then count them (COGRA §8.1).

Faster than any system that stores the trends in between: only the trend at hand is kept, and a
trend is counted at the moment at which it is complete.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from benchmarks.baselines.limits import drive
from benchmarks.baselines.streams import EVERY
from benchmarks.events import A, B

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.baselines.streams import Stream


def any_match(stream: Stream, limit: float) -> NDArray[np.int64]:
    """Depth first: every partial trend is extended by every later event that may follow."""
    return _any(stream.masks, stream.times, stream.price, stream.shift, stream.bounds, limit)


def count_trends(masks: NDArray[np.uint8], times: NDArray[np.int64]) -> int:
    """Of one group, whose times may repeat; however long it takes."""
    bounds = np.array([0, len(masks)])
    return int(_any(masks, times, np.zeros(len(masks)), EVERY, bounds, EVERY)[0])


def next_match(stream: Stream, limit: float) -> NDArray[np.int64]:
    """From every A on, each trend in turn, to the earliest event that may follow."""
    return _one_way(stream, limit, contiguous=False)


def contiguous(stream: Stream, limit: float) -> NDArray[np.int64]:
    """From every A on, each trend in turn, while the very next event may follow."""
    return _one_way(stream, limit, contiguous=True)


def _any(
    masks: Any, times: Any, price: Any, shift: float, bounds: Any, limit: float
) -> NDArray[np.int64]:
    trends = np.zeros(len(bounds) - 1, np.int64)
    trend = np.empty(len(masks), np.int64)
    at = np.array([0, 0, bounds[0]])
    drive(partial(_extend, masks, times, price, shift, bounds, trend, at, trends), limit)
    return trends


def _one_way(stream: Stream, limit: float, *, contiguous: bool) -> NDArray[np.int64]:
    trends = np.zeros(stream.groups, np.int64)
    trend = np.empty(len(stream), np.int64)
    at = np.zeros(2, np.int64)
    drive(partial(_walk, stream.masks, stream.bounds, contiguous, trend, at, trends), limit)
    return trends


@njit(cache=True)
def _extend(
    masks: Any, times: Any, price: Any, shift: float, bounds: Any,
    trend: Any, at: Any, trends: Any, steps: int,
) -> bool:  # fmt: skip
    """`at`: the group, the trend's length, the next event to extend it by."""
    group, length, candidate = at
    for _ in range(steps):
        end = bounds[group + 1]
        while candidate < end:
            mask = masks[candidate]
            fits = mask == A
            if length:
                last = trend[length - 1]
                # A follows A and, under the condition, B; B follows A.
                if masks[last] == A:
                    fits = mask != 0
                else:
                    fits = fits and price[last] + shift > price[candidate]
                fits = fits and times[candidate] > times[last]
            if fits:
                break
            candidate += 1
        if candidate < end:
            trend[length] = candidate
            length += 1
            trends[group] += masks[candidate] == B
            candidate += 1
        elif length:
            length -= 1
            candidate = trend[length] + 1
        else:
            group += 1
            if group == len(trends):
                return True
    at[0], at[1], at[2] = group, length, candidate
    return False


@njit(cache=True)
def _walk(
    masks: Any, bounds: Any, contiguous: bool, trend: Any, at: Any, trends: Any, steps: int
) -> bool:
    """`at`: the group, the event that the next trend begins with."""
    group, start = at
    while group < len(trends):
        end = bounds[group + 1]
        while start < end:
            if masks[start] == A:
                length = 0
                last = 0
                for event in range(start, end):
                    steps -= 1
                    mask = masks[event]
                    if mask == A or (mask == B and last == A):
                        trend[length] = event
                        length += 1
                        last = mask
                        trends[group] += mask == B
                    elif contiguous:
                        break
            start += 1
            if steps < 0:
                at[0], at[1] = group, start
                return False
        group += 1
    return True
