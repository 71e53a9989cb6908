"""Conditions between two events are filters on pairs; those on lengths, on what AGG counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from trendloom.acel import conditions as on
from trendloom.acel import nodes as n
from trendloom.plan.shape import positive_events

if TYPE_CHECKING:
    from trendloom.acel.bridge.asked import Asked
    from trendloom.language import nodes as t
    from trendloom.plan.conditions import Pair

SHAPES: dict[type[exp.Expr], on.Shape] = {
    exp.LT: "increasing", exp.GT: "decreasing", exp.EQ: "same",
}  # fmt: skip
TURNED: dict[on.Shape, on.Shape] = {
    "increasing": "decreasing", "decreasing": "increasing", "same": "same",
}  # fmt: skip


def is_order(pair: Pair) -> bool:
    """Whether it is `V.a < NEXT(V).a`, or `>` or `=`."""
    tree = _bare(pair.tree)
    if type(tree) not in SHAPES:
        return False
    left, right = tree.this, tree.expression
    plain = isinstance(left, exp.Column) and isinstance(right, exp.Column)
    return plain and bool(left.name == right.name)


def shape_of(pair: Pair) -> tuple[on.Shape, str]:
    """`V.a < NEXT(V).a` as `increasing(a)`, and its like."""
    tree = _bare(pair.tree)
    left, shape = tree.this, SHAPES[type(tree)]
    return TURNED[shape] if left.args.get("db") is not None else shape, left.name


def _bare(tree: exp.Expr) -> exp.Expr:
    while isinstance(tree, exp.Paren):
        tree = tree.this
    return tree


@dataclass(frozen=True)
class Pairs:
    """Of one part of the pattern, which has no NOT in it."""

    asked: Asked
    pattern: t.Pattern
    in_runs: bool
    """Whether conditions inside of V+ are to be asked here, of all V together."""
    linked: bool = False
    """Whether conditions between neighbours have been asked before."""

    def filtered(self, formula: n.Formula) -> n.Formula:
        return self._lengths(self._pairs(formula))

    def _pairs(self, formula: n.Formula) -> n.Formula:
        known = {str(event.variable) for event in positive_events(self.pattern)}
        conditions = self.asked.conditions
        adjacent = () if self.linked else conditions.adjacent
        for pair in (*adjacent, *conditions.correlated):
            if not {pair.earlier, pair.later} <= known:
                continue
            if pair.earlier == pair.later:
                formula = self._run(formula, pair)
            else:
                condition = self.asked.between(pair, pair.earlier, pair.later)
                formula = n.PairFilter(formula, pair.earlier, pair.later, condition)
        return formula

    def _run(self, formula: n.Formula, pair: Pair) -> n.Formula:
        variable = pair.earlier
        if not self.in_runs:
            return formula
        shape, attribute = shape_of(pair)
        made: n.Formula = n.Filter(formula, variable, on.BagCondition(shape, attribute))
        if shape == "same":
            # One event alone is compared with nothing, even if it lacks the attribute.
            counted = n.Aggregation(formula, "run", (n.Assign("n", "COUNT", variable, "type"),))
            few = on.Comparison("<=", on.Attribute("n"), on.Literally(1))
            made = n.Or(
                made,
                n.Project(n.Filter(counted, "run", few), self.asked.holders(*self.asked.variables)),
            )
        return made

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
