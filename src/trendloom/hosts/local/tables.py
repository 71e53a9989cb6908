"""Events of any kind as one Arrow table, and the types that its columns must keep from then on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
from sqlglot import exp

from trendloom.errors import InputError
from trendloom.hosts.local import memory
from trendloom.hosts.local.sources import open_events
from trendloom.hosts.scan import duck
from trendloom.hosts.scan.columns import check_attributes, refuse_repeated
from trendloom.hosts.scan.failures import failed

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from trendloom.hosts.scan.reading import Reading


def read_table(events: object, reading: Reading | None = None) -> pa.Table | None:
    """All of the events in memory; None if there is no row, and so no column that has a type."""
    table = None if _in_files(events) else _in_memory(events)
    if table is None:
        with open_events(events, reading) as source:
            if source.is_empty:
                return None
            # Nobody knows here which of the columns will be used.
            check_attributes(source, source.schema)
            try:
                whole = duck.text(exp.select("*").from_(source.name))
                table = source.connection.sql(whole).to_arrow_table()
            except (duckdb.Error, pa.ArrowException) as error:
                raise failed(error) from error
    refuse_repeated(table.schema.names)
    return table if table.num_columns else None


def _in_files(events: object) -> bool:
    if isinstance(events, list | tuple) and events:
        return isinstance(events[0], str | Path)
    return isinstance(events, str | Path) or hasattr(events, "read")


def _in_memory(events: object) -> pa.Table | None:
    """None for what only DuckDB can read."""
    found: Any = memory.to_scannable(events)[0]
    if hasattr(found, "to_arrow"):
        found = found.to_arrow()
    if isinstance(found, pa.RecordBatchReader):
        found = found.read_all()
    return found if isinstance(found, pa.Table) else None


@dataclass(frozen=True)
class Types:
    """The columns that have been seen, by their types: those of the first events that had them."""

    known: Mapping[str, pa.DataType] = field(default_factory=dict)
    stated: bool = False
    """By the caller: then events are converted, where nothing is lost by it."""

    @classmethod
    def of(cls, schema: pa.Schema | None) -> Types:
        if schema is None:
            return cls()
        return cls({one.name: plain(one.type) for one in schema}, stated=True)

    @property
    def schema(self) -> pa.Schema:
        return pa.schema(list(self.known.items()))

    def admit(self, table: pa.Table, read: Collection[str]) -> tuple[pa.Table, Types]:
        """The table in these types, and what is known with it; `read`: columns of the queries."""
        known = dict(self.known)
        columns: dict[str, pa.ChunkedArray] = {}
        for name, column in zip(table.schema.names, table.columns, strict=True):
            now = plain(column.type)
            before = known.setdefault(name, now)
            if pa.types.is_null(before) and name not in read:
                before = known[name] = now
            columns[name] = column if now == before else self._converted(name, column, before)
        return pa.table(columns), replace(self, known=known)

    def _converted(self, name: str, column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
        if pa.types.is_null(column.type):
            return pa.chunked_array([pa.nulls(len(column), kind)])
        if not self.stated:
            raise InputError(
                f"The column '{name}' was {kind} in the first events, and is {column.type} now.",
                remedy="Convert it before, or state the types from the beginning with schema=.",
            )
        try:
            return column.cast(kind)
        except pa.ArrowException as error:
            raise InputError(
                f"The column '{name}' is {column.type} and does not fit {kind}, which the schema "
                f"says: {error}",
                remedy="Convert it before, or state another schema from the beginning.",
            ) from error


def plain(kind: pa.DataType) -> pa.DataType:
    """The type but for its clothes: dictionaries, wide offsets and zones hold the same values."""
    if pa.types.is_dictionary(kind):
        return plain(kind.value_type)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pa.timestamp(kind.unit, "UTC")
    return kind


def in_plain_types(table: pa.Table) -> pa.Table:
    """The table with every column in its plain type, without dictionaries and the like."""
    return table.cast(pa.schema([(one.name, plain(one.type)) for one in table.schema]))
