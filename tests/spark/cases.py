"""Generated cases for Spark: drawn at once, run many to a job, compared with the oracle's rows."""

from __future__ import annotations

from datetime import datetime
from functools import reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from hypothesis import HealthCheck, Phase, given, settings

from trendloom.language import to_text
from trendloom.testing import same_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from hypothesis import strategies as st
    from pyspark.sql import DataFrame, SparkSession

    from trendloom.testing.strategies import Case

AT_ONCE = 12
"""Queries per Spark job."""
ATTRIBUTES = {
    "type": pa.string(),
    "time": pa.int64(),
    "x": pa.int64(),
    "y": pa.float64(),
    "k": pa.string(),
    "g": pa.int64(),
    "rank": pa.int64(),
}
SPARK_TYPES = {pa.string(): "string", pa.int64(): "bigint", pa.float64(): "double"}


def drawn(strategy: st.SearchStrategy[Case], count: int) -> list[Case]:
    """The first cases of a strategy, always the same ones."""
    found: list[Case] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(case: Case) -> None:
        found.append(case)

    collect()
    return found


def arrow_events(events: list[dict[str, Any]]) -> pa.Table:
    """Every attribute in its type, whatever the events at hand have."""
    timestamps = any(isinstance(event["time"], datetime) for event in events)
    types = {**ATTRIBUTES, "time": pa.timestamp("us")} if timestamps else ATTRIBUTES
    return pa.Table.from_pylist(events, schema=pa.schema(list(types.items())))


def frame_of(spark: SparkSession, events: list[dict[str, Any]], tasks: int = 2) -> DataFrame:
    """A DataFrame whose tasks hold neighbours of the list."""
    table = arrow_events(events)
    if len(events) < tasks:
        return spark.createDataFrame(table, ddl(table))
    task = pa.array([row * tasks // len(events) for row in range(len(events))], pa.int64())
    table = table.append_column("task", task)
    # Said in Spark's words: it would take naive times for moments of its own zone.
    frame = spark.createDataFrame(table, ddl(table))
    return frame.repartition(tasks, "task").drop("task")


def ddl(table: pa.Table) -> str:
    names = {**SPARK_TYPES, pa.timestamp("us"): "timestamp_ntz"}
    return ", ".join(f"{field.name} {names[field.type]}" for field in table.schema)


def check_all(
    cases: list[Case], rows_of: Callable[[Case], DataFrame], *, at_once: int = AT_ONCE
) -> None:
    """Runs the cases, many to a job, and compares each with what the oracle said."""
    found = rows_of_all(map(rows_of, cases), at_once=at_once)
    for case, rows in zip(cases, found, strict=True):
        assert_same(case, rows)


def rows_of_all(
    frames: Iterable[DataFrame], *, at_once: int = AT_ONCE
) -> list[list[dict[str, Any]]]:
    """The rows of DataFrames of any schemas, many to a job."""
    numbered = [packed(frame, number) for number, frame in enumerate(frames)]
    found: list[list[dict[str, Any]]] = [[] for _ in numbered]
    for start in range(0, len(numbered), at_once):
        joined = reduce(lambda a, b: a.unionAll(b), numbered[start : start + at_once])
        for row in joined.collect():
            with pa.ipc.open_stream(row.rows) as reader:
                found[row.number] += reader.read_all().to_pylist()
    return found


def packed(frame: DataFrame, number: int) -> DataFrame:
    """Rows of any schema as bytes, so that results of many queries can be one DataFrame."""
    names = frame.columns
    # mapInArrow cannot take a column with a dot in its name, such as SUM(A.x).
    frame = frame.toDF(*[f"c{k}" for k in range(len(names))])

    def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            batch = batch.rename_columns(names)
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, batch.schema) as writer:
                writer.write_batch(batch)
            yield pa.record_batch(
                {
                    "number": pa.array([number], pa.int32()),
                    "rows": pa.array([sink.getvalue().to_pybytes()], pa.binary()),
                }
            )

    return frame.mapInArrow(pack, "number int, rows binary")


def assert_same(case: Case, rows: list[dict[str, Any]]) -> None:
    difference = same_rows(case.expected, rows, keys=case.keys)
    assert difference is None, f"{to_text(case.query)}\n{case.events}\n{difference}"
