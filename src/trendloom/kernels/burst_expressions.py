"""Expressions over snapshots, and the queries' values of these (HAMLET §3.3, Algorithm 1).

An expression has a block of columns per snapshot: the coefficient of its count, and one for each
attribute of E that some query sums up. A snapshot's value is a vector of lanes per query.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trendloom.kernels.burst_net import BIT, LISTS, Floats, Ints, Net, give, take_up
from trendloom.kernels.bursts import Vectors
from trendloom.kernels.compiled import kernel
from trendloom.kernels.scaled import RADIX, plus, times


class Expressions(NamedTuple):
    """Of one window."""

    block: int
    width: int
    """Lanes of a value."""
    column: Ints
    """[query, lane]: the column of a block that feeds the lane, or -1."""
    total: Floats
    """The sum of all events' expressions since the queries' cells last had it."""
    entry: Floats
    """What an event begins with: the current snapshot, once."""
    value_m: Floats
    value_e: Ints
    """[snapshot, query, lane], flat."""


@kernel
def valued(
    c: Floats, at: int, snapshots: int, ex: Expressions, lane: int, query: int
) -> tuple[float, int]:
    """The value in one lane of a query of the expression that begins at `c[at]`."""
    queries = ex.column.shape[0]
    block, width, column = ex.block, ex.width, ex.column[query, lane]
    value_m, value_e = ex.value_m, ex.value_e
    m, e = 0.0, 0
    for s in range(snapshots):
        base = (s * queries + query) * width
        tm, te = times(c[at + s * block], value_m[base + lane], value_e[base + lane])
        m, e = plus(m, e, tm, te)
        if column > 0 and c[at + s * block + column] != 0.0:
            tm, te = times(c[at + s * block + column], value_m[base], value_e[base])
            m, e = plus(m, e, tm, te)
    return m, e


@kernel
def renew(
    net: Net,
    kind: int,
    direct: bool,
    ex: Expressions,
    current: int,
    snapshots: int,
    size: int,
    vectors: Vectors,
) -> tuple[bool, bool]:
    """What E takes up now, as snapshot number `snapshots`, or (`direct`) as what events begin with.

    Returns whether it differs from the current one, and whether it is too large.
    """
    queries = net.width.shape[0]
    m, e, sum_m, sum_e = vectors.m, vectors.e, vectors.sum_m, vectors.sum_e
    base, old = snapshots * queries * ex.width, current * queries * ex.width
    fresh, over = current < 0, False
    for query in range(queries):
        row = net.intake[query, kind]
        take_up(net.intakes, row, net.room, net.width[query], query * size, m, e, sum_m, sum_e)
        for lane in range(net.width[query]):
            if direct:
                over = over or sum_e[lane] > 2
                ex.entry[lane] = sum_m[lane]
                for _ in range(min(sum_e[lane], 2)):
                    ex.entry[lane] *= RADIX
                continue
            k = query * ex.width + lane
            if not fresh:
                fresh = sum_m[lane] != ex.value_m[old + k] or sum_e[lane] != ex.value_e[old + k]
            ex.value_m[base + k], ex.value_e[base + k] = sum_m[lane], sum_e[lane]
    return fresh, over


@kernel
def value_event(
    net: Net,
    kind: int,
    ex: Expressions,
    word: np.uint64,
    x: Floats,
    event: int,
    c: Floats,
    at: int,
    current: int,
    before: int,
    snapshots: int,
) -> None:
    """A snapshot at event level (Def. 3.11): the event's value per query, 0 for those without it.

    `c[at]` and on is the sum over the events that it may follow, in `before` snapshots.
    """
    queries = net.width.shape[0]
    for query in range(queries):
        row = net.intake[query, kind]
        matched = (word >> np.uint64(net.intakes[row, BIT])) & np.uint64(1) != 0
        base = (snapshots * queries + query) * ex.width
        now = (current * queries + query) * ex.width
        for lane in range(net.width[query]):
            m, e = 0.0, 0
            if matched:
                m, e = valued(c, at, before, ex, lane, query)
                m, e = plus(m, e, ex.value_m[now + lane], ex.value_e[now + lane])
                feed = net.intakes[row, LISTS + 2 * net.room + lane]
                if feed >= 0:
                    tm, te = times(x[feed, event], ex.value_m[base], ex.value_e[base])
                    m, e = plus(m, e, tm, te)
            ex.value_m[base + lane], ex.value_e[base + lane] = m, e


@kernel
def settle(
    net: Net,
    kind: int,
    direct: bool,
    ex: Expressions,
    snapshots: int,
    size: int,
    vectors: Vectors,
) -> None:
    """Adds what E's events have made since the last time to every query's cells."""
    all_m, all_e = vectors.all_m, vectors.all_e
    for query in range(net.width.shape[0]):
        mine = net.width[query]
        for lane in range(mine):
            if direct:
                all_m[lane], all_e[lane] = times(ex.total[lane], 1.0, 0)
            else:
                all_m[lane], all_e[lane] = valued(ex.total, 0, snapshots, ex, lane, query)
        give(
            net.intakes, net.intake[query, kind], net.room, mine, all_m, all_e,
            query * size, vectors.m, vectors.e,
        )  # fmt: skip
    ex.total[:] = 0.0
