"""An automaton as a formula: states are taken away one by one (Kleene's construction).

A way is a formula, or nothing at all (the empty word), or both; formulas themselves have no empty
word. All steps are joined by one operator, `:` or `;`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from trendloom.acel import nodes as n
from trendloom.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_PARTS = 20_000
"""Operators of a formula: each state that is taken away may multiply them."""


class Way(NamedTuple):
    """What leads from one state to another."""

    formula: n.Formula | None
    empty: bool = False
    size: int = 0

    @classmethod
    def of(cls, formula: n.Formula) -> Way:
        return cls(formula, size=sum(1 for _ in n.walk(formula)))


EMPTY = Way(None, empty=True)
NO_WAY = Way(None)
Edges = dict[tuple[object, object], Way]
"""What leads from one state to another."""


@dataclass(frozen=True)
class Elimination:
    """`contiguous`: steps are joined by `:`, else by `;`."""

    contiguous: bool

    def formula(
        self, edges: Mapping[tuple[object, object], Way], start: object, end: object
    ) -> n.Formula:
        """What all ways from the start to the end denote; neither is left or entered again."""
        found = self.way(edges, start, end).formula
        assert found is not None, "a pattern has events"
        return found

    def way(self, edges: Mapping[tuple[object, object], Way], start: object, end: object) -> Way:
        """The same, where the empty word may be among them, or be all, or there may be no way."""
        ways = dict(edges)
        states = {state for edge in ways for state in edge} - {start, end}
        while states:
            costs = _costs(ways)
            state = min(states, key=lambda one: (costs[one], str(one)))
            states.remove(state)
            self._remove(ways, state)
        return ways.get((start, end), NO_WAY)

    def _remove(self, ways: Edges, state: object) -> None:
        loop = ways.pop((state, state), None)
        into = {one: ways.pop((one, state)) for one, to in list(ways) if to == state}
        out = {to: ways.pop((state, to)) for one, to in list(ways) if one == state}
        if loop is not None and loop.formula is not None:
            # The loop goes with the smaller side: with the ways in, or with the ways out.
            again = self.repeated(loop)
            if _size(into) <= _size(out):
                into = {one: self._with_before(way, loop, again) for one, way in into.items()}
            else:
                out = {to: self.either(way, self.then(again, way)) for to, way in out.items()}
        for one, entering in into.items():
            for to, leaving in out.items():
                add(ways, one, to, self.then(entering, leaving))

    def _with_before(self, entering: Way, loop: Way, again: Way) -> Way:
        if entering.formula == loop.formula:
            return Way(again.formula, entering.empty, again.size)
        return self.either(entering, self.then(entering, again))

    def repeated(self, loop: Way) -> Way:
        """Once or more."""
        assert loop.formula is not None
        kind = n.ContiguousIteration if self.contiguous else n.Iteration
        return Way(kind(loop.formula), size=loop.size + 1)

    def then(self, one: Way, other: Way) -> Way:
        """One and directly after it the other."""
        if NO_WAY in (one, other):
            return NO_WAY
        if one.formula is None or other.formula is None:
            kept = other if one.formula is None else one
            return Way(kept.formula, one.empty and other.empty, kept.size)
        kind = n.Contiguous if self.contiguous else n.Sequence
        made = _bounded(kind(one.formula, other.formula), one.size + other.size + 1)
        if other.empty:
            made = self.either(made, Way(one.formula, size=one.size))
        if one.empty:
            made = self.either(made, Way(other.formula, size=other.size))
        return Way(made.formula, one.empty and other.empty, made.size)

    @staticmethod
    def either(one: Way, other: Way) -> Way:
        """One or the other."""
        empty = one.empty or other.empty
        if one.formula is None or other.formula is None or one.formula == other.formula:
            kept = other if one.formula is None else one
            return Way(kept.formula, empty, kept.size)
        made = _bounded(n.Or(one.formula, other.formula), one.size + other.size + 1)
        return Way(made.formula, empty, made.size)


def add(edges: Edges, source: object, target: object, way: Way) -> None:
    """One more way from one to the other, if there is one."""
    made = Elimination.either(edges.get((source, target), NO_WAY), way)
    if made != NO_WAY:
        edges[source, target] = made


def _size(ways: Mapping[object, Way]) -> int:
    return sum(way.size for way in ways.values())


def _costs(ways: Mapping[tuple[object, object], Way]) -> dict[object, int]:
    """How much larger everything becomes without each of the states."""
    into, out, entering, leaving, loops = (Counter[object]() for _ in range(5))
    for (one, to), way in ways.items():
        if one == to:
            loops[one] = way.size
            continue
        into[to] += way.size
        entering[to] += 1
        out[one] += way.size
        leaving[one] += 1
    return {
        state: into[state] * (leaving[state] - 1)
        + out[state] * (entering[state] - 1)
        + loops[state] * entering[state] * leaving[state]
        for state in {state for edge in ways for state in edge}
    }


def _bounded(formula: n.Formula, size: int) -> Way:
    if size > MOST_PARTS:
        raise too_large()
    return Way(formula, size=size)


def too_large() -> LimitError:
    return LimitError(
        f"The formula would have more than {MOST_PARTS:,} operators.",
        remedy="Use smaller bounds in {m,n}, or fewer optional parts.",
    )
