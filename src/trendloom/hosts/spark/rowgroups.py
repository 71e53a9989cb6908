"""Parquet files cut into ranges of row groups: the tasks of the direct plan.

Footers are read once, here; they say how many rows a row group has and, mostly, from when to when
it reaches. Ranges that follow one another in time can be reduced to maps without looking at them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyarrow import fs

from trendloom.errors import InputError
from trendloom.hosts.scan.folders import STREAM_LOG

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

TASK_ROWS = 2_000_000
"""Rows per task: a few hundred milliseconds of reading, a few tens of megabytes."""
MOST_ROWS = 16_000_000
"""Rows of a task that holds a piece of them at a time: what has to be done again if it fails."""
PIECE_ROWS = 1 << 19
"""Rows of such a piece."""
LOGS = ("_delta_log", ".hoodie", STREAM_LOG)
"""Folders beside files that do not all count."""


@dataclass(frozen=True, slots=True)
class RowGroups:
    """Consecutive row groups of one file."""

    path: str
    """A path, or a URI that names its file system."""
    first: int
    stop: int
    rows: int
    low: int | None
    """The earliest time, in ticks of the file; None if the footer does not say."""
    high: int | None


@dataclass(frozen=True, slots=True)
class Files:
    """The row groups of all files, and the one schema that they share."""

    schema: pa.Schema
    groups: tuple[RowGroups, ...]


def find_row_groups(paths: Sequence[str], time: str) -> Files:
    """Every row group under the paths, which are files or directories."""
    schema: pa.Schema | None = None
    groups: list[RowGroups] = []
    first_path = ""
    for path in _files(paths):
        footer, found = _footer(path)
        if schema is None:
            schema, first_path = found, path
        elif _types(found) != _types(schema):
            raise _drift(_types(schema), _types(found), f"'{first_path}' and '{path}'")
        column = schema.get_field_index(time)
        for number in range(footer.num_row_groups):
            low, high = _reach(footer, number, column)
            rows = footer.row_group(number).num_rows
            if rows:
                groups.append(RowGroups(path, number, number + 1, rows, low, high))
    if schema is None:
        raise InputError(
            f"No Parquet files in {', '.join(map(repr, paths))}.",
            remedy="Name files that end in .parquet, or directories that hold some.",
        )
    return Files(schema, tuple(groups))


def in_order(groups: Iterable[RowGroups], *, sharing: bool = False) -> bool:
    """Whether each range ends before the next begins, as far as the footers tell.

    With `sharing` also where a range begins at the time point at which the one before ends.
    """
    last: int | None = None
    for group in groups:
        if group.low is None or group.high is None:
            return False
        if last is not None and (group.low < last or (group.low == last and not sharing)):
            return False
        last = group.high
    return True


def by_time(groups: Iterable[RowGroups]) -> tuple[RowGroups, ...]:
    """Earliest first; those that do not tell come last."""
    return tuple(sorted(groups, key=lambda g: (g.low is None, g.low or 0, g.high or 0, g.path)))


def make_tasks(groups: Sequence[RowGroups], task_rows: int) -> list[tuple[RowGroups, ...]]:
    """Neighbours put together until a task has its rows; ranges of one file are joined."""
    tasks: list[list[RowGroups]] = []
    rows = 0
    for group in groups:
        if not tasks or rows + group.rows > task_rows:
            tasks.append([])
            rows = 0
        rows += group.rows
        last = tasks[-1][-1] if tasks[-1] else None
        if last is not None and last.path == group.path and last.stop == group.first:
            tasks[-1][-1] = _join(last, group)
        else:
            tasks[-1].append(group)
    return [tuple(task) for task in tasks]


def in_pieces(group: RowGroups, rows: int) -> list[RowGroups]:
    """A range as smaller ones of about so many rows; their reaches are not known."""
    count = group.stop - group.first
    each = max(1, count * rows // max(1, group.rows))
    return [
        RowGroups(group.path, at, min(at + each, group.stop), 0, None, None)
        for at in range(group.first, group.stop, each)
    ]


def task_ranges(tasks: Iterable[Sequence[RowGroups]]) -> list[RowGroups]:
    """Each task as one range of time."""
    ranges: list[RowGroups] = []
    for task in tasks:
        joined = task[0]
        for group in task[1:]:
            joined = _join(joined, group)
        ranges.append(joined)
    return ranges


def read(
    group: RowGroups,
    columns: Sequence[str],
    keep: ds.Expression | None,
    dictionaries: Sequence[str] = (),
) -> pa.Table:
    """The rows of a range, without the row groups that hold nothing that `keep` wants.

    Columns named in `dictionaries` stay dictionaries, as files mostly store them: event types need
    not become text for every row.
    """
    filesystem, path = open_path(group.path)
    form = ds.ParquetFileFormat(dictionary_columns=set(dictionaries))
    fragment = form.make_fragment(path, filesystem, row_groups=range(group.first, group.stop))
    if keep is not None:
        fragment = fragment.subset(keep)
    # One task has one core; other tasks have the others.
    return fragment.to_table(columns=list(columns), use_threads=False)


def open_path(path: str) -> tuple[fs.FileSystem, str]:
    """The file system of a path or URI, and the path in it."""
    if "://" in path:
        found: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(path)
        return found
    return fs.LocalFileSystem(), path


def is_reachable(path: str) -> bool:
    """Whether Arrow knows the path's file system; Spark knows more of them."""
    try:
        open_path(path)
    except (pa.ArrowException, ValueError):
        return False
    return True


def _join(left: RowGroups, right: RowGroups) -> RowGroups:
    lows = [low for low in (left.low, right.low) if low is not None]
    highs = [high for high in (left.high, right.high) if high is not None]
    known = len(lows) == 2 and len(highs) == 2
    return RowGroups(
        left.path,
        left.first,
        right.stop,
        left.rows + right.rows,
        min(lows) if known else None,
        max(highs) if known else None,
    )


def _files(paths: Sequence[str]) -> list[str]:
    found: list[str] = []
    for path in paths:
        filesystem, inner = open_path(path)
        prefix = path[: len(path) - len(inner)] if "://" in path else ""
        info = filesystem.get_file_info(inner)
        if info.type is fs.FileType.NotFound:
            raise InputError(f"No file or directory '{path}'.", remedy="Check the path.")
        if info.type is fs.FileType.File:
            found.append(path)
            continue
        selector = fs.FileSelector(inner, recursive=True)
        inside = sorted(
            one.path for one in filesystem.get_file_info(selector) if one.type is fs.FileType.File
        )
        for one in inside:
            below = PurePosixPath(one).relative_to(inner)
            log = next((part for part in below.parts if part in LOGS), None)
            if log is not None:
                raise InputError(
                    f"'{one.partition(f'/{log}/')[0]}' has a log ({log}) that says which of its "
                    "files count.",
                    remedy="Name that folder itself: Spark then reads it by its log.",
                )
            if any(part.startswith(("_", ".")) for part in below.parts):
                continue  # what Spark and others leave beside the data
            if any("=" in part for part in below.parts[:-1]):
                raise InputError(
                    f"'{path}' is partitioned into directories ('{below.parent}'), so some columns "
                    "are not in the files.",
                    remedy="Pass the DataFrame instead: spark.read.parquet(path).",
                )
            if one.endswith(".parquet"):
                found.append(prefix + one)
    return found


def _footer(path: str) -> tuple[pq.FileMetaData, pa.Schema]:
    filesystem, inner = open_path(path)
    try:
        with pq.ParquetFile(inner, filesystem=filesystem) as file:
            return file.metadata, file.schema_arrow.remove_metadata()
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"'{path}' cannot be read as Parquet: {str(error).splitlines()[0]}",
            remedy="Check that the file is whole; other formats go through a DataFrame.",
        ) from error


def _reach(footer: pq.FileMetaData, number: int, column: int) -> tuple[int | None, int | None]:
    if column < 0:
        return None, None
    statistics: Any = footer.row_group(number).column(column).statistics
    if statistics is None or not statistics.has_min_max:
        return None, None
    low, high = statistics.min_raw, statistics.max_raw
    whole = isinstance(low, int) and isinstance(high, int)
    return (low, high) if whole else (None, None)


def _types(schema: pa.Schema) -> dict[str, pa.DataType]:
    return dict(zip(schema.names, schema.types, strict=True))


def _drift(one: dict[str, pa.DataType], two: dict[str, pa.DataType], paths: str) -> InputError:
    names = dict.fromkeys([*one, *two])
    name = next(name for name in names if one.get(name) != two.get(name))
    return InputError(
        f"The files differ in column '{name}': {one.get(name, 'missing')} and "
        f"{two.get(name, 'missing')} in {paths}.",
        remedy="Name files of one schema, or pass a DataFrame that reads them as one.",
    )
