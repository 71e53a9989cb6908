"""Aggregates (§6) over a list of finished trends, in exact arithmetic.

COUNT is an int. SUM is an int over ints, else a Fraction; AVG and VARIANCE are Fractions; STDDEV
and LOG2 are floats. Nulls and NaN do not contribute.
"""

from __future__ import annotations

import math
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from trendloom.errors import InputError, QueryMeaningError
from trendloom.language.nodes import Aggregate, Function, Length, Occurrences, Trends, Values
from trendloom.testing.conditions import is_length
from trendloom.testing.records import is_nan

if TYPE_CHECKING:
    from trendloom.testing.matching import Match
    from trendloom.testing.records import Record

FUNCTIONS: dict[type[exp.Expr], Function] = {
    exp.Count: Function.COUNT,
    exp.Sum: Function.SUM,
    exp.Min: Function.MIN,
    exp.Max: Function.MAX,
    exp.Avg: Function.AVG,
    exp.Variance: Function.VARIANCE,
    exp.Stddev: Function.STDDEV,
}


def aggregate(wanted: Aggregate, results: list[Match]) -> Any:
    """The value of one aggregate; a result is a trend, or the elements of a pair of trends."""
    value = _apply(wanted.function, _contributions(wanted, results))
    if not wanted.log2:
        return value
    # log2 of nothing is null, as is every other number that nothing contributes to.
    return math.log2(value) if value else None


def _contributions(wanted: Aggregate, results: list[Match]) -> list[Any]:
    match wanted.argument:
        case Trends():
            contributions: list[Any] = [1 for _ in results]
        case Length():
            contributions = [len(result) for result in results]
        case Occurrences(variable=variable):
            return [1 for _ in _occurrences(variable, wanted.distinct, results)]
        case Values(variable=variable, attribute=attribute):
            events = _occurrences(variable, wanted.distinct, results)
            values = [event[attribute] for event in events]
            return [value for value in values if value is not None and not is_nan(value)]
    if wanted.distinct:
        raise QueryMeaningError("DISTINCT speaks of events, not of trends.", text=str(wanted))
    return contributions


def _occurrences(variable: str, distinct: bool, results: list[Match]) -> list[Record]:
    events = [event for result in results for event, name in result if name == variable]
    return list({event.index: event for event in events}.values()) if distinct else events


def _apply(function: Function, values: list[Any]) -> Any:
    if function is Function.COUNT:
        return len(values)
    if not values:
        return None
    if function in (Function.MIN, Function.MAX):
        if not all(isinstance(value, int | float | Decimal | Fraction | date) for value in values):
            raise InputError(f"{function.value} takes numbers, booleans, dates and timestamps.")
        return min(values) if function is Function.MIN else max(values)
    if any(
        isinstance(value, bool) or not isinstance(value, int | float | Decimal | Fraction)
        for value in values
    ):
        raise InputError(f"{function.value} takes numbers.")
    exact = [Fraction(value) for value in values]
    total = sum(exact, Fraction(0))
    if function is Function.SUM:
        return int(total) if all(isinstance(value, int) for value in values) else total
    mean = total / len(exact)
    if function is Function.AVG:
        return mean
    if len(exact) < 2:
        return None
    variance = sum(((value - mean) ** 2 for value in exact), Fraction(0)) / (len(exact) - 1)
    return variance if function is Function.VARIANCE else math.sqrt(variance)


def read_aggregate(tree: exp.Expr) -> Aggregate | None:
    """The aggregate that an expression of HAVING writes, if it is one."""
    if isinstance(tree, exp.Log) and str(tree.this) == "2":
        inner = read_aggregate(tree.expression)
        return None if inner is None else Aggregate(inner.function, inner.argument, log2=True)
    function = FUNCTIONS.get(type(tree))
    if function is None:
        return None
    argument = tree.this
    distinct = isinstance(argument, exp.Distinct)
    if distinct:
        argument = argument.expressions[0]
    if isinstance(argument, exp.Star):
        return Aggregate(function, Trends(), distinct)
    if is_length(argument):
        return Aggregate(function, Length(), distinct)
    if isinstance(argument, exp.Column) and argument.table:
        return Aggregate(function, Values(argument.table, argument.name), distinct)
    if isinstance(argument, exp.Column):
        return Aggregate(function, Occurrences(argument.name), distinct)
    return None
