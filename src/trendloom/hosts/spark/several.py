"""Rows of several queries in one table: a column `query`, and everybody's columns."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa

from trendloom.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

NAME = "query"


def joint_schema(schemas: Mapping[str, pa.Schema]) -> pa.Schema:
    """`query`, then every column of every query once; a query leaves those of others null."""
    types: dict[str, tuple[pa.DataType, str]] = {NAME: (pa.string(), "")}
    for query, schema in schemas.items():
        for field in schema:
            kind, owner = types.setdefault(field.name, (field.type, query))
            if kind != field.type or field.name == NAME:
                raise InputError(
                    f"The queries '{owner}' and '{query}' both return '{field.name}', as {kind} "
                    f"and as {field.type}.",
                    remedy="Name one of them otherwise: … AS other_name.",
                )
    return pa.schema([(name, kind) for name, (kind, _) in types.items()])


def with_name(query: str, table: pa.Table, schema: pa.Schema) -> pa.Table:
    """One query's rows under the joint schema."""
    columns = {name: table.column(name) for name in table.column_names}
    columns[NAME] = pa.chunked_array([pa.array([query] * table.num_rows, pa.string())])
    rows = table.num_rows
    arrays = [columns.get(f.name, pa.chunked_array([pa.nulls(rows, f.type)])) for f in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def union(frames: Mapping[str, DataFrame]) -> DataFrame:
    """The same of DataFrames."""
    from pyspark.sql import functions as f
    from pyspark.sql.pandas.types import to_arrow_schema

    joint_schema({name: to_arrow_schema(frame.schema) for name, frame in frames.items()})
    named = [frame.select(f.lit(name).alias(NAME), "*") for name, frame in frames.items()]
    return reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), named)
