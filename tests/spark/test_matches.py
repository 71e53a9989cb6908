"""Complex events of formulas on Spark against those of the local host."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv as pcsv
import pytest
from typer.testing import CliRunner

import trendloom as tl
from spark.test_listings import READING, table
from trendloom.acel import Aggregate, register
from trendloom.acel.aggregates import known
from trendloom.cli.main import app
from trendloom.errors import InputError, QueryMeaningError, TrendloomError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

CUBES = "PROJECT[Y](AGG[Y(c = CUBES(A.y), n = COUNT(A.y))](A : A) FILTER Y[c > 3])"


def rows_of(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True, default=str) for row in rows)


@pytest.mark.parametrize(
    ("formula", "options"),
    [
        # Marks alone, per partition; then all in one task, with simultaneous events by their ids.
        ("A ; B", {"partition_by": ["k"], "within": "9 s", "slide": "3 s"}),
        ("PROJECT[a, B](A AS a : NEXT(B))", {"within": "4 s"}),
        # Registers, a window of events, nulls, and words from two columns of structs.
        ("PROJECT[A, B](A:+ FILTER A[increasing(y)] : B)", {"partition_by": ["k"], "within": "5 events", "slide": "2 events"}),  # noqa: E501
        (CUBES, {"partition_by": ["k"]}),
    ],
)  # fmt: skip
def test_the_same_complex_events(
    spark: SparkSession, formula: str, options: dict[str, Any]
) -> None:
    if "CUBES" not in known():
        register(Aggregate("CUBES", 0, lambda one, other: one + other, lift=lambda x: x**3))
    events = table()
    frame = spark.createDataFrame(events.to_pandas()).repartition(3)
    found = tl.spark.matches(formula, frame, id="id", **READING, **options).toArrow()
    local = tl.matches(formula, events, **READING, **options).to_arrow()
    assert found.schema.names == local.schema.names
    assert len(found) > 0
    assert rows_of(found.to_pylist()) == rows_of(local.to_pylist())


@pytest.mark.parametrize(
    "formula",
    [
        "A FILTER A[day >= DATE '2024-01-31' AND naive > TIMESTAMP '2024-01-31 00:00:00.000001']",
        "A FILTER A[zoned = day OR naive < COALESCE(zoned, DATE '2024-02-01')]",
        "A+ FILTER A[increasing(zoned)]",
        "PROJECT[Y](AGG[Y(d = MIN(A.day), n = MAX(A.naive), z = MAX(A.zoned))](A+))",
        "PROJECT[A(day, naive, zoned)](A)",
    ],
)
def test_moments(spark: SparkSession, formula: str) -> None:
    times = [datetime(2024, 1, 30, 23), datetime(2024, 1, 31), None, datetime(2024, 1, 31, 12)]
    naive = pa.array(times, pa.timestamp("us"))
    events = pa.table(
        {
            "id": range(4),
            "time": range(4),
            "type": ["A"] * 4,
            "day": naive.cast(pa.date32(), safe=False),
            "naive": naive,
            "zoned": naive.cast(pa.timestamp("us", "UTC")),
        }
    )
    types = "id LONG, time LONG, type STRING, day DATE, naive TIMESTAMP_NTZ, zoned TIMESTAMP"
    frame = spark.createDataFrame(events, types)
    found = tl.spark.matches(formula, frame, id="id", **READING).toArrow()
    local = tl.matches(formula, events, **READING).to_arrow()
    assert len(found) > 0
    assert found.schema.field(4).type.value_type == local.schema.field(4).type.value_type
    assert rows_of(found.to_pylist()) == rows_of(local.to_pylist())


def test_a_limit_and_aggregates(spark: SparkSession) -> None:
    events = table()
    frame = spark.createDataFrame(events.to_pandas()).repartition(3)
    keys = {"partition_by": ["k"]}
    some = tl.spark.matches("A ; B", frame, id="id", limit=3, **READING, **keys)
    assert len(some.toArrow()) == 3
    reading = {**READING, **keys, "tiebreak": "id"}
    made = tl.spark.aggregate_matches("A ; B", "COUNT(*) AS n", frame, **reading)
    whole = tl.aggregate_matches("A ; B", "COUNT(*) AS n", events, **reading)
    assert made.toArrow().to_pylist() == whole.rows()


@pytest.mark.usefixtures("spark")
def test_the_command_line(tmp_path: Path) -> None:
    events, rows = tmp_path / "events.csv", tmp_path / "rows"
    pcsv.write_csv(table(), events)
    here = ["acel", "run", "A:+ : B", "-i", str(events), "--time", "time", "--partition-by", "k"]
    there = [*here, "--host", "spark", "--id", "id"]

    def call(*words: str) -> Any:
        return CliRunner().invoke(app, list(words), catch_exceptions=False)

    shown, expected = call(*there), call(*here)
    assert shown.exit_code == 0, shown.stderr
    assert sorted(shown.stdout.splitlines()) == sorted(expected.stdout.splitlines())
    written = call(*there, "-o", str(rows), "-f", "jsonl")
    assert written.exit_code == 0, written.stderr
    lines = [line for part in rows.glob("*.json") for line in part.read_text().splitlines()]
    assert rows_of(map(json.loads, lines)) == rows_of(map(json.loads, expected.stdout.splitlines()))  # type: ignore[arg-type]
    more = ["--return", "COUNT(*) AS n", "--tiebreak", "id"]
    assert call(*there, *more).stdout == call(*here, *more).stdout != ""


def test_refusals(spark: SparkSession) -> None:
    frame = spark.createDataFrame(table().to_pandas())
    options = {"id": "id", **READING}
    with pytest.raises(InputError, match=r"no column 'ids' \(id\)"):
        tl.spark.matches("A", frame, **{**options, "id": "ids"})
    with pytest.raises(InputError, match="do not drop rows"):
        tl.spark.matches("A", frame, bad_rows="drop", **options)
    with pytest.raises(QueryMeaningError, match="Unknown variable 'Z'"):
        tl.spark.matches("A FILTER Z[x > 1]", frame, **options)
    with pytest.raises(InputError, match="Unknown attribute 'kk'"):
        tl.spark.matches("A", frame, partition_by=["kk"], **options)
    with pytest.raises(TrendloomError, match="a list of names"):
        tl.spark.matches("A", frame, partition_by="k", **options)
    with pytest.raises(QueryMeaningError, match="is the name of another column"):
        tl.spark.matches("PROJECT[k](A AS k)", frame, partition_by=["k"], **options)
    with pytest.raises(InputError, match="this DataFrame is a stream"):
        tl.spark.matches("A", spark.readStream.format("rate").load(), **options)
