"""The result's columns and their types, as far as the query tells (SEMANTICS §6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trendloom.language.nodes import Aggregate, Function, GroupKey, Length, Values
from trendloom.language.printer import to_text
from trendloom.plan.plan import WindowStrategy

if TYPE_CHECKING:
    from trendloom.plan.plan import Plan


INTEGER = "integer"
"""Of any size."""
BOUNDS = {
    WindowStrategy.WHOLE: ("null", "null"),
    WindowStrategy.SLIDING: ("inclusive", "exclusive"),
    WindowStrategy.COUNTED: ("number of the first event", "number after the last event"),
    WindowStrategy.CHANGES: ("window_end - WITHIN, exclusive", "inclusive"),
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the result. `exact_type`: with `numbers="exact"`."""

    name: str
    type: str
    value: str
    exact_type: str


def columns(plan: Plan) -> tuple[Column, ...]:
    """The window's bounds, then RETURN's columns; what only HAVING reads is not among them."""
    bounds = "int64" if plan.strategy is WindowStrategy.COUNTED else "as the time column"
    start, end = BOUNDS[plan.strategy]
    return (
        Column("window_start", bounds, start, bounds),
        Column("window_end", bounds, end, bounds),
        *(_column(plan, output.name, output.value) for output in plan.outputs if not output.hidden),
    )


def _column(plan: Plan, name: str, value: Aggregate | GroupKey) -> Column:
    if isinstance(value, GroupKey):
        kind = f"as {value.attribute}"
        return Column(name, kind, to_text(value), kind)
    kind = exact = _type(plan, value)
    if not (value.distinct or value.log2):
        if value.function is Function.COUNT:
            exact = INTEGER
        elif value.function is Function.SUM and isinstance(value.argument, Values):
            exact = f"{INTEGER} or double, as {value.argument.attribute}"
    return Column(name, kind, to_text(value), exact)


def _type(plan: Plan, value: Aggregate) -> str:
    attribute = value.argument.attribute if isinstance(value.argument, Values) else ""
    wide = plan.exponential and not value.distinct
    match value.function:
        case _ if value.log2:
            return "double"
        case Function.COUNT:
            return "double" if wide else "int64"
        case Function.SUM:
            return "double" if wide else f"int64 or double, as {attribute}"
        case Function.MIN | Function.MAX:
            return "int64" if isinstance(value.argument, Length) else f"as {attribute}"
    return "double"
