"""Conditions between neighbours of one part of AND, between which events of the others may lie.

As in `links`, one formula reads that part two by two from its first event on, another from its
second. What the others do between two events stands inside of the pair: all ways from how far they
were to how far they have come.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from trendloom.acel import nodes as n
from trendloom.acel.bridge.elimination import EMPTY, Edges, Way, add
from trendloom.acel.bridge.links import compared, labels_of
from trendloom.acel.bridge.shuffles import Shuffle
from trendloom.acel.check import check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trendloom.acel.bridge.asked import Asked
    from trendloom.acel.bridge.shuffles import Move, State

FIRST, PAIRS, DONE = "first", "pairs", "done"
"""The part's first event is to come alone; pairs are to come; its last event has come alone."""


def shuffled_by_links(asked: Asked, parts: list[int]) -> n.Formula:
    """The formula of the pairs of trends, with the conditions between neighbours of these parts."""
    shuffle = Shuffle(asked, asked.parts, contiguous=False)
    held = asked.holders(*asked.variables)
    made: list[n.Formula] = [
        n.Project(_Linked(shuffle, part).formula(stage), held)
        for part in parts
        for stage in (PAIRS, FIRST)
    ]
    return reduce(n.And, made)


class _Linked:
    def __init__(self, shuffle: Shuffle, part: int) -> None:
        self._shuffle = shuffle
        self._asked = shuffle.asked
        self._part = part
        self._between: dict[State, dict[State, Way]] = {}

    def formula(self, stage: str) -> n.Formula:
        shuffle = self._shuffle
        edges: Edges = {}
        for state in shuffle.states:
            if shuffle.are_last(state):
                add(edges, (state, PAIRS), "end", EMPTY)
                add(edges, (state, DONE), "end", EMPTY)
            for move in shuffle.moves(state):
                way = Way.of(move.formula)
                if self._part not in move.parts:
                    for one in (FIRST, PAIRS, DONE):
                        add(edges, (state, one), (move.target, one), way)
                    continue
                add(edges, (state, FIRST), (move.target, PAIRS), way)
                if shuffle.is_last(move.target, self._part):
                    add(edges, (state, PAIRS), (move.target, DONE), way)
                for target, two in self._pairs(move):
                    add(edges, (state, PAIRS), (target, PAIRS), two)
        return shuffle.joined.formula(
            _reached(edges, (shuffle.start, stage)), (shuffle.start, stage), "end"
        )

    def _pairs(self, first: Move) -> Iterator[tuple[State, Way]]:
        """This event of the part and its next one, with what the others do between."""
        asked, shuffle, part = self._asked, self._shuffle, self._part
        own, following = labels_of(asked)
        then = shuffle.joined.then
        for state, between in self._others(first.target).items():
            for second in shuffle.moves(state):
                if part not in second.parts:
                    continue
                two = shuffle.variable(first.target, part), shuffle.variable(second.target, part)
                adjacent = asked.conditions.adjacent
                pairs = [pair for pair in adjacent if (pair.earlier, pair.later) == two]
                one, other = first.formula, second.formula
                if pairs:
                    one, other = n.As(one, own), n.As(other, following)
                both = then(then(Way.of(one), between), Way.of(other))
                if pairs:
                    assert both.formula is not None
                    bound = check(both.formula)
                    held = asked.holders(*asked.variables)
                    kept = tuple(name for name in held if name in bound)
                    both = Way.of(compared(asked, both.formula, pairs, kept))
                yield second.target, both

    def _others(self, state: State) -> dict[State, Way]:
        """How far the others may come while the part waits, and on which ways."""
        if state not in self._between:
            shuffle = self._shuffle
            edges: Edges = {}
            reached = [state]
            for one in reached:
                for move in shuffle.moves(one):
                    if self._part not in move.parts:
                        add(edges, one, move.target, Way.of(move.formula))
                        reached += [] if move.target in reached else [move.target]
            edges["start", state] = EMPTY
            self._between[state] = {
                one: shuffle.joined.way({**edges, (one, "end"): EMPTY}, "start", "end")
                for one in reached
            }
        return self._between[state]


def _reached(edges: Edges, start: object) -> Edges:
    """What lies behind the start: the stages that a formula does not begin with do not count."""
    found: set[object] = {start}
    while more := {to for one, to in edges if one in found} - found:
        found |= more
    return {edge: way for edge, way in edges.items() if edge[0] in found}
