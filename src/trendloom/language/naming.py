"""Every occurrence of an event type gets a variable (semantics §2).

1. A named occurrence keeps its name.
2. An unnamed one takes its type's name if the type occurs once in the pattern, negated
   occurrences included.
3. The others become `A1`, `A2`, … from left to right; a number that makes a name already in use
   is left out.
4. The same name twice is allowed only in different branches of one OR, for the same type.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from trendloom.errors import QueryMeaningError
from trendloom.language.nodes import (
    Both,
    Either,
    Event,
    Not,
    Pattern,
    Query,
    Repeat,
    Sequence,
    children,
    events_of,
)
from trendloom.language.words import quote

if TYPE_CHECKING:
    from collections.abc import Iterator


def name_variables(query: Query) -> Query:
    """The same query with a variable on every event."""
    events = list(events_of(query.pattern))
    occurrences = Counter(event.type for event in events)
    taken = {event.variable for event in events if event.variable is not None}
    taken |= {event.type for event in events if occurrences[event.type] == 1}

    def fresh(kind: str) -> Iterator[str]:
        return (f"{kind}{n}" for n in count(1) if f"{kind}{n}" not in taken)

    numbered = {kind: fresh(kind) for kind in occurrences}

    def name(event: Event) -> Event:
        if event.variable is not None:
            return event
        once = occurrences[event.type] == 1
        return replace(event, variable=event.type if once else next(numbered[event.type]))

    named = iter([name(event) for event in events])
    pattern = _renamed(query.pattern, named)
    _check(pattern, query.text)
    return replace(query, pattern=pattern)


def _renamed(pattern: Pattern, named: Iterator[Event]) -> Pattern:
    """The pattern with its events, from left to right, replaced by the named ones."""
    match pattern:
        case Event():
            return next(named)
        case Repeat(body=body) | Not(body=body):
            return replace(pattern, body=_renamed(body, named))
        case Sequence(parts=parts) | Either(parts=parts) | Both(parts=parts):
            return replace(pattern, parts=tuple(_renamed(part, named) for part in parts))


def _check(pattern: Pattern, text: str) -> dict[str, Event]:
    """The variables of the pattern; an error where two parts share one without right."""
    if isinstance(pattern, Event):
        return {} if pattern.variable is None else {pattern.variable: pattern}
    found: dict[str, Event] = {}
    for child in children(pattern):
        for variable, event in _check(child, text).items():
            before = found.setdefault(variable, event)
            if before is event:
                continue
            if not isinstance(pattern, Either):
                raise QueryMeaningError(
                    f"The variable {quote(variable)} is used twice",
                    text=text,
                    place=event.place,
                    remedy="Only the branches of an OR may share a variable; "
                    "give this event another name.",
                )
            if before.type != event.type:
                raise QueryMeaningError(
                    f"The variable {quote(variable)} stands for {before.type} and for {event.type}",
                    text=text,
                    place=event.place,
                    remedy="The branches of an OR may share a variable of one type only; "
                    "give this event another name.",
                )
    return found
