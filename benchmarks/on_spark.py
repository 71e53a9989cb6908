"""What the Spark benchmarks share: a session of two cores, events in Parquet, plans by hand."""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import trendloom as tl
from trendloom.engine.run import Run
from trendloom.hosts.scan.reading import Reading
from trendloom.hosts.spark.arrive import arrive
from trendloom.hosts.spark.columns import spark_scan
from trendloom.hosts.spark.rowgroups import TASK_ROWS, by_time, find_row_groups, make_tasks, read
from trendloom.hosts.spark.session import ROCKSDB, STORE
from trendloom.hosts.spark.sources import task_numbers
from trendloom.hosts.spark.task import Task

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

    Batches = Iterator[pa.RecordBatch]

COLUMNS = ["key", "ts", "type", "value"]
TAIL = "PATTERN (SEQ(A+, B))+ SEMANTICS skip-till-any-match WHERE [key] GROUP-BY key"
QUERY = f"RETURN key, COUNT(*) AS trends, SUM(A.value) AS total {TAIL}"
FILES = 8
HOT = 0.9


@cache
def session() -> SparkSession:
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    home = tempfile.mkdtemp(prefix="trendloom-bench-")
    builder = SparkSession.builder.master("local[2]").appName("trendloom benchmarks")
    for key, value in {
        "spark.driver.memory": "6g",
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": home,
        "spark.log.level": "ERROR",
        STORE: ROCKSDB,
        # What changed is written, not whole files: for every contender alike.
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    }.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


@cache
def events(count: int, keys: int, *, hot: bool = False) -> Path:
    """Files in the order of time; with `hot`, one key has nine events of ten."""
    folder = Path(tempfile.mkdtemp(prefix="trendloom-events-"))
    chance = np.random.default_rng(7)
    per_file = count // FILES
    for number in range(FILES):
        key = chance.integers(0, keys, per_file)
        if hot:
            key[chance.random(per_file) < HOT] = 0
        names = pa.DictionaryArray.from_arrays(
            pa.array(chance.integers(0, 2, per_file), pa.int32()), pa.array(["A", "B"])
        )
        table = pa.table(
            {
                "key": key,
                "ts": np.arange(number * per_file, (number + 1) * per_file),
                "type": names.cast(pa.string()),
                "value": chance.random(per_file),
            }
        )
        pq.write_table(table, folder / f"{number}.parquet", row_group_size=500_000)
    return folder


def frame(path: Path) -> DataFrame:
    return session().read.parquet(str(path)).select(*COLUMNS)


def finish(rows: DataFrame) -> None:
    """Everything is computed, nothing is kept."""
    rows.write.format("noop").mode("overwrite").save()


def by_plan(path: Path, plan: str) -> None:
    given: Any = str(path) if plan == "direct" else frame(path)
    finish(tl.spark.run(QUERY, given, session(), time="ts", type="type", plan=plan))


def no_op(batches: Batches) -> Batches:
    rows = sum(batch.num_rows for batch in batches)
    yield pa.record_batch({"rows": pa.array([rows], pa.int64())})


def scan_no_op(path: Path) -> None:
    finish(frame(path).mapInArrow(no_op, "rows long"))


def exchange_no_op(path: Path) -> None:
    finish(frame(path).repartition("key").mapInArrow(no_op, "rows long"))


def read_and_sum(path: Path) -> None:
    """Workers read the columns and touch every value; only sums pass the JVM."""
    groups = by_time(find_row_groups([str(path)], "ts").groups)
    tasks = make_tasks(groups, TASK_ROWS)

    def total(batches: Batches) -> Batches:
        for batch in batches:
            for number in batch.column("id").to_pylist():
                found = 0.0
                for group in tasks[number]:
                    table = read(group, COLUMNS, None)
                    found += sum(pc.sum(table.column(n)).as_py() for n in ("key", "ts", "value"))
                    found += pc.sum(pc.equal(table.column("type"), "A")).as_py()
                yield pa.record_batch({"total": pa.array([found])})

    finish(task_numbers(session(), len(tasks)).mapInArrow(total, "total double"))


# ── by hand ──────────────────────────────────────────────────────────────────────────────────


def scanned(path: Path) -> tuple[DataFrame, Task, Any]:
    """The scan's columns, as a careful engineer would select them."""
    plan = tl.query(QUERY).plan
    given = frame(path)
    scan = spark_scan(given.schema, plan.scan, Reading("ts", "type"))
    from trendloom.engine.layout import Numbers

    task = Task.of(plan, Numbers.AUTO, scan.axis, scan.operand_types, scan.partition_types)
    return given.filter(scan.condition or "true").selectExpr(*scan.columns), task, scan.arrival


def sorted_by_the_jvm(path: Path) -> None:
    """`repartition`, `sortWithinPartitions`, and the engine over what arrives in order."""
    rows, task, arrival = scanned(path)

    def run(batches: Batches) -> Batches:
        running = Run(task.setting)
        for batch in batches:
            running.push(arrive(batch, arrival).batch)
        if running.rows_in:
            yield from task.dress(running.finish()).combine_chunks().to_batches()

    ordered = rows.repartition("p0").sortWithinPartitions("p0", "time")
    finish(ordered.mapInArrow(run, _struct(task)))


def one_key_at_a_time(path: Path) -> None:
    """`applyInPandas` per key, the same kernel inside."""
    rows, task, _ = scanned(path)

    def run(events: pd.DataFrame) -> pd.DataFrame:
        import pandas

        count, total = fold(task, events)
        return pandas.DataFrame({"key": [events["p0"].iloc[0]], "n": [count], "total": [total]})

    finish(rows.groupBy("p0").applyInPandas(run, "key long, n double, total double"))


@cache
def _compiled(task: Task) -> Any:
    from trendloom.engine.program import compile_table, possible_masks

    evaluator = task.setting.evaluators()[0]
    return compile_table(evaluator.fast, evaluator.semantics, possible_masks(["A", "B"]))


def fold(task: Task, events: pd.DataFrame) -> tuple[float, float]:
    from trendloom.engine.arrow import read_only
    from trendloom.kernels.fold import fold_doubles

    events = events.sort_values("time", kind="stable")
    table, rows = _compiled(task), len(events)
    m, e = np.zeros((1, 10)), np.zeros((1, 10), np.int64)
    x = np.stack([np.zeros(rows), events["x0"].fillna(0).to_numpy(np.float64), np.ones(rows)])
    fold_doubles(
        table,
        read_only(events["time"].to_numpy(np.int64)), read_only(events["mask"].to_numpy(np.uint8)),
        np.array([0]), np.array([rows]), m[:, : (table.states + 3) * 2],
        e[:, : (table.states + 3) * 2], np.array([-2, 0]), x[:2],
    )  # fmt: skip
    return float(m[0, 2]), float(m[0, 3])


def _struct(task: Task) -> Any:
    from trendloom.hosts.spark.schema import struct_of

    return struct_of(task.schema)
