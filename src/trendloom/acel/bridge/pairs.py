"""Conditions between two events are filters on pairs; those on lengths, on what AGG counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from sqlglot import exp

from trendloom.acel import conditions as on
from trendloom.acel import nodes as n
from trendloom.acel.bridge.neighbours import at_most_once, follows_directly, repeats_only
from trendloom.language.expressions import bare
from trendloom.plan.shape import positive_events

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trendloom.acel.bridge.asked import Asked
    from trendloom.language import nodes as t
    from trendloom.plan.conditions import Pair

SHAPES: dict[type[exp.Expr], on.Shape] = {exp.LT: "increasing", exp.GT: "decreasing"}
TURNED: dict[on.Shape, on.Shape] = {"increasing": "decreasing", "decreasing": "increasing"}


def _shape_of(pair: Pair) -> on.BagCondition | None:
    """`V.a < NEXT(V).a` as `increasing(a)`, and its like."""
    tree = bare(pair.tree)
    if type(tree) not in SHAPES:
        return None
    left, right = tree.this, tree.expression
    plain = isinstance(left, exp.Column) and isinstance(right, exp.Column)
    if not plain or left.name != right.name:
        return None
    shape = SHAPES[type(tree)]
    under_next = left.args.get("db") is not None
    return on.BagCondition(TURNED[shape] if under_next else shape, left.name)


def in_its_run(pattern: t.Pattern, pair: Pair) -> bool:
    """Whether it is asked of events of one `V+` only."""
    return pair.earlier == pair.later and repeats_only(pattern, pair.earlier)


def ask_neighbours(asked: Asked, formula: n.Formula, pair: Pair) -> n.Formula:
    """The formula, if the condition holds of an event and the last of the other before it."""
    if pair.earlier == pair.later and (shape := _shape_of(pair)) is not None:
        return n.Filter(formula, pair.earlier, shape)
    condition = asked.between(pair, pair.earlier, pair.later, last=True)
    return n.PairFilter(formula, pair.earlier, pair.later, condition, last=True)


@dataclass(frozen=True)
class Pairs:
    """Of one part of the pattern, which has no NOT in it."""

    asked: Asked
    pattern: t.Pattern
    in_runs: bool
    """Whether conditions inside of V+ have been asked there."""

    def filtered(self, formula: n.Formula) -> n.Formula:
        return self._lengths(self._pairs(formula))

    @property
    def are_told_apart(self) -> bool:
        """Whether a condition is asked of some events of a variable only."""
        return any(
            not follows_directly(self.pattern, pair.earlier, pair.later)
            for pair in self._own(self.asked.conditions.adjacent)
        )

    def _own(self, pairs: tuple[Pair, ...]) -> Iterator[Pair]:
        known = {str(event.variable) for event in positive_events(self.pattern)}
        for pair in pairs:
            asked_before = self.in_runs and in_its_run(self.pattern, pair)
            if {pair.earlier, pair.later} <= known and not asked_before:
                yield pair

    def _pairs(self, formula: n.Formula) -> n.Formula:
        once = at_most_once(self.pattern)
        for pair in self._own(self.asked.conditions.adjacent):
            if not follows_directly(self.pattern, pair.earlier, pair.later):
                continue
            if {pair.earlier, pair.later} <= once:
                formula = self._compared(formula, pair)
            else:
                formula = ask_neighbours(self.asked, formula, pair)
        return reduce(self._compared, self._own(self.asked.conditions.correlated), formula)

    def _compared(self, formula: n.Formula, pair: Pair) -> n.Formula:
        condition = self.asked.between(pair, pair.earlier, pair.later)
        return n.PairFilter(formula, pair.earlier, pair.later, condition)

    def _lengths(self, formula: n.Formula) -> n.Formula:
        """The numbers of events of all variables, added up."""
        bounds = self.asked.conditions.lengths
        if bounds.trivial:
            return formula
        names = list(dict.fromkeys(str(one.variable) for one in positive_events(self.pattern)))
        total: on.Term = on.Attribute(f"n_{names[0]}")
        for name in names[1:]:
            total = on.Arithmetic("+", total, on.Attribute(f"n_{name}"))
        condition: on.Condition = on.Comparison(">=", total, on.Literally(bounds.low))
        if bounds.high is not None:
            most = on.Comparison("<=", total, on.Literally(max(bounds.high, 0)))
            condition = on.All(condition, most)
        assigns = tuple(n.Assign(f"n_{name}", "COUNT", name, "type") for name in names)
        made = "length" if len(self.asked.parts) == 1 else f"length of {names[0]}"
        return n.Filter(n.Aggregation(formula, made, assigns), made, condition)
