"""Bursts of a workload, shared or not, without conditions between consecutive events.

Vectors are independent of each other, so a burst may go through some of them as a map, event by
event through the others, in any order (`burst_maps`, `burst_net`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trendloom.kernels.burst_maps import absorb, compose, shares
from trendloom.kernels.burst_net import Floats, Ints, Net, Words, alone, finished, walk
from trendloom.kernels.burst_pieces import MIXED, Pieces
from trendloom.kernels.compiled import kernel

ONCE, EACH, GRAPHLETS, EVENTS = 0, 1, 2, 3
"""Of the tally: events of shared bursts, events of queries on their own, snapshots of both levels.
"""


class Vectors(NamedTuple):
    """All vectors, which of them are open, and room to compute in."""

    m: Floats
    e: Ints
    open: Ints
    """[query, i]: where its open vectors begin,"""
    held: Ints
    """and how many there are."""
    fresh_m: Floats
    fresh_e: Ints
    sum_m: Floats
    sum_e: Ints
    all_m: Floats
    all_e: Ints
    grown: Floats
    flat: Floats


@kernel
def blank_vectors(net: Net, slots: int, overlap: int, feeds: int) -> tuple[Vectors, int]:
    """Room for so many vectors, and the size of each."""
    size, width = 0, 0
    for query in range(net.width.shape[0]):
        size = max(size, net.cells[query] * net.width[query])
        width = max(width, net.width[query])
    vectors = Vectors(
        np.zeros(slots * size), np.zeros(slots * size, np.int64),
        np.zeros((net.width.shape[0], overlap), np.int64), np.zeros(net.width.shape[0], np.int64),
        np.zeros(size), np.zeros(size, np.int64),
        np.zeros(width), np.zeros(width, np.int64),
        np.zeros(width), np.zeros(width, np.int64),
        np.zeros(1 + feeds), np.zeros(1 + feeds),
    )  # fmt: skip
    return vectors, size


@kernel
def apply_piece(
    net: Net,
    words: Words,
    order: Ints,
    x: Floats,
    lo: int,
    hi: int,
    kind: int,
    untied: bool,
    shared: np.uint64,
    vectors: Vectors,
    tally: Ints,
) -> None:
    """One piece for all open vectors: once for those who share it, one by one for the others."""
    intake, intakes, room, widths, use = net.intake, net.intakes, net.room, net.width, net.use
    m, e, open_, count, fresh_m, fresh_e, sum_m, sum_e, all_m, all_e, grown, flat = vectors
    none = np.uint64(0)
    users, end_users = 0, 0
    if kind >= 0:
        users, end_users = net.use_start[kind], net.use_start[kind + 1]
    elif kind == MIXED:
        end_users = widths.shape[0]
    if shared != 0:
        tally[ONCE] += hi - lo
        tally[GRAPHLETS] += 1
        feeds = net.type_feed[net.type_feed_start[kind] : net.type_feed_start[kind + 1]]
        at = lo
        while at < hi:
            stop = compose(feeds, words, shared, order, x, at, hi, grown, flat)
            after = stop
            while after < hi and order[after] == order[stop]:
                after += 1
            if after > stop:
                tally[EVENTS] += 1
            for k in range(users, end_users):
                query = use[k]
                row = intake[query, kind]
                if not shares(intakes, row, shared):
                    continue
                for i in range(count[query]):
                    vector = open_[query, i]
                    if flat[0] > 0:
                        absorb(
                            intakes, row, room, widths[query], grown, flat, vector, m, e,
                            sum_m, sum_e, all_m, all_e,
                        )  # fmt: skip
                    if after > stop and untied:
                        alone(
                            intakes, row, room, widths[query], words, x, stop, after, vector, m, e,
                            sum_m, sum_e, all_m, all_e,
                        )  # fmt: skip
                    elif after > stop:
                        walk(
                            net, query, words, none, order, x, stop, after, vector, m, e,
                            fresh_m, fresh_e, sum_m, sum_e,
                        )  # fmt: skip
            at = after
    for k in range(users, end_users):
        query = use[k] if kind >= 0 else k
        row = intake[query, kind] if kind >= 0 else -1
        if shares(intakes, row, shared):
            continue
        tally[EACH] += (hi - lo) * count[query]
        for i in range(count[query]):
            vector = open_[query, i]
            if row >= 0 and untied:
                alone(
                    intakes, row, room, widths[query], words, x, lo, hi, vector, m, e,
                    sum_m, sum_e, all_m, all_e,
                )  # fmt: skip
            else:
                walk(
                    net, query, words, none, order, x, lo, hi, vector, m, e,
                    fresh_m, fresh_e, sum_m, sum_e,
                )  # fmt: skip


@kernel
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
    vectors, size = blank_vectors(net, slots, overlap, x.shape[0])
    m, e, open_, count = vectors.m, vectors.e, vectors.open, vectors.held
    free = np.arange(slots) * size
    frees = slots
    slot_of = np.zeros(run_query.shape[0], np.int64)
    opened, closed = 0, 0
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
        apply_piece(
            net, words, order, x, pieces.lo[piece], pieces.hi[piece], pieces.kind[piece],
            pieces.untied[piece], shared[piece], vectors, tally,
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
