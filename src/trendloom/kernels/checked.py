"""Sums as 64-bit integers that notice when they overflow. Lanes as in `scaled`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.tape import ADD, CLEAR, ONE

LARGEST = (1 << 63) - 1


class Checked(NamedTuple):
    """`overflow[0]` becomes negative as soon as any sum leaves the 64-bit range."""

    v: NDArray[np.int64]
    var: NDArray[np.int64]
    x: NDArray[np.int64]
    out: NDArray[np.int64]
    overflow: NDArray[np.int64]


@kernel
def plus_checked(a: int, b: int, overflow: NDArray[np.int64]) -> int:
    s = a + b
    if ((a ^ s) & (b ^ s)) < 0:
        overflow[0] = -1
    return s


@kernel
def times_checked(x: int, count: int, overflow: NDArray[np.int64]) -> int:
    """x * count, count >= 0.

    Asked before multiplying: the compiler takes for granted that signed products do not wrap, and
    leaves out a test of the product.
    """
    if count >= 1 << 31 or x >= 1 << 31 or x < -(1 << 31):
        # |x| * count <= 2**63 - 1; of a negative x the last unit is taken off on both sides.
        size, room = (x, LARGEST) if x >= 0 else (-(x + 1), LARGEST - (count - 1))
        if count > 1 and size > room // count:
            overflow[0] = -1
            return 0
    return x * count


@kernel
def replay_checked(tape: NDArray[np.int64], length: int, lanes: Checked) -> None:
    v = lanes.v
    width = v.shape[1]
    for step in range(length):
        what = tape[step, 0]
        cell = tape[step, 1]
        argument = tape[step, 2]
        if what == ADD:
            for lane in range(width):
                v[cell, lane] = plus_checked(v[cell, lane], v[argument, lane], lanes.overflow)
        elif what == CLEAR:
            for lane in range(width):
                v[cell, lane] = 0
        elif what == ONE:
            v[cell, 0] = plus_checked(v[cell, 0], 1, lanes.overflow)
        else:
            variable = what - 3
            for lane in range(1, width):
                if lanes.var[lane] == variable or lanes.var[lane] == -1:
                    product = times_checked(lanes.x[lane, argument], v[cell, 0], lanes.overflow)
                    v[cell, lane] = plus_checked(v[cell, lane], product, lanes.overflow)
