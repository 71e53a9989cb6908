"""What a Python worker receives from Spark, in the engine's types.

Spark has no unsigned integers, and its Arrow writes times in their own types: a cast at the door,
mostly without a copy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from trendloom.errors import InputError
from trendloom.hosts.scan.failures import without_order

if TYPE_CHECKING:
    from collections.abc import Sequence

SHOWN = 200
"""Characters of a row that an error shows."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """The contract of one scan as plain values, so that it can be sent to workers."""

    schema: bytes
    """The scan columns in the engine's types, as Arrow writes a schema."""
    time: str
    """The caller's name of the time column, for messages."""
    tiebreak: str | None

    @property
    def contract(self) -> pa.Schema:
        return pa.ipc.read_schema(pa.py_buffer(self.schema))


@dataclass(frozen=True, slots=True)
class Arrived:
    """Rows in the engine's types, and how many had no place in the order."""

    batch: pa.RecordBatch
    dropped: int


@dataclass(frozen=True, slots=True)
class Readable:
    """The rows of a table that have a place in the order, and how many have not."""

    table: pa.Table
    dropped: int


def without_bad_rows(
    table: pa.Table, order: Sequence[str], unread: str, arrival: Arrival, *, drop: bool
) -> Readable:
    """Rows that could not be read, or have no time or tiebreak, are an error, or dropped.

    Columns of `order`, and the column `unread`, need not be there.
    """
    rows = table.num_rows
    if unread in table.column_names:
        texts = table.column(unread)
        if texts.null_count < rows:
            if not drop:
                raise unreadable(rows - texts.null_count, pc.drop_null(texts)[0].as_py())
            table = table.filter(pc.is_null(texts))
    keys = [name for name in order if name in table.column_names]
    if any(table.column(name).null_count for name in keys):
        known = pc.is_valid(table.column(keys[0]))
        for name in keys[1:]:
            known = pc.and_(known, pc.is_valid(table.column(name)))
        ordered = table.filter(known)
        if not drop:
            bad = table.num_rows - ordered.num_rows
            raise without_order(bad, None, arrival.time, arrival.tiebreak)
        table = ordered
    return Readable(table, rows - table.num_rows)


def unreadable(rows: int, first: str) -> InputError:
    """Text whose fields are not of the types that the schema says."""
    shown = first if len(first) <= SHOWN else first[: SHOWN - 1] + "…"
    return InputError(
        f"{rows} {'row does' if rows == 1 else 'rows do'} not fit the schema. The first: {shown!r}",
        remedy="Repair the schema (--schema) or the rows, or leave them out with bad_rows='drop' "
        "(--bad-rows drop).",
    )


def arrive(batch: pa.RecordBatch, arrival: Arrival, *, drop: bool = False) -> Arrived:
    """The scan columns of a batch; rows without a time or tiebreak are an error, or dropped."""
    contract = arrival.contract
    order = [batch.column(name) for name in ("time", "tie") if name in contract.names]
    dropped = 0
    if any(column.null_count for column in order):
        known = pc.is_valid(order[0])
        for column in order[1:]:
            known = pc.and_(known, pc.is_valid(column))
        dropped = batch.num_rows - (pc.sum(known).as_py() or 0)
        if not drop:
            raise without_order(dropped, None, arrival.time, arrival.tiebreak)
        batch = batch.filter(known)
    columns = [_fitted(batch.column(field.name), field) for field in contract]
    return Arrived(pa.RecordBatch.from_arrays(columns, schema=contract), dropped)


def _fitted(column: pa.Array, field: pa.Field) -> pa.Array:
    if field.name == "mask":
        return column.view(field.type)
    try:
        if field.name == "time" and not pa.types.is_integer(column.type):
            zone = getattr(column.type, "tz", None)
            return column.cast(pa.timestamp("us", zone)).view(pa.int64())
        return column if column.type == field.type else column.cast(field.type)
    except pa.ArrowException as error:
        raise InputError(
            f"The column {field.name} arrived as {column.type} and does not fit {field.type}: "
            f"{error}",
            remedy="If a number is out of range, convert the column to DOUBLE before the query.",
        ) from error
