"""What a formula means, word for word (paper, Figure 1 and §5). Slow; it is the definition.

The paper's bags have identities: a bag maps identifiers to events. Here an identifier says where an
event comes from: the stream, or one AGG of the formula. So AS, which unites all bags, holds an
event once though two variables hold it, and two AGGs that make equal events make two of them.
Results, and the two sides of AND, are compared as plain bags, without identities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trendloom.acel.aggregates import aggregate
from trendloom.acel.check import check
from trendloom.acel.conditions import BagCondition, Condition, bag_holds, holds
from trendloom.acel.demands import attributes_of
from trendloom.acel.depth import bounded
from trendloom.acel.events import TYPE, ComplexEvent, Event, Stream, Value
from trendloom.acel.nodes import (
    Aggregation,
    And,
    As,
    Contiguous,
    ContiguousIteration,
    Filter,
    Formula,
    Iteration,
    Next,
    OneEvent,
    Or,
    PairFilter,
    Project,
    ProjectAttributes,
    Sequence,
)
from trendloom.acel.parser import parse

if TYPE_CHECKING:
    from collections.abc import Iterable

STREAM = ""
"""The origin of events that the stream brings."""


class Mark(NamedTuple):
    """An event in a variable's bag: `origin`, `names` and its time are its identifier.

    `names` are the attributes that it has, be they null or not.
    """

    variable: str
    origin: str
    names: frozenset[str]
    event: Event


class Match(NamedTuple):
    """A complex event whose bags have identities."""

    start: int
    end: int
    marks: frozenset[Mark]

    def bags(self) -> ComplexEvent:
        pairs = ((mark.variable, mark.event) for mark in self.marks)
        return ComplexEvent.of(self.start, self.end, pairs)


@bounded
def denote(formula: Formula | str, over: Stream) -> frozenset[ComplexEvent]:
    """The set of complex events that the formula denotes over the stream."""
    if isinstance(formula, str):
        formula = parse(formula, over.schema)
    else:
        check(formula, over.schema)
    return frozenset(match.bags() for match in _matches(formula, over, "0"))


def _matches(formula: Formula, over: Stream, path: str) -> frozenset[Match]:
    """The formula's matches; the path to it in the whole formula names what it makes."""
    left, right = f"{path}0", f"{path}1"
    match formula:
        case OneEvent(word):
            return frozenset(
                Match(event.time, event.time, _read(word, event, over))
                for event in over.events
                if event.get(TYPE) == word
            )
        case Next(word):
            return frozenset(_first(word, over))
        case As(inner, variable):
            return frozenset(
                found._replace(
                    marks=found.marks | {mark._replace(variable=variable) for mark in found.marks}
                )
                for found in _matches(inner, over, left)
            )
        case Filter(inner, variable, condition):
            return frozenset(
                found
                for found in _matches(inner, over, left)
                if _passes(condition, _events(found, variable))
            )
        case PairFilter():
            return frozenset(
                found
                for found in _matches(formula.inner, over, left)
                if _pairs_pass(formula, found)
            )
        case Or(one, other):
            return _matches(one, over, left) | _matches(other, over, right)
        case And(one, other):
            also = {found.bags() for found in _matches(other, over, right)}
            return frozenset(found for found in _matches(one, over, left) if found.bags() in also)
        case Sequence(one, other):
            return _later(_matches(one, over, left), _matches(other, over, right))
        case Contiguous(one, other):
            return _directly(_matches(one, over, left), _matches(other, over, right))
        case Iteration(inner) | ContiguousIteration(inner):
            once = _matches(inner, over, left)
            join = _later if isinstance(formula, Iteration) else _directly
            found = once
            while not (longer := join(found, once)) <= found:
                found |= longer
            return found
        case Project(inner, variables):
            return frozenset(
                found._replace(
                    marks=frozenset(mark for mark in found.marks if mark.variable in variables)
                )
                for found in _matches(inner, over, left)
            )
        case ProjectAttributes(inner, variable, attributes):
            return frozenset(
                found._replace(
                    marks=frozenset(
                        _narrowed(mark, attributes) if mark.variable == variable else mark
                        for mark in found.marks
                    )
                )
                for found in _matches(inner, over, left)
            )
        case Aggregation(inner):
            return frozenset(
                found._replace(marks=found.marks | {_made(formula, found, path)})
                for found in _matches(inner, over, left)
            )


def _read(word: str, event: Event, over: Stream) -> frozenset[Mark]:
    return frozenset({Mark(word, STREAM, frozenset({TYPE, *over.schema[word]}), event)})


def _first(word: str, over: Stream) -> Iterable[Match]:
    for last in over.events:
        if last.get(TYPE) != word:
            continue
        marks = _read(word, last, over)
        yield Match(last.time, last.time, marks)
        for start in reversed(range(last.time)):
            if over.events[start].get(TYPE) == word:
                break
            yield Match(start, last.time, marks)


def _events(found: Match, variable: str) -> list[Event]:
    return [mark.event for mark in found.marks if mark.variable == variable]


def _passes(condition: Condition | BagCondition, events: list[Event]) -> bool:
    if isinstance(condition, BagCondition):
        return bag_holds(condition, events)
    return all(holds(condition, event.get) for event in events)


def _pairs_pass(formula: PairFilter, found: Match) -> bool:
    read, last = attributes_of(formula.condition), formula.last

    def values(event: Event, variable: str, last: bool) -> dict[str, Value]:
        owner = (variable, last)
        return {one.key: event.get(one.name) for one in read if (one.variable, one.last) == owner}

    earlier = _events(found, formula.left)
    return all(
        holds(
            formula.condition,
            {**values(one, formula.left, last), **values(other, formula.right, False)}.get,
        )
        for other in _events(found, formula.right)
        for one in (_last_before(earlier, other.time) if last else earlier)
    )


def _last_before(events: list[Event], time: int) -> list[Event]:
    """Events of one time are not in any order: several may be the last."""
    before = [event for event in events if event.time < time]
    latest = max((event.time for event in before), default=None)
    return [event for event in before if event.time == latest]


def _later(first: frozenset[Match], second: frozenset[Match]) -> frozenset[Match]:
    return frozenset(
        Match(one.start, other.end, one.marks | other.marks)
        for one in first
        for other in second
        if one.end < other.start
    )


def _directly(first: frozenset[Match], second: frozenset[Match]) -> frozenset[Match]:
    return frozenset(
        Match(one.start, other.end, one.marks | other.marks)
        for one in first
        for other in second
        if one.end + 1 == other.start
    )


def _narrowed(mark: Mark, attributes: Iterable[str]) -> Mark:
    names = mark.names & frozenset(attributes)
    return mark._replace(names=names, event=mark.event.restricted(names))


def _made(formula: Aggregation, found: Match, path: str) -> Mark:
    values = {
        assign.attribute: aggregate(assign.aggregate)(
            event.get(assign.source) for event in _events(found, assign.variable)
        )
        for assign in formula.assigns
    }
    return Mark(formula.variable, path, frozenset(values), Event.of(found.end, values))
