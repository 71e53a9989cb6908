"""Is the pattern one that has a meaning? Checks that need no automaton, with places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trendloom.errors import Place, QueryMeaningError
from trendloom.language.nodes import (
    Both,
    Event,
    Not,
    Pattern,
    Repeat,
    Sequence,
    children,
    events_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


def conjuncts_of(pattern: Pattern) -> tuple[Pattern, ...]:
    """The parts of a top-level AND, flattened; else the pattern itself."""
    if not isinstance(pattern, Both):
        return (pattern,)
    return tuple(part for child in pattern.parts for part in conjuncts_of(child))


def check_shape(pattern: Pattern, text: str) -> None:
    """Raises for AND below the top, NOT out of place or nested."""
    for part in conjuncts_of(pattern):
        _check(part, text, guard_allowed=False, inside_not=False)


def positive_events(pattern: Pattern) -> Iterator[Event]:
    if isinstance(pattern, Not):
        return
    if isinstance(pattern, Event):
        yield pattern
    for child in children(pattern):
        yield from positive_events(child)


def negated_events(pattern: Pattern) -> Iterator[Event]:
    if isinstance(pattern, Not):
        yield from events_of(pattern)
    else:
        for child in children(pattern):
            yield from negated_events(child)


def admits_empty(pattern: Pattern) -> bool:
    """Whether the pattern derives the empty word (guards aside)."""
    match pattern:
        case Event():
            return False
        case Not():
            return True
        case Repeat(body=body, low=low):
            return low == 0 or admits_empty(body)
        case Sequence(parts=parts):
            return all(admits_empty(part) for part in parts)
    return any(admits_empty(part) for part in children(pattern))


def _check(pattern: Pattern, text: str, *, guard_allowed: bool, inside_not: bool) -> None:
    match pattern:
        case Both(place=place):
            raise _error(
                "AND stands at the top of a pattern only.",
                text,
                place,
                "Use OR, SEQ, or two queries.",
            )
        case Not(body=body, place=place):
            if inside_not:
                raise _error(
                    "NOT inside NOT is not supported.", text, place, "Remove the inner NOT."
                )
            if not guard_allowed:
                raise _error(
                    "NOT stands only between the parts of a SEQ that has a positive part.",
                    text,
                    place,
                    "For example SEQ(A, NOT C, B).",
                )
            if admits_empty(body):
                raise _error(
                    "The negated pattern also matches nothing at all, so its guard could not hold.",
                    text,
                    place,
                    "Use NOT C instead of NOT C* or NOT C?.",
                )
            _check(body, text, guard_allowed=False, inside_not=True)
        case Sequence(parts=parts):
            positive = any(not isinstance(part, Not) for part in parts)
            for part in parts:
                _check(part, text, guard_allowed=positive, inside_not=inside_not)
        case _:
            for child in children(pattern):
                _check(child, text, guard_allowed=False, inside_not=inside_not)


def _error(cause: str, text: str, place: Place, remedy: str) -> QueryMeaningError:
    return QueryMeaningError(cause, text=text, place=place, remedy=remedy)
