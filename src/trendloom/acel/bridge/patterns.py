"""Patterns without NOT as formulas, part by part: SEQ is `;` (contiguous: `:`), + is `+` (`:+`).

The formula is of a pattern's words but the empty one, which no formula has.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from trendloom.acel import nodes as n
from trendloom.acel.bridge.pairs import ask_neighbours, in_its_run
from trendloom.language import nodes as t

if TYPE_CHECKING:
    from trendloom.acel.bridge.asked import Asked

Part = tuple[n.Formula | None, bool]
"""The formula of its words but the empty one, and whether it has that one."""


@dataclass(frozen=True)
class Patterns:
    """Any match, and contiguous."""

    asked: Asked

    def formula(self, pattern: t.Pattern) -> n.Formula:
        found, _ = self._part(pattern)
        assert found is not None, "a pattern has events"
        return found

    def _part(self, pattern: t.Pattern) -> Part:
        match pattern:
            case t.Event():
                return self.asked.event(pattern), False
            case t.Sequence(parts=parts):
                return reduce(self._then, map(self._part, parts))
            case t.Either(parts=parts):
                return reduce(_either, map(self._part, parts))
            case t.Repeat():
                return self._repeat(pattern)
        raise AssertionError("NOT and AND are translated elsewhere")

    def _then(self, one: Part, other: Part) -> Part:
        (left, left_empty), (right, right_empty) = one, other
        if left is None or right is None:
            return (right if left is None else left), left_empty and right_empty
        made = self._joined(left, right)
        if right_empty:
            made = n.Or(made, left)
        if left_empty:
            made = n.Or(made, right)
        return made, left_empty and right_empty

    def _joined(self, left: n.Formula, right: n.Formula) -> n.Formula:
        return n.Contiguous(left, right) if self.asked.contiguous else n.Sequence(left, right)

    def _iterated(self, inner: n.Formula) -> n.Formula:
        return n.ContiguousIteration(inner) if self.asked.contiguous else n.Iteration(inner)

    def _repeat(self, pattern: t.Repeat) -> Part:
        inner, empty = self._part(pattern.body)
        if inner is None or pattern.high == 0:
            return None, True
        low = 1 if empty else max(pattern.low, 1)
        if pattern.high is None:
            made = reduce(self._joined, [inner] * (low - 1) + [self._iterated(inner)])
        else:
            counts = range(low, pattern.high + 1)
            if not counts:
                return None, True
            # Nested options, P ; (P ; (P)?)?: as many copies as the bound.
            made = inner
            for _ in counts[1:]:
                made = n.Or(self._joined(inner, made), inner)
            made = reduce(self._joined, [*[inner] * (low - 1), made])
        if isinstance(pattern.body, t.Event):
            made = self._ordered(made, str(pattern.body.variable))
        return made, empty or pattern.low == 0

    def _ordered(self, made: n.Formula, variable: str) -> n.Formula:
        """Conditions between neighbours of one variable, which the pattern only repeats."""
        for pair in self.asked.conditions.adjacent:
            if pair.earlier == variable and in_its_run(self.asked.query.pattern, pair):
                made = ask_neighbours(self.asked, made, pair)
        return made


def _either(one: Part, other: Part) -> Part:
    (left, left_empty), (right, right_empty) = one, other
    made = n.Or(left, right) if left is not None and right is not None else left or right
    return made, left_empty or right_empty
