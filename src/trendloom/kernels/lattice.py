"""Extremes on the fast path: a row of keys per cell, moved by the same table as sums.

Keys are those of `extreme`: the least one wins, and lengths add a step per event. Lane 0 says
whether a cell has partial trends at all: 0 if so, else ABSENT. Without it, trends whose values are
all null could not be told from none, and an event's value would join trends that are not there.

The keys of several vectors that the same events move may lie side by side, [cell, lane, basis];
trends begin in basis 0 only. A fold has one basis, a map has many.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.extreme import ABSENT
from trendloom.kernels.program import ANY, Ints
from trendloom.kernels.table import CROWD, Table, feeds_of


@kernel
def move_keys(
    table: Table,
    order: Ints,
    code: NDArray[Any],
    at: int,
    end: int,
    values: Ints,
    bases: int,
    feeds: NDArray[np.bool_],
    step: Ints,
    key: Ints,
) -> None:
    """Runs events `at : end` on [cell · lane · basis] `values`.

    `step` and `key` have no row for lane 0. A lane has either a step or keys, 0 or ABSENT for the
    other. Lengths are at most the number of events, so that steps never wrap.
    """
    lanes = feeds.shape[2]
    width = lanes * bases
    target, finished, begins = table.target, table.finished, table.begins
    source, eats = table.source, table.eats
    steps, sources, eaten = source.shape[1], source.shape[2], eats.shape[1]
    finishing = table.semantics != ANY
    keys = np.empty(CROWD * steps * width, np.int64)
    simple = steps == 1 and bases == 1

    while at < end:
        first = at
        point = order[at]
        at += 1
        if simple and (at == end or order[at] != point):
            # Lane by lane, in a register: a fifth to a third less time than through `keys`.
            c = code[first]
            here = False
            for lane in range(lanes):
                more = 0 if lane == 0 else step[lane - 1]
                least = 0 if begins[c, 0] != 0 and (lane == 0 or more != 0) else ABSENT
                for k in range(sources):
                    least = min(least, values[source[c, 0, k] * lanes + lane])
                if lane == 0:
                    here = least != ABSENT
                elif here and feeds[c, 0, lane]:
                    least = min(least + more, key[lane - 1, first])
                for k in range(eaten):
                    values[eats[c, k] * lanes + lane] = ABSENT
                place = target[c, 0] * lanes + lane
                values[place] = min(values[place], least)
                if finishing:
                    place = finished[c, 0] * lanes + lane
                    values[place] = min(values[place], least)
            continue
        while at < end and order[at] == point:
            at += 1
        if (at - first) * steps * width > keys.shape[0]:
            keys = np.empty(2 * (at - first) * steps * width, np.int64)
        # All events read the vectors as they were before this time point, then all write.
        new = 0
        for event in range(first, at):
            c = code[event]
            for which in range(steps):
                base = source[c, which, 0] * width
                for k in range(width):
                    keys[new + k] = values[base + k]
                for other in range(1, sources):
                    base = source[c, which, other] * width
                    for k in range(width):
                        keys[new + k] = min(keys[new + k], values[base + k])
                if begins[c, which] != 0:
                    # A trend of no events yet: no values, and no length.
                    keys[new] = 0
                    for lane in range(1, lanes):
                        if step[lane - 1] != 0:
                            keys[new + lane * bases] = min(keys[new + lane * bases], 0)
                for lane in range(1, lanes):
                    if feeds[c, which, lane]:
                        more, own = step[lane - 1], key[lane - 1, event]
                        for basis in range(bases):
                            if keys[new + basis] != ABSENT:
                                k = new + lane * bases + basis
                                keys[k] = min(keys[k] + more, own)
                new += width
        for event in range(first, at):
            c = code[event]
            for which in range(eaten):
                base = eats[c, which] * width
                for k in range(width):
                    values[base + k] = ABSENT
        new = 0
        for event in range(first, at):
            c = code[event]
            for which in range(steps):
                base = target[c, which] * width
                for k in range(width):
                    values[base + k] = min(values[base + k], keys[new + k])
                if finishing:
                    base = finished[c, which] * width
                    for k in range(width):
                        values[base + k] = min(values[base + k], keys[new + k])
                new += width


@kernel
def fold_extremes(
    table: Table,
    order: Ints,
    code: NDArray[Any],
    lo: Ints,
    hi: Ints,
    keys: Ints,
    var: Ints,
    step: Ints,
    key: Ints,
) -> None:
    """Runs events `lo[r] : hi[r]` through row r of the state, for every r."""
    feeds = feeds_of(table, var)
    for run in range(lo.shape[0]):
        # Not a plain 1: for numba that is another type than the number of bases elsewhere.
        one: Any = np.int64(1)
        move_keys(table, order, code, lo[run], hi[run], keys[run], one, feeds, step, key)
