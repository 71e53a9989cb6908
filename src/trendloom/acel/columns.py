"""The columns of results: for each variable a list of rows, or of events where rows do not suffice.

An event of the stream is the number of its row. An event that AGG made, or of which PROJECT left
some attributes, is a struct: the row at which it happened, and its attributes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa

from trendloom.acel import nodes
from trendloom.acel.aggregates import aggregate
from trendloom.acel.denotation import STREAM
from trendloom.acel.events import MOMENT, TEXT, TRUTH, TYPE
from trendloom.errors import QueryMeaningError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trendloom.acel.acea import Acea

ROW = "row"
ROWS = pa.list_(pa.int64())

Types = dict[str, pa.DataType]
"""Attribute → what its values are in results."""


@dataclass(frozen=True, slots=True)
class Column:
    """One variable of the results."""

    variable: str
    type: pa.DataType

    @property
    def has_rows_only(self) -> bool:
        return bool(self.type == ROWS)


def columns_of(formula: nodes.Formula, automaton: Acea, types: Types) -> tuple[Column, ...]:
    """In the order in which the formula binds them; `types` are those of the stream's events."""
    whole = {TYPE, *types}
    bound = _Typing({**types, TYPE: pa.string()}).bound(formula)
    special = {
        variable
        for one in automaton.transitions
        for variable, bag in one.outputs
        for made in bag
        if len(bag) > 1 or made.origin != STREAM or {name for name, _ in made.attributes} != whole
    }
    return tuple(
        Column(variable, _structs(attributes) if variable in special else ROWS)
        for variable, attributes in bound.items()
    )


def _structs(attributes: Types) -> pa.DataType:
    fields = [pa.field(ROW, pa.int64())]
    return pa.list_(pa.struct([*fields, *(pa.field(n, attributes[n]) for n in sorted(attributes))]))


@dataclass(frozen=True)
class _Typing:
    """As `check` finds kinds, so this finds types, of formulas that were checked."""

    stream: Types

    def bound(self, formula: nodes.Formula) -> dict[str, Types]:
        match formula:
            case nodes.OneEvent(word) | nodes.Next(word):
                return {word: self.stream}
            case nodes.As(inner, variable):
                bound = self.bound(inner)
                nothing: Types = {}
                gathered = reduce(_merged, bound.values(), nothing)
                return {**bound, variable: gathered} if bound else bound
            case nodes.And(left, right):
                first, second = self.bound(left), self.bound(right)
                return {name: types for name, types in first.items() if name in second}
            case nodes.Or() | nodes.Sequence() | nodes.Contiguous():
                return _joined(self.bound(formula.left), self.bound(formula.right))
            case nodes.Project(inner, variables):
                bound = self.bound(inner)
                return {name: types for name, types in bound.items() if name in variables}
            case nodes.ProjectAttributes(inner, variable, attributes):
                bound = self.bound(inner)
                kept = {name: bound[variable][name] for name in attributes}
                return {**bound, variable: kept}
            case nodes.Aggregation(inner, variable, assigns):
                bound = self.bound(inner)
                made = {one.attribute: _made(one, bound[one.variable]) for one in assigns}
                return _joined(bound, {variable: made})
            case _:
                return self.bound(formula.inner)


def _made(assign: nodes.Assign, attributes: Mapping[str, pa.DataType]) -> pa.DataType:
    match assign.aggregate:
        case "COUNT":
            return pa.int64()
        case "SUM" | "PROD" | "RANGE" | "MIN" | "MAX":
            return attributes[assign.source]
    gives = aggregate(assign.aggregate).gives
    if gives is None:
        return attributes[assign.source]
    plain = {TEXT: pa.string(), TRUTH: pa.bool_(), MOMENT: pa.timestamp("us")}
    return plain.get(gives, pa.float64())


def _merged(one: Types, other: Types) -> Types:
    return {name: _wider(name, one.get(name), other.get(name)) for name in {**one, **other}}


def _joined(one: dict[str, Types], other: dict[str, Types]) -> dict[str, Types]:
    return {name: _merged(one.get(name, {}), other.get(name, {})) for name in {**one, **other}}


def _wider(name: str, one: pa.DataType | None, other: pa.DataType | None) -> pa.DataType:
    if one is None or other is None or one == other:
        return other if one is None else one
    if {one, other} == {pa.int64(), pa.float64()}:
        return pa.float64()
    raise QueryMeaningError(
        f"'{name}' is a {one} in some events of a variable and a {other} in others, which one "
        "column cannot hold",
        text=name,
        remedy="Give them different names, or leave one out with PROJECT.",
    )
