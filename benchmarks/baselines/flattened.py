"""A-Seq for a Kleene pattern, as COGRA §8.1 has it: flattened to one query per length of trend.

Prefix counters per length and last type. Queries of one length share them, which A-Seq does only
for common prefixes. As many queries as events, so quadratic.
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
    longest = int(np.diff(stream.bounds).max()) + 1
    a, b = np.zeros(longest), np.zeros(longest)
    at, unit = np.zeros(3, np.int64), np.ones(1)
    drive(
        partial(_lengths, stream.masks, stream.bounds, a, b, at, unit, finished, exponents), limit
    )
    return log2_of(finished, exponents)


@njit(cache=True)
def _lengths(
    masks: Any, bounds: Any, a: Any, b: Any, at: Any, unit: Any, finished: Any, exponents: Any,
    steps: int,
) -> bool:  # fmt: skip
    """`at`: the group, its next event, the longest trend so far. `a[k]`: trends of length k + 1."""
    group, event, longest = at
    while group < len(finished):
        while event < bounds[group + 1]:
            mask = masks[event]
            event += 1
            most = 0.0
            if mask == A:
                for k in range(longest, 0, -1):
                    a[k] += a[k - 1] + b[k - 1]
                    most = max(most, a[k])
                a[0] += unit[0]
                longest += 1
            elif mask == B:
                for k in range(longest, 0, -1):
                    b[k] += a[k - 1]
                longest += 1
            if most >= RADIX:
                a[:longest] *= SHRINK
                b[:longest] *= SHRINK
                unit[0] *= SHRINK
                exponents[group] += 1
            steps -= longest
            if steps < 0:
                at[0], at[1], at[2] = group, event, longest
                return False
        finished[group] = b[:longest].sum()
        a[:longest] = 0.0
        b[:longest] = 0.0
        unit[0] = 1.0
        group += 1
        longest = 0
    return True
