"""A query over a bounded input on Spark: three plans that give the same rows.

combine   events are reduced to maps where they are; only maps are exchanged and multiplied,
          and the events of groups whose maps cannot be
exchange  events are packed by partition, exchanged, sorted and run where they arrive
direct    either of them, but the workers read Parquet row groups themselves

Everything here only describes a DataFrame; nothing runs before the caller asks for rows.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from trendloom.engine.layout import Numbers
from trendloom.engine.maps import mappable
from trendloom.engine.partial import can_split
from trendloom.engine.strewn import can_strew
from trendloom.errors import InputError
from trendloom.hosts.scan.project import Projector
from trendloom.hosts.spark import stages
from trendloom.hosts.spark.blobs import SCHEMA
from trendloom.hosts.spark.columns import spark_scan
from trendloom.hosts.spark.logs import log_of, read_parquet, refuse_direct
from trendloom.hosts.spark.rowgroups import (
    MOST_ROWS,
    TASK_ROWS,
    by_time,
    find_row_groups,
    in_order,
    is_reachable,
    make_tasks,
    task_ranges,
)
from trendloom.hosts.spark.schema import struct_of
from trendloom.hosts.spark.session import (
    check_overflow,
    is_dataframe,
    local_cores,
    refuse_input_order,
    session_of,
)
from trendloom.hosts.spark.sources import (
    Source,
    read_batches,
    read_row_groups,
    task_numbers,
)
from trendloom.hosts.spark.stages import WIDTH
from trendloom.hosts.spark.task import Task
from trendloom.hosts.spark.workers import in_workers
from trendloom.plan.distribution import has_joints
from trendloom.plan.explaining.facts import gather

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

    from trendloom.hosts.scan.reading import Reading
    from trendloom.plan.plan import Plan


PART_EVENTS = 1 << 21
"""A group whose events come in no order is cut by time into parts of about so many."""


class How(Enum):
    """The plan that the caller asks for."""

    AUTO = "auto"
    COMBINE = "combine"
    EXCHANGE = "exchange"
    DIRECT = "direct"


def run_batch(
    plan: Plan,
    events: DataFrame | str | Sequence[str],
    reading: Reading,
    *,
    spark: SparkSession | None = None,
    numbers: Numbers = Numbers.AUTO,
    how: How = How.AUTO,
) -> DataFrame:
    """The rows of a plan as a DataFrame."""
    session = session_of(events, spark)
    refuse_input_order(plan, reading)
    if is_dataframe(events):
        if how is How.DIRECT:
            raise InputError(
                "The direct plan reads Parquet files, but these events are a DataFrame.",
                remedy="Pass the paths, or another plan.",
            )
        return _from_frame(plan, events, reading, numbers, how)
    given: Any = events
    named_paths: Sequence[Any] = [given] if isinstance(given, str | PurePath) else given
    paths = [str(path) for path in named_paths]
    unreachable = [path for path in paths if not is_reachable(path)]
    if unreachable and how is How.DIRECT:
        raise InputError(
            f"Arrow, which reads for the direct plan, has no file system for '{unreachable[0]}'.",
            remedy="Leave the plan to Trendloom: Spark reads such paths.",
        )
    logged = [path for path in paths if log_of(session, path) is not None]
    if logged and how is How.DIRECT:
        raise refuse_direct(logged)
    if how is How.DIRECT or (how is How.AUTO and not unreachable and not logged):
        return _from_files(session, plan, paths, reading, numbers)
    return _from_frame(plan, read_parquet(session, paths), reading, numbers, how)


def _from_frame(
    plan: Plan, frame: DataFrame, reading: Reading, numbers: Numbers, how: How
) -> DataFrame:
    scan = spark_scan(frame.schema, plan.scan, reading)
    check_overflow(frame.sparkSession, scan.may_overflow)
    task = Task.of(plan, numbers, scan.axis, scan.operand_types, scan.partition_types)
    wanted = frame if scan.condition is None else frame.filter(scan.condition)
    source = Source(
        wanted.selectExpr(*scan.columns),
        read_batches(scan.arrival, drop=reading.drops),
        read_parts=read_batches(scan.arrival, WIDTH),
    )
    can = mappable(task.setting)
    if how is How.COMBINE and not can:
        raise InputError(
            "This query cannot be combined from maps, for "
            f"{', '.join(gather(plan).spark.dataframe.because)}.",
            remedy="Leave the plan to Trendloom, or ask for plan='exchange'.",
        )
    if how is How.EXCHANGE or not can:
        return _exchanged(task, source)
    return _combined(task, source)


def _from_files(
    spark: SparkSession, plan: Plan, paths: Sequence[str], reading: Reading, numbers: Numbers
) -> DataFrame:
    files = find_row_groups(paths, reading.time)
    projector = Projector(plan.scan, files.schema, reading)
    task = Task.of(
        plan,
        numbers,
        projector.axis,
        tuple(projector.operand_types),
        tuple(projector.partition_types),
    )
    groups = by_time(files.groups)
    in_turn = (
        mappable(task.setting)
        and can_strew(task.setting, tie=reading.tiebreak is not None)
        and in_order(groups, sharing=True)
    )
    task_rows = _task_rows(spark, sum(group.rows for group in groups)) if in_turn else TASK_ROWS
    tasks = make_tasks(groups, task_rows)
    ordered = in_order(task_ranges(tasks))
    source = Source(
        task_numbers(spark, len(tasks)),
        read_row_groups(projector, tasks, in_turn=in_turn and ordered),
        ordered=ordered,
    )
    # Which groups have simultaneous events is found too late for files, which nobody reads twice.
    if mappable(task.setting) and ordered and not has_joints(task.setting.plan):
        return _combined(task, source, in_turn=in_turn)
    return _exchanged(task, source)


def _task_rows(spark: SparkSession, rows: int) -> int:
    """Two tasks per core, if they are neither small nor long: fewer tasks have fewer maps."""
    cores = local_cores(spark)
    if cores is None:
        return TASK_ROWS
    return max(TASK_ROWS, min(MOST_ROWS, -(-rows // (2 * cores))))


def _combined(task: Task, source: Source, *, in_turn: bool = False) -> DataFrame:
    """`in_turn`: the chunks of a task, too, follow one another."""
    reduce = stages.reduce_in_order if in_turn else stages.reduce_to_maps
    maps = in_workers(source.frame, reduce(task, source.read), SCHEMA)
    exchanged = maps.repartition("shard")
    rows = in_workers(exchanged, stages.multiply(task), struct_of(task.schema))
    if source.ordered:
        return rows
    # Spark runs the maps once for both uses, and with adaptive execution the events are not even
    # looked at again when no group is tangled.
    schema = _tangled_schema(task)
    tangled = in_workers(
        exchanged, stages.tangled_groups(task, schema, PART_EVENTS), struct_of(schema)
    )
    from pyspark.sql import functions as f

    same = [f.col(f"p{k}") == f.col(name) for k, name in enumerate(schema.names[:-1])]
    if not task.group:
        same = [f.col(schema.names[0])]
    # Rows without a place in the order have been refused, or dropped, when the maps were made.
    ordered = source.frame.dropna(subset=[n for n in ("time", "tie") if n in source.frame.columns])
    again = ordered.join(f.broadcast(tangled), same).select(*source.frame.columns, WIDTH)
    if has_joints(task.setting.plan):
        # Parts in order do not help simultaneous events.
        return rows.unionAll(_exchanged(task, replace(source, frame=again.drop(WIDTH))))
    return rows.unionAll(_combined_by_parts(task, again, source))


def _tangled_schema(task: Task) -> pa.Schema:
    """Names of their own: the events that they are joined with have p0, p1, …"""
    fields = [("tangled", pa.bool_())]
    if task.group:
        kinds = task.partition_types[: len(task.group)]
        fields = [(f"tangled{k}", kind) for k, kind in enumerate(kinds)]
    return pa.schema([*fields, (WIDTH, pa.float64())])


def _combined_by_parts(task: Task, frame: DataFrame, source: Source) -> DataFrame:
    """Groups whose events come in no order: cut by time, so that a large one is many tasks'."""
    assert source.read_parts is not None, "files are combined only in order"
    packed = in_workers(frame, stages.pack_parts(source.read_parts, task.group), SCHEMA)
    maps = in_workers(packed.repartition("shard"), stages.reduce_parts(task), SCHEMA)
    product = stages.multiply(task, tangled="impossible")
    return in_workers(maps.repartition("shard"), product, struct_of(task.schema))


def _exchanged(task: Task, source: Source) -> DataFrame:
    whole_groups = len(task.group) == len(task.partition) or not can_split(task.setting.plan)
    key = task.group if whole_groups else task.partition
    packed = in_workers(source.frame, stages.pack_events(source.read, key), SCHEMA)
    exchanged = packed.repartition("shard")
    rows = struct_of(task.schema)
    if whole_groups:
        return in_workers(exchanged, stages.run_engine(task), rows)
    shares = in_workers(exchanged, stages.run_shares(task), SCHEMA).repartition("shard")
    return in_workers(shares, stages.merge_shares(task), rows)
