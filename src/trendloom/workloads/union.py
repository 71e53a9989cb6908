"""Rows of several queries in one table: a column `query`, and everybody's columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from trendloom.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "query"
BOUNDS = ("window_start", "window_end")


def joint_schema(schemas: Mapping[str, pa.Schema], *, widen: bool = False) -> pa.Schema:
    """`query`, then every column of every query once; a query leaves those of others null.

    With `widen`, integers and doubles of one name become doubles (counts of polynomially and of
    exponentially many trends); values that do not fit are refused by `with_name`.
    """
    fields: dict[str, tuple[pa.Field, str]] = {NAME: (pa.field(NAME, pa.string()), "")}
    for query, schema in schemas.items():
        for field in schema:
            known, owner = fields.setdefault(field.name, (field, query))
            kind = _joint(known.type, field.type) if widen else known.type
            if kind is None or (kind != field.type and not widen) or field.name == NAME:
                raise _conflict(field, query, known.type, owner)
            if kind != known.type:
                fields[field.name] = (known.with_type(kind), owner)
    return pa.schema([field for field, _ in fields.values()])


def _joint(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    if one == other or pa.types.is_null(other):
        return one
    if pa.types.is_null(one):
        return other
    both = {one, other}
    return pa.float64() if both == {pa.int64(), pa.float64()} else None


def _conflict(field: pa.Field, query: str, kind: pa.DataType, owner: str) -> InputError:
    if field.name == NAME:
        return InputError(
            f"The query '{query}' returns '{NAME}', which is the column of the queries' names.",
            remedy="Name it otherwise: … AS other_name.",
        )
    remedy = "Name one of them otherwise: … AS other_name."
    if field.name in BOUNDS:
        remedy = "Take each query's own table, or write one file per query."
    return InputError(
        f"The queries '{owner}' and '{query}' both return '{field.name}', as {kind} and as "
        f"{field.type}.",
        remedy=remedy,
    )


def with_name(query: str, table: pa.Table, schema: pa.Schema) -> pa.Table:
    """One query's rows under the joint schema."""
    columns = {name: table.column(name) for name in table.column_names}
    columns[NAME] = pa.chunked_array([pa.array([query] * table.num_rows, pa.string())])
    rows = table.num_rows
    arrays = []
    for field in schema:
        column = columns.get(field.name)
        if column is None:
            column = pa.chunked_array([pa.nulls(rows, field.type)])
        elif column.type != field.type:
            column = _widened(column, field, query)
        arrays.append(column)
    return pa.Table.from_arrays(arrays, schema=schema)


def _widened(column: pa.ChunkedArray, field: pa.Field, query: str) -> pa.ChunkedArray:
    try:
        return column.cast(field.type)
    except pa.ArrowInvalid:
        raise InputError(
            f"'{field.name}' of query '{query}' has integers above 2^53, and other queries have "
            "doubles under that name.",
            remedy="Name one of them otherwise (… AS other_name), or take each query's own table.",
        ) from None


def union(tables: Mapping[str, pa.Table]) -> pa.Table:
    """Query after query, in their order."""
    schema = joint_schema({name: table.schema for name, table in tables.items()}, widen=True)
    return pa.concat_tables([with_name(name, table, schema) for name, table in tables.items()])
