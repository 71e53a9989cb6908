"""Folders with a log on Spark: deleted rows and files of failed attempts are in no result."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

import trendloom as tl
from spark.test_bad_input import COUNT, DDL, OPTIONS, in_folder, table
from spark.test_cli import call
from trendloom.errors import InputError, MissingExtraError
from trendloom.hosts.spark.session import files_of

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

EACH = "RETURN COUNT(*) AS n PATTERN A"
"""How many rows are of type A: two of every three."""


def counted(spark: SparkSession, events: Any, **more: Any) -> int:
    (row,) = tl.spark.run(EACH, events, spark, **{**OPTIONS, **more}).collect()
    return int(row.n)


@pytest.fixture
def written(spark: SparkSession, tmp_path: Path) -> Path:
    """A folder that a stream wrote, with 6 rows that it committed and 3 that it did not."""
    source = in_folder(tmp_path / "in", table([1, 2, 3, 4, 5, 6]))
    folder = tmp_path / "out"
    writer = spark.readStream.schema(DDL).parquet(source).writeStream.format("parquet")
    writer = writer.option("checkpointLocation", str(tmp_path / "kept")).trigger(availableNow=True)
    writer.start(str(folder)).awaitTermination()
    pq.write_table(table([7, 8, 9]), folder / "orphan.parquet")
    return folder


def test_a_stream_is_read_by_its_log(spark: SparkSession, written: Path, tmp_path: Path) -> None:
    for plan in ("auto", "combine", "exchange"):
        assert counted(spark, str(written), plan=plan) == 4
    assert counted(spark, f"file://{written}") == 4
    more = in_folder(tmp_path / "more", table([11, 12, 13]))
    assert counted(spark, [str(written), more]) == 6
    assert counted(spark, [more, str(written), str(written)]) == 10
    listed = tl.spark.trends("PATTERN A", str(written), spark, id="t", **OPTIONS)
    assert listed.count() == 4
    assert tl.spark.matches("A", str(written), spark, id="t", **OPTIONS).count() == 4
    committed = next(written.glob("part-*.parquet"))
    assert counted(spark, str(committed)) == 4
    # So are folders found that are not on this machine.
    assert files_of(spark, f"{written}/_spark_metadata") is not None
    assert files_of(spark, f"{written}/_delta_log") is None

    with pytest.raises(InputError, match=r"A log says which .*\nLeave the plan to Trendloom"):
        counted(spark, str(written), plan="direct")
    (written / "deep").mkdir()
    pq.write_table(table([1]), written / "deep" / "a.parquet")
    for part in (written / "orphan.parquet", written / "deep", written / "deep" / "a.parquet"):
        with pytest.raises(
            InputError, match=rf"(?s)that a stream writes, .*the folder.*'{written}'"
        ):
            counted(spark, str(part))
    with pytest.raises(InputError, match=rf"'{written}' has a log \(_spark_metadata\) that says"):
        counted(spark, str(tmp_path))
    words = ["run", "-q", EACH, "--time", "t", "--host", "spark", "--json"]
    done = call(*words, "-i", f"{written}/*.parquet")
    assert done.exit_code == 1
    assert "in a folder that a stream writes" in done.stderr
    done = call(*words, "-i", str(written))
    assert json.loads(done.stdout)["n"] == 4


def test_a_delta_table_is_not_read_without_its_log(spark: SparkSession, tmp_path: Path) -> None:
    """Its package is not here, so that nobody could know which rows were deleted."""
    folder = tmp_path / "delta"
    in_folder(folder, table([1, 2, 3]), table([1, 2]))
    (folder / "_delta_log").mkdir()
    (folder / "_delta_log" / f"{0:020}.json").write_text('{"add": {"path": "0.parquet"}}')
    calls = [
        lambda: counted(spark, str(folder)),
        lambda: counted(spark, [str(folder), str(folder)], plan="exchange"),
        lambda: tl.spark.trends("PATTERN A", str(folder), spark, id="t", **OPTIONS),
        lambda: tl.spark.matches("A", str(folder), spark, id="t", **OPTIONS),
    ]
    for one in calls:
        with pytest.raises(MissingExtraError, match=r"(?s)is a Delta table.*io.delta:delta-spark"):
            one()
    with pytest.raises(InputError, match="the direct plan lists them all"):
        counted(spark, str(folder), plan="direct")
    with pytest.raises(InputError, match="is a Delta table"):
        counted(spark, str(folder / "1.parquet"))
    with pytest.raises(InputError, match=rf"'{folder}' has a log \(_delta_log\)"):
        counted(spark, str(tmp_path))
    words = ["--time", "t", "-q", f"{COUNT} WITHIN 5 s SLIDE 5 s"]
    for inputs in (folder, f"{folder}/*.parquet"):
        done = call("run", *words, "-i", str(inputs), "--host", "spark")
        assert done.exit_code == 1
        assert "is a Delta table" in done.stderr
    done = call("stream", *words, "--source", f"parquet:{folder}", "--once")
    assert "is a Delta table" in done.stderr


def test_a_path_that_exists_is_that_file(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("a[1].parquet", "a1.parquet", "q?.parquet", "qa.parquet", "{x}.parquet"):
        pq.write_table(table([1, 2, 3]), tmp_path / name)
    for plan in ("direct", "exchange"):
        for name in ("a[1].parquet", "q?.parquet", "{x}.parquet"):
            assert counted(spark, str(tmp_path / name), plan=plan) == 2
