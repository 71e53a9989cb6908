"""A query over a stream: events packed by shard, one state per shard, rows when windows are over.

    stream ─ watermark ─ the scan's expressions ─ pack by shard ─ exchange ─ state ─ unpack ─ rows

A shard holds many groups, so that Spark keeps a few large values instead of one per key; inside is
the engine's `Live`, which knows keys, order and time. Several queries share all of it: each has
shards of its own, numbered one after another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from trendloom.engine.live.mode import Mode, check_streamable
from trendloom.hosts.spark.arrive import Arrival, arrive, without_bad_rows
from trendloom.hosts.spark.blobs import SCHEMA, one_blob, to_blobs
from trendloom.hosts.spark.checkpoint import Identity
from trendloom.hosts.spark.columns import SparkScan, spark_scan
from trendloom.hosts.spark.operator import COUNTS, OUTPUT, TrendProcessor
from trendloom.hosts.spark.processor import GUARD, Shards
from trendloom.hosts.spark.schema import struct_of
from trendloom.hosts.spark.session import (
    check_overflow,
    check_state_store,
    refuse_input_order,
    session_of,
    unread_column,
)
from trendloom.hosts.spark.stages import CHUNK_ROWS
from trendloom.hosts.spark.task import Task
from trendloom.hosts.spark.unpack import read_rows
from trendloom.hosts.spark.watermark import EVENT_TIME, with_watermark
from trendloom.hosts.spark.workers import in_workers
from trendloom.hosts.spark.writers import Terms, checked
from trendloom.workloads.union import joint_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from trendloom.engine.layout import Numbers
    from trendloom.hosts.scan.reading import Reading
    from trendloom.hosts.spark.stages import Batches, Stage
    from trendloom.plan.plan import Plan

METRICS = "trendloom"
"""Under this name the counts of every micro-batch are in the query's progress."""
SHARDS = 16
UNREAD = "unread"
"""The text of a row whose fields could not be read."""


@dataclass(frozen=True, slots=True)
class Streaming:
    """What a caller can say of a stream."""

    mode: str = "append"
    watermark: str | None = None
    late: str | None = None
    shards: int = SHARDS


@dataclass(frozen=True)
class Feed:
    """One query's part of a stream."""

    name: str
    task: Task
    arrival: Arrival
    prefix: str
    """Of its columns among those of all queries."""
    first_shard: int


def run_stream(
    plans: dict[str, Plan],
    frame: DataFrame,
    reading: Reading,
    numbers: Numbers,
    streaming: Streaming,
    *,
    several: bool,
) -> DataFrame:
    """A streaming DataFrame of the rows; the caller starts and stops it."""
    from pyspark.sql import functions as f

    session = session_of(frame, None)
    check_state_store(session)
    feeds: list[Feed] = []
    scans: list[SparkScan] = []
    for number, (name, plan) in enumerate(plans.items()):
        check_streamable(plan)
        refuse_input_order(plan, reading)
        scan = spark_scan(frame.schema, plan.scan, reading)
        check_overflow(session, scan.may_overflow)
        task = Task.of(plan, numbers, scan.axis, scan.operand_types, scan.partition_types)
        first = number * streaming.shards
        feeds.append(Feed(name, task, scan.arrival, f"q{number}_", first))
        scans.append(scan)
    schemas = {feed.name: feed.task.schema for feed in feeds}
    schema = joint_schema(schemas) if several else feeds[0].task.schema

    marked = with_watermark(frame, feeds[0].task.axis, reading.time, streaming.watermark)
    chosen = _selected(marked, feeds, scans)
    packed = in_workers(chosen, pack(feeds, streaming.shards, drop=reading.drops), SCHEMA)
    mode = Mode(streaming.mode)
    shards = Shards(tuple(feeds), streaming.shards, mode, streaming.late)
    stepped = packed.groupBy("shard").transformWithState(
        statefulProcessor=TrendProcessor(shards),
        outputStructType=OUTPUT,
        outputMode=streaming.mode,
        timeMode="EventTime",
    )
    counted = stepped.observe(
        METRICS,
        *[f.coalesce(f.sum(name), f.lit(0)).alias(name) for name in COUNTS],
    )
    unpack = read_rows(list(schemas), schema, several=several)
    rows = in_workers(counted, unpack, struct_of(schema))
    return checked(rows, Terms(mode.value, Identity.of(shards.feeds, shards.shards, mode)))


def pack(feeds: list[Feed], shards: int, *, drop: bool) -> Stage:
    """Batches with every query's columns → blobs of each query's events by shard."""

    def stage(batches: Batches) -> Batches:
        dropped: int | None = None
        for held in _gathered(batches):
            table = pa.Table.from_batches(held).combine_chunks()
            # All queries have the same time and tiebreak: whose is looked at does not matter.
            order = [feeds[0].prefix + name for name in ("time", "tie")]
            bad = without_bad_rows(table, order, UNREAD, feeds[0].arrival, drop=drop)
            dropped = bad.dropped + (dropped or 0)
            yield from _packed(bad.table)
        if dropped is not None:
            yield one_blob(GUARD, dropped.to_bytes(8, "little"))

    def _packed(table: pa.Table) -> Iterator[pa.RecordBatch]:
        for feed in feeds:
            for batch in _of(feed, table).to_batches():
                arrived = arrive(batch, feed.arrival).batch
                events = pa.Table.from_batches([arrived])
                if events.num_rows:
                    yield from to_blobs("events", events, feed.task.group, shards, feed.first_shard)

    return stage


def _of(feed: Feed, table: pa.Table) -> pa.Table:
    """The rows and columns that one query wants."""
    names = feed.arrival.contract.names
    own = table.select([feed.prefix + name for name in names]).rename_columns(names)
    for name in feed.task.partition:
        own = own.filter(pc.is_valid(own.column(name)))
    if not feed.task.setting.plan.scan.keep_unmatched:
        own = own.filter(pc.not_equal(own.column("mask"), 0))
    return own


def _gathered(batches: Batches) -> Iterator[list[pa.RecordBatch]]:
    """Some batches at a time."""
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows >= CHUNK_ROWS:
            yield held
            held, rows = [], 0
    if held:
        yield held


def _selected(frame: DataFrame, feeds: list[Feed], scans: list[SparkScan]) -> DataFrame:
    """Every query's columns, rows that no query wants left out, unless they cannot be read."""
    conditions = [scan.condition for scan in scans]
    unread = unread_column(frame)
    if None not in conditions:
        # Unless a filter asks for the event time, Spark puts it before the watermark, which then
        # misses the times of the events that no query wants.
        made = [f"{EVENT_TIME} IS NULL"] if EVENT_TIME in frame.columns else []
        made += [] if unread is None else [f"{unread} IS NOT NULL"]
        frame = frame.filter(" OR ".join(f"({condition})" for condition in [*conditions, *made]))
    columns = [] if unread is None else [f"{unread} AS {UNREAD}"]
    for feed, scan in zip(feeds, scans, strict=True):
        for name, column in zip(feed.arrival.contract.names, scan.columns, strict=True):
            expression, _, _ = column.rpartition(" AS ")
            columns.append(f"{expression} AS {feed.prefix}{name}")
    return frame.selectExpr(*columns)
