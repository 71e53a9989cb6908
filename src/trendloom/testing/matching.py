"""Trends, one element after another, straight from the definition (§3).

A partial trend is extended by one (event, variable) at a time; each extension is checked against
every condition. Nothing is shared between trends and nothing is counted without being built.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trendloom.language.nodes import GroupKey, Pattern, Semantics
from trendloom.testing.words import endings, steps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trendloom.testing.conditions import Conditions
    from trendloom.testing.records import Record
    from trendloom.testing.words import Guards, Rest

Match = tuple[tuple["Record", str], ...]
Events = tuple["Record", ...]


@dataclass(frozen=True, slots=True)
class Partial:
    """A trend so far, and what each derivation whose guards hold so far has still to write."""

    elements: Match
    rests: tuple[Rest, ...]

    @property
    def last(self) -> Record | None:
        return self.elements[-1][0] if self.elements else None


@dataclass(frozen=True, slots=True)
class Rules:
    """What every trend of a query obeys, besides its pattern."""

    conditions: Conditions
    semantics: Semantics
    agreements: tuple[GroupKey, ...] = ()


def matches(pattern: Pattern, events: Events, rules: Rules) -> Iterator[Match]:
    """Every trend over these events: those of one partition in one window."""
    for match in _finished(Partial((), ((pattern,),)), events, rules):
        if all(condition.holds(len(match)) for condition in rules.conditions.of_length):
            yield match


def _finished(partial: Partial, events: Events, rules: Rules) -> Iterator[Match]:
    if partial.elements and any(
        _unbroken(guards, events, partial.last, None, rules)
        for rest in partial.rests
        for guards in endings(rest)
    ):
        yield partial.elements
    for extended in _allowed(partial, events, rules):
        yield from _finished(extended, events, rules)


def _allowed(partial: Partial, events: Events, rules: Rules) -> list[Partial]:
    """The extensions that the semantics allows."""
    extensions = list(_extensions(partial, events, rules))
    last = partial.last
    if last is None or not extensions or rules.semantics is Semantics.ANY:
        return extensions
    if rules.semantics is Semantics.NEXT:
        point = min(extended.elements[-1][0].order for extended in extensions)
    else:
        point = min(event.order for event in events if event.order > last.order)
    return [extended for extended in extensions if extended.elements[-1][0].order == point]


def _extensions(partial: Partial, events: Events, rules: Rules) -> Iterator[Partial]:
    """The pairs (event, variable) by which conditions 1–6 let the partial trend go on."""
    last = partial.last
    for event in events:
        if last is not None and event.order <= last.order:
            continue
        written: dict[str, dict[Rest, None]] = {}
        for rest in partial.rests:
            for step in steps(rest):
                variable = step.letter.variable or step.letter.type
                if step.letter.type == event.type and _unbroken(
                    step.guards, events, last, event, rules
                ):
                    written.setdefault(variable, {})[step.rest] = None
        for variable, rests in written.items():
            if _fits(partial.elements, event, variable, rules):
                yield Partial((*partial.elements, (event, variable)), tuple(rests))


def _fits(elements: Match, event: Record, variable: str, rules: Rules) -> bool:
    """Do the predicates let the event follow as this variable?"""
    conditions = rules.conditions
    if not all(one.holds(event) for one in conditions.local if one.variable == variable):
        return False
    if elements:
        last, before = elements[-1]
        for adjacent in conditions.adjacent:
            if (adjacent.before, adjacent.after) == (before, variable) and not adjacent.holds(
                last, event
            ):
                return False
    for anchored in conditions.anchored:
        if anchored.other == variable and not all(
            anchored.holds(anchor, event) for anchor, name in elements if name == anchored.anchor
        ):
            return False
    for key in rules.agreements:
        if key.variable == variable and not _agrees(key.attribute, elements, event, variable):
            return False
    return True


def _agrees(attribute: str, elements: Match, event: Record, variable: str) -> bool:
    value = event[attribute]
    return value is not None and all(
        other[attribute] == value for other, name in elements if name == variable
    )


def _unbroken(
    guards: Guards, events: Events, after: Record | None, before: Record | None, rules: Rules
) -> bool:
    """Does no negated pattern match strictly between two events (None: an end of the window)?"""
    if not guards:
        return True
    between = tuple(
        event
        for event in events
        if (after is None or event.order > after.order)
        and (before is None or event.order < before.order)
    )
    # Any match counts, whatever the query's semantics; only local predicates speak of its events.
    free = Rules(type(rules.conditions)(local=rules.conditions.local), semantics=Semantics.ANY)
    return all(
        next(_finished(Partial((), ((guard.body,),)), between, free), None) is None
        for guard in guards
    )
