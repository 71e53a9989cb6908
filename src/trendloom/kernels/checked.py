"""Sums as 64-bit integers that notice when they overflow. Lanes as in `scaled`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from trendloom.kernels.tape import ADD, CLEAR, ONE


class Checked(NamedTuple):
    """`overflow[0]` becomes negative as soon as any sum leaves the 64-bit range."""

    v: NDArray[np.int64]
    var: NDArray[np.int64]
    x: NDArray[np.int64]
    out: NDArray[np.int64]
    overflow: NDArray[np.int64]


@njit(cache=True, nogil=True)
def plus_checked(a: int, b: int, overflow: NDArray[np.int64]) -> int:
    s = a + b
    if ((a ^ s) & (b ^ s)) < 0:
        overflow[0] = -1
    return s


@njit(cache=True, nogil=True)
def times_checked(x: int, count: int, overflow: NDArray[np.int64]) -> int:
    """x * count, count >= 0."""
    p = x * count
    if count != 0 and (abs(x) >= 1 << 31 or count >= 1 << 31) and p // count != x:
        overflow[0] = -1
    return p


@njit(cache=True, nogil=True)
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
