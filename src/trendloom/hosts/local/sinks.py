"""Where results go: a file that is either whole or not there, or a stream."""

from __future__ import annotations

import json
import math
import os
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

import pyarrow as pa

from trendloom import bigint
from trendloom.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS_AT_ONCE = 1 << 14


def write_table(
    table: pa.Table,
    target: str | Path | IO[bytes],
    format: Literal["csv", "jsonl", "parquet"],  # noqa: A002
    *,
    overwrite: bool = False,
) -> None:
    """Write a result. JSON lines have no word for infinity: it is the string "Infinity"."""
    try:
        write = _WRITERS[format]
    except KeyError:
        raise OutputError(
            f"Unknown output format '{format}'.", remedy="Known: csv, jsonl, parquet."
        ) from None
    if not isinstance(target, str | Path):
        write(table, target)
        return
    path = Path(target)
    if path.is_dir():
        raise OutputError(f"'{path}' is a directory.", remedy="Name a file in it.")
    if not path.parent.is_dir():
        raise OutputError(
            f"There is no directory '{path.parent}'.", remedy="Create it, or write elsewhere."
        )
    if path.exists() and not overwrite:
        raise OutputError(
            f"'{path}' exists.", remedy="Replace it with overwrite=True (--overwrite)."
        )
    write_whole(path, lambda stream: write(table, stream), overwrite=overwrite)


def write_whole(path: Path, write: Callable[[IO[bytes]], None], *, overwrite: bool) -> None:
    """A temporary name in the same directory, then a rename: readers never see half a file."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    except OSError as error:
        raise OutputError(f"Cannot write to '{path.parent}': {error.strerror}.") from error
    try:
        with os.fdopen(handle, "wb") as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        # mkstemp is private; a result is as readable as any new file.
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)
        if overwrite:
            Path(name).replace(path)
        else:
            # A link fails if the path appeared meanwhile; a rename would replace it.
            os.link(name, path)
            Path(name).unlink()
    except OSError as error:
        raise OutputError(f"Cannot write '{path}': {error.strerror or error}.") from error
    finally:
        Path(name).unlink(missing_ok=True)


def _write_parquet(table: pa.Table, stream: IO[bytes]) -> None:
    import pyarrow.parquet as pq

    pq.write_table(bigint.as_decimals(table), stream)


def _write_csv(table: pa.Table, stream: IO[bytes]) -> None:
    import pyarrow.csv as pcsv

    pcsv.write_csv(flat_columns(table), stream)


def write_jsonl(table: pa.Table, stream: IO[bytes]) -> None:
    names = table.column_names
    exact = bigint.marked_columns(table)
    for batch in table.to_batches(max_chunksize=ROWS_AT_ONCE):
        columns = [
            bigint.as_integers(column) if i in exact else _iso(column).to_pylist()
            for i, column in enumerate(batch.columns)
        ]
        lines = (
            json.dumps(
                {name: plain(value) for name, value in zip(names, row, strict=True)},
                ensure_ascii=False,
                allow_nan=False,
            )
            for row in zip(*columns, strict=True)
        )
        stream.write("".join(line + "\n" for line in lines).encode())


def flat_columns(table: pa.Table) -> pa.Table:
    """CSV has no types: times are written as in JSON, decimals as their digits."""
    for i, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            column = pa.chunked_array([_iso(c) for c in table.column(i).chunks], pa.string())
            table = table.set_column(i, field.name, column)
        elif pa.types.is_decimal(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(pa.string()))
    return table


def _iso(column: pa.Array) -> pa.Array:
    """Timestamps as ISO 8601; those with a zone are in UTC and say so."""
    import pyarrow.compute as pc

    if not pa.types.is_timestamp(column.type):
        return column
    zone = "" if column.type.tz is None else "Z"
    naive = column.cast(pa.timestamp(column.type.unit))
    return pc.strftime(naive, format=f"%Y-%m-%dT%H:%M:%S{zone}")


def plain(value: Any) -> Any:
    """As JSON has it."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if isinstance(value, bytes):
        return value.hex()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return value if isinstance(value, str | int | float | None) else str(value)


_WRITERS: dict[str, Callable[[pa.Table, IO[bytes]], None]] = {
    "csv": _write_csv,
    "jsonl": write_jsonl,
    "parquet": _write_parquet,
}
