"""Which files are meant, and of what format they are.

A path that exists is that file or folder, whatever characters it has; only others are globs.
"""

from __future__ import annotations

import glob
import os
from enum import Enum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import unquote

from trendloom.errors import InputError
from trendloom.hosts.scan.folders import committed_files, refuse_table, stream_log_of

if TYPE_CHECKING:
    from collections.abc import Iterable


class Format(Enum):
    """A file format, by the name that a caller would use."""

    PARQUET = "parquet"
    CSV = "csv"
    JSON = "jsonl"


SUFFIXES = {
    ".parquet": Format.PARQUET,
    ".pq": Format.PARQUET,
    ".csv": Format.CSV,
    ".tsv": Format.CSV,
    ".json": Format.JSON,
    ".jsonl": Format.JSON,
    ".ndjson": Format.JSON,
}
PACKED = {".gz": "gzip", ".zst": "zstd"}
READABLE = "Readable are .parquet, .csv and .jsonl files (the text ones also as .gz or .zst)."


def format_of(path: Path) -> Format | None:
    """By the suffix; Parquet compresses itself, so a packed one is not readable."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = bool(suffixes) and suffixes[-1] in PACKED
    if packed:
        suffixes.pop()
    found = SUFFIXES.get(suffixes[-1]) if suffixes else None
    return None if packed and found is Format.PARQUET else found


def named(name: str) -> Format:
    """The format that a caller asked for by name."""
    aliases = {suffix.lstrip("."): known for suffix, known in SUFFIXES.items()}
    try:
        return aliases[name.lower()]
    except KeyError:
        raise InputError(
            f"Unknown format '{name}'.", remedy="Known: parquet, csv, jsonl."
        ) from None


def sniff(head: bytes) -> Format:
    """The format of a stream, which has no name to tell it."""
    if head.startswith(b"PAR1"):
        return Format.PARQUET
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return Format.JSON if text[:1] in (b"{", b"[") else Format.CSV


def is_tsv(path: Path) -> bool:
    """Whether the name says that tabs part the fields."""
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in PACKED]
    return suffixes[-1:] == [".tsv"]


def unpacked(path: Path) -> IO[bytes]:
    """The bytes of a file, behind its compression if the name says that it has one."""
    compression = PACKED.get(path.suffix.lower())
    if compression is None:
        return path.open("rb")
    import pyarrow as pa

    stream: Any = pa.input_stream(str(path), compression=compression)
    return stream  # type: ignore[no-any-return]


def check_packed(path: Path) -> None:
    """Refuse a compressed file that is cut or damaged: DuckDB reads what is left, checks no sum."""
    if path.suffix.lower() not in PACKED:
        return
    try:
        with unpacked(path) as stream:
            while stream.read(1 << 20):
                pass
    except OSError as error:
        raise InputError(
            f"The compressed file '{path}' cannot be read: {error}.",
            remedy="Check that the file is whole, for example with gzip -t or zstd -t.",
        ) from error


def folder_values(path: Path) -> dict[str, str | None]:
    """Columns that the folders of a file are named after, as in `day=2024-01-01/x.parquet`."""
    parted = (part.partition("=") for part in path.parts[:-1])
    named = {unquote(key): unquote(value) for key, sign, value in parted if key and sign}
    null = "__HIVE_DEFAULT_PARTITION__"
    return {key: None if value == null else value for key, value in named.items()}


def find(
    events: Iterable[str | Path],
    format: Format | None,  # noqa: A002
    *,
    nested: bool = False,
) -> tuple[list[Path], Format]:
    """The files behind paths, globs and folders, all of one format and none of them void.

    `nested`: folders are searched below as well.
    """
    paths = [path for event in events for path in _expand(Path(event), format, nested=nested)]
    if not paths:
        raise InputError("The list of event files is empty.", remedy="Name at least one file.")
    formats: dict[Format, Path] = {}
    for path in paths:
        known = format or format_of(path)
        if known is None:
            raise InputError(f"Cannot tell the format of '{path}' by its name.", remedy=READABLE)
        formats.setdefault(known, path)
        if os.sep == "/" and "\\" in str(path) and glob.has_magic(str(path)):
            raise InputError(
                f"The name '{path}' has both a backslash and one of * ? [, which DuckDB cannot "
                "tell from a pattern.",
                remedy="Rename the file, or open it in binary mode and give that.",
            )
        if path.stat().st_size == 0:
            raise InputError(
                f"The file '{path}' is empty (0 bytes).",
                remedy="Even a file without events needs a header or a schema.",
            )
    if len(formats) > 1:
        one, two = list(formats.values())[:2]
        raise InputError(
            f"The files are of mixed formats: '{one}' and '{two}'.",
            remedy="Name files of one format, for example with a glob: 'events/*.parquet'.",
        )
    return paths, next(iter(formats))


def _expand(path: Path, format: Format | None, *, nested: bool) -> list[Path]:  # noqa: A002
    if path.is_dir():
        refuse_table(path)
        found = _inside(path, format, nested=nested)
        if not found:
            parted = [p.name for p in path.iterdir() if p.is_dir() and "=" in p.name]
            remedy = READABLE
            if parted:
                remedy = (
                    f"It has folders like '{min(parted)}': read them, and the column that their "
                    "names say, with hive_partitioning=True (--hive-partitioning)."
                )
            raise InputError(f"The directory '{path}' holds no event files.", remedy=remedy)
        return found
    if path.exists():
        return [path]
    if not glob.has_magic(str(path)):
        raise InputError(f"There is no file '{path}'.", remedy=_nearby(path))
    matches = sorted(p for p in map(Path, glob.glob(str(path), recursive=True)) if p.is_file())
    if not matches:
        raise InputError(f"No file matches '{path}'.", remedy="Check the pattern and the folder.")
    folders = {match.parent for match in matches}
    for folder in sorted(folders):
        refuse_table(folder)
    logs = {log for folder in folders if (log := stream_log_of(folder)) is not None}
    orphans = {p for log in logs for p in _uncommitted(log, matches)}
    return [match for match in matches if match not in orphans]


def _inside(folder: Path, format: Format | None, *, nested: bool) -> list[Path]:  # noqa: A002
    """The event files of a folder: those that a stream of Spark committed, if one wrote to it."""
    log = stream_log_of(folder)
    inside = folder.rglob("*") if nested else folder.iterdir()
    files = sorted(p for p in inside if p.is_file() and not _is_hidden(p.relative_to(folder)))
    orphans = set() if log is None else _uncommitted(log, files)
    known = [p for p in files if p not in orphans and format_of(p) is not None]
    return [p for p in known if format in (None, format_of(p))]


def _uncommitted(log: Path, files: Iterable[Path]) -> set[Path]:
    """Files beside the log of a stream that it does not name: left by tasks that failed."""
    committed = {path.resolve() for path in committed_files(log)}
    root = log.parent.resolve()
    below = (path for path in files if path.resolve().is_relative_to(root))
    return {path for path in below if path.resolve() not in committed}


def _is_hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)


def _nearby(path: Path) -> str:
    from trendloom.errors import did_you_mean

    if not path.parent.is_dir():
        return f"The folder '{path.parent}' does not exist either."
    known = (p.name for p in path.parent.iterdir() if p.is_file() and format_of(p) is not None)
    return did_you_mean(path.name, known)
