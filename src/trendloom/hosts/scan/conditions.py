"""Expressions of a query over the columns of one row, made safe for NaN and bound to types.

DuckDB orders NaN above everything, but a comparison with NaN is not satisfied. So inside
expressions NaN is null: in columns of floats, and in whatever arithmetic is compared, or asked for
null (`IS NULL`, `COALESCE`), which a NaN is therefore.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
from sqlglot import exp

from trendloom.errors import InputError
from trendloom.hosts.scan import duck

if TYPE_CHECKING:
    from collections.abc import Iterator

_WIDE = "DECIMAL(38, 0)"
_COMPARISONS = (
    exp.EQ,
    exp.NEQ,
    exp.GT,
    exp.GTE,
    exp.LT,
    exp.LTE,
    exp.Between,
    exp.In,
    exp.Is,
    exp.Coalesce,
)


class Binder:
    """Gives expressions their types over one relation, without running anything."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, relation: str, schema: dict[str, str]
    ) -> None:
        self._connection = connection
        self._relation = relation
        self._schema = schema

    def type_of(self, tree: exp.Expr, original: exp.Expr, reason: str) -> str:
        """The DuckDB type; `original` is what the caller wrote, for the message."""
        try:
            # A copy: sqlglot would move the node itself into the new statement.
            select = duck.text(exp.select(tree.copy()).from_(self._relation))
            return str(self._connection.sql(select).types[0])
        except duckdb.Error as error:
            raise InputError(
                f"{reason}: '{duck.text(original)}' does not fit the columns' types: "
                f"{duck.first_line(error)}",
                remedy=self._columns_of(original),
            ) from error

    def safe(self, tree: exp.Expr, reason: str) -> exp.Expr:
        """The same expression with quoted columns, in which NaN is null."""
        safe = tree.copy().transform(self._column, copy=False)
        for negation in reversed(list(safe.find_all(exp.Neg))):
            self._sign(negation, tree, reason)
        # Inner comparisons first: an outer one is then bound with its final operands.
        for comparison in reversed([node for node in safe.walk() if _compares(node)]):
            self._check_kinds(comparison, reason)
            for operand in list(_operands(comparison)):
                if self.type_of(operand, tree, reason) in duck.FLOATS:
                    hole = exp.Placeholder()
                    operand.replace(hole)
                    hole.replace(duck.nan_as_null(operand))
        return safe

    def _check_kinds(self, comparison: exp.Expr, reason: str) -> None:
        """Refuses text beside a number in plain words; DuckDB converts what reads as one."""
        sides = [side.unnest() for side in comparison.iter_expressions()]
        kinds = {self._kind(side) for side in sides}
        if not {"text", "number"} <= kinds or not any(map(_column_in, sides)):
            return
        written = duck.text(comparison.copy().transform(_as_written))
        raise InputError(
            f"{reason} compares text with a number: '{written}'; {self._types_of(comparison)}.",
            remedy="Write text in single quotes and numbers without, or convert the column before "
            "the query.",
        )

    def _kind(self, side: exp.Expr) -> str | None:
        match side:
            case exp.Literal() if side.is_string:
                return None if _reads_as_number(side.name) else "text"
            case exp.Literal() | exp.Neg():
                return "number"
        name = _column_in(side)
        found = "" if name is None else self._schema.get(name, "")
        if duck.is_text(found):
            return "text"
        return "number" if duck.is_number(found) else None

    def _types_of(self, tree: exp.Expr) -> str:
        names = dict.fromkeys(column.name for column in tree.find_all(exp.Column))
        return ", ".join(f"'{name}' is {self._schema[name]}" for name in names)

    def _sign(self, negation: exp.Neg, tree: exp.Expr, reason: str) -> None:
        """DuckDB negates an unsigned number in its own type, which has no room for any but 0."""
        if isinstance(negation.this, exp.Literal):
            return
        found = self.type_of(negation.this, tree, reason)
        if found.startswith("U") and found in duck.INTEGERS:
            signed = "BIGINT" if found in ("UTINYINT", "USMALLINT", "UINTEGER") else _WIDE
            negation.set("this", exp.cast(negation.this.copy(), signed, dialect="duckdb"))

    def _column(self, node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Div | exp.Mod):
            # A double divided by zero would be infinite, an integer an error; here it is null.
            zero = exp.Literal.number(0)
            node.set("expression", exp.Nullif(this=node.expression.copy(), expression=zero))
            return node
        if not isinstance(node, exp.Column):
            return node
        column = duck.column(node.name)
        is_float = self._schema.get(node.name) in duck.FLOATS
        return duck.nan_as_null(column) if is_float else column

    def _columns_of(self, tree: exp.Expr) -> str:
        types = self._types_of(tree)
        return f"In the events, {types}. Compare values of one type." if types else ""


def _column_in(side: exp.Expr) -> str | None:
    """The column that a side of a comparison is, made safe for NaN or not."""
    inner = side.this if isinstance(side, exp.Nullif) else side
    return inner.name if isinstance(inner, exp.Column) else None


def _as_written(node: exp.Expr) -> exp.Expr:
    return node.this if isinstance(node, exp.Nullif) else node


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _compares(node: exp.Expr) -> bool:
    return isinstance(node, _COMPARISONS)


def _operands(node: exp.Expr) -> Iterator[exp.Expr]:
    """What a comparison compares, except what is known not to be NaN or already safe."""
    for operand in node.iter_expressions():
        if not isinstance(operand, exp.Column | exp.Literal | exp.Nullif | exp.Boolean):
            yield operand


def fit_number(tree: exp.Expr, duck_type: str) -> exp.Expr | None:
    """int64 or double, whichever the type calls for; None if it is no number."""
    if duck_type == "BIGINT":
        return tree
    if duck_type in duck.INTEGERS or duck.is_null(duck_type):
        return exp.cast(tree, exp.DataType.Type.BIGINT)
    if duck_type == "DOUBLE":
        return duck.nan_as_null(tree)
    if duck_type == "FLOAT":
        return exp.cast(duck.nan_as_null(tree), exp.DataType.Type.DOUBLE)
    if duck_type.startswith("DECIMAL"):
        return exp.cast(tree, exp.DataType.Type.DOUBLE)
    return None


def fit_ordered(tree: exp.Expr, duck_type: str) -> exp.Expr | None:
    """As a number; dates, timestamps, booleans and unsigned 64-bit integers as they are."""
    if duck_type in ("DATE", "BOOLEAN", "UBIGINT") or duck_type.startswith("TIMESTAMP"):
        return tree
    return fit_number(tree, duck_type)


def fit_any(tree: exp.Expr, duck_type: str) -> exp.Expr:
    """As it is, where Arrow has the type."""
    if duck_type.startswith("ENUM"):
        return exp.cast(tree, exp.DataType.Type.VARCHAR)
    if duck_type in duck.FLOATS:
        return duck.nan_as_null(tree)
    if duck_type in ("HUGEINT", "UHUGEINT") or duck.is_null(duck_type):
        return exp.cast(tree, exp.DataType.Type.BIGINT)
    return tree
