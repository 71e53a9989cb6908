"""Patterns with NOT, and skip-till-next-match: step by step, with what lies between.

1. The positions of the pattern are states (Glushkov); for skip-till-next-match sets of positions
   that one word reaches, because all of them decide what is next.
2. A step is an event and the gap behind it (`gaps`), joined by `:`. Where an order decides what is
   next, events that fail it are left out too, and an AGG over event and gap says that they fail.
3. The automaton becomes a formula (`elimination`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trendloom.acel.bridge.elimination import EMPTY, Elimination, Way
from trendloom.acel.bridge.gaps import Gaps, Negated, letters_of
from trendloom.acel.bridge.orders import order_after, refuse_order
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
    joined = Elimination(contiguous=True)
    edges: dict[tuple[object, object], Way] = {}
    pending: list[States] = []
    seen: set[States] = set()

    def step(source: object, states: States, way: Way) -> None:
        if states not in seen:
            seen.add(states)
            pending.append(states)
        edges[source, states] = way

    for _, reached in _by_label(dict.fromkeys(positions.whole.first, FREE), labels, to_next):
        step("start", frozenset(reached), EMPTY)
    while pending:
        states = pending.pop()
        own = labels[min(states)]
        event = Way.of(asked.event(events[own]))
        if any(p in positions.whole.last for p in states):
            edges[states, "end"] = event
        following: dict[int, Guards] = {}
        for (p, q), guards in positions.follow.items():
            if p in states:
                following[q] = either(following.get(q, NEVER), guards)
        order = order_after(asked, own, {labels[q] for q in following}) if to_next else None
        exits = tuple(
            (letters[labels[q]], guards)
            for q, guards in following.items()
            if order is None or labels[q] != own
        )
        if order is not None and any(guards != FREE for guards in following.values()):
            refuse_order(asked, order.pair)
        gaps = Gaps(asked, negated, exits, to_next, None if order is None else letters[own])
        for name, reached in _by_label(following, labels, to_next):
            if len(set(reached.values())) > 1:
                asked.refuse(
                    f"One {name} can be several events of the pattern, and NOT tells them apart",
                    events[name].place,
                    "Give the branches of OR different variables.",
                )
            gap = gaps.way(next(iter(reached.values())))
            way = joined.then(event, gap)
            if order is not None and gap.formula is not None:
                far = joined.then(event, gap._replace(empty=False))
                assert far.formula is not None
                way = joined.either(event, Way.of(order.failed(far.formula, gaps.failing)))
            step(states, frozenset(reached), way)
    return joined.formula(edges, "start", "end")


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
