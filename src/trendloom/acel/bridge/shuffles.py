"""AND: pairs of trends, one of each part, in any order of their events (SEMANTICS, choice 5).

A state says how far each part has come. An event is the next one of one part, or of several at
once: trends of a pair may share events. Anything may lie between, so steps are joined by `;`.

Contiguous trends that touch are joined by `:`, and every event is the next one of all parts that
have begun and are not over. Those that do not touch come one after the other.
"""

from __future__ import annotations

from functools import reduce
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from trendloom.acel import nodes as n
from trendloom.acel.bridge.elimination import EMPTY, Edges, Elimination, Way, add
from trendloom.language import nodes as t
from trendloom.pattern.positions import Positions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trendloom.acel.bridge.asked import Asked

NOT_BEGUN, OVER = -1, -2
State = tuple[int, ...]


MOST_STATES = 60
"""Of all parts together; beyond, their formulas side by side are shorter."""


def fit_together(parts: Sequence[t.Pattern]) -> bool:
    """Whether one formula of all parts is not too large."""
    return prod(len(Positions.of(part).labels) + 2 for part in parts) <= MOST_STATES


class Shuffle:
    """How far the parts of a query have come, and what leads further."""

    def __init__(self, asked: Asked, parts: Sequence[t.Pattern], *, contiguous: bool) -> None:
        self.asked = asked
        self.positions = [Positions.of(part) for part in parts]
        self._events = {str(one.variable): one for part in parts for one in t.events_of(part)}
        self.start: State = (NOT_BEGUN,) * len(self.positions)
        self.joined = Elimination(contiguous=contiguous)

    def variable(self, state: State, part: int) -> str:
        """The variable of the last event of a part."""
        return self.positions[part].labels[state[part]]

    def is_last(self, state: State, part: int) -> bool:
        return state[part] == OVER or state[part] in self.positions[part].whole.last

    def are_last(self, state: State) -> bool:
        return all(self.is_last(state, part) for part in range(len(state)))

    def moves(self, state: State) -> Iterator[tuple[State, n.Formula]]:
        """One event each, the next of some parts, and how far they are after it."""
        options = [[*self._waiting(state, k), *self._going(state, k)] for k in range(len(state))]
        for choice in product(*options):
            parts = [k for k, (_, goes) in enumerate(choice) if goes]
            target = tuple(position for position, _ in choice)
            moved = [self._events[self.variable(target, k)] for k in parts]
            if moved and len({event.type for event in moved}) == 1:
                yield target, _event(self.asked, moved)

    def _waiting(self, state: State, part: int) -> Iterator[tuple[int, bool]]:
        """Where a part is after an event that is not its own."""
        if not self.joined.contiguous or state[part] in (NOT_BEGUN, OVER):
            yield state[part], False
        elif self.is_last(state, part):
            yield OVER, False

    def _going(self, state: State, part: int) -> Iterator[tuple[int, bool]]:
        one, p = self.positions[part], state[part]
        nexts = one.whole.first if p == NOT_BEGUN else [q for r, q in one.follow if r == p]
        yield from ((q, True) for q in nexts)


def shuffled(asked: Asked) -> n.Formula:
    """The formula of the pairs, without the conditions between events."""
    return _together(Shuffle(asked, asked.parts, contiguous=False))


def side_by_side(asked: Asked, parts: Sequence[t.Pattern]) -> n.Formula:
    """The same of contiguous trends, of patterns without NOT."""
    made: list[n.Formula] = []
    for blocks in _in_order(list(parts)):
        touching = (_together(Shuffle(asked, block, contiguous=True)) for block in blocks)
        made.append(reduce(n.Sequence, touching))
    return reduce(n.Or, made)


def _in_order(parts: list[t.Pattern]) -> Iterator[list[list[t.Pattern]]]:
    """All ways to make blocks of the parts, one after the other."""
    if not parts:
        yield []
        return
    for chosen in product((False, True), repeat=len(parts)):
        block = [part for part, inside in zip(parts, chosen, strict=True) if inside]
        others = [part for part, inside in zip(parts, chosen, strict=True) if not inside]
        if block:
            yield from ([block, *rest] for rest in _in_order(others))


def _together(shuffle: Shuffle) -> n.Formula:
    edges: Edges = {}
    states = [shuffle.start]
    for state in states:
        if shuffle.are_last(state):
            edges[state, "end"] = EMPTY
        for target, formula in shuffle.moves(state):
            add(edges, state, target, Way.of(formula))
            if target not in states:
                states.append(target)
    return shuffle.joined.formula(edges, shuffle.start, "end")


def _event(asked: Asked, moved: list[t.Event]) -> n.Formula:
    """One event that is in the variables of all of these."""
    if len(moved) == 1:
        return asked.event(moved[0])
    names = tuple(dict.fromkeys(str(event.variable) for event in moved))
    word = moved[0].type
    made = asked.holding(word, names, n.OneEvent(word))
    for name in names:
        made = asked.satisfying(made, name)
    return made
