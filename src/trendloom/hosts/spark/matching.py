"""Formulas on Spark: events are exchanged by partition and matched where they arrive."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa

from trendloom.acel.aggregates import Aggregate, ensure, registered
from trendloom.acel.nodes import Aggregation, walk
from trendloom.acel.parser import parse
from trendloom.acel.windows import read_window
from trendloom.hosts.scan.bound import Columns, duck_types
from trendloom.hosts.scan.columns import refuse_repeated
from trendloom.hosts.scan.formulas import Asked, Ready
from trendloom.hosts.spark.numbered import arrived, exchanged, numbered_frame
from trendloom.hosts.spark.session import require_pyspark
from trendloom.hosts.spark.workers import in_workers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

    from trendloom.hosts.scan.reading import Reading
    from trendloom.hosts.spark.stages import Batches, Stage


@dataclass(frozen=True)
class MatchTask:
    """What a Python worker must know. Plain data: it compiles the formula again, once per process.

    Aggregates of the caller's own are the exception: Spark sends their functions along.
    """

    asked: Asked
    columns: tuple[tuple[str, str], ...]
    """Names and DuckDB types of what the formula can read."""
    reading: Reading
    aggregates: tuple[Aggregate, ...]
    partition_types: tuple[pa.DataType, ...] = ()

    @property
    def ready(self) -> Ready:
        for one in self.aggregates:
            ensure(one)
        return _ready(self.asked, self.columns, self.reading)

    @property
    def schema(self) -> pa.Schema:
        """Of the results, in types that Spark has."""
        from trendloom.hosts.spark.task import spark_type

        ready = self.ready
        own = ready.schema(ready.matching(self.partition_types).schema)
        return pa.schema([field.with_type(spark_type(field.type)) for field in own])


@cache
def _ready(asked: Asked, columns: tuple[tuple[str, str], ...], reading: Reading) -> Ready:
    return Ready.of(asked, Columns(dict(columns)), reading)


def match_spark(
    asked: Asked,
    events: DataFrame | str | Sequence[str],
    spark: SparkSession | None,
    id: str,  # noqa: A002
    reading: Reading,
) -> DataFrame:
    """A row per complex event and window. See `trendloom.spark.matches`."""
    require_pyspark()
    from trendloom.hosts.spark.columns import readable, spark_scan
    from trendloom.hosts.spark.schema import struct_of

    read_window(asked.within, asked.slide)
    parts = list(walk(parse(asked.formula)))
    frame = numbered_frame(events, spark, id, reading)
    refuse_repeated(field.name for field in frame.schema.fields)
    columns = tuple(duck_types(readable(frame.schema)).items())
    used = (a.aggregate for one in parts if isinstance(one, Aggregation) for a in one.assigns)
    task = MatchTask(asked, columns, reading, registered(used))
    scan = spark_scan(frame.schema, task.ready.plan.scan, reading)
    task = replace(task, partition_types=tuple(scan.partition_types))
    moved = exchanged(frame, scan, id)
    found = in_workers(moved, match_events(task), struct_of(task.schema))
    return found if asked.limit is None else found.limit(asked.limit)


def match_events(task: MatchTask) -> Stage:
    """Packed events → complex events; a task has whole partitions."""

    def stage(batches: Batches) -> Batches:
        events = arrived(batches, len(task.partition_types))
        if events is None:
            return
        ready, schema = task.ready, task.schema
        for batch in ready.matching(task.partition_types).over(iter([events])):
            own = ready.dressed(batch)
            arrays = [
                column.cast(field.type) for column, field in zip(own.columns, schema, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    return stage
