"""Sorted events cut into bursts (HAMLET Def. 4.1), and what tells queries apart in each of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.bitset import lowest
from trendloom.kernels.burst_net import Ints, Words
from trendloom.kernels.compiled import kernel

MIXED = -1
"""A time point with events of several types: they read what was before, then all add."""
NOTHING = -2
MOST = 200
"""Events of a burst: what it multiplies counts by stays below the radix of scaled numbers."""


class Pieces(NamedTuple):
    """Events `lo : hi` are of one type, and inside or outside of every window."""

    lo: Ints
    hi: Ints
    kind: Ints
    """The type, MIXED, or NOTHING."""
    untied: NDArray[np.bool_]
    differ: Words
    """Letters that do not go with the type's most common one in some event of the piece."""
    snapshots: Ints
    """Events that some sharing queries match and others do not (Def. 3.11)."""
    row: Ints
    """Of `unique`; -1 where all go together."""
    unique: NDArray[np.int32]
    """[row, letter]: events in which this letter is the only one that goes its own way."""


@kernel
def cut_pieces(
    words: Words,
    order: Ints,
    cuts: NDArray[np.bool_],
    type_of_bit: Ints,
    sharing: Words,
    common: Ints,
) -> Pieces:
    """`sharing` has, per type, the letters of sharing queries; `common` the one that most have.

    No piece crosses a cut. Events that are no letter belong to the piece they come in.
    """
    events = words.shape[0]
    lo, hi = np.empty(events, np.int64), np.empty(events, np.int64)
    kind, untied = np.empty(events, np.int64), np.empty(events, np.bool_)
    pieces = 0
    at = 0
    while at < events:
        first = at
        what = NOTHING
        while at < events and order[at] == order[first] and (at == first or not cuts[at]):
            if words[at] != 0:
                mine = type_of_bit[lowest(words[at])]
                what = mine if what in (NOTHING, mine) else MIXED
            at += 1
        last = pieces - 1
        single = at - first == 1
        goes_on = pieces > 0 and not cuts[first] and hi[last] - lo[last] < MOST
        if goes_on and (what in (kind[last], NOTHING) or kind[last] == NOTHING):
            hi[last] = at
            untied[last] = untied[last] and single
            if kind[last] == NOTHING:
                kind[last] = what
        else:
            lo[pieces], hi[pieces], kind[pieces], untied[pieces] = first, at, what, single
            pieces += 1
    lo, hi, kind, untied = lo[:pieces].copy(), hi[:pieces].copy(), kind[:pieces], untied[:pieces]
    differ, snapshots = np.zeros(pieces, np.uint64), np.zeros(pieces, np.int64)
    row = np.full(pieces, -1, np.int64)
    rows = 0
    for piece in range(pieces):
        if kind[piece] < 0 or sharing[kind[piece]] == 0:
            continue
        all_ = sharing[kind[piece]]
        lead = np.uint64(common[kind[piece]])
        for event in range(lo[piece], hi[piece]):
            word = words[event] & all_
            if word != all_ and word != 0:
                snapshots[piece] += 1
            if (word >> lead) & np.uint64(1) != 0:
                word ^= all_
            differ[piece] |= word
        if differ[piece] != 0:
            row[piece] = rows
            rows += 1
    unique = np.zeros((rows, 64), np.int32)
    for piece in range(pieces):
        if row[piece] < 0:
            continue
        all_ = sharing[kind[piece]]
        lead = np.uint64(common[kind[piece]])
        for event in range(lo[piece], hi[piece]):
            word = words[event] & all_
            if (word >> lead) & np.uint64(1) != 0:
                word ^= all_
            if word != 0 and (word & (word - np.uint64(1))) == 0:
                unique[row[piece], lowest(word)] += 1
    return Pieces(lo, hi, kind.copy(), untied.copy(), differ, snapshots, row, unique)
