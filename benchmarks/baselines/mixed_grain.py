"""COGRA's mixed-grained aggregator (Algorithm 2): one count for A, and one for every B.

The condition is between a B and the A that follows it, so an A looks at all B kept so far:
quadratic, though over half as many events as GRETA's graph.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from benchmarks.baselines.limits import drive
from benchmarks.baselines.scaled import RADIX, SHRINK, log2_of
from benchmarks.events import A, B

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.baselines.streams import Stream


def any_match(stream: Stream, limit: float) -> NDArray[np.float64]:
    """The counts' logarithms."""
    finished = np.zeros(stream.groups)
    exponents = np.zeros(stream.groups, np.int64)
    value, count = np.empty(len(stream)), np.empty(len(stream))
    at, sums = np.zeros(3, np.int64), np.array([0.0, 1.0])
    drive(
        partial(
            _mix, stream.masks, stream.price, stream.shift, stream.bounds,
            value, count, at, sums, finished, exponents,
        ),
        limit,
    )  # fmt: skip
    return log2_of(finished, exponents)


@njit(cache=True)
def _mix(
    masks: Any, price: Any, shift: float, bounds: Any,
    value: Any, count: Any, at: Any, sums: Any, finished: Any, exponents: Any, steps: int,
) -> bool:  # fmt: skip
    """`at`: the group, its next event, the B kept of it. `sums`: of all A; what counts as one."""
    group, event, kept = at
    a, unit = sums
    while group < len(finished):
        while event < bounds[group + 1]:
            mask, here = masks[event], price[event]
            event += 1
            if mask == A:
                ends = unit + a
                for k in range(kept):
                    if value[k] + shift > here:
                        ends += count[k]
                a += ends
                steps -= kept
            elif mask == B:
                value[kept], count[kept] = here, a
                kept += 1
                finished[group] += a
            if a >= RADIX:
                count[:kept] *= SHRINK
                a, unit = a * SHRINK, unit * SHRINK
                finished[group] *= SHRINK
                exponents[group] += 1
            steps -= 1
            if steps < 0:
                at[0], at[1], at[2] = group, event, kept
                sums[0], sums[1] = a, unit
                return False
        group += 1
        kept = 0
        a, unit = 0.0, 1.0
    return True
