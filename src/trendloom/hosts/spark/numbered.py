"""Events whose rows have numbers, from a column of the caller's, exchanged whole by partition.

What lists trends or complex events tells which rows they are made of, and Spark's have no numbers.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from trendloom.engine.sort import sort_events
from trendloom.errors import InputError, did_you_mean
from trendloom.hosts.spark.blobs import SCHEMA, from_blobs
from trendloom.hosts.spark.logs import read_parquet
from trendloom.hosts.spark.session import check_overflow, is_dataframe, quote, session_of
from trendloom.hosts.spark.workers import in_workers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

    from trendloom.hosts.scan.reading import Reading
    from trendloom.hosts.spark.columns import SparkScan
    from trendloom.hosts.spark.stages import Batches

ROW = "row"


def numbered_frame(
    events: DataFrame | str | Sequence[str],
    spark: SparkSession | None,
    id: str,  # noqa: A002
    reading: Reading,
) -> DataFrame:
    """The events, if `id` can number them."""
    session = session_of(events, spark)
    paths: Any = [events] if isinstance(events, str | PurePath) else events
    frame: Any = events if is_dataframe(events) else read_parquet(session, list(map(str, paths)))
    if frame.isStreaming:
        raise InputError(
            "Listings are of bounded inputs, and this DataFrame is a stream.",
            remedy="Aggregate streams: tl.spark.run. Or list in foreachBatch what came.",
        )
    if reading.drops:
        raise InputError(
            'Listings on Spark do not drop rows: bad_rows="error" only.',
            remedy="Filter the DataFrame beforehand.",
        )
    _check(frame, id)
    found: DataFrame = frame
    return found


def exchanged(frame: DataFrame, scan: SparkScan, id: str) -> DataFrame:  # noqa: A002
    """The scan's events with their numbers, packed by partition; without one, all in one task."""
    from trendloom.hosts.spark import stages
    from trendloom.hosts.spark.sources import read_batches

    check_overflow(frame.sparkSession, scan.may_overflow)
    matching = frame if scan.condition is None else frame.filter(scan.condition)
    chosen = matching.selectExpr(*scan.columns, f"CAST({quote(id)} AS BIGINT) AS {ROW}")
    key = [f"p{k}" for k in range(len(scan.partition_types))]
    read = read_batches(scan.arrival, ROW)
    return in_workers(chosen, stages.pack_events(read, key), SCHEMA).repartition("shard")


def arrived(batches: Batches, keys: int) -> pa.RecordBatch | None:
    """All events of a task in the order of the scan, simultaneous ones by their numbers."""
    held = [table for table in from_blobs("events", batches) if table.num_rows]
    if not held:
        return None
    joined = pa.concat_tables(held).unify_dictionaries()
    if joined.column(ROW).null_count:
        raise InputError(
            f"{joined.column(ROW).null_count} events have no number: their id is null.",
            remedy="Fill the column, or filter the DataFrame beforehand.",
        )
    return sort_events(joined.sort_by(ROW), keys)


def _check(frame: DataFrame, id: str) -> None:  # noqa: A002
    kinds = {field.name: field.dataType.typeName() for field in frame.schema.fields}
    if id not in kinds:
        raise InputError(f"There is no column '{id}' (id).", remedy=did_you_mean(id, kinds))
    if kinds[id] not in ("byte", "short", "integer", "long"):
        raise InputError(
            f"The column '{id}' (id) is of type {kinds[id]}, not an integer.",
            remedy="Add one, for example monotonically_increasing_id().",
        )
