"""A scan bound to an Arrow schema: all checks and types, before there is a row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
from sqlglot import exp

from trendloom.errors import InputError
from trendloom.hosts.scan import duck
from trendloom.hosts.scan.columns import (
    check_attributes,
    refuse_repeated,
)
from trendloom.hosts.scan.failures import failed
from trendloom.hosts.scan.projection import Projection, bind, check_letters, known, present

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trendloom.errors import TrendloomError
    from trendloom.hosts.scan.reading import Reading, Roles
    from trendloom.hosts.scan.times import TimeAxis
    from trendloom.plan.scan import Scan

GIVEN = "given"
"""The relation that the expressions are over."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of something that has rows, by their DuckDB types."""

    schema: dict[str, str]
    is_empty: bool = False
    remarks: Mapping[str, TrendloomError] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Bound:
    """A projection, and the DuckDB (of one thread) that bound it."""

    connection: duckdb.DuckDBPyConnection
    given: pa.Schema
    """The columns that are needed, as they were given."""
    roles: Roles
    projection: Projection
    contract: pa.Schema
    """The scan columns as the engine sees them."""

    @property
    def axis(self) -> TimeAxis:
        return self.roles.axis

    @property
    def operand_types(self) -> list[pa.DataType]:
        return [self.contract.field(f"x{i}").type for i in range(len(self.projection.operands))]

    @property
    def partition_types(self) -> list[pa.DataType]:
        return [self.contract.field(f"p{i}").type for i in range(len(self.projection.keys))]

    def statement(self, *, ordered_only: bool) -> exp.Select:
        """From `GIVEN` to the scan columns, on request without the rows that have no order."""
        return _statement(self.projection, ordered_only=ordered_only)


def duck_types(schema: pa.Schema) -> dict[str, str]:
    """What DuckDB calls the types of columns."""
    with duck.connect() as connection:
        return _types(connection, schema)


def _types(connection: duckdb.DuckDBPyConnection, schema: pa.Schema) -> dict[str, str]:
    try:
        connection.register(GIVEN, schema.empty_table())
        relation = connection.sql(duck.text(exp.select("*").from_(GIVEN)))
    except duckdb.Error:
        if len(schema) > 1:
            # One by one, to name the column.
            for field in schema:
                _types(connection, pa.schema([field]))
            raise
        raise InputError(
            f"The column '{schema.names[0]}' is {schema.types[0]}, which cannot be read.",
            remedy="Leave the column out, or convert it before the query: half floats to double, "
            "decimals to at most 38 digits.",
        ) from None
    return dict(zip(relation.columns, map(str, relation.types), strict=True))


def bind_schema(scan: Scan, schema: pa.Schema, reading: Reading) -> Bound:
    """Everything that can be wrong with columns and their types is said here."""
    check_letters(scan)
    refuse_repeated(schema.names)
    connection = duck.connect()
    try:
        connection.execute("SET threads = 1")
        types = _types(connection, schema)
        columns = Columns(types)
        roles = reading.roles(columns)
        if roles.by_row:
            raise InputError(
                f"tiebreak='{reading.tiebreak}' takes the order of the rows, and these have none: "
                "they come bit by bit, or from several places at once.",
                remedy="Name a column that orders events of the same time, for example an offset "
                "or a sequence number.",
            )
        check_attributes(columns, scan.attributes)
        needed = dict.fromkeys((*roles.columns, *scan.attributes))
        projection = bind(connection, GIVEN, types, scan, roles)
        contract = connection.sql(duck.text(_statement(projection))).to_arrow_table().schema
    except duckdb.Error as error:
        # A constant that cannot be computed shows even without rows.
        connection.close()
        raise failed(error) from error
    except BaseException:
        connection.close()
        raise
    given = pa.schema([schema.field(name).remove_metadata() for name in needed])
    return Bound(connection, given, roles, projection, contract)


def _statement(projection: Projection, *, ordered_only: bool = False) -> exp.Select:
    # The mask says it all; to ask for the types as well takes two thirds more time.
    inner = exp.select(*projection.columns).from_(GIVEN)
    inner = inner.where(*[present(key) for key in projection.keys])
    if ordered_only:
        inner = inner.where(known(projection.order))
    names = [exp.column(column.alias, table="rows") for column in projection.columns]
    outer = exp.select(*names).from_(inner.subquery("rows"))
    if projection.keep_unmatched:
        return outer
    return outer.where(projection.is_letter)
