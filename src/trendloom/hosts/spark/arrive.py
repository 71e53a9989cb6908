"""What a Python worker receives from Spark, in the engine's types.

Spark has no unsigned integers, and its Arrow writes times in their own types: a cast at the door,
mostly without a copy.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from trendloom.errors import InputError
from trendloom.hosts.scan.failures import without_order


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
