"""What must be summed, minimised or collected for a plan's aggregates.

A lane is one quantity per window and group; several aggregates share lanes (AVG is a SUM and a
COUNT). `recipes` are read backwards in `finish.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trendloom.language.nodes import (
    Aggregate,
    Function,
    Length,
    Occurrences,
    Trends,
    Values,
)
from trendloom.plan.planner import operand_kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trendloom.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class Sum:
    """Adds value**power of every event of a variable, once per trend (or once, if distinct).

    Power 0 counts: events, or with an operand those where it is not null. Centred values are
    taken relative to a constant near their mean, so that variances do not cancel.
    """

    variable: str | None
    """None: events of every variable."""
    operand: int | None = None
    power: int = 0
    centred: bool = False
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Extremum:
    """The smallest or largest value of a variable's events; without one, of trend lengths."""

    largest: bool
    variable: str | None = None
    operand: int | None = None


@dataclass(frozen=True, slots=True)
class TrendCount:
    """COUNT(*): always there."""


Lane = Sum | Extremum | TrendCount
TRENDS = TrendCount()


def lanes_of(plan: Plan, aggregate: Aggregate) -> tuple[Lane, ...]:
    """The lanes that an aggregate is made of, in the order `finish` reads them."""
    match aggregate.argument:
        case Trends():
            return (TRENDS,)
        case Length():
            if aggregate.function is Function.AVG:
                return (Sum(None), TRENDS)
            return (Extremum(aggregate.function is Function.MAX),)
        case Occurrences(variable=variable):
            return (Sum(variable, distinct=aggregate.distinct),)
        case Values(variable=variable, attribute=attribute):
            kind = operand_kind(aggregate.function)
            operand = plan.operand_of[variable, attribute, kind.name]
            return _value_lanes(aggregate, variable, operand)


def _value_lanes(aggregate: Aggregate, variable: str, operand: int) -> tuple[Lane, ...]:
    distinct = aggregate.distinct
    count = Sum(variable, operand, 0, distinct=distinct)
    match aggregate.function:
        case Function.COUNT:
            return (count,)
        case Function.MIN | Function.MAX:
            return (Extremum(aggregate.function is Function.MAX, variable, operand),)
        case Function.SUM | Function.AVG:
            return (Sum(variable, operand, 1, distinct=distinct), count)
    first = Sum(variable, operand, 1, centred=True, distinct=distinct)
    second = Sum(variable, operand, 2, centred=True, distinct=distinct)
    return (first, second, count)


def with_count(lanes: Sequence[Sum]) -> tuple[Lane, ...]:
    """The lanes of a summing semiring: lane 0 counts trends."""
    return (TRENDS, *lanes)
