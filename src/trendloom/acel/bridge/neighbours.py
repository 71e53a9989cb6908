"""Which events of a pattern can be neighbours, and which occur once (for `from_trends`)."""

from __future__ import annotations

from dataclasses import replace

from trendloom.language.nodes import Either, Event, Not, Pattern, Repeat, Sequence, events_of
from trendloom.pattern.positions import Positions


def at_most_once(pattern: Pattern) -> frozenset[str]:
    """The variables that no word has twice."""
    every = {str(event.variable) for event in events_of(pattern)}
    match pattern:
        case Event():
            return frozenset(every)
        case Repeat(body=body, high=high):
            return at_most_once(body) if high is not None and high <= 1 else frozenset()
        case Either(parts=parts):
            return frozenset(every) - _repeated(parts)
        case Sequence(parts=parts):
            names = [{str(event.variable) for event in events_of(part)} for part in parts]
            twice = {v for k, some in enumerate(names) for v in some if _elsewhere(v, k, names)}
            return frozenset(every) - _repeated(parts) - twice
    return frozenset()


def _elsewhere(variable: str, at: int, names: list[set[str]]) -> bool:
    return any(variable in some for k, some in enumerate(names) if k != at)


def _repeated(parts: tuple[Pattern, ...]) -> set[str]:
    return {
        str(event.variable)
        for part in parts
        for event in events_of(part)
        if event.variable not in at_most_once(part)
    }


def without_guards(pattern: Pattern) -> Pattern | None:
    """The pattern without its NOT; None if nothing is left."""
    match pattern:
        case Not():
            return None
        case Repeat(body=body):
            inner = without_guards(body)
            return None if inner is None else replace(pattern, body=inner)
        case Sequence(parts=parts) | Either(parts=parts):
            kept = tuple(one for one in map(without_guards, parts) if one is not None)
            return replace(pattern, parts=kept) if kept else None
    return pattern


def repeats_only(pattern: Pattern, variable: str) -> bool:
    """Whether the variable follows itself only inside of its own `V+`."""
    positions = Positions.of(_unrepeated(pattern, variable))
    labels = positions.labels
    return not any(
        labels[p] == variable == labels[q] and guards for (p, q), guards in positions.follow.items()
    )


def _unrepeated(pattern: Pattern, variable: str) -> Pattern:
    match pattern:
        case Repeat(body=Event(variable=name), low=low) if name == variable:
            return replace(pattern, low=min(low, 1), high=1)
        case Repeat(body=body):
            return replace(pattern, body=_unrepeated(body, variable))
        case Sequence(parts=parts) | Either(parts=parts):
            return replace(pattern, parts=tuple(_unrepeated(part, variable) for part in parts))
    return pattern


def follows_directly(pattern: Pattern, earlier: str, later: str) -> bool:
    """Whether an event of the second that has one of the first before it has one right before."""
    positions = Positions.of(pattern)
    labels = positions.labels
    reached = {p for p, name in enumerate(labels) if name == earlier}
    pending = list(reached)
    while pending:
        p = pending.pop()
        fresh = {b for a, b in positions.follow if a == p} - reached
        reached |= fresh
        pending.extend(fresh)
    return not any(
        labels[b] == later and labels[a] != earlier and a in reached for a, b in positions.follow
    )
