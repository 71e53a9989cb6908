"""Maps: what a stretch of events does to a vector of the fast path, whatever the vector is.

A map is [basis, cell, lane]. Basis 0 is what the events give to a vector of nothing, basis 1 + s
what they make of one partial trend in state s that has summed nothing yet. Cells are the states
and, where finished trends are added up as they end, behind them FINISHED. A vector v becomes

    v' = map[0] + Σ_s v[s] · map[1 + s],    FINISHED' += FINISHED

where lane 0 counts and the others sum: (c, σ) · (c', σ') = (c·c', σ·c' + c·σ').
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.checked import plus_checked, times_checked
from trendloom.kernels.compiled import kernel
from trendloom.kernels.program import Ints
from trendloom.kernels.scaled import BEYOND, RADIX, SHRINK, plus

Floats = NDArray[np.float64]


@kernel
def scaled_product(m: float, e: int, xm: float, xe: int) -> tuple[float, int]:
    """(m, e) · (xm, xe). Nothing times anything is nothing, even times infinity."""
    if m == 0.0 or xm == 0.0:
        return 0.0, 0
    m, e = m * xm, e + xe
    if not np.isfinite(m):
        return m, BEYOND
    if abs(m) >= RADIX:
        return m * SHRINK, e + 1
    # Back to |m| ≥ 1 wherever e > 0, as `plus` expects it.
    while e > 0 and abs(m) < 1.0 and m != 0.0:
        m, e = m * RADIX, e - 1
    return m, e


@kernel
def apply_doubles(
    map_m: Floats, map_e: Ints, lo: Ints, hi: Ints, lanes: int, out_m: Floats, out_e: Ints
) -> None:
    """Row r of `out` becomes what maps `lo[r] : hi[r]`, in turn, make of nothing.

    The maps are [row, basis, cell · lane]; `out` is blank and may have more cells than they.
    """
    states, width = map_m.shape[1] - 1, map_m.shape[2]
    new_m, new_e = np.zeros(width), np.zeros(width, np.int64)
    for run in range(lo.shape[0]):
        m, e = out_m[run], out_e[run]
        for row in range(lo[run], hi[run]):
            new_m[:] = map_m[row, 0]
            new_e[:] = map_e[row, 0]
            for k in range(states * lanes, width):
                new_m[k], new_e[k] = plus(new_m[k], new_e[k], m[k], e[k])
            for state in range(states):
                own = state * lanes
                if m[own] == 0.0:
                    continue
                basis_m, basis_e = map_m[row, 1 + state], map_e[row, 1 + state]
                for cell in range(0, width, lanes):
                    if basis_m[cell] == 0.0:
                        continue
                    for k in range(lanes):
                        tm, te = scaled_product(
                            m[own], e[own], basis_m[cell + k], basis_e[cell + k]
                        )
                        new_m[cell + k], new_e[cell + k] = plus(
                            new_m[cell + k], new_e[cell + k], tm, te
                        )
                    for k in range(1, lanes):
                        tm, te = scaled_product(
                            m[own + k], e[own + k], basis_m[cell], basis_e[cell]
                        )
                        new_m[cell + k], new_e[cell + k] = plus(
                            new_m[cell + k], new_e[cell + k], tm, te
                        )
            m[:width] = new_m
            e[:width] = new_e


@kernel
def apply_integers(
    maps: Ints, lost: NDArray[np.bool_], lo: Ints, hi: Ints, lanes: int, out: Ints
) -> bool:
    """The same with 64-bit integers. False: some sum overflowed, and nothing here is right.

    A basis that overflowed (`lost`) harms only the vectors that have trends in its state.
    """
    states, width = maps.shape[1] - 1, maps.shape[2]
    flag = np.zeros(1, np.int64)
    new = np.zeros(width, np.int64)
    for run in range(lo.shape[0]):
        values = out[run]
        for row in range(lo[run], hi[run]):
            if lost[row, 0]:
                return False
            new[:] = maps[row, 0]
            for k in range(states * lanes, width):
                new[k] = plus_checked(new[k], values[k], flag)
            for state in range(states):
                own = state * lanes
                if values[own] == 0:
                    continue
                if lost[row, 1 + state]:
                    return False
                basis = maps[row, 1 + state]
                for cell in range(0, width, lanes):
                    if basis[cell] == 0:
                        continue
                    for k in range(lanes):
                        product = times_checked(basis[cell + k], values[own], flag)
                        new[cell + k] = plus_checked(new[cell + k], product, flag)
                    for k in range(1, lanes):
                        product = times_checked(values[own + k], basis[cell], flag)
                        new[cell + k] = plus_checked(new[cell + k], product, flag)
            values[:width] = new
        if flag[0] < 0:
            return False
    return True


@kernel
def recentre(
    m: Floats, e: Ints, count_m: Floats, count_e: Ints, first: int, second: int, ratio: Floats,
    shift: Floats,
) -> None:  # fmt: skip
    """Makes sums of y and y² (lanes `first` and `second`) sums of z = ratio·y + shift and z².

    `m` is [row, entry, lane], `count` [row, entry] how many values were summed, `ratio` and
    `shift` are each row's.
    """
    for row in range(m.shape[0]):
        r, d = ratio[row], shift[row]
        if r == 1.0 and d == 0.0:
            continue
        for entry in range(m.shape[1]):
            n, ne = count_m[row, entry], count_e[row, entry]
            y, ye = m[row, entry, first], e[row, entry, first]
            # Σz = r·Σy + d·n, and Σz² = r²·Σy² + d·(r·Σy + Σz).
            ry, rye = scaled_product(r, 0, y, ye)
            dn, dne = scaled_product(d, 0, n, ne)
            z, ze = plus(ry, rye, dn, dne)
            both, both_e = plus(ry, rye, z, ze)
            both, both_e = scaled_product(d, 0, both, both_e)
            q, qe = scaled_product(r, 0, m[row, entry, second], e[row, entry, second])
            q, qe = scaled_product(r, 0, q, qe)
            m[row, entry, first], e[row, entry, first] = z, ze
            m[row, entry, second], e[row, entry, second] = plus(q, qe, both, both_e)
