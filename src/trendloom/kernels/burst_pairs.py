"""Bursts of E+ with a condition between consecutive events, `E.a op NEXT(E).b`.

What an event takes up depends on the values of those before it, the same for all queries. So the
predecessors are searched once (a Fenwick tree by value), and what is summed is an *expression*: a
coefficient per snapshot (HAMLET §3.3, Algorithm 1). The queries' values of the snapshots come in
when others than E read the sum.

1. A snapshot x at graphlet level, of coefficient 1, whenever what E takes up from others changed.
2. An event that only some queries match gets a snapshot of its own, with its value per query.
3. Sums of E's attributes are further columns of each snapshot: c_f(e) = Σ c_f + x_f(e) · c_0(e).

One query alone (`direct`) has its own numbers for coefficients, and one snapshot that is 1.

Coefficients are plain doubles. A window in which one grows past LIMIT is given up (`lost`), and the
engine evaluates it with exponents.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.burst_expressions import Expressions, renew, settle, value_event
from trendloom.kernels.burst_net import BIT, LISTS, Floats, Ints, Net, Words, finished, walk
from trendloom.kernels.burst_pieces import MIXED, Pieces
from trendloom.kernels.burst_tree import Keys, enter, look_back, place_events
from trendloom.kernels.bursts import EACH, EVENTS, GRAPHLETS, ONCE, apply_piece, blank_vectors
from trendloom.kernels.compiled import kernel

LIMIT = 2.0**900
WIDEST = 1 << 23
"""Coefficients that a window may hold; with more it is lost."""


@kernel
def fold_pairs(
    net: Net,
    kind: int,
    direct: bool,
    words: Words,
    order: Ints,
    x: Floats,
    keys: Keys,
    pieces: Pieces,
    shared: Words,
    first: Ints,
    last: Ints,
    most: Ints,
    out_m: Floats,
    out_e: Ints,
    lost: NDArray[np.bool_],
    tally: Ints,
) -> None:
    """Window r is pieces `first[r]` to `last[r]`, for all queries of the net; `kind` is E.

    A window has at most `most[r]` snapshots. Out is [window, query, lane].
    """
    intake, intakes, room = net.intake, net.intakes, net.room
    queries = net.width.shape[0]
    vectors, size = blank_vectors(net, queries, 1, x.shape[0])
    width = vectors.sum_m.shape[0]
    m, e, sum_m, sum_e = vectors.m, vectors.e, vectors.sum_m, vectors.sum_e
    everyone = np.uint64(0)
    for query in range(queries):
        vectors.open[query, 0] = query * size
        vectors.held[query] = 1
        everyone |= np.uint64(1) << np.uint64(intakes[intake[query, kind], BIT])
    # Columns of a snapshot, and which of them each query's lane is fed from.
    feeds = net.type_feed[net.type_feed_start[kind] : net.type_feed_start[kind + 1]]
    block = width if direct else 1 + feeds.shape[0]
    row = np.full(block, -1, np.int64)
    column = np.full((queries, width), -1, np.int64)
    for query in range(queries):
        for lane in range(net.width[query]):
            mine = intakes[intake[query, kind], LISTS + 2 * room + lane]
            for f in range(feeds.shape[0]):
                if mine == feeds[f] and not direct:
                    row[1 + f] = mine
                    column[query, lane] = 1 + f
            if direct:
                row[lane] = mine
    fed_columns = np.flatnonzero(row >= 0)
    for run in range(first.shape[0]):
        m[:] = 0.0
        e[:] = 0
        lo, hi = pieces.lo[first[run]], pieces.hi[last[run]]
        count, ties, same = 0, 1, 0
        for event in range(lo, hi):
            count += words[event] & everyone != 0
            same = same + 1 if event > lo and order[event] == order[event - 1] else 1
            ties = max(ties, same)
        stride = block if direct else most[run] * block
        trees = 2 if keys.unequal else 1
        if (trees * (count + 1) + ties) * stride > WIDEST or (most[run] * queries * width) > WIDEST:
            lost[run] = True
            continue
        events = np.empty(count, np.int64)
        at = 0
        for event in range(lo, hi):
            if words[event] & everyone != 0:
                events[at] = event
                at += 1
        places = place_events(events, keys)
        other = count + 1
        tree = np.zeros(trees * other * stride)
        c = np.zeros(ties * stride)
        values = most[run] * queries * width
        ex = Expressions(
            block, width, column, np.zeros(stride), np.zeros(stride),
            np.zeros(values), np.zeros(values, np.int64),
        )  # fmt: skip
        total, entry = ex.total, ex.entry
        snapshots, current = 0, -1
        dirty, pending, over = True, False, False
        at = 0
        for piece in range(first[run], last[run] + 1):
            what = pieces.kind[piece]
            if what not in (kind, MIXED):
                if pending:
                    settle(net, kind, direct, ex, snapshots, size, vectors)
                    pending = False
                apply_piece(
                    net, words, order, x, pieces.lo[piece], pieces.hi[piece], what,
                    pieces.untied[piece], shared[piece], vectors, tally,
                )  # fmt: skip
                dirty = True
                continue
            point = pieces.lo[piece]
            if direct:
                tally[EACH] += pieces.hi[piece] - point
            else:
                tally[ONCE] += pieces.hi[piece] - point
            while point < pieces.hi[piece]:
                after = point + 1
                while after < pieces.hi[piece] and order[after] == order[point]:
                    after += 1
                if what == MIXED and pending:
                    settle(net, kind, direct, ex, snapshots, size, vectors)
                    pending = False
                here = at
                while at < count and events[at] < after:
                    at += 1
                if at > here and dirty:
                    fresh, over = renew(net, kind, direct, ex, current, snapshots, size, vectors)
                    if fresh and not direct:
                        if current >= 0:
                            entry[current * block] = 0.0
                        current = snapshots
                        entry[current * block] = 1.0
                        snapshots += 1
                        tally[GRAPHLETS] += 1
                    dirty = False
                before = snapshots
                for i in range(here, at):
                    event = events[i]
                    mine = (i - here) * stride
                    columns = block if direct else before * block
                    for k in range(columns):
                        c[mine + k] = 0.0
                    base = places.looked[i]
                    look_back(tree, stride, columns, base, places.reach[i], c, mine)
                    if keys.unequal:
                        look_back(tree, stride, columns, other + base, places.beyond[i], c, mine)
                    if words[event] & everyone == everyone:
                        for k in range(columns):
                            c[mine + k] += entry[k]
                        for s in range(1 if direct else before):
                            first_column = mine + s * block
                            for fed in fed_columns:
                                c[first_column + fed] += x[row[fed], event] * c[first_column]
                        for k in range(columns):
                            over = over or not abs(c[mine + k]) < LIMIT
                        continue
                    tally[EVENTS] += 1
                    value_event(
                        net, kind, ex, words[event], x, event, c, mine, current, before, snapshots
                    )
                    for k in range(columns):
                        c[mine + k] = 0.0
                    c[mine + snapshots * block] = 1.0
                    snapshots += 1
                if what == MIXED:
                    for query in range(queries):
                        walk(
                            net, query, words, everyone, order, x, point, after, query * size,
                            m, e, vectors.fresh_m, vectors.fresh_e, sum_m, sum_e,
                        )  # fmt: skip
                    dirty = True
                columns = block if direct else snapshots * block
                for i in range(here, at):
                    mine = (i - here) * stride
                    base, fits, place = places.base[i], places.size[i], places.place[i]
                    enter(tree, stride, columns, base, fits, place, c, mine)
                    if keys.unequal and place > 0:
                        base, place = other + base, fits + 1 - place
                        enter(tree, stride, columns, base, fits, place, c, mine)
                    for k in range(columns):
                        total[k] += c[mine + k]
                    pending = True
                point = after
                if over:
                    break
            if over:
                break
        if over:
            lost[run] = True
            continue
        if pending:
            settle(net, kind, direct, ex, snapshots, size, vectors)
        for query in range(queries):
            finished(net, query, query * size, m, e, out_m[run, query], out_e[run, query])
