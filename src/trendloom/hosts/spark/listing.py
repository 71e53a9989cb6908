"""Listings on Spark: events are packed by partition, exchanged, and listed where they arrive."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from trendloom.cet.listing import Listing
from trendloom.cet.rows import schema_of
from trendloom.hosts.scan.dress import dressed_listing, listing_schema
from trendloom.hosts.spark.numbered import arrived, exchanged, numbered_frame
from trendloom.hosts.spark.session import require_pyspark
from trendloom.language import parse, to_text
from trendloom.plan.listing import with_sum
from trendloom.plan.planner import plan as make_plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

    from trendloom.cet.wanted import Wanted
    from trendloom.hosts.scan.times import TimeAxis
    from trendloom.hosts.spark.stages import Batches, Stage
    from trendloom.plan.plan import Plan

TASK_SHIFT = 33
"""A task's trends are numbered from its own number times 2^33, as Spark numbers rows."""


@dataclass(frozen=True)
class ListingTask:
    """What a Python worker must know. Plain data: it plans the query again, once per process."""

    query: str
    wanted: Wanted
    axis: TimeAxis
    partition_types: tuple[pa.DataType, ...]

    @property
    def plan(self) -> Plan:
        return _plan(self.query, self.wanted.by)

    @property
    def own_schema(self) -> pa.Schema:
        names = self.plan.scan.partition
        return listing_schema(schema_of(names, self.partition_types), self.plan, self.axis)

    @property
    def schema(self) -> pa.Schema:
        """In types that Spark has."""
        from trendloom.hosts.spark.task import spark_type

        own = self.own_schema
        fields = [field.with_type(spark_type(field.type)) for field in own]
        fields[-1] = fields[-1].with_type(pa.list_(pa.string()))
        return pa.schema(fields)


@cache
def _plan(query: str, by: tuple[str, str] | None) -> Plan:
    planned = make_plan(parse(query), listing=True)
    return planned if by is None else with_sum(planned, *by)


def list_spark(
    plan: Plan,
    events: DataFrame | str | Sequence[str],
    spark: SparkSession | None,
    wanted: Wanted,
    id: str,  # noqa: A002
    *,
    bad_rows: str,
    **names: Any,
) -> DataFrame:
    """A row per trend. See `trendloom.spark.trends`."""
    require_pyspark()
    from trendloom.hosts.spark.batch import Named, names_of, refuse_input_order
    from trendloom.hosts.spark.columns import spark_scan
    from trendloom.hosts.spark.schema import struct_of

    frame = numbered_frame(events, spark, id, bad_rows)
    named = Named(**names)
    refuse_input_order(plan, named)
    scan = spark_scan(frame.schema, plan.scan, **names_of(named))
    task = ListingTask(to_text(plan.query), wanted, scan.axis, tuple(scan.partition_types))
    moved = exchanged(frame, scan, id)
    return moved.mapInArrow(list_events(task), struct_of(task.schema))


def list_events(task: ListingTask) -> Stage:
    """Packed events → trends; a task has whole partitions."""

    def stage(batches: Batches) -> Batches:
        events = arrived(batches, len(task.partition_types))
        if events is None:
            return
        from pyspark import TaskContext

        context = TaskContext.get()
        first = 0 if context is None else context.partitionId() << TASK_SHIFT
        listing = Listing(task.plan, task.wanted, task.partition_types, task.axis.nanoseconds)
        for batch in listing.over(iter([events])):
            own = dressed_listing(batch, task.own_schema, task.plan, task.axis)
            yield _for_spark(own, task.schema, first)

    return stage


def _for_spark(batch: pa.RecordBatch, schema: pa.Schema, first: int) -> pa.RecordBatch:
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    columns["trend"] = pa.array(columns["trend"].to_numpy() + first)
    lists = columns["variables"]
    columns["variables"] = pa.ListArray.from_arrays(lists.offsets, lists.values.dictionary_decode())
    arrays = [columns[field.name].cast(field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
