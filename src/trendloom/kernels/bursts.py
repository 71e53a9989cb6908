"""Bursts of a workload, shared or not, without conditions between consecutive events.

Everything that a burst of E adds to a query is a multiple of what its first event takes up, the
snapshot x (HAMLET Table 3: x, 2x, 4x, 8x). The multiple, and the sums that go with it, is the
burst's map: made once, given to every query that shares, in every window that is open.

- E+, at its i-th time point m_i matching events with values of sum v_i: the added trends are
  `a·x` with a + 1 = Π (1 + m_i), and their sums `a·s + g·x` with g' = g·(1 + m_i) + (a + 1)·v_i.
- E taken once: `n·x` and `n·s + v·x`.

Where an event is matched by some of the sharing queries only, the map so far is given to all, the
event is applied query by query, and a new map begins: a snapshot at event level (Def. 3.11) that
takes the place of the former one.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from trendloom.kernels.burst_net import (
    BIT,
    GROWS,
    LISTS,
    Floats,
    Ints,
    Net,
    Words,
    alone,
    finished,
    give,
    take_up,
    walk,
)
from trendloom.kernels.burst_pieces import Pieces
from trendloom.kernels.scaled import plus, times

ONCE, EACH, GRAPHLETS, EVENTS = 0, 1, 2, 3
"""Of the tally: events of shared bursts, events of queries on their own, snapshots of both levels.
"""


@njit(cache=True, nogil=True, inline="always")
def absorb(
    intakes: Ints,
    row: int,
    room: int,
    width: int,
    grown: Floats,
    flat: Floats,
    vector: int,
    m: Floats,
    e: Ints,
    sum_m: Floats,
    sum_e: Ints,
    all_m: Floats,
    all_e: Ints,
) -> None:
    """Gives a burst's map to one query. Number 0 of a map multiplies, 1 + f feeds input f."""
    grows = intakes[row, GROWS] != 0
    by = grown[0] if grows else flat[0]
    take_up(intakes, row, room, width, vector, m, e, sum_m, sum_e)
    for lane in range(width):
        all_m[lane], all_e[lane] = times(by, sum_m[lane], sum_e[lane])
        feed = intakes[row, LISTS + 2 * room + lane]
        if feed >= 0:
            tm, te = times(grown[1 + feed] if grows else flat[1 + feed], sum_m[0], sum_e[0])
            all_m[lane], all_e[lane] = plus(all_m[lane], all_e[lane], tm, te)
    give(intakes, row, room, width, all_m, all_e, vector, m, e)


@njit(cache=True, nogil=True)
def compose(
    feeds: Ints,
    words: Words,
    shared: np.uint64,
    order: Ints,
    x: Floats,
    at: int,
    hi: int,
    grown: Floats,
    flat: Floats,
) -> int:
    """The map of events from `at` on, to the first point that the sharing queries see differently.

    Returns where that is.
    """
    grown[:] = 0.0
    flat[:] = 0.0
    a = 0.0
    while at < hi:
        last = at
        matching = 0
        while last < hi and order[last] == order[at]:
            word = words[last] & shared
            if word == shared:
                matching += 1
            elif word != 0:
                grown[0] = a
                return at
            last += 1
        if matching > 0:
            for row in feeds:
                value = 0.0
                for event in range(at, last):
                    if words[event] & shared == shared:
                        value += x[row, event]
                grown[1 + row] = grown[1 + row] * (1.0 + matching) + (a + 1.0) * value
                flat[1 + row] += value
            a += matching * (a + 1.0)
            flat[0] += matching
        at = last
    grown[0] = a
    return at


@njit(cache=True, nogil=True, inline="always")
def shares(intakes: Ints, row: int, shared: np.uint64) -> bool:
    """Whether a query is among those that share; -1 is the row of those that cannot."""
    return row >= 0 and (shared >> np.uint64(intakes[row, BIT])) & np.uint64(1) != 0


@njit(cache=True, nogil=True)
def fold_bursts(
    net: Net,
    words: Words,
    order: Ints,
    x: Floats,
    pieces: Pieces,
    shared: Words,
    run_query: Ints,
    first: Ints,
    last: Ints,
    by_last: Ints,
    slots: int,
    overlap: int,
    out_m: Floats,
    out_e: Ints,
    tally: Ints,
) -> None:
    """Run r is query `run_query[r]` over pieces `first[r]` to `last[r]`; runs are sorted by first.

    `shared` has, per piece, the letters whose queries share it; `slots` and `overlap` are the
    most runs that are open at once, of all queries and of one.
    """
    intake, intakes, room, widths, use = net.intake, net.intakes, net.room, net.width, net.use
    queries = widths.shape[0]
    size, width = 0, 0
    for query in range(queries):
        size = max(size, net.cells[query] * net.width[query])
        width = max(width, net.width[query])
    m, e = np.zeros(slots * size), np.zeros(slots * size, np.int64)
    fresh_m, fresh_e = np.zeros(size), np.zeros(size, np.int64)
    sum_m, sum_e = np.zeros(width), np.zeros(width, np.int64)
    all_m, all_e = np.zeros(width), np.zeros(width, np.int64)
    grown, flat = np.zeros(1 + x.shape[0]), np.zeros(1 + x.shape[0])
    open_ = np.zeros((queries, overlap), np.int64)
    count = np.zeros(queries, np.int64)
    free = np.arange(slots) * size
    frees = slots
    slot_of = np.zeros(run_query.shape[0], np.int64)
    opened, closed = 0, 0
    none = np.uint64(0)
    for piece in range(pieces.lo.shape[0]):
        while opened < first.shape[0] and first[opened] == piece:
            query = run_query[opened]
            frees -= 1
            slot_of[opened] = free[frees]
            for k in range(free[frees], free[frees] + size):
                m[k], e[k] = 0.0, 0
            open_[query, count[query]] = free[frees]
            count[query] += 1
            opened += 1
        lo, hi, kind = pieces.lo[piece], pieces.hi[piece], pieces.kind[piece]
        mine = shared[piece]
        if mine != 0:
            tally[ONCE] += hi - lo
            tally[GRAPHLETS] += 1
            feeds = net.type_feed[net.type_feed_start[kind] : net.type_feed_start[kind + 1]]
            at = lo
            while at < hi:
                stop = compose(feeds, words, mine, order, x, at, hi, grown, flat)
                after = stop
                while after < hi and order[after] == order[stop]:
                    after += 1
                if after > stop:
                    tally[EVENTS] += 1
                for k in range(net.use_start[kind], net.use_start[kind + 1]):
                    query = use[k]
                    row = intake[query, kind]
                    if not shares(intakes, row, mine):
                        continue
                    for i in range(count[query]):
                        slot = open_[query, i]
                        if flat[0] > 0:
                            absorb(
                                intakes, row, room, widths[query], grown, flat, slot, m, e,
                                sum_m, sum_e, all_m, all_e,
                            )  # fmt: skip
                        if after > stop:
                            walk(
                                net, query, words, none, order, x, stop, after, slot, m, e,
                                fresh_m, fresh_e, sum_m, sum_e,
                            )  # fmt: skip
                at = after
        users, end_users = 0, queries
        if kind >= 0:
            users, end_users = net.use_start[kind], net.use_start[kind + 1]
        elif kind < -1:
            end_users = 0
        for k in range(users, end_users):
            query = use[k] if kind >= 0 else k
            row = intake[query, kind] if kind >= 0 else -1
            if shares(intakes, row, mine):
                continue
            tally[EACH] += (hi - lo) * count[query]
            for i in range(count[query]):
                slot = open_[query, i]
                if row >= 0 and pieces.untied[piece]:
                    alone(
                        intakes, row, room, widths[query], words, x, lo, hi, slot, m, e,
                        sum_m, sum_e, all_m, all_e,
                    )  # fmt: skip
                else:
                    walk(
                        net, query, words, none, order, x, lo, hi, slot, m, e,
                        fresh_m, fresh_e, sum_m, sum_e,
                    )  # fmt: skip
        while closed < by_last.shape[0] and last[by_last[closed]] == piece:
            run = by_last[closed]
            query, slot = run_query[run], slot_of[run]
            finished(net, query, slot, m, e, out_m[run], out_e[run])
            for i in range(count[query]):
                if open_[query, i] == slot:
                    open_[query, i] = open_[query, count[query] - 1]
                    count[query] -= 1
                    break
            free[frees] = slot
            frees += 1
            closed += 1
