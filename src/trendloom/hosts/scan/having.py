"""HAVING and row order over a result that is already in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
from sqlglot import exp

from trendloom import bigint
from trendloom.errors import InputError
from trendloom.hosts.scan import duck
from trendloom.hosts.scan.conditions import Binder

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa


def filter_rows(table: pa.Table, condition: exp.Expr) -> pa.Table:
    """The rows for which the condition over the table's columns is true, in their order.

    Columns keep their Arrow types: DuckDB only says which rows stay.
    """
    import pyarrow as pa

    # DuckDB folds case in names, so each column goes by its number.
    numbers = {name: f"c{i}" for i, name in enumerate(table.column_names)}
    exact = {table.schema.field(i).name for i in bigint.marked_columns(table)}

    def renamed(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        column = duck.column(numbers.get(node.name, node.name))
        # DuckDB's integers of any size; digits would compare as text.
        bignum = exp.DataType.build("BIGNUM", dialect="duckdb", udt=True)
        return exp.cast(column, bignum) if node.name in exact else column

    tree = condition.copy().transform(renamed, copy=False)
    used = {column.name for column in tree.find_all(exp.Column)}
    names = [name for name, number in numbers.items() if number in used]
    row = pa.array(range(table.num_rows), pa.int64())
    given = table.select(names).rename_columns([numbers[name] for name in names])
    given = given.append_column("row", row)
    with duck.connect() as own:
        try:
            own.register("result", given)
            relation = own.sql(duck.text(exp.select("*").from_("result")))
            schema = dict(zip(relation.columns, map(str, relation.types), strict=True))
            safe = Binder(own, "result", schema).safe(tree, "HAVING")
            kept = own.sql(duck.text(exp.select("row").from_("result").where(safe).order_by("row")))
            rows = kept.to_arrow_table().column("row")
        except (duckdb.Error, InputError) as error:
            raise InputError(
                f"HAVING '{duck.text(condition)}' does not fit the result: "
                f"{duck.first_line(error)}",
                remedy="Columns of the result: "
                + ", ".join(f"{field.name} ({field.type})" for field in table.schema)
                + ".",
            ) from error
    return table.take(rows)


def sort_rows(table: pa.Table, columns: Sequence[str]) -> pa.Table:
    """Ascending by these columns, nulls last; equal rows stay in their order."""
    import pyarrow.compute as pc

    if not columns or table.num_rows < 2:
        return table
    keys = [(name, "ascending", "at_end") for name in columns]
    return table.take(pc.sort_indices(table, sort_keys=keys))
