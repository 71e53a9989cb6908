"""COGRA's type-grained aggregator (Algorithm 1): per window, one count for A and one for B.

An event updates the counts of every window that holds it (COGRA §7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from benchmarks.baselines.scaled import RADIX, SHRINK, log2_of
from benchmarks.events import A, B

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.baselines.streams import Stream


def any_match(stream: Stream, _limit: float = 0.0) -> NDArray[np.float64]:
    """The counts' logarithms, in one window per group. Linear, so that no limit is needed."""
    finished = np.zeros(stream.groups)
    exponents = np.zeros(stream.groups, np.int64)
    _whole(stream.masks, stream.bounds, finished, exponents)
    return log2_of(finished, exponents)


def sliding(stream: Stream, within: int, slide: int) -> NDArray[np.float64]:
    """Of one group: the counts' logarithms in every window that holds an event, in order."""
    first = (int(stream.times[0]) - within) // slide + 1
    windows = int(stream.times[-1]) // slide - first + 1
    a, b, unit = np.zeros(windows), np.zeros(windows), np.ones(windows)
    exponents = np.zeros(windows, np.int64)
    _sliding(stream.masks, stream.times, within, slide, first, a, b, unit, exponents)
    return log2_of(b, exponents)


@njit(cache=True)
def _whole(masks: Any, bounds: Any, finished: Any, exponents: Any) -> None:
    for group in range(len(finished)):
        a = b = 0.0
        unit = 1.0
        for event in range(bounds[group], bounds[group + 1]):
            if masks[event] == A:
                a += unit + a + b
                if a >= RADIX:
                    a, b, unit = a * SHRINK, b * SHRINK, unit * SHRINK
                    exponents[group] += 1
            elif masks[event] == B:
                b += a
        finished[group] = b


@njit(cache=True)
def _sliding(
    masks: Any, times: Any, within: int, slide: int, first: int,
    a: Any, b: Any, unit: Any, exponents: Any,
) -> None:  # fmt: skip
    for event in range(len(masks)):
        oldest = (times[event] - within) // slide + 1 - first
        newest = times[event] // slide - first
        if masks[event] == A:
            for w in range(oldest, newest + 1):
                a[w] += unit[w] + a[w] + b[w]
                if a[w] >= RADIX:
                    a[w], b[w], unit[w] = a[w] * SHRINK, b[w] * SHRINK, unit[w] * SHRINK
                    exponents[w] += 1
        elif masks[event] == B:
            for w in range(oldest, newest + 1):
                b[w] += a[w]
