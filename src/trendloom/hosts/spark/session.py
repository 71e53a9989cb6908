"""The caller's Spark session: found, never created, and checked for what the host needs."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, TypeGuard

from trendloom.errors import InputError, MissingExtraError
from trendloom.hosts.scan.gaps import refuse_gap

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from trendloom.hosts.scan.reading import Reading
    from trendloom.plan.plan import Plan

OLDEST = (4, 1)
"""Row-wise `transformWithState` and today's Arrow paths begin there."""
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
STORE = "spark.sql.streaming.stateStore.providerClass"
ANSI = "spark.sql.ansi.enabled"
CORRUPT = "spark.sql.columnNameOfCorruptRecord"
GLOB = re.compile(r"([\[\]{}*?\\])")
LOCAL = r"local(?:\[(\d+|\*)(?:, *\d+)?\])?"


def is_dataframe(events: object) -> TypeGuard[DataFrame]:
    """Whether it is Spark's, without loading Spark for everything else."""
    modules = (kind.__module__ for kind in type(events).__mro__)
    return hasattr(events, "mapInArrow") and any(m.startswith("pyspark.sql.") for m in modules)


def require_pyspark() -> None:
    try:
        import pyspark  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "The Spark host needs pyspark, which is not installed.",
            remedy="Install it: pip install 'trendloom[spark]'",
        ) from None


def session_of(events: DataFrame | Any, spark: SparkSession | None) -> SparkSession:
    """The DataFrame's session, else the one given, else the active one."""
    require_pyspark()
    from pyspark.sql import SparkSession

    found: SparkSession | None = events.sparkSession if is_dataframe(events) else spark
    found = SparkSession.getActiveSession() if found is None else found
    if found is None:
        raise InputError(
            "There is no Spark session to run in.",
            remedy="Pass spark=…, or create a session first: SparkSession.builder.getOrCreate().",
        )
    check_version(found.version)
    return found


def check_version(version: str) -> None:
    numbers = tuple(int(part) for part in version.split(".")[:2])
    if numbers < OLDEST:
        raise InputError(
            f"This is Spark {version}; the Spark host needs {'.'.join(map(str, OLDEST))} or later.",
            remedy="Upgrade Spark (pip install 'trendloom[spark]' brings one that is known to "
            "work), or use the local host.",
        )


def quote(column: str) -> str:
    """A column's name in Spark's SQL, whatever it is made of."""
    return "`" + column.replace("`", "``") + "`"


def unread_column(frame: DataFrame) -> str | None:
    """The column in which Spark's readers of text leave the rows whose fields they cannot read."""
    name = frame.sparkSession.conf.get(CORRUPT, "_corrupt_record")
    kinds = {field.name: field.dataType.typeName() for field in frame.schema.fields}
    return quote(name) if name is not None and kinds.get(name) == "string" else None


def literal(path: str) -> str:
    """A path as Spark's readers take it, which read patterns; its writers do not."""
    return GLOB.sub(r"\\\1", path)


def files_of(spark: SparkSession, folder: str) -> list[str] | None:
    """The files of a folder wherever Spark can read, but for hidden ones; None if it is not there.

    A folder that is hidden itself seems to have none.
    """
    from pyspark.errors import AnalysisException

    try:
        return spark.read.text(literal(folder)).inputFiles()
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        return None


def local_cores(spark: SparkSession) -> int | None:
    """Of a master inside the driver; a cluster may have any number, and more tomorrow."""
    master = re.fullmatch(LOCAL, spark.conf.get("spark.master", "") or "")
    if master is None:
        return None
    return os.cpu_count() if master[1] == "*" else int(master[1] or 1)


def check_state_store(spark: SparkSession) -> None:
    """State lives in RocksDB: `transformWithState` knows no other store."""
    if spark.conf.get(STORE, "") != ROCKSDB:
        raise InputError(
            "A stream keeps its state in RocksDB, but this session uses another store.",
            remedy=f'Set it before the stream starts: spark.conf.set("{STORE}", "{ROCKSDB}").',
        )


def check_overflow(spark: SparkSession, may_overflow: bool) -> None:
    """Outside of ANSI mode Spark's integers wrap around without a word."""
    if may_overflow and str(spark.conf.get(ANSI, "true")).lower() == "false":
        raise InputError(
            "The query computes with the events' numbers, and this session is not in ANSI mode: "
            "an integer that overflows would give wrong rows silently.",
            remedy=f'Set it: spark.conf.set("{ANSI}", "true"), or compute the column as DOUBLE '
            "before the query.",
        )


def refuse_input_order(plan: Plan, reading: Reading) -> None:
    """Refuses windows of events without a tiebreak, and windows with gaps between them."""
    refuse_gap(plan)
    if plan.scan.input_order and reading.tiebreak is None:
        raise InputError(
            "A window of events needs an order of simultaneous events, and Spark's rows have none.",
            remedy="Name a column that orders them: tiebreak=…",
        )
