"""Sums as doubles with an exponent of their own: exact to 2**53, never infinite.

A number is `m * 2**(256 * e)` with |m| < 2**256. Every cell and lane has its own exponent: a huge
partial count that never finishes must not wash out a small one that does. Lane 0 counts trends;
lane l adds `x[l, event]` once per trend that takes the event as variable `var[l]` (-1: as any).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.tape import ADD, CLEAR, ONE

RADIX_BITS = 256
RADIX = 2.0**RADIX_BITS
SHRINK = 2.0**-RADIX_BITS
FAINT = 2.0**-600
"""Cells that are smaller than this beside others do not share their exponent."""
BEYOND = 1 << 40
"""The exponent of infinity and NaN, so that they win every addition."""


class Scaled(NamedTuple):
    """The lanes of this semiring: cells, inputs, and results per output slot."""

    m: NDArray[np.float64]
    e: NDArray[np.int64]
    var: NDArray[np.int64]
    x: NDArray[np.float64]
    out_m: NDArray[np.float64]
    out_e: NDArray[np.int64]


@kernel
def within_radix(x: NDArray[np.float64], lo: NDArray[np.int64], hi: NDArray[np.int64]) -> bool:
    """Whether all of x, [lane, event], is small where the runs `lo[r] : hi[r]` are."""
    small = True
    if lo.shape[0] > 0:
        for lane in range(1, x.shape[0]):
            for event in range(lo.min(), hi.max()):
                small &= abs(x[lane, event]) < RADIX
    return small


@kernel
def plus(m: float, e: int, xm: float, xe: int) -> tuple[float, int]:
    """(m, e) + (xm, xe)."""
    if xm == 0.0:
        return m, e
    if m == 0.0:
        return xm, xe
    if xe > e:
        if xe > e + 1:
            return xm, xe
        m = m * SHRINK + xm
        e = xe
    elif xe < e:
        if xe < e - 1:
            return m, e
        m = m + xm * SHRINK
    else:
        m = m + xm
    if abs(m) >= RADIX:
        return m * SHRINK, e + 1
    return m, e


@kernel
def times(x: float, m: float, e: int) -> tuple[float, int]:
    """x * (m, e) for any double x. Nothing times anything is nothing, even times infinity."""
    if m == 0.0:
        return 0.0, 0
    while abs(x) >= RADIX and not np.isinf(x):
        x *= SHRINK
        e += 1
    m = x * m
    if not np.isfinite(m):
        return m, BEYOND
    if abs(m) >= RADIX:
        m *= SHRINK
        e += 1
    return m, e


@kernel
def replay_scaled(tape: NDArray[np.int64], length: int, lanes: Scaled) -> None:
    m, e = lanes.m, lanes.e
    width = m.shape[1]
    for step in range(length):
        what = tape[step, 0]
        cell = tape[step, 1]
        argument = tape[step, 2]
        if what == ADD:
            for lane in range(width):
                m[cell, lane], e[cell, lane] = plus(
                    m[cell, lane], e[cell, lane], m[argument, lane], e[argument, lane]
                )
        elif what == CLEAR:
            for lane in range(width):
                m[cell, lane] = 0.0
                e[cell, lane] = 0
        elif what == ONE:
            m[cell, 0], e[cell, 0] = plus(m[cell, 0], e[cell, 0], 1.0, 0)
        else:
            variable = what - 3
            for lane in range(1, width):
                if lanes.var[lane] == variable or lanes.var[lane] == -1:
                    x = lanes.x[lane, argument]
                    if x != 0.0:
                        tm, te = times(x, m[cell, 0], e[cell, 0])
                        m[cell, lane], e[cell, lane] = plus(m[cell, lane], e[cell, lane], tm, te)
