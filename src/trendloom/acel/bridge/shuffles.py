"""AND: pairs of trends, one of each part, in any order of their events (SEMANTICS, choice 5).

A state says how far each part has come. An event is the next one of one part, or of several at
once: trends of a pair may share events. Anything may lie between, so steps are joined by `;`.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from trendloom.acel import nodes as n
from trendloom.acel.bridge.elimination import EMPTY, Elimination, Way
from trendloom.acel.bridge.steps import guards_of
from trendloom.language import nodes as t
from trendloom.pattern.positions import Positions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trendloom.acel.bridge.asked import Asked

NOT_BEGUN = -1
State = tuple[int, ...]


def shuffled(asked: Asked) -> n.Formula:
    """The formula of the pairs, without the conditions between events."""
    parts = asked.parts
    _refuse_others(asked)
    positions = [Positions.of(part) for part in parts]
    events = {str(event.variable): event for part in parts for event in t.events_of(part)}
    edges: dict[tuple[object, object], Way] = {}
    start: State = (NOT_BEGUN,) * len(parts)
    pending, seen = [start], {start}
    while pending:
        state = pending.pop()
        if all(p in one.whole.last for p, one in zip(state, positions, strict=True)):
            edges[state, "end"] = EMPTY
        for target, moved in _moves(state, positions, events):
            way, known = Way.of(_event(asked, moved)), edges.get((state, target))
            edges[state, target] = way if known is None else Elimination.either(known, way)
            if target not in seen:
                seen.add(target)
                pending.append(target)
    return Elimination(contiguous=False).formula(edges, start, "end")


def _moves(
    state: State, positions: list[Positions], events: dict[str, t.Event]
) -> Iterator[tuple[State, list[t.Event]]]:
    """Where one event leads, and what it is there."""
    options = []
    for p, one in zip(state, positions, strict=True):
        nexts = one.whole.first if p == NOT_BEGUN else [q for r, q in one.follow if r == p]
        options.append([p, *nexts])
    for choice in product(*(range(len(some)) for some in options)):
        moved = [
            events[positions[k].labels[options[k][at]]] for k, at in enumerate(choice) if at > 0
        ]
        if moved and len({event.type for event in moved}) == 1:
            yield tuple(options[k][at] for k, at in enumerate(choice)), moved


def _event(asked: Asked, moved: list[t.Event]) -> n.Formula:
    """One event that is in the variables of all of these."""
    if len(moved) == 1:
        return asked.event(moved[0])
    names = tuple(dict.fromkeys(str(event.variable) for event in moved))
    made: n.Formula = n.OneEvent(moved[0].type)
    for name in names:
        made = n.As(made, name)
    if moved[0].type in asked.variables and moved[0].type not in names:
        made = n.Project(made, names)
    for name in names:
        for condition in asked.local(name):
            made = n.Filter(made, name, condition)
    return made


def _refuse_others(asked: Asked) -> None:
    query, parts = asked.query, asked.parts
    place = query.pattern.place
    for part in parts:
        for guard in guards_of(part):
            asked.refuse(
                "NOT in a part of AND says what does not lie between two events of one trend, "
                "where events of the other may lie",
                guard.place,
                "Translate each side with a query of its own.",
            )
    if query.semantics is not t.Semantics.ANY:
        asked.refuse(
            f"AND under {query.semantics.value} says what does not lie between two events of one "
            "trend, where events of the other may lie",
            place,
            "Use skip-till-any-match, or translate each side with a query of its own.",
        )
    grouped = {key.attribute for key in query.group_by}
    if mixed := [name for name in asked.conditions.equivalence if name not in grouped]:
        asked.refuse(
            f"The trends of a pair may be of different partitions by {', '.join(mixed)}, and a "
            "formula sees one",
            place,
            f"Add GROUP-BY {', '.join(mixed)}.",
        )
    for k, one in enumerate(parts):
        for other in parts[k + 1 :]:
            if _overlap(one, other):
                asked.refuse(
                    "The same events can be a trend of both parts, and pairs of such are counted "
                    "in no order: sets of two trends, which no variables can hold",
                    place,
                    "Translate each side with a query of its own.",
                )


def _overlap(one: t.Pattern, other: t.Pattern) -> bool:
    """Whether some sequence of types is a word of both."""
    left, right = Positions.of(one), Positions.of(other)
    kinds = [
        [types[label] for label in side.labels]
        for side, types in (
            (side, {str(event.variable): event.type for event in t.events_of(part)})
            for side, part in ((left, one), (right, other))
        )
    ]
    pending = list(product(left.whole.first, right.whole.first))
    seen: set[tuple[int, int]] = set()
    while pending:
        p, q = pending.pop()
        if (p, q) in seen or kinds[0][p] != kinds[1][q]:
            continue
        seen.add((p, q))
        if p in left.whole.last and q in right.whole.last:
            return True
        nexts = [b for a, b in left.follow if a == p], [b for a, b in right.follow if a == q]
        pending += product(*nexts)
    return False
