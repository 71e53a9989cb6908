"""Which files are meant, and of what format they are."""

from __future__ import annotations

import glob
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from trendloom.errors import InputError

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
PACKED = frozenset({".gz", ".zst"})
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
    return Format.JSON if head.lstrip()[:1] in (b"{", b"[") else Format.CSV


def find(events: Iterable[str | Path], format: Format | None) -> tuple[list[Path], Format]:  # noqa: A002
    """The files behind paths, globs and directories, all of one format and none of them void."""
    paths = [path for event in events for path in _expand(Path(event), format)]
    if not paths:
        raise InputError("The list of event files is empty.", remedy="Name at least one file.")
    formats: dict[Format, Path] = {}
    for path in paths:
        known = format or format_of(path)
        if known is None:
            raise InputError(f"Cannot tell the format of '{path}' by its name.", remedy=READABLE)
        formats.setdefault(known, path)
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


def _expand(path: Path, format: Format | None) -> list[Path]:  # noqa: A002
    if path.is_dir():
        inside = sorted(
            p for p in path.iterdir() if p.is_file() and not p.name.startswith((".", "_"))
        )
        found = [p for p in inside if format_of(p) is not None and format in (None, format_of(p))]
        if not found:
            raise InputError(f"The directory '{path}' holds no event files.", remedy=READABLE)
        return found
    if path.exists():
        return [path]
    if not glob.has_magic(str(path)):
        raise InputError(f"There is no file '{path}'.", remedy=_nearby(path))
    matches = sorted(p for p in map(Path, glob.glob(str(path), recursive=True)) if p.is_file())
    if not matches:
        raise InputError(f"No file matches '{path}'.", remedy="Check the pattern and the folder.")
    return matches


def _nearby(path: Path) -> str:
    from trendloom.errors import did_you_mean

    if not path.parent.is_dir():
        return f"The folder '{path.parent}' does not exist either."
    known = (p.name for p in path.parent.iterdir() if p.is_file() and format_of(p) is not None)
    return did_you_mean(path.name, known)
