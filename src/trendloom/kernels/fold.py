"""The fast path: type grain. One vector per window, one pass.

`route` can do all of this; here the automaton's arrows are compiled to a table per event code and
applied at once, without a tape. A run can stop after any time point and go on later, so memory is
one vector per open window, whatever the number of events (COGRA Theorem 4.3). Here are sums;
`lattice` has extremes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.pair import WHOLE, fits_pair, pair_of
from trendloom.kernels.pair_sums import advance_pair, feeds_pair
from trendloom.kernels.program import Ints
from trendloom.kernels.scaled import FAINT, RADIX, SHRINK, plus, times, within_radix
from trendloom.kernels.sprint import advance
from trendloom.kernels.table import Table, counting_of, feeds_of


@kernel
def walk(
    table: Table,
    order: Ints,
    code: NDArray[Any],
    at: int,
    end: int,
    m: NDArray[np.float64],
    e: Ints,
    var: Ints,
    x: NDArray[np.float64],
) -> None:
    """The same for doubles with an exponent per cell (see `scaled`), to the end."""
    lanes = var.shape[0]
    steps, sources = table.source.shape[1], table.source.shape[2]
    size = (table.states + 3) * lanes
    sum_m, sum_e = np.zeros(lanes), np.zeros(lanes, np.int64)
    fresh_m, fresh_e = np.zeros(size), np.zeros(size, np.int64)
    while at < end:
        first = at
        while at < end and order[at] == order[first]:
            at += 1
        for event in range(first, at):
            c = code[event]
            for step in range(steps):
                for lane in range(lanes):
                    sum_m[lane], sum_e[lane] = 0.0, 0
                if table.begins[c, step]:
                    sum_m[0] = 1.0
                for k in range(sources):
                    base = table.source[c, step, k] * lanes
                    for lane in range(lanes):
                        sum_m[lane], sum_e[lane] = plus(
                            sum_m[lane], sum_e[lane], m[base + lane], e[base + lane]
                        )
                for lane in range(1, lanes):
                    if var[lane] == table.variable[c, step] or var[lane] == -1:
                        tm, te = times(x[lane, event], sum_m[0], sum_e[0])
                        sum_m[lane], sum_e[lane] = plus(sum_m[lane], sum_e[lane], tm, te)
                for cell in (table.target[c, step], table.finished[c, step]):
                    for lane in range(lanes):
                        k = cell * lanes + lane
                        fresh_m[k], fresh_e[k] = plus(
                            fresh_m[k], fresh_e[k], sum_m[lane], sum_e[lane]
                        )
        for event in range(first, at):
            for k in range(table.eats.shape[1]):
                base = table.eats[code[event], k] * lanes
                for lane in range(lanes):
                    m[base + lane], e[base + lane] = 0.0, 0
        for k in range((table.states + 1) * lanes):
            m[k], e[k] = plus(m[k], e[k], fresh_m[k], fresh_e[k])
        fresh_m[:] = 0.0
        fresh_e[:] = 0


@kernel
def fold_doubles(
    table: Table,
    order: Ints,
    code: NDArray[Any],
    lo: Ints,
    hi: Ints,
    m: NDArray[np.float64],
    e: Ints,
    var: Ints,
    x: NDArray[np.float64],
) -> None:
    """Runs events `lo[r] : hi[r]` through row r of the state, for every r."""
    flag = np.zeros(1, np.int64)
    feeds, plain, small = feeds_of(table, var), counting_of(table, m), within_radix(x, lo, hi)
    pair, paired, weight = pair_of(table), fits_pair(table), feeds_pair(table, feeds)
    room = np.zeros((feeds.shape[2], 2, 3))
    cells = m.shape[1]
    for run in range(lo.shape[0]):
        # A plain 0 is a type of its own to numba, for which `advance` would be compiled once more.
        exponent: Any = np.int64(0)
        for k in range(cells):
            exponent = max(exponent, e[run, k])
        near = exponent < 1 << 30
        for k in range(cells):
            near = near and (m[run, k] == 0.0 or exponent - e[run, k] <= 2)
        at = lo[run]
        if near:
            for k in range(cells):
                if m[run, k] != 0.0:
                    for _ in range(exponent - e[run, k]):
                        m[run, k] *= SHRINK
                near = near and (m[run, k] == 0.0 or abs(m[run, k]) >= FAINT)
                e[run, k] = exponent
            if near and paired:
                at, exponent = advance_pair(
                    pair, weight, table, order, code, at, hi[run], m[run], exponent, RADIX, x, room
                )
            if near and at < hi[run]:
                at, exponent = advance(
                    table, order, code, at, hi[run], m[run], exponent, plain, feeds, x, small, flag
                )
            # Back to an exponent per cell, as `plus` expects them: |m| ≥ 1 wherever e > 0.
            for k in range(cells):
                e[run, k] = exponent if m[run, k] != 0.0 else 0
                while e[run, k] > 0 and abs(m[run, k]) < 1.0:
                    m[run, k] *= RADIX
                    e[run, k] -= 1
        if at < hi[run]:
            walk(table, order, code, at, hi[run], m[run], e[run], var, x)


@kernel
def fold_integers(
    table: Table,
    order: Ints,
    code: NDArray[Any],
    lo: Ints,
    hi: Ints,
    values: Ints,
    var: Ints,
    x: Ints,
) -> bool:
    """The same with 64-bit integers. False: some sum overflowed, and nothing here is right."""
    flag = np.zeros(1, np.int64)
    feeds, plain = feeds_of(table, var), counting_of(table, values)
    pair, paired, weight = pair_of(table), fits_pair(table), feeds_pair(table, feeds)
    room = np.zeros((feeds.shape[2], 2, 3))
    for run in range(lo.shape[0]):
        at = lo[run]
        if paired:
            at, _ = advance_pair(
                pair, weight, table, order, code, at, hi[run], values[run], 0, WHOLE, x, room
            )
        advance(table, order, code, at, hi[run], values[run], 0, plain, feeds, x, True, flag)
    return flag[0] >= 0
