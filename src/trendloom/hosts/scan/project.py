"""The projection over Arrow tables, in this process, one thread, no sort: what a worker needs."""

from __future__ import annotations

import threading
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from trendloom.engine.scanned import plain
from trendloom.hosts.scan import duck
from trendloom.hosts.scan.bound import GIVEN, Bound, bind_schema
from trendloom.hosts.scan.failures import failed, without_order
from trendloom.hosts.scan.plain import Plain
from trendloom.hosts.scan.projection import counts

if TYPE_CHECKING:
    from trendloom.hosts.scan.reading import Reading
    from trendloom.hosts.scan.times import TimeAxis
    from trendloom.plan.scan import Scan


@dataclass(frozen=True, slots=True)
class Projected:
    """The scan columns of one table, in the table's order, and what became of its rows."""

    table: pa.Table
    rows: int
    """Of the table that was given, matched or not."""
    dropped: int
    """Rows without a time or tiebreak, if they were to be dropped."""


@dataclass(frozen=True)
class Projector:
    """From tables of one Arrow schema to scan columns.

    It is plain values, so it can be sent anywhere. It binds its expressions at first use, and keeps
    its DuckDB for all later tables.
    """

    scan: Scan
    schema: pa.Schema
    reading: Reading

    def bind(self) -> None:
        """Now, not at first use: whatever misfits is told."""
        _ = self._bound

    @property
    def axis(self) -> TimeAxis:
        return self._bound.axis

    @property
    def contract(self) -> pa.Schema:
        """The scan columns and their types."""
        return self._bound.contract

    @property
    def needed(self) -> list[str]:
        """The columns that are read: a reader can leave out the others."""
        return list(self._bound.given.names)

    @property
    def operand_types(self) -> list[pa.DataType]:
        return self._bound.operand_types

    @property
    def partition_types(self) -> list[pa.DataType]:
        return self._bound.partition_types

    def __call__(self, table: pa.Table) -> Projected:
        """The rows of a table that the engine wants; other columns than those needed may miss."""
        given = table.select(self.needed)
        if not _reads_as(given.schema, self._bound.given):
            # Large strings, another zone: the same values in other clothes.
            given = given.cast(self._bound.given)
        plain = None if self._plain is None else self._plain.project(given)
        if plain is not None:
            return Projected(plain, given.num_rows, 0)
        with self._lock:
            try:
                return self._project(given)
            except (duckdb.Error, pa.ArrowException) as error:
                reason = failed(error)
                if reason is error:
                    raise
                raise reason from error

    def _project(self, given: pa.Table) -> Projected:
        connection, statements = self._bound.connection, self._statements
        connection.register(GIVEN, given)
        try:
            ((total, good),) = connection.execute(statements["counts"]).fetchall()
            bad = total - good
            if bad and not self.reading.drops:
                raise without_order(bad, total, self.reading.time, self.reading.tiebreak)
            statement = statements["ordered" if bad else "all"]
            return Projected(connection.sql(statement).to_arrow_table(), total, bad)
        finally:
            # The rows belong to the caller, who may want their memory back.
            connection.unregister(GIVEN)

    @cached_property
    def _bound(self) -> Bound:
        return bind_schema(self.scan, self.schema, self.reading)

    @cached_property
    def _plain(self) -> Plain | None:
        return Plain.of(self.scan, self._bound)

    @cached_property
    def _statements(self) -> dict[str, str]:
        order = self._bound.projection.order
        return {
            "counts": duck.text(counts(order).from_(GIVEN)),
            "all": duck.text(self._bound.statement(ordered_only=False)),
            "ordered": duck.text(self._bound.statement(ordered_only=True)),
        }

    @cached_property
    def _lock(self) -> threading.Lock:
        return threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        # The definition only: a connection cannot travel.
        return {field.name: getattr(self, field.name) for field in fields(self)}


def _reads_as(given: pa.Schema, bound: pa.Schema) -> bool:
    """Whether DuckDB sees the same types: dictionaries are to it as what they hold."""
    return bool([plain(kind) for kind in given.types] == bound.types)


def project(table: pa.Table, projector: Projector) -> pa.Table:
    """The scan columns of a table, rows that are no letter left out, in the table's order."""
    return projector(table).table
