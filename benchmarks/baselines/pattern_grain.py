"""COGRA's pattern-grained aggregator (Algorithm 3): the last matched event, its count, the total.

Right for this pattern, in which an event that may follow one end of a trend may follow every other
end that is still open; it is not for every pattern (docs/semantics.md, §3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from benchmarks.events import A, B

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.baselines.streams import Stream


def next_match(stream: Stream, _limit: float = 0.0) -> NDArray[np.int64]:
    """Linear, so that no limit is needed."""
    trends = np.zeros(stream.groups, np.int64)
    _last(stream.masks, stream.bounds, False, trends)
    return trends


def contiguous(stream: Stream, _limit: float = 0.0) -> NDArray[np.int64]:
    trends = np.zeros(stream.groups, np.int64)
    _last(stream.masks, stream.bounds, True, trends)
    return trends


@njit(cache=True)
def _last(masks: Any, bounds: Any, contiguous: bool, trends: Any) -> None:
    for group in range(len(trends)):
        last = count = 0
        for event in range(bounds[group], bounds[group + 1]):
            mask = masks[event]
            if mask == A:
                count += 1
                last = A
            elif mask == B and last == A:
                trends[group] += count
                last = B
            elif contiguous:
                last = count = 0
