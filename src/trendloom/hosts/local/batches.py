"""Batches on their way out: written one after another, so that no result is ever whole in memory.

A file is still either whole or not there.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

import pyarrow as pa

from trendloom.errors import OutputError
from trendloom.hosts.local.sinks import flat_columns, plain, write_jsonl, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable


def write_batches(
    reader: pa.RecordBatchReader,
    target: str | Path | IO[bytes],
    format: Literal["csv", "jsonl", "parquet"],  # noqa: A002
    *,
    overwrite: bool = False,
) -> int:
    """Returns the number of rows. CSV has no lists: they are written as JSON."""
    write = _WRITERS[format]
    if not isinstance(target, str | Path):
        return write(reader, target)
    path = Path(target)
    if path.exists() and not overwrite:
        raise OutputError(
            f"'{path}' exists.", remedy="Replace it with overwrite=True (--overwrite)."
        )
    rows: list[int] = []
    write_whole(path, lambda stream: rows.append(write(reader, stream)), overwrite=overwrite)
    return rows[0]


def _jsonl(reader: pa.RecordBatchReader, stream: IO[bytes]) -> int:
    rows = 0
    for batch in reader:
        write_jsonl(pa.Table.from_batches([batch]), stream)
        rows += batch.num_rows
    return rows


def _csv(reader: pa.RecordBatchReader, stream: IO[bytes]) -> int:
    import pyarrow.csv as pcsv

    rows = 0
    header = pcsv.WriteOptions(include_header=True)
    for batch in reader:
        pcsv.write_csv(_without_lists(pa.Table.from_batches([batch])), stream, header)
        header = pcsv.WriteOptions(include_header=False)
        rows += batch.num_rows
    if rows == 0:
        pcsv.write_csv(_without_lists(reader.schema.empty_table()), stream, header)
    return rows


def _parquet(reader: pa.RecordBatchReader, stream: IO[bytes]) -> int:
    import pyarrow.parquet as pq

    rows = 0
    with pq.ParquetWriter(stream, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
            rows += batch.num_rows
    return rows


def _without_lists(table: pa.Table) -> pa.Table:
    for i, field in enumerate(table.schema):
        if pa.types.is_list(field.type):
            texts = [json.dumps(plain(v), ensure_ascii=False) for v in table.column(i).to_pylist()]
            table = table.set_column(i, field.name, pa.array(texts, pa.string()))
    return flat_columns(table)


_WRITERS: dict[str, Callable[[pa.RecordBatchReader, IO[bytes]], int]] = {
    "csv": _csv,
    "jsonl": _jsonl,
    "parquet": _parquet,
}
