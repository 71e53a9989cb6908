"""Conditions between consecutive events as places in an order of values, for one chunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trendloom.engine.columns import pair_columns
from trendloom.kernels.ranks import EQUAL, GROUPED, LESS, LESS_OR_EQUAL, ORDERED, Ranks, place
from trendloom.kernels.words import place_words, to_words
from trendloom.plan.lookups import are_paired
from trendloom.plan.pairs import Op

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.plan.lookups import Lookup
    from trendloom.plan.pairs import Comparison
    from trendloom.plan.plan import Part

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

LESSER, GREATER = (Op.LT, Op.LE), (Op.GT, Op.GE)


@dataclass(frozen=True, slots=True)
class Ranking:
    """One order of the events that may be variable `earlier`, for those that may be `later`."""

    earlier: int
    later: int
    equalities: tuple[Comparison, ...]
    op: Op | None
    left: int = 0
    right: int = 0

    @property
    def is_of_one_column(self) -> bool:
        """Whether an event is compared by the value by which it has its place."""
        same = (self.earlier, self.left) == (self.later, self.right)
        return self.op is not None and same and not self.equalities


@dataclass(frozen=True, slots=True)
class RankingPair:
    """Two of the orders, by number: who is before in both qualifies. One order may be both."""

    earlier: int
    later: int
    first: int
    second: int


def rankings_of(
    lookups: dict[tuple[int, int], Lookup],
) -> tuple[list[Ranking], list[RankingPair]]:
    """The orders of all steps, and, where any step has two comparisons, which go together.

    Several orders of a step are alternatives, and so are several pairs.
    """
    rankings: list[Ranking] = []
    pairs = []
    for (earlier, later), lookup in lookups.items():
        sides: list[range] = []
        for some in (lookup.comparisons[:1], lookup.comparisons[1:]):
            orders = _orders(some) if some or not sides else []
            sides.append(range(len(rankings), len(rankings) + len(orders)))
            rankings += [
                Ranking(earlier, later, lookup.equalities, op, left, right)
                for op, left, right in orders
            ]
        firsts, seconds = sides
        for first in firsts:
            pairs += [RankingPair(earlier, later, first, second) for second in seconds or (first,)]
    return rankings, pairs if are_paired(lookups) else []


def _orders(comparisons: tuple[Comparison, ...]) -> list[tuple[Op | None, int, int]]:
    """Of one comparison or none. Not equal is less or greater: two orders."""
    return [
        (op, one.left, one.right)
        for one in comparisons
        for op in ((Op.LT, Op.GT) if one.op is Op.NE else (one.op,))
    ] or [(None, 0, 0)]


def rank(part: Part, chunk: Chunk, masks: NDArray[np.uint64], rankings: Sequence[Ranking]) -> Ranks:
    """The places of a chunk's events in every order."""
    columns = pair_columns(part, chunk)
    shape = (len(rankings), len(chunk))
    ranks = Ranks(
        left=np.full(shape, -1, np.int32),
        left_start=np.zeros(shape, np.int32),
        right=np.zeros(shape, np.int32),
        right_start=np.zeros(shape, np.int32),
        size=np.zeros((len(rankings), len(chunk) + 1), np.int32),
        lefts=np.zeros(len(rankings), np.int64),
        kind=np.array([_kind(one) for one in rankings], np.int64),
    )
    for number, one in enumerate(rankings):
        _rank(number, one, columns, masks, ranks)
    return ranks


def some_ranks(ranks: Ranks, lo: int, hi: int) -> Ranks:
    """Of the events `lo : hi` only, in places as they are."""
    if hi - lo == ranks.left.shape[1]:
        return ranks
    return ranks._replace(
        left=np.ascontiguousarray(ranks.left[:, lo:hi]),
        left_start=np.ascontiguousarray(ranks.left_start[:, lo:hi]),
        right=np.ascontiguousarray(ranks.right[:, lo:hi]),
        right_start=np.ascontiguousarray(ranks.right_start[:, lo:hi]),
    )


def admits(one: Ranking) -> int:
    """Whether equal values qualify, as the kernels name it."""
    return LESS if one.op in (Op.LT, Op.GT) else LESS_OR_EQUAL


def _kind(ranking: Ranking) -> int:
    if ranking.op is None:
        return EQUAL
    return GROUPED if ranking.equalities else ORDERED


def _rank(
    number: int, one: Ranking, columns: Floats, masks: NDArray[np.uint64], ranks: Ranks
) -> None:
    lefts = [columns[c.left] for c in one.equalities]
    rights = [columns[c.right] for c in one.equalities]
    if one.op is not None:
        lefts.append(columns[one.left])
        rights.append(columns[one.right])
    which = admits(one)
    if one.is_of_one_column:
        events = _present(masks, one.earlier, lefts)
        key = lefts[0] if len(events) == len(masks) else lefts[0][events]
        words, bits, shift = to_words(key, one.op in GREATER)
        words.sort()
        place_words(words, bits, shift, key, one.op in GREATER, which, events, ranks, number)
        return
    left_events = _present(masks, one.earlier, lefts)
    right_events = _present(masks, one.later, rights)
    fields = [
        np.concatenate([left[left_events], right[right_events]])
        for left, right in zip(lefts, rights, strict=True)
    ]
    key = fields.pop() if one.op is not None else np.zeros(len(left_events) + len(right_events))
    if one.op in GREATER:
        key = -key
    group = _numbered(fields)
    order = np.lexsort((key, group)) if len(group) else np.argsort(key)
    place(order, len(left_events), key, group, which, left_events, right_events, ranks, number)


def _present(masks: NDArray[np.uint64], variable: int, fields: Sequence[Floats]) -> Ints:
    """Events that may be the variable and have all values: null compares with nothing."""
    present = (masks >> np.uint64(variable)) & np.uint64(1) != 0
    for values in fields:
        present &= ~np.isnan(values)
    return np.flatnonzero(present)


def _numbered(fields: Sequence[Floats]) -> Ints:
    """A number per row, equal where all fields are; nothing without fields."""
    if not fields:
        return np.zeros(0, np.int64)
    numbers = np.zeros(len(fields[0]), np.int64)
    for values in fields:
        distinct, number = np.unique(values, return_inverse=True)
        _, numbers = np.unique(numbers * len(distinct) + number, return_inverse=True)
    return numbers.astype(np.int64)
