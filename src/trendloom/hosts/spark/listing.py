"""Listings on Spark: events are packed by partition, exchanged, and listed where they arrive."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa

from trendloom.cet.counting import Count, check_most
from trendloom.cet.listing import Listing, carried
from trendloom.cet.rows import schema_of
from trendloom.errors import InputError
from trendloom.hosts.scan.dress import dressed_listing, listing_schema
from trendloom.hosts.spark.numbered import arrived, exchanged, numbered_frame
from trendloom.hosts.spark.session import require_pyspark
from trendloom.hosts.spark.workers import in_workers
from trendloom.language import parse, to_text
from trendloom.plan.listing import carrying
from trendloom.plan.planner import plan as make_plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

    from trendloom.cet.wanted import Wanted
    from trendloom.hosts.scan.reading import Reading
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
    operand_types: tuple[pa.DataType, ...]

    @property
    def plan(self) -> Plan:
        return _plan(self.query, self.wanted.attributes, self.wanted.by)

    def listing(self, wanted: Wanted) -> Listing:
        types, ticks = self.partition_types, self.axis.nanoseconds
        return Listing(self.plan, wanted, types, ticks, self.operand_types)

    @property
    def own_schema(self) -> pa.Schema:
        more = carried(self.plan, self.wanted, self.operand_types)
        bare = schema_of(self.plan.scan.partition, self.partition_types, more)
        return listing_schema(bare, self.plan, self.axis)

    @property
    def schema(self) -> pa.Schema:
        """In types that Spark has."""
        return pa.schema([field.with_type(_plain(field.type)) for field in self.own_schema])


def _plain(kind: pa.DataType) -> pa.DataType:
    """As Spark has it, inside of lists and structs too."""
    from trendloom.hosts.spark.task import spark_type

    if pa.types.is_list(kind):
        return pa.list_(_plain(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_plain(field.type)) for field in kind])
    return spark_type(kind)


@cache
def _plan(query: str, attributes: tuple[str, ...], by: tuple[str, str] | None) -> Plan:
    return carrying(make_plan(parse(query), listing=True), attributes, by)


def list_spark(
    plan: Plan,
    events: DataFrame | str | Sequence[str],
    spark: SparkSession | None,
    wanted: Wanted,
    id: str,  # noqa: A002
    reading: Reading,
) -> DataFrame:
    """A row per trend. See `trendloom.spark.trends`."""
    require_pyspark()
    from trendloom.hosts.spark.columns import spark_scan
    from trendloom.hosts.spark.schema import struct_of
    from trendloom.hosts.spark.session import refuse_input_order

    if wanted.after is not None:
        raise InputError(
            "Listings on Spark do not go on behind a trend: tasks list side by side.",
            remedy="Filter the DataFrame to the partitions that are missing.",
        )
    frame = numbered_frame(events, spark, id, reading)
    refuse_input_order(plan, reading)
    scan = spark_scan(frame.schema, plan.scan, reading)
    task = ListingTask(
        to_text(plan.query), wanted, scan.axis, scan.partition_types, scan.operand_types
    )
    moved = exchanged(frame, scan, id)
    if wanted.counts_first:
        check_most(_counted(moved, task), wanted.most)
    found = in_workers(moved, list_events(task), struct_of(task.schema))
    # A task stops after so many; all of them together have more.
    return found if wanted.limit is None else found.limit(wanted.limit)


def _counted(moved: DataFrame, task: ListingTask) -> Count:
    """All trends, by a job of its own: each task counts those of its partitions."""
    found = in_workers(moved, count_events(task), "mantissa DOUBLE, exponent BIGINT")
    rows = found.collect()
    return sum((Count(row.mantissa, row.exponent) for row in rows), Count())


def count_events(task: ListingTask) -> Stage:
    """Packed events → one row: how many trends a task has."""

    def stage(batches: Batches) -> Batches:
        events = arrived(batches, len(task.partition_types))
        if events is not None:
            total = task.listing(task.wanted).count(iter([events]))
            row = {"mantissa": total.mantissa, "exponent": total.exponent}
            yield pa.RecordBatch.from_pylist([row])

    return stage


def list_events(task: ListingTask) -> Stage:
    """Packed events → trends; a task has whole partitions."""

    def stage(batches: Batches) -> Batches:
        events = arrived(batches, len(task.partition_types))
        if events is None:
            return
        from pyspark import TaskContext

        context = TaskContext.get()
        number = 0 if context is None else context.partitionId()
        first = number << TASK_SHIFT
        # Tasks that drew alike would draw the same places of different partitions.
        wanted = replace(task.wanted, seed=task.wanted.seed + first)
        for batch in task.listing(wanted).over(iter([events])):
            own = dressed_listing(batch, task.own_schema, task.plan, task.axis)
            yield _for_spark(own, task.schema, first)

    return stage


def _for_spark(batch: pa.RecordBatch, schema: pa.Schema, first: int) -> pa.RecordBatch:
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    columns["trend"] = pa.array(columns["trend"].to_numpy() + first)
    arrays = [_decoded(columns[field.name]).cast(field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _decoded(column: pa.Array) -> pa.Array:
    """Without dictionaries, which Spark does not take."""
    if isinstance(column, pa.DictionaryArray):
        return column.dictionary_decode()
    if isinstance(column, pa.ListArray):
        return pa.ListArray.from_arrays(column.offsets, _decoded(column.values))
    if isinstance(column, pa.StructArray):
        names = [field.name for field in column.type]
        return pa.StructArray.from_arrays([_decoded(column.field(n)) for n in names], names)
    return column
