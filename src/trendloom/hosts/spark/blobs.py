"""Arrow tables through Spark's exchange as (shard, bytes) rows.

Rows of events cost the JVM a microsecond each; a row that holds the bytes of thousands costs the
same. So what is exchanged is packed by shard in the worker that has it and unpacked in the worker
that needs it, and Spark moves a few large values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from trendloom.engine import wire
from trendloom.engine.shards import shard_numbers, split

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SCHEMA = "shard INT, blob BINARY"
_ARROW = pa.schema([("shard", pa.int32()), ("blob", pa.binary())])

SHARDS = 32
"""Enough for most clusters: each costs a worker a value to pack and another one to unpack."""
BLOB_ROWS = 1 << 21
"""So many rows go into one value at most, far below the 2 GB that a row may have."""


def to_blobs(
    kind: str, table: pa.Table, key: Sequence[str], shards: int, first_shard: int = 0
) -> Iterator[pa.RecordBatch]:
    """The table's rows, packed by the shard of their key columns."""
    numbers = shard_numbers([table.column(name) for name in key], shards, table.num_rows)
    for shard, rows in split(table, numbers, shards):
        for at in range(0, rows.num_rows, BLOB_ROWS):
            yield one_blob(
                first_shard + shard, wire.pack(kind, {}, {"rows": rows.slice(at, BLOB_ROWS)})
            )


def one_blob(shard: int, blob: bytes) -> pa.RecordBatch:
    values = [pa.array([shard], pa.int32()), pa.array([blob], pa.binary())]
    return pa.RecordBatch.from_arrays(values, schema=_ARROW)


def from_blobs(kind: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Every packed table, in any order."""
    for batch in batches:
        for blob in batch.column("blob"):
            yield from_blob(kind, blob.as_buffer())


def from_blob(kind: str, blob: bytes | memoryview | pa.Buffer) -> pa.Table:
    _, tables = wire.unpack(kind, memoryview(blob))
    return tables["rows"]
