"""Results of one window and group: trends, or pairs of trends for `AND` (choice 5)."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from trendloom.errors import QueryMeaningError
from trendloom.language.nodes import Aggregate, Both, Function, Semantics, Trends, events_of
from trendloom.testing.aggregates import read_aggregate
from trendloom.testing.words import labels_one_way, overlap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trendloom.language.nodes import GroupKey, Pattern, Query
    from trendloom.testing.matching import Match

Group = tuple[Any, ...]


class _Every:
    """The group value of a trend whose part of an `AND` does not name the grouped variable."""

    def __repr__(self) -> str:
        return "EVERY"


EVERY = _Every()


def parts_of(pattern: Pattern) -> tuple[Pattern, ...]:
    """The parts of an `AND`; any other pattern is its own only part."""
    return pattern.parts if isinstance(pattern, Both) else (pattern,)


def group_of(
    match: Match, part: Pattern, keys: tuple[GroupKey, ...], shared: dict[str, Any]
) -> Group:
    """The group of one trend; `shared` holds what all events of its partition agree on."""
    variables = {event.variable for event in events_of(part)}
    group: list[Any] = []
    for key in keys:
        if key.variable is None:
            group.append(shared[key.attribute])
        elif key.variable not in variables:
            group.append(EVERY)
        else:
            values = (event[key.attribute] for event, name in match if name == key.variable)
            group.append(next(values, None))
    return tuple(group)


def groups_of(found: list[list[tuple[Group, Match]]]) -> list[Group]:
    """Every group in which each part has a trend."""
    known = [dict.fromkeys(group for group, _ in part) for part in found]
    merged: dict[Group, None] = {}
    for choice in product(*known):
        values = [
            [one for one in column if one is not EVERY] for column in zip(*choice, strict=True)
        ]
        if all(len(set(column)) == 1 for column in values):
            merged[tuple(column[0] for column in values)] = None
    return list(merged)


def results_of(query: Query, found: list[list[tuple[Group, Match]]], group: Group) -> list[Match]:
    """The results of one group, each as the elements of all its trends."""
    chosen = [[match for other, match in part if _belongs(other, group)] for part in found]
    parts = parts_of(query.pattern)
    if not any(overlap(left, right) for left, right in combinations(parts, 2)):
        return [tuple(one for match in choice for one in match) for choice in product(*chosen)]
    check_overlap(query)
    # Compared by their events: two different sequences, in no order.
    pairs = {
        frozenset((_events(left), _events(right))): (*left, *right)
        for left, right in product(*chosen)
        if _events(left) != _events(right)
    }
    return list(pairs.values())


def check_overlap(query: Query) -> None:
    """Overlapping parts mean something for a few queries only."""
    parts = parts_of(query.pattern)
    if (
        len(parts) != 2
        or query.semantics is Semantics.NEXT
        or not all(labels_one_way(part) for part in parts)
        or any(
            one.function is not Function.COUNT or not isinstance(one.argument, Trends)
            for one in _aggregates(query)
        )
    ):
        raise QueryMeaningError(
            "Overlapping parts of AND take two parts, COUNT(*), any-match or contiguous semantics "
            "and one labeling per sequence of types.",
            text=query.text,
        )


def _aggregates(query: Query) -> Iterator[Aggregate]:
    for item in query.returns:
        if isinstance(item.value, Aggregate):
            yield item.value
    if query.having is not None:
        for node in query.having.tree.walk():
            wanted = read_aggregate(node)
            if wanted is not None:
                yield wanted


def _belongs(group: Group, wanted: Group) -> bool:
    return all(one is EVERY or one == two for one, two in zip(group, wanted, strict=True))


def _events(match: Match) -> tuple[int, ...]:
    return tuple(event.index for event, _ in match)
