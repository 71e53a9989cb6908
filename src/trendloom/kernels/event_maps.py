"""Events → maps, each by the fastest kernel that fits it.

Of one or two states, counts of all bases stay in registers (`pair_maps`), and sums go basis by
basis (`pair_sums`). Other patterns move all bases at once through memory (`bases`). Where doubles
of one exponent do not suffice, each basis goes on by itself from there (`fold`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.bases import advance_bases
from trendloom.kernels.compiled import kernel
from trendloom.kernels.counted_bases import PACK
from trendloom.kernels.fold import fold_doubles
from trendloom.kernels.pair import WHOLE, Floats, fits_pair, pair_of
from trendloom.kernels.pair_maps import map_counts
from trendloom.kernels.pair_sums import advance_pair, feeds_pair
from trendloom.kernels.program import Ints
from trendloom.kernels.scaled import RADIX, within_radix
from trendloom.kernels.table import Table, counting_of, feeds_of


@kernel
def _packed(bases: int) -> int:
    """So many bases in whole packs; those that are too many stay at zero."""
    return (bases + PACK - 1) // PACK * PACK


@kernel
def _start(values: NDArray[Any], states: int, lanes: int, bases: int) -> None:
    """Basis 0 has nothing, basis 1 + s one partial trend in state s."""
    values[:] = 0
    for state in range(states):
        values[state * lanes * bases + 1 + state] = 1


@kernel
def _start_one(values: NDArray[Any], lanes: int, basis: int) -> None:
    """The same of one basis."""
    values[:] = 0
    if basis > 0:
        values[(basis - 1) * lanes] = 1


@kernel
def _without_begins(table: Table) -> Table:
    return Table(
        table.semantics,
        table.states,
        table.target,
        np.zeros_like(table.begins),
        table.variable,
        table.finished,
        table.source,
        table.eats,
    )


@kernel
def double_maps(
    table: Table,
    order: Ints,
    code: NDArray[Any],
    lo: Ints,
    hi: Ints,
    var: Ints,
    x: Floats,
    out_m: Floats,
    out_e: Ints,
) -> None:
    """Row r of `out`, [row, basis, cell · lane], becomes the map of events `lo[r] : hi[r]`."""
    bases, lanes = _packed(out_m.shape[1]), var.shape[0]
    cells = (table.states + 3) * lanes
    feeds, silent, paired = feeds_of(table, var), _without_begins(table), fits_pair(table)
    pair, silent_pair, weight = pair_of(table), pair_of(silent), feeds_pair(table, feeds)
    room, counts = np.zeros((lanes, 2, 3)), np.zeros((3, 3))
    values, wrapped = np.zeros(cells * bases), np.zeros(lanes * bases, np.int64)
    exponent = np.zeros(bases, np.int64)
    m, e = np.zeros((1, cells)), np.zeros((1, cells), np.int64)
    small, plain = within_radix(x, lo, hi), counting_of(table, values)
    for run in range(lo.shape[0]):
        at = lo[run]
        exponent[:] = 0
        if not paired:
            _start(values, table.states, lanes, bases)
            at = advance_bases(
                table, order, code, at, hi[run], values, exponent, plain, feeds, x, small, wrapped
            )
        elif lanes == 1:
            at, exponent[:] = map_counts(pair, table, order, code, at, hi[run], counts, RADIX)
        for basis in range(out_m.shape[1]):
            reached, own = at, exponent[basis]
            if not paired:
                m[0] = values[basis::bases]
            elif lanes == 1:
                m[0, : table.states] = counts[basis, : table.states]
                m[0, table.states] = counts[basis, 2]
            else:
                _start_one(m[0], lanes, basis)
                reached, own = advance_pair(
                    silent_pair if basis else pair, weight, table, order, code, at, hi[run], m[0],
                    0, RADIX, x, room,
                )  # fmt: skip
            # An exponent per cell, as `plus` expects them: |m| ≥ 1 wherever e > 0.
            for k in range(cells):
                e[0, k] = own if m[0, k] != 0.0 else 0
                while e[0, k] > 0 and abs(m[0, k]) < 1.0:
                    m[0, k] *= RADIX
                    e[0, k] -= 1
            if reached < hi[run]:
                fold_doubles(
                    silent if basis else table, order, code, np.array([reached]),
                    hi[run : run + 1], m, e, var, x,
                )  # fmt: skip
            width = out_m.shape[2]
            out_m[run, basis] = m[0, :width]
            out_e[run, basis] = e[0, :width]


@kernel
def integer_maps(
    table: Table,
    order: Ints,
    code: NDArray[Any],
    lo: Ints,
    hi: Ints,
    var: Ints,
    x: Ints,
    out: Ints,
    lost: NDArray[np.bool_],
) -> None:
    """The same with 64-bit integers; `lost`, [row, basis], says which overflowed."""
    bases, lanes = _packed(out.shape[1]), var.shape[0]
    cells = (table.states + 3) * lanes
    feeds, paired = feeds_of(table, var), fits_pair(table)
    pair, weight = pair_of(table), feeds_pair(table, feeds)
    silent_pair = pair_of(_without_begins(table))
    room, counts = np.zeros((lanes, 2, 3)), np.zeros((3, 3))
    values, one = np.zeros(cells * bases, np.int64), np.zeros(cells, np.int64)
    wrapped, exponent = np.zeros(lanes * bases, np.int64), np.zeros(bases, np.int64)
    plain = counting_of(table, values)
    for run in range(lo.shape[0]):
        at = lo[run]
        if paired and lanes == 1:
            at, _ = map_counts(pair, table, order, code, at, hi[run], counts, WHOLE)
            for basis in range(out.shape[1]):
                for k in range(out.shape[2]):
                    out[run, basis, k] = np.int64(counts[basis, k if k < table.states else 2])
        elif paired:
            at = hi[run]
            for basis in range(out.shape[1]):
                _start_one(one, lanes, basis)
                reached, _ = advance_pair(
                    silent_pair if basis else pair, weight, table, order, code, lo[run], hi[run],
                    one, 0, WHOLE, x, room,
                )  # fmt: skip
                at = min(at, reached)
                out[run, basis] = one[: out.shape[2]]
        if paired and at == hi[run]:
            continue
        _start(values, table.states, lanes, bases)
        wrapped[:] = 0
        advance_bases(
            table, order, code, lo[run], hi[run], values, exponent, plain, feeds, x, True, wrapped
        )
        for basis in range(out.shape[1]):
            for k in range(out.shape[2]):
                out[run, basis, k] = values[k * bases + basis]
            for lane in range(lanes):
                lost[run, basis] |= wrapped[lane * bases + basis] < 0
