"""Folders whose files are not simply their rows: a log beside them says which files count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from trendloom.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

STREAM_LOG = "_spark_metadata"
"""Where a stream of Spark notes the files that it has committed."""

_REMEDIES = {
    "Delta": "Read it by its log: with the package deltalake, give "
    "deltalake.DeltaTable(path).to_pyarrow_dataset() as the events; on Spark, "
    "spark.read.format('delta').load(path).",
    "Iceberg": "Read it by its metadata: with the package pyiceberg, give "
    "table.scan().to_arrow() as the events; on Spark, spark.table(name).",
    "Hudi": "Read it by its timeline: on Spark, spark.read.format('hudi').load(path).",
}


def table_kind(folder: Path) -> str | None:
    """`Delta`, `Iceberg` or `Hudi` if the folder is such a table, else None."""
    if (folder / "_delta_log").is_dir():
        return "Delta"
    if (folder / ".hoodie").is_dir():
        return "Hudi"
    is_iceberg = any((folder / "metadata").glob("*.metadata.json"))
    return "Iceberg" if is_iceberg else None


def refused_table(kind: str, folder: str | Path) -> InputError:
    """The error for a table whose files also hold rows that were deleted or replaced."""
    return InputError(
        f"'{folder}' is a {kind} table; its files also hold rows that were deleted or replaced.",
        remedy=_REMEDIES[kind],
    )


def refuse_table(folder: Path) -> None:
    """Refuse a folder that is a table, or that lies in one."""
    whole = folder.absolute()
    for one in (folder, *whole.parents):
        kind = table_kind(one)
        # Any project may have a folder of metadata; the rows of an Iceberg table are in `data`.
        beside = kind == "Iceberg" and one is not folder and (one / "data") not in whole.parents
        if kind is not None and not (beside and whole != one / "data"):
            raise refused_table(kind, one)


def stream_log_of(folder: Path) -> Path | None:
    """The log of the stream that wrote to the folder, or to one above it; None if none did."""
    for one in (folder, *folder.absolute().parents):
        if (one / STREAM_LOG).is_dir():
            return one / STREAM_LOG
    return None


def committed_files(log: Path) -> list[Path]:
    """The files that a stream of Spark has committed, by its log; others are left from failures.

    Every batch has a file of its number: `v1`, then one JSON object per line. `9.compact` repeats
    what the batches up to 9 say, so reading begins at the newest of these.
    """
    batches = {int(p.name): p for p in log.iterdir() if p.name.isdigit()}
    compact = {int(p.stem): p for p in log.iterdir() if p.suffix == ".compact" and p.stem.isdigit()}
    newest = max(compact, default=-1)
    parts = [compact[newest]] if compact else []
    parts += [batches[number] for number in sorted(batches) if number > newest]
    found: dict[Path, None] = {}
    for part in parts:
        for entry in _entries(part):
            path = Path(unquote(urlsplit(str(entry["path"])).path))
            if entry.get("action", "add") == "add":
                found[path] = None
            else:
                found.pop(path, None)
    return _present(found, log)


def _entries(part: Path) -> list[dict[str, object]]:
    try:
        version, *lines = part.read_text(encoding="utf-8").split("\n")
        if version != "v1":
            raise ValueError(f"its version is {version!r}, not 'v1'")
        return [{"path": line["path"], **line} for line in map(json.loads, filter(None, lines))]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"The log of Spark's stream, '{part}', cannot be read: {error}.",
            remedy="Read the folder with Spark, and give the DataFrame as the events.",
        ) from error


def _present(paths: Iterable[Path], log: Path) -> list[Path]:
    """The paths of a log, in its own folder if that was moved as a whole."""
    found = []
    for path in paths:
        moved = _moved(path, log.parent)
        if moved is None:
            raise InputError(
                f"The log '{log}' names a file that is not there: '{path}'.",
                remedy="Bring it back, or read the folder with Spark, which knows its storage.",
            )
        found.append(moved)
    return found


def _moved(path: Path, folder: Path) -> Path | None:
    if path.is_file():
        return path
    inside = (folder.joinpath(*path.parts[-depth:]) for depth in range(1, len(path.parts)))
    return next((one for one in inside if one.is_file()), None)
