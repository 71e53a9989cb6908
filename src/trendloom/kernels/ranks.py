"""Places by value: what `X.a op NEXT(Y).b` asks, as a range of places.

Every event that may be X has a place of its own among them, in the order of a; of all events that
may be Y it is known how far the qualifying places go: `start <= place < right`. Places of one value
of the equalities (`X.k = NEXT(Y).k`) are neighbours, and `start` is the first of them; without
equalities it is 0. For > and >= the order is reversed, so a range always begins at its start.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel

Places = NDArray[np.int32]

ORDERED, GROUPED, EQUAL = 0, 1, 2
"""A comparison; one within equalities; equalities only."""
LESS, LESS_OR_EQUAL = 0, 1
"""Which places qualify, of those with the same values of the equalities."""
MARKED = 256
"""Places of a run are counted by marks among all places, if those are at most so many times more;
else they are sorted."""
SPARSE = 4
"""A run that holds less than every so many-th place gets places of its own."""


class Ranks(NamedTuple):
    """[ranking, event]; -1 for the place of an event that has none."""

    left: Places
    left_start: Places
    right: Places
    right_start: Places
    size: Places
    """[ranking, start]: how many places there are from a start on, with equal values."""
    lefts: NDArray[np.int64]
    """[ranking]: how many places there are."""
    kind: NDArray[np.int64]


@kernel
def place(
    sorted_rows: NDArray[np.int64],
    lefts: int,
    key: NDArray[np.float64],
    group: NDArray[np.int64],
    which: int,
    left_events: NDArray[np.int64],
    right_events: NDArray[np.int64],
    ranks: Ranks,
    ranking: int,
) -> None:
    """Writes the places of one ranking.

    Rows are the left sides of `left_events`, then the right sides of `right_events`; `sorted_rows`
    sorts them by group and key.
    """
    left, left_start = ranks.left[ranking], ranks.left_start[ranking]
    right, right_start = ranks.right[ranking], ranks.right_start[ranking]
    size = ranks.size[ranking]
    grouped = group.shape[0] > 0
    rows = sorted_rows.shape[0]
    start = 0
    places = 0
    at = 0
    group_from = 0
    while at < rows:
        first = sorted_rows[at]
        if grouped and (at == 0 or group[first] != group[sorted_rows[group_from]]):
            group_from = at
            start = places
        before = places
        end = at
        while (
            end < rows
            and key[sorted_rows[end]] == key[first]
            and (not grouped or group[sorted_rows[end]] == group[first])
        ):
            row = sorted_rows[end]
            if row < lefts:
                event = left_events[row]
                left[event] = places
                left_start[event] = start
                places += 1
            end += 1
        size[start] = places - start
        reach = before if which == LESS else places
        for k in range(at, end):
            row = sorted_rows[k]
            if row >= lefts:
                event = right_events[row - lefts]
                right[event] = reach
                right_start[event] = start
        at = end
    ranks.lefts[ranking] = places


@kernel
def _below(values: Places, bound: int) -> int:
    """How many of the sorted values are below a bound."""
    lo, hi = 0, values.shape[0]
    while lo < hi:
        middle = (lo + hi) >> 1
        if values[middle] < bound:
            lo = middle + 1
        else:
            hi = middle
    return lo


@kernel
def is_sparse(ranks: Ranks, lo: int, hi: int) -> bool:
    """Whether the events `lo : hi` have few of the places, and clearing all would be waste."""
    most = 0
    for ranking in range(ranks.lefts.shape[0]):
        most = max(most, int(ranks.lefts[ranking]))
    return most > SPARSE * (hi - lo)


@kernel
def room_to_narrow(ranks: Ranks, lo: NDArray[np.int64], hi: NDArray[np.int64]) -> Ranks:
    """Room for `narrow`, enough for the longest of the runs `lo[r] : hi[r]` that is sparse."""
    rankings, span = ranks.lefts.shape[0], 0
    for run in range(lo.shape[0]):
        if is_sparse(ranks, lo[run], hi[run]):
            span = max(span, hi[run] - lo[run])
    return Ranks(
        np.zeros((rankings, span), np.int32),
        np.zeros((rankings, span), np.int32),
        np.zeros((rankings, span), np.int32),
        np.zeros((rankings, span), np.int32),
        np.zeros((rankings, span + 1), np.int32),
        np.zeros(rankings, np.int64),
        ranks.kind,
    )


@kernel
def _ones(word: np.uint64) -> int:
    """How many bits of a word are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    low = np.uint64(0x3333333333333333)
    word = (word & low) + ((word >> np.uint64(2)) & low)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def _marked(here: Places, words: NDArray[np.uint64], before: Places) -> None:
    """Marks places; `before[w]` becomes how many there are before those of word w."""
    words[:] = np.uint64(0)
    for k in range(here.shape[0]):
        words[here[k] >> 6] |= np.uint64(1) << np.uint64(here[k] & 63)
    count = 0
    for w in range(words.shape[0]):
        before[w] = count
        count += _ones(words[w])


@kernel
def _marks_below(words: NDArray[np.uint64], before: Places, bound: int) -> int:
    """How many marks are below a bound."""
    bits = words[bound >> 6] & ((np.uint64(1) << np.uint64(bound & 63)) - np.uint64(1))
    return before[bound >> 6] + _ones(bits)


@kernel
def narrow(ranks: Ranks, lo: int, hi: int, own: Ranks) -> None:
    """The places that only the events `lo : hi` have; event `lo` becomes event 0."""
    for ranking in range(ranks.lefts.shape[0]):
        here = np.empty(hi - lo, np.int32)
        count = 0
        for event in range(lo, hi):
            if ranks.left[ranking, event] >= 0:
                here[count] = ranks.left[ranking, event]
                count += 1
        here = here[:count]
        by_marks = ranks.lefts[ranking] <= MARKED * count
        words = np.empty((ranks.lefts[ranking] >> 6) + 1 if by_marks else 0, np.uint64)
        before = np.empty(words.shape[0], np.int32)
        if by_marks:
            _marked(here, words, before)
        else:
            here = np.sort(here)
        grouped = ranks.kind[ranking] != ORDERED
        own.lefts[ranking] = count
        own.size[ranking, : count + 1] = 0
        own.size[ranking, 0] = count
        for event in range(lo, hi):
            at = event - lo
            left, right = ranks.left[ranking, event], ranks.right[ranking, event]
            if by_marks:
                own.left[ranking, at] = -1 if left < 0 else _marks_below(words, before, left)
                own.right[ranking, at] = _marks_below(words, before, right)
            else:
                own.left[ranking, at] = -1 if left < 0 else _below(here, left)
                own.right[ranking, at] = _below(here, right)
            own.left_start[ranking, at] = 0
            own.right_start[ranking, at] = 0
            if grouped:
                start, other = ranks.left_start[ranking, event], ranks.right_start[ranking, event]
                if by_marks:
                    own.left_start[ranking, at] = _marks_below(words, before, start)
                    own.right_start[ranking, at] = _marks_below(words, before, other)
                else:
                    own.left_start[ranking, at] = _below(here, start)
                    own.right_start[ranking, at] = _below(here, other)
        if grouped:
            own.size[ranking, 0] = 0
            for at in range(hi - lo):
                if own.left[ranking, at] >= 0:
                    own.size[ranking, own.left_start[ranking, at]] += 1
