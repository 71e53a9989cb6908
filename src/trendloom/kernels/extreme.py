"""Smallest values: MIN, MAX and the shortest and longest trend in one lattice.

A lane keeps the smallest 64-bit key of its trends; the caller maps values to keys that order alike
(and reversed, for MAX). A lane with `step` ≠ 0 adds the step per event instead: trend lengths.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.tape import ADD, CLEAR, ONE

ABSENT = np.iinfo(np.int64).max
"""No contribution: the identity of min."""


class Extreme(NamedTuple):
    """`key[lane, event]` is the event's key, ABSENT where it does not contribute."""

    k: NDArray[np.int64]
    var: NDArray[np.int64]
    step: NDArray[np.int64]
    key: NDArray[np.int64]
    out: NDArray[np.int64]


@kernel
def replay_extreme(tape: NDArray[np.int64], length: int, lanes: Extreme) -> None:
    k = lanes.k
    width = k.shape[1]
    for row in range(length):
        what = tape[row, 0]
        cell = tape[row, 1]
        argument = tape[row, 2]
        if what == ADD:
            for lane in range(width):
                k[cell, lane] = min(k[cell, lane], k[argument, lane])
        elif what == CLEAR:
            for lane in range(width):
                k[cell, lane] = ABSENT
        elif what == ONE:
            for lane in range(width):
                if lanes.step[lane] != 0:
                    k[cell, lane] = min(k[cell, lane], 0)
        else:
            variable = what - 3
            for lane in range(width):
                if lanes.step[lane] != 0:
                    if k[cell, lane] != ABSENT:
                        k[cell, lane] += lanes.step[lane]
                elif lanes.var[lane] == variable:
                    k[cell, lane] = min(k[cell, lane], lanes.key[lane, argument])
