"""The naive oracle: what a query means, computed by building every trend.

1. Read the events in their order; split them into partitions (§5).
2. Per window and partition, enumerate the trends of each part of the pattern (§3, `matching`).
3. Gather them by group; pair them for `AND` (choice 5, `results`).
4. Aggregate each group in exact arithmetic (§6, `aggregates`), then apply HAVING.

It is exponential on purpose. Every fast path is compared with it on small inputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from trendloom.errors import LimitError, QueryMeaningError
from trendloom.language.nodes import Aggregate, CountWindow, GroupKey, Pattern, Query, Semantics
from trendloom.testing.aggregates import aggregate, read_aggregate
from trendloom.testing.builders import stream
from trendloom.testing.conditions import classify, equivalences
from trendloom.testing.expressions import satisfied
from trendloom.testing.matching import Rules, matches
from trendloom.testing.reading import read_query
from trendloom.testing.records import clock_for, is_nan, read_events
from trendloom.testing.results import group_of, groups_of, parts_of, results_of
from trendloom.testing.slices import is_on_change, slices

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trendloom.testing.matching import Events, Match
    from trendloom.testing.records import Clock, Row
    from trendloom.testing.results import Group

Window = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class Trend:
    """One trend: pairs (index of the event in the input, variable), where it was found.

    `window` is (None, None) without a window; `partition` is the values of the equivalence
    attributes, then of the plain GROUP-BY attributes; `part` is the part of an `AND`.
    """

    elements: tuple[tuple[int, str], ...]
    window: tuple[Any, Any] = (None, None)
    partition: tuple[Any, ...] = ()
    part: int = 0

    def __len__(self) -> int:
        return len(self.elements)

    def contains(self, other: Trend) -> bool:
        """Is the other trend a proper sub-sequence of this one, in the same place?"""
        mine = iter(self.elements)
        return (
            self.elements != other.elements
            and (self.window, self.partition, self.part)
            == (other.window, other.partition, other.part)
            and all(element in mine for element in other.elements)
        )


@dataclass(frozen=True, slots=True)
class _Found:
    """A trend with its events, before it is shown or counted."""

    window: Window
    partition: tuple[Any, ...]
    part: int
    group: Group
    match: Match


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of a query, and how many trends they aggregate, all windows together."""

    rows: list[Row]
    trends: int


def naive(
    query: str | Query,
    events: str | list[Row],
    *,
    time: str = "time",
    type: str | None = None,  # noqa: A002 - the name that users type
    event_type: str | None = None,
    tick: str = "s",
    tiebreak: str | None = None,
    limit: int | None = None,
) -> list[Row]:
    """The result rows of a query that has a RETURN.

    Keys: `window_start`, `window_end` (None without a window), then one per RETURN item. COUNT is
    an int; SUM an int over ints, else a Fraction; AVG and VARIANCE are Fractions; STDDEV and LOG2
    are floats. Ordered by window, then group (nulls last). More trends than `limit`, over
    all windows, raise `LimitError`.
    """
    return answer(
        query,
        events,
        time=time,
        type=type,
        event_type=event_type,
        tick=tick,
        tiebreak=tiebreak,
        limit=limit,
    ).rows


def answer(
    query: str | Query,
    events: str | list[Row],
    *,
    time: str = "time",
    type: str | None = None,  # noqa: A002
    event_type: str | None = None,
    tick: str = "s",
    tiebreak: str | None = None,
    limit: int | None = None,
) -> Answer:
    """What `naive` returns, with the number of trends behind it."""
    asked = read_query(query)
    rows = stream(events) if isinstance(events, str) else events
    clock = clock_for(rows, time, tick)
    records = read_events(rows, clock, time, type, event_type, tiebreak)
    by_window: dict[Window, list[_Found]] = {
        (piece.start, piece.end): [] for piece in slices(asked.window, records, (), clock)
    }
    for found in _find(asked, records, clock, limit):
        by_window.setdefault(found.window, []).append(found)
    answers = _answers(asked, by_window)
    kept = [
        (window, group, results)
        for window, group, results in answers
        if asked.having is None or _having(asked, group, results)
    ]
    kept.sort(key=lambda one: (_sortable(one[0]), _sortable(one[1])))
    shown = [
        _window_columns(window, asked, clock) | _row(asked, group, results)
        for window, group, results in kept
    ]
    return Answer(shown, sum(map(len, by_window.values())))


def trends(
    query: str | Query | Pattern,
    events: str | list[Row],
    *,
    time: str = "time",
    type: str | None = None,  # noqa: A002 - the name that users type
    event_type: str | None = None,
    tick: str = "s",
    tiebreak: str | None = None,
    semantics: Semantics | None = None,
    complete: bool = False,
    limit: int | None = None,
) -> list[Trend]:
    """Every trend of a query or of a bare pattern: `trends("SEQ(A+, B)", "a1 b2 a3 a4")`.

    `semantics` replaces the query's. With `complete`, only those that are not a proper
    sub-sequence of another trend of the same window and partition (§7).
    """
    asked = read_query(query, semantics)
    rows = stream(events) if isinstance(events, str) else events
    clock = clock_for(rows, time, tick)
    records = read_events(rows, clock, time, type, event_type, tiebreak)
    found = [
        Trend(
            tuple((event.index, variable) for event, variable in one.match),
            tuple(_window_columns(one.window, asked, clock).values()),
            one.partition,
            one.part,
        )
        for one in _find(asked, records, clock, limit)
    ]
    if not complete:
        return found
    return [one for one in found if not any(other.contains(one) for other in found)]


def _find(query: Query, records: Events, clock: Clock, limit: int | None) -> Iterator[_Found]:
    """Every trend of every part, window and partition."""
    plain = [key.attribute for key in query.group_by if key.variable is None]
    attributes = tuple(dict.fromkeys((*equivalences(query), *plain)))
    agreements = tuple(key for key in query.group_by if key.variable is not None)
    rules = Rules(classify(query), query.semantics, agreements)
    left = limit
    for values, partition in _partitions(records, attributes).items():
        shared = dict(zip(attributes, values, strict=True))
        for piece in slices(query.window, records, partition, clock):
            for number, part in enumerate(parts_of(query.pattern)):
                for match in matches(part, piece.events, rules):
                    if left is not None:
                        left -= 1
                        if left < 0:
                            raise LimitError(f"There are more than {limit} trends.")
                    group = group_of(match, part, query.group_by, shared)
                    yield _Found((piece.start, piece.end), values, number, group, match)


def _partitions(records: Events, attributes: tuple[str, ...]) -> dict[tuple[Any, ...], Events]:
    """The events by the values of the attributes; one with a null among them is nowhere."""
    partitions: dict[tuple[Any, ...], Events] = {}
    for record in records:
        values = tuple(record[attribute] for attribute in attributes)
        if not any(value is None or is_nan(value) for value in values):
            partitions[values] = (*partitions.get(values, ()), record)
    return partitions


def _answers(
    query: Query, by_window: dict[Window, list[_Found]]
) -> Iterator[tuple[Window, Group, list[Match]]]:
    """The results per window and group that are worth a row."""
    before: dict[Group, list[Any]] = {}
    for window, found in sorted(by_window.items(), key=lambda one: _sortable(one[0])):
        per_part = [
            [(one.group, one.match) for one in found if one.part == number]
            for number in range(len(parts_of(query.pattern)))
        ]
        here = {group: results_of(query, per_part, group) for group in groups_of(per_part)}
        if not is_on_change(query.window):
            yield from ((window, group, results) for group, results in here.items() if results)
            continue
        # Choice 11: a row where a RETURN value differs from the group's row before, which at
        # first is that of no trend.
        for group in dict.fromkeys((*before, *here)):
            results = here.get(group, [])
            values = list(_row(query, group, results).values())
            if values != before.get(group, list(_row(query, group, []).values())):
                yield window, group, results
            before[group] = values


def _row(query: Query, group: Group, results: list[Match]) -> Row:
    return {
        item.name: aggregate(item.value, results)
        if isinstance(item.value, Aggregate)
        else _group_value(query, item.value, group)
        for item in query.returns
    }


def _group_value(query: Query, wanted: GroupKey, group: Group) -> Any:
    for key, value in zip(query.group_by, group, strict=True):
        if key == wanted or (key.attribute == wanted.attribute and wanted.variable is None):
            return value
    raise QueryMeaningError(f"{wanted} is not in GROUP-BY.", text=query.text)


def _having(query: Query, group: Group, results: list[Match]) -> bool:
    row = _row(query, group, results)

    def lookup(leaf: exp.Expr) -> tuple[bool, Any]:
        wanted = read_aggregate(leaf)
        if wanted is not None:
            return True, aggregate(wanted, results)
        if not isinstance(leaf, exp.Column):
            return False, None
        if not leaf.table and leaf.name in row:
            return True, row[leaf.name]
        return True, _group_value(query, GroupKey(leaf.name, leaf.table or None), group)

    return query.having is None or satisfied(query.having.tree, lookup)


def _window_columns(window: Window, query: Query, clock: Clock) -> Row:
    start, end = window
    if start is None or end is None:
        return {"window_start": None, "window_end": None}
    if isinstance(query.window, CountWindow):
        return {"window_start": start, "window_end": end}
    return {"window_start": clock.show(start), "window_end": clock.show(end)}


def _sortable(values: tuple[Any, ...]) -> list[tuple[bool, Any]]:
    return [(value is None, 0 if value is None else value) for value in values]
