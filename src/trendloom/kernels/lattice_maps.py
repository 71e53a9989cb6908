"""Maps of keys: what a stretch of events does to a vector of extremes, whatever the vector is.

Laid out as in `maps`: [basis, cell, lane]. With lane 0 as in `lattice`, a vector v becomes

    v' = least of map[0] and, for every s that both have trends in, v[s] · map[1 + s]

where values join, k · k' = the lesser, and lengths add, k · k' = k + k'. FINISHED stays beside it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.extreme import ABSENT
from trendloom.kernels.lattice import move_keys
from trendloom.kernels.program import Ints
from trendloom.kernels.table import Table, feeds_of


@kernel
def extreme_maps(
    table: Table,
    order: Ints,
    code: NDArray[Any],
    lo: Ints,
    hi: Ints,
    var: Ints,
    step: Ints,
    key: Ints,
    out: Ints,
) -> None:
    """Row r of `out`, [row, basis, cell · lane], becomes the map of events `lo[r] : hi[r]`."""
    bases, lanes = out.shape[1], var.shape[0]
    feeds = feeds_of(table, var)
    values = np.empty((table.states + 3) * lanes * bases, np.int64)
    for run in range(lo.shape[0]):
        values[:] = ABSENT
        for state in range(table.states):
            own = state * lanes * bases + 1 + state
            values[own] = 0
            for lane in range(1, lanes):
                if step[lane - 1] != 0:
                    values[own + lane * bases] = 0
        move_keys(table, order, code, lo[run], hi[run], values, bases, feeds, step, key)
        for basis in range(bases):
            for k in range(out.shape[2]):
                out[run, basis, k] = values[k * bases + basis]


@kernel
def apply_extremes(maps: Ints, lo: Ints, hi: Ints, step: Ints, out: Ints) -> None:
    """Row r of `out` becomes what maps `lo[r] : hi[r]`, in turn, make of nothing.

    The maps are [row, basis, cell · lane]; `out` is blank and may have more cells than they.
    """
    states, width = maps.shape[1] - 1, maps.shape[2]
    lanes = 1 + step.shape[0]
    new = np.empty(width, np.int64)
    for run in range(lo.shape[0]):
        keys = out[run]
        for row in range(lo[run], hi[run]):
            new[:] = maps[row, 0]
            for k in range(states * lanes, width):
                new[k] = min(new[k], keys[k])
            for state in range(states):
                own = state * lanes
                if keys[own] == ABSENT:
                    continue
                basis = maps[row, 1 + state]
                for cell in range(0, width, lanes):
                    if basis[cell] == ABSENT:
                        continue
                    new[cell] = 0
                    for k in range(1, lanes):
                        one, other = keys[own + k], basis[cell + k]
                        both = min(one, other) if step[k - 1] == 0 else one + other
                        new[cell + k] = min(new[cell + k], both)
            keys[:width] = new
