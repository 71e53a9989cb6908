"""Where events come from: anything tabular becomes one relation in a private DuckDB."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from sqlglot import exp

from trendloom.engine.stopping import in_caller
from trendloom.errors import InputError
from trendloom.hosts.local import files, memory
from trendloom.hosts.local.files import Format
from trendloom.hosts.local.opening import open_files
from trendloom.hosts.local.readers import describe, readable
from trendloom.hosts.scan import duck
from trendloom.hosts.scan.columns import refuse_repeated

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import duckdb

    from trendloom.errors import TrendloomError, TrendloomWarning
    from trendloom.hosts.scan.reading import Reading


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Source:
    """Events under one name, with their columns. Close it to remove what was spooled or spilled.

    One scan at a time: the connection holds one open result.
    """

    connection: duckdb.DuckDBPyConnection
    directory: Path
    name: str
    schema: dict[str, str]
    """Column names and DuckDB types, in order."""
    remarks: Mapping[str, TrendloomError | TrendloomWarning] = field(default_factory=dict)
    """What is to be said of a column if a query uses it."""
    is_text: bool = False
    """Parsed anew by every scan, so a scan that needs it twice keeps what it needs."""
    is_empty: bool = False
    """No rows, and therefore no known column types."""
    _cleanup: Callable[[], object] = field(default=lambda: None, repr=False, compare=False)

    def close(self) -> None:
        self._cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_events(
    events: object,
    reading: Reading | None = None,
    *,
    format: str | None = None,  # noqa: A002
    memory_limit: str | None = None,
) -> Source:
    """Open events of any supported kind; `format` overrules the file name or the sniffing."""
    directory = Path(tempfile.mkdtemp(prefix="trendloom-"))
    connection = None
    try:
        connection = duck.connect(directory / "spill", memory_limit)
        asked = None if format is None else files.named(format)
        source = _open(connection, directory, events, asked, reading)
    except BaseException:
        _remove(connection, directory)
        raise
    # A source that is dropped without close() still leaves nothing behind.
    cleanup = weakref.finalize(source, _remove, connection, directory)
    object.__setattr__(source, "_cleanup", cleanup)
    return source


def _remove(connection: duckdb.DuckDBPyConnection | None, directory: Path) -> None:
    if connection is not None:
        connection.close()
    shutil.rmtree(directory, ignore_errors=True)


def _open(
    connection: duckdb.DuckDBPyConnection,
    directory: Path,
    events: object,
    asked: Format | None,
    reading: Reading | None,
) -> Source:
    if isinstance(events, str) and events == "-":
        import sys

        events = sys.stdin.buffer
    if hasattr(events, "read") and not isinstance(events, str | Path):
        # By the caller's thread, which Ctrl-C reaches while it waits for more.
        path, sniffed = in_caller(partial(_spool, events, directory))
        return _open_files(connection, directory, [path], asked or sniffed, reading)
    if isinstance(events, str | Path):
        events = [events]
    if isinstance(events, list | tuple) and events and isinstance(events[0], str | Path):
        nested = reading is not None and reading.hive_partitioning
        found = files.find(events, asked, nested=nested)
        return _open_files(connection, directory, *found, reading)
    if reading is not None:
        reading.refuse_file_options()
    return _open_memory(connection, directory, events)


def _spool(stream: Any, directory: Path) -> tuple[Path, Format]:
    """Copy a stream to disk: it can be read once, and Parquet is read from its end."""
    binary: IO[bytes] = stream
    head = binary.read(1 << 16)
    if isinstance(head, str):
        raise InputError(
            "The events stream is open in text mode.", remedy="Open it in binary mode ('rb')."
        )
    if not head:
        raise InputError(
            "The events stream is empty (0 bytes).",
            remedy="Even a stream without events needs a header or a schema.",
        )
    packed = {b"\x1f\x8b": ".gz", b"\x28\xb5": ".zst"}.get(head[:2], "")
    path = directory / f"stdin{packed}"
    with path.open("wb") as spool:
        spool.write(head)
        shutil.copyfileobj(binary, spool)
    if packed:
        import pyarrow as pa

        with pa.input_stream(str(path)) as unpacked:
            head = unpacked.read(1 << 10)
    return path, files.sniff(head)


def _open_memory(connection: duckdb.DuckDBPyConnection, directory: Path, events: object) -> Source:
    scannable, once = memory.to_scannable(events)
    names = memory.column_names(scannable)
    if not names:
        return Source(connection, directory, "events", {}, is_empty=True)
    refuse_repeated(names)
    try:
        if once:
            # Two scans may be needed: keep the rows where they can spill.
            connection.register("given", scannable)
            readable(lambda: connection.execute(duck.text(_all("given").ctas("events"))))
            connection.unregister("given")
        else:
            readable(lambda: connection.register("events", scannable))
        schema = describe(connection, _all("events"))
    except InputError:
        _check_arrow(scannable)
        raise
    return Source(connection, directory, "events", schema)


def _check_arrow(scannable: object) -> None:
    """Names the column of an Arrow table that DuckDB cannot read, if it is a column."""
    import pyarrow as pa

    from trendloom.hosts.scan.bound import duck_types

    found = getattr(scannable, "schema", None)
    if isinstance(found, pa.Schema):
        duck_types(found)


def _open_files(
    connection: duckdb.DuckDBPyConnection,
    directory: Path,
    paths: list[Path],
    format: Format,  # noqa: A002
    reading: Reading | None,
) -> Source:
    opened = open_files(
        connection,
        paths,
        format,
        date_format=None if reading is None else reading.date_format,
        hive_partitioning=reading is not None and reading.hive_partitioning,
    )
    view = exp.Create(this=exp.to_table("events"), kind="VIEW", expression=opened.tree)
    connection.execute(duck.text(view))
    is_text = format is not Format.PARQUET
    # Without rows the types of a text file are guesses that nobody should be held to.
    is_empty = is_text and not readable(
        lambda: connection.execute(duck.text(exp.select("1").from_("events").limit(1))).fetchall()
    )
    # The columns of JSON are those of the rows.
    schema = {} if is_empty and format is Format.JSON else opened.schema
    return Source(
        connection, directory, "events", schema, opened.remarks, is_text=is_text, is_empty=is_empty
    )


def _all(name: str) -> exp.Select:
    return exp.select("*").from_(name)
