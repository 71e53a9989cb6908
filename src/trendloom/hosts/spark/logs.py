"""Parquet folders whose log says which of their files count, read by Spark with that log.

Delta keeps the files of rows that were deleted or replaced, and a stream leaves those of failed
attempts. Who lists the folder's files, as the direct plan does and Spark too for several paths at
once, counts their rows.
"""

from __future__ import annotations

import glob
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from trendloom.errors import InputError, MissingExtraError
from trendloom.hosts.scan.folders import (
    STREAM_LOG,
    committed_files,
    refuse_table,
    refused_table,
    stream_log_of,
    table_kind,
)
from trendloom.hosts.spark.session import files_of, literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

DELTA, STREAM = "Delta", "stream"


def read_parquet(session: SparkSession, paths: Sequence[str]) -> DataFrame:
    """The rows under the paths; of folders with a log, those that the log says."""
    logs = [log_of(session, path) for path in paths]
    if not any(logs):
        return session.read.parquet(*map(_as_named, paths))
    frames = [
        _delta(session, path) if log == DELTA else session.read.parquet(_as_named(path))
        for path, log in zip(paths, logs, strict=True)
    ]
    return reduce(lambda one, other: one.unionByName(other), frames)


def log_of(session: SparkSession, path: str) -> str | None:
    """Which log the folder has: `DELTA`, `STREAM` or none. A part of a logged folder is refused."""
    local = _local(path)
    if local is None:
        logs = {"_delta_log": DELTA, STREAM_LOG: STREAM}
        there = (name for name in logs if files_of(session, f"{path}/{name}") is not None)
        return next((logs[name] for name in there), None)
    if local.is_dir():
        if table_kind(local) == DELTA:
            return DELTA
        refuse_table(local)
        log = stream_log_of(local)
        if log is not None and log.parent.resolve() != local.resolve():
            raise _in_stream(path, log)
        return None if log is None else STREAM
    for one in [local] if local.exists() else map(Path, glob.glob(str(local), recursive=True)):
        _check_named(one)
    return None


def refuse_direct(paths: Sequence[str]) -> InputError:
    """The direct plan lists files, whatever a log says."""
    return InputError(
        f"A log says which files of '{paths[0]}' count, and the direct plan lists them all.",
        remedy="Leave the plan to Trendloom: Spark reads such folders by their log.",
    )


def refuse_stream(session: SparkSession, path: str) -> None:
    """Refuses a table as the folder in which a stream of Parquet files appears."""
    if log_of(session, path) == DELTA:
        raise refused_table(DELTA, path)


def _check_named(path: Path) -> None:
    """A file that is named by itself, or by a pattern, must count; Spark asks no log for it."""
    refuse_table(path.parent if path.is_file() else path)
    log = stream_log_of(path.parent if path.is_file() else path)
    if log is not None:
        committed = {file.resolve() for file in committed_files(log)} if path.is_file() else set()
        if path.resolve() not in committed:
            raise _in_stream(str(path), log)


def _in_stream(path: str, log: Path) -> InputError:
    return InputError(
        f"'{path}' is in a folder that a stream writes, and may hold rows that it did not commit.",
        remedy=f"Name the folder itself, which Spark reads by its log: '{log.parent}'.",
    )


def _delta(session: SparkSession, path: str) -> DataFrame:
    try:
        frame = session.read.format("delta").load(path)
        _ = frame.schema  # Connect asks the server only now
    except Exception as error:
        if "data source: delta" not in str(error):
            raise
        raise MissingExtraError(
            f"'{path}' is a Delta table; its files also hold rows that were deleted or replaced, "
            "and this session has no reader of its log.",
            remedy="Start the session with Delta's package: spark.jars.packages (--packages) "
            "io.delta:delta-spark_2.13:<version>.",
        ) from error
    return frame


def _local(path: str) -> Path | None:
    """The path on this machine, if that is where it is."""
    if path.startswith("file:"):
        return Path(unquote(urlsplit(path).path))
    return None if "://" in path else Path(path)


def _as_named(path: str) -> str:
    """A path that exists is that file, whatever its name would mean as a pattern."""
    local = _local(path)
    return literal(path) if local is not None and local.exists() else path
