"""MIN and MAX over bursts: what many events of a letter do is what the least of them does.

Values are keys whose least is wanted (`engine/columns.py`). A cell has a least key per lane, and
whether any trend ends in it. A burst of E, taken once or as E+, gives its targets the lesser of
what its first event takes up and of the least key in the burst: one look per query and burst, at a
number that is found once for all queries with that letter.

Lengths are keys as well, negative for the longest. A burst adds one event to the shortest trend,
and to the longest, if it is of E+, one of each of its time points.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.burst_net import BEGINS, LISTS, SOURCES, TARGETS, Ints, Net, Words
from trendloom.kernels.burst_pieces import NOTHING, Pieces
from trendloom.kernels.compiled import kernel
from trendloom.kernels.extreme import ABSENT

Bools = NDArray[np.bool_]


@kernel
def least_of_pieces(words: Words, bit: int, keys: Ints, lo: Ints, hi: Ints) -> Ints:
    """Per piece: the least key of its events of the letter."""
    least = np.full(lo.shape[0], ABSENT, np.int64)
    for piece in range(lo.shape[0]):
        for event in range(lo[piece], hi[piece]):
            if (words[event] >> np.uint64(bit)) & np.uint64(1) != 0:
                least[piece] = min(least[piece], keys[event])
    return least


@kernel
def points_of_pieces(words: Words, bit: int, order: Ints, lo: Ints, hi: Ints) -> Ints:
    """Per piece: how many time points have events of the letter."""
    points = np.zeros(lo.shape[0], np.int64)
    for piece in range(lo.shape[0]):
        before = -1
        for event in range(lo[piece], hi[piece]):
            if (words[event] >> np.uint64(bit)) & np.uint64(1) == 0:
                continue
            if before < 0 or order[event] != order[before]:
                points[piece] += 1
            before = event
    return points


@kernel
def fold_extremes(
    net: Net,
    query: int,
    words: Words,
    order: Ints,
    pieces: Pieces,
    first: Ints,
    last: Ints,
    keys: Ints,
    feed: Ints,
    grows: Ints,
    uses: Bools,
    some: Bools,
    least: Ints,
    out: Ints,
) -> None:
    """Window r is pieces `first[r]` to `last[r]`; out is [window, lane].

    `keys` are [lane, event], `feed` [letter of the query, lane]: whether its events have values for
    the lane; `grows` per lane: what an event adds, if that is of lengths, else 0; `uses` per type,
    `some` [type, piece] and `least` [lane, piece] of shared letters: of lengths, what a piece adds.
    """
    lanes = keys.shape[0]
    cells = net.cells[query]
    reached, fresh_reached = np.zeros(cells, np.bool_), np.zeros(cells, np.bool_)
    low = np.full((cells, lanes), ABSENT, np.int64)
    fresh = np.full((cells, lanes), ABSENT, np.int64)
    x = np.empty(lanes, np.int64)
    head, end = net.letter_start[query], net.letter_start[query + 1]
    for run in range(first.shape[0]):
        reached[:] = False
        low[:] = ABSENT
        for piece in range(first[run], last[run] + 1):
            kind = pieces.kind[piece]
            if kind == NOTHING or (kind >= 0 and not uses[kind]):
                continue
            row = net.intake[query, kind] if kind >= 0 else -1
            if row >= 0:
                if not some[kind, piece]:
                    continue
                any_ = net.intakes[row, BEGINS] != 0
                for lane in range(lanes):
                    x[lane] = 0 if any_ and grows[lane] != 0 else ABSENT
                for k in range(LISTS, LISTS + net.intakes[row, SOURCES]):
                    cell = net.intakes[row, k]
                    any_ = any_ or reached[cell]
                    for lane in range(lanes):
                        x[lane] = min(x[lane], low[cell, lane])
                if not any_:
                    continue
                start = LISTS + net.room
                for k in range(start, start + net.intakes[row, TARGETS]):
                    cell = net.intakes[row, k]
                    reached[cell] = True
                    for lane in range(lanes):
                        mine = least[kind * lanes + lane, piece]
                        if grows[lane] != 0:
                            mine += x[lane]
                        else:
                            mine = min(mine, x[lane])
                        low[cell, lane] = min(low[cell, lane], mine)
                continue
            at = pieces.lo[piece]
            while at < pieces.hi[piece]:
                begin = at
                while at < pieces.hi[piece] and order[at] == order[begin]:
                    for letter in range(head, end):
                        bit = np.uint64(net.letter_bit[letter])
                        if (words[at] >> bit) & np.uint64(1) == 0:
                            continue
                        for step in range(net.step_start[letter], net.step_start[letter + 1]):
                            any_ = net.begins[step] != 0
                            for lane in range(lanes):
                                x[lane] = 0 if any_ and grows[lane] != 0 else ABSENT
                            for k in range(net.source_start[step], net.source_start[step + 1]):
                                cell = net.source[k]
                                any_ = any_ or reached[cell]
                                for lane in range(lanes):
                                    x[lane] = min(x[lane], low[cell, lane])
                            if not any_:
                                continue
                            cell = net.target[step]
                            fresh_reached[cell] = True
                            for lane in range(lanes):
                                mine = x[lane]
                                if grows[lane] != 0:
                                    mine += grows[lane]
                                elif feed[letter - head, lane] != 0:
                                    mine = min(mine, keys[lane, at])
                                fresh[cell, lane] = min(fresh[cell, lane], mine)
                    at += 1
                for event in range(begin, at):
                    for letter in range(head, end):
                        bit = np.uint64(net.letter_bit[letter])
                        if (words[event] >> bit) & np.uint64(1) == 0:
                            continue
                        for k in range(net.clear_start[letter], net.clear_start[letter + 1]):
                            reached[net.clear[k]] = False
                            low[net.clear[k]] = ABSENT
                for cell in range(cells):
                    if fresh_reached[cell]:
                        reached[cell] = True
                        fresh_reached[cell] = False
                        for lane in range(lanes):
                            low[cell, lane] = min(low[cell, lane], fresh[cell, lane])
                            fresh[cell, lane] = ABSENT
        for k in range(net.accept_start[query], net.accept_start[query + 1]):
            for lane in range(lanes):
                out[run, lane] = min(out[run, lane], low[net.accept[k], lane])
