"""Patterns with NOT, and skip-till-next-match: step by step, with what lies between.

1. The positions of the pattern are states (Glushkov); for skip-till-next-match sets of positions
   that one word reaches, because all of them decide what is next.
2. A step is a gap (`gaps`) and an event, joined by `:`.
3. The automaton becomes a formula (`elimination`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trendloom.acel.bridge.elimination import EMPTY, Elimination, Way
from trendloom.acel.bridge.gaps import Gaps, Negated, letters_of
from trendloom.language import nodes as t
from trendloom.pattern.guards import FREE, NEVER, either
from trendloom.pattern.positions import Positions

if TYPE_CHECKING:
    from trendloom.acel import nodes as n
    from trendloom.acel.bridge.asked import Asked
    from trendloom.pattern.guards import Guards

States = frozenset[int]


def guards_of(pattern: t.Pattern) -> list[t.Not]:
    """The NOTs of a pattern."""
    here = [pattern] if isinstance(pattern, t.Not) else []
    return here + [one for part in t.children(pattern) for one in guards_of(part)]


def refuse_outer_guards(asked: Asked, pattern: t.Pattern) -> None:
    """A complex event tells nothing of what was before it or comes after it."""
    whole = Positions.of(pattern).whole
    for fragment, when in ((whole.first, "before the first"), (whole.last, "after the last")):
        if any(guards != FREE for guards in fragment.values()):
            asked.refuse(
                f"This NOT looks at what happens {when} event of a trend, up to the edge of the "
                "window, and a formula sees only what lies between its start and its end",
                guards_of(pattern)[0 if when.startswith("before") else -1].place,
                "The logic can say NOT between two events of a SEQ.",
            )


def by_steps(asked: Asked, pattern: t.Pattern) -> n.Formula:
    """The formula of a pattern, none of whose guards stands at an end."""
    events = {str(event.variable): event for event in t.events_of(pattern)}
    letters = letters_of(asked, events.values())
    positions = Positions.of(pattern)
    labels = positions.labels
    negated = tuple(Negated(body, letters) for body in positions.negated)
    to_next = asked.query.semantics is t.Semantics.NEXT
    edges: dict[tuple[object, object], Way] = {}
    pending: list[States] = []

    def step(source: object, states: States, way: Way) -> None:
        if states not in seen:
            seen.add(states)
            pending.append(states)
        edges[source, states] = way

    seen: set[States] = set()
    for name, reached in _by_label(dict.fromkeys(positions.whole.first, FREE), labels, to_next):
        step("start", frozenset(reached), Way.of(asked.event(events[name])))
    while pending:
        states = pending.pop()
        if any(p in positions.whole.last for p in states):
            edges[states, "end"] = EMPTY
        following: dict[int, Guards] = {}
        for (p, q), guards in positions.follow.items():
            if p in states:
                following[q] = either(following.get(q, NEVER), guards)
        exits = tuple((letters[labels[q]], guards) for q, guards in following.items())
        gaps = Gaps(asked, negated, exits, to_next)
        for name, reached in _by_label(following, labels, to_next):
            if len(set(reached.values())) > 1:
                asked.refuse(
                    f"One {name} can be several events of the pattern, and NOT tells them apart",
                    events[name].place,
                    "Give the branches of OR different variables.",
                )
            gap = gaps.way(next(iter(reached.values())))
            event = Way.of(asked.event(events[name]))
            step(states, frozenset(reached), Elimination(contiguous=True).then(gap, event))
    return Elimination(contiguous=True).formula(edges, "start", "end")


def _by_label(
    following: dict[int, Guards], labels: list[str], together: bool
) -> list[tuple[str, dict[int, Guards]]]:
    """Positions with their guards: each alone, or all of one variable together."""
    if not together:
        return [(labels[q], {q: guards}) for q, guards in following.items()]
    found: dict[str, dict[int, Guards]] = {}
    for q, guards in following.items():
        found.setdefault(labels[q], {})[q] = guards
    return list(found.items())
