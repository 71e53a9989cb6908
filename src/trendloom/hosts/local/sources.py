"""Where events come from: anything tabular becomes one relation in a private DuckDB."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

import duckdb
from sqlglot import exp

from trendloom.errors import InputError
from trendloom.hosts.local import files, memory
from trendloom.hosts.local.files import Format
from trendloom.hosts.scan import duck
from trendloom.hosts.scan.columns import refuse_repeated

if TYPE_CHECKING:
    from collections.abc import Callable

WHOLE_SAMPLE_BYTES = 16 << 20
"""Text files up to this size are read whole to find the column types; larger ones by a sample."""


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
        source = _open(connection, directory, events, asked)
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
    connection: duckdb.DuckDBPyConnection, directory: Path, events: object, asked: Format | None
) -> Source:
    if isinstance(events, str) and events == "-":
        import sys

        events = sys.stdin.buffer
    if hasattr(events, "read") and not isinstance(events, str | Path):
        path, sniffed = _spool(events, directory)
        return _open_files(connection, directory, [path], asked or sniffed)
    if isinstance(events, str | Path):
        return _open_files(connection, directory, *files.find([events], asked))
    if isinstance(events, list | tuple) and events and isinstance(events[0], str | Path):
        return _open_files(connection, directory, *files.find(events, asked))
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
    if once:
        # Two scans may be needed: keep the rows where they can spill.
        connection.register("given", scannable)
        _readable(lambda: connection.execute(duck.text(_all("given").ctas("events"))))
        connection.unregister("given")
    else:
        _readable(lambda: connection.register("events", scannable))
    schema = _describe(connection, _all("events"))
    refuse_repeated(names)
    return Source(connection, directory, "events", schema)


def _open_files(
    connection: duckdb.DuckDBPyConnection,
    directory: Path,
    paths: list[Path],
    format: Format,  # noqa: A002
) -> Source:
    _refuse_mixed(connection, paths, format)
    tree = exp.select("*").from_(_reader(paths, format))
    schema = _describe(connection, tree)
    connection.execute(
        duck.text(exp.Create(this=exp.to_table("events"), kind="VIEW", expression=tree))
    )
    is_text = format is not Format.PARQUET
    # Without rows the types of a text file are guesses that nobody should be held to.
    is_empty = is_text and not _readable(
        lambda: connection.execute(duck.text(exp.select("1").from_("events").limit(1))).fetchall()
    )
    if is_empty and format is Format.JSON:
        schema = {}  # the columns are those of the rows
    return Source(connection, directory, "events", schema, is_text=is_text, is_empty=is_empty)


def _reader(paths: list[Path], format: Format) -> exp.Expr:  # noqa: A002
    names = exp.array(*[exp.Literal.string(str(path)) for path in paths])
    if format is Format.PARQUET:
        return exp.Anonymous(this="read_parquet", expressions=[names])
    small = sum(path.stat().st_size for path in paths) <= WHOLE_SAMPLE_BYTES
    options: dict[str, exp.Expr] = {"union_by_name": exp.true()}
    if small:
        options["sample_size"] = exp.Literal.number(-1)
    if format is Format.CSV:
        # Events have named columns; guessing whether would fail where all of them are strings.
        options["header"] = exp.true()
    settings = [exp.EQ(this=exp.to_identifier(k), expression=v) for k, v in options.items()]
    function = "read_csv" if format is Format.CSV else "read_json"
    return exp.Anonymous(this=function, expressions=[names, *settings])


def _refuse_mixed(
    connection: duckdb.DuckDBPyConnection,
    paths: list[Path],
    format: Format,  # noqa: A002
) -> None:
    """DuckDB would cast (1.5 to 2), match by position or fill up with nulls, all in silence."""
    first: dict[str, str] = {}
    for path in paths:
        schema = _describe(connection, exp.select("*").from_(_reader([path], format)))
        if (
            format is Format.CSV
            and len(schema) == 1
            and any(c in next(iter(schema)) for c in ",;|\t")
        ):
            raise InputError(
                f"Cannot find the columns of '{path}': its lines differ in their number of fields.",
                remedy="Repair the file, or convert it to Parquet.",
            )
        if format is Format.CSV:
            refuse_repeated(_header(connection, path))
        if format is Format.JSON:
            continue  # a key that is missing is a null, in one file as in several
        first = first or schema
        names = [*first, *(name for name in schema if name not in first)]
        for name in names:
            one, two = first.get(name, "missing"), schema.get(name, "missing")
            same = (one == "missing") == (two == "missing") if format is Format.CSV else one == two
            if not same:
                raise InputError(
                    f"The files differ in column '{name}': {one} in '{paths[0]}', "
                    f"{two} in '{path}'.",
                    remedy="Name files of one schema, or convert them to one first.",
                )


def _header(connection: duckdb.DuckDBPyConnection, path: Path) -> list[str]:
    """The first line of a CSV file, as it is written."""
    settings = [
        exp.EQ(this=exp.to_identifier("header"), expression=exp.false()),
        exp.EQ(this=exp.to_identifier("all_varchar"), expression=exp.true()),
    ]
    reader = exp.Anonymous(this="read_csv", expressions=[exp.Literal.string(str(path)), *settings])
    query = duck.text(exp.select("*").from_(reader).limit(1))
    rows = _readable(lambda: connection.sql(query).fetchall())
    return [name for name in rows[0] if name] if rows else []


def _all(name: str) -> exp.Select:
    return exp.select("*").from_(name)


def _describe(connection: duckdb.DuckDBPyConnection, tree: exp.Expr) -> dict[str, str]:
    relation = _readable(lambda: connection.sql(duck.text(tree)))
    return dict(zip(relation.columns, map(str, relation.types), strict=True))


def _readable(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except duckdb.Error as error:
        raise InputError(
            f"The events cannot be read: {duck.first_line(error)}",
            remedy="Check that the file is whole and of the format its name says.",
        ) from error
