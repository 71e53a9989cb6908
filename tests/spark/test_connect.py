"""Queries over Spark Connect: the same calls, the same rows."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import trendloom as tl
from spark.cases import arrow_events, check_all, drawn, frame_of
from spark.servers.settings import quiet
from spark.test_batch_against_oracle import FOLD, can_combine, is_spark_case, options
from trendloom.errors import InputError, OutputError, StateError
from trendloom.testing import same_rows
from trendloom.testing.strategies import Case, cases

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession


def test_batch_plans(
    connect: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow.parquet as pq

    from trendloom.hosts.spark import batch

    monkeypatch.setattr(batch, "TASK_ROWS", 4)

    def combined(case: Case) -> DataFrame:
        frame = frame_of(connect, case.events)
        return tl.spark.run(tl.query(case.query), frame, plan="combine", **options(case))

    def exchanged(case: Case) -> DataFrame:
        frame = frame_of(connect, case.events)
        return tl.spark.run(tl.query(case.query), frame, plan="exchange", **options(case))

    def direct(case: Case) -> DataFrame:
        path = tmp_path / f"{id(case)}.parquet"
        pq.write_table(arrow_events(case.events), path, row_group_size=2)
        return tl.spark.run(tl.query(case.query), str(path), connect, **options(case))

    folds = [case for case in drawn(cases(**FOLD), 36) if can_combine(case)]
    others = [
        case for case in drawn(cases(timestamps=None, composed=False), 16) if is_spark_case(case)
    ]
    assert len(folds) >= 8
    check_all(folds, combined)
    check_all(others, exchanged)
    check_all(folds[:6] + others[:6], direct)


def test_a_stream(connect: SparkSession, tmp_path: Path) -> None:
    from spark.test_stream_against_oracle import (
        DELAY,
        compare,
        many_queries,
        read_stream,
        write_arrivals,
    )

    events, asked = many_queries("time", 1)
    source, sink = tmp_path / "events", tmp_path / "rows"
    source.mkdir()
    write_arrivals(events, source, seed=5)
    rows = tl.spark.run(
        {name: tl.query(query) for name, query in list(asked.items())[:4]},
        read_stream(connect, source, events),
        time="time", type="type", watermark=f"{DELAY} seconds", shards=2,
    )  # fmt: skip
    names = rows.columns
    with pytest.raises(InputError, match="The stream has no watermark"):
        tl.spark.run(next(iter(asked.values())), read_stream(connect, source, events), time="time")
    query = (
        rows.toDF(*[f"c{k}" for k in range(len(names))])
        .writeStream.format("parquet")
        .option("path", str(sink))
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination(240)
    written = connect.read.parquet(str(sink)).toArrow().rename_columns(names).to_pylist()
    for name, one in list(asked.items())[:4]:
        compare(one, events, [row for row in written if row["query"] == name])

    # The checkpoint is the server's, and whoever goes on from it is asked there.
    options = {"time": "time", "type": "type", "watermark": f"{DELAY} seconds"}
    changing = tl.spark.run(
        tl.query(next(iter(asked.values()))),
        read_stream(connect, source, events), mode="update", **options,
    ).where("TRUE")  # fmt: skip
    with pytest.raises(OutputError, match="write"):
        changing.writeStream.format("memory").queryName("rows").start()
    kept = changing.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
    with pytest.raises(StateError, match="Cannot go on from the checkpoint"):
        kept.outputMode("update").format("console").start()


def test_the_command_line(connect_server: str, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    from spark.test_cli import COUNT, LETTERS, RUNS, events, written_to

    def run(*words: str) -> str:
        command = [sys.executable, "-m", "trendloom", "run", "--host", "spark", *words]
        command += ["--remote", connect_server]
        done = subprocess.run(
            command, env=quiet(tmp_path), capture_output=True, text=True, timeout=200, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run("-q", COUNT, *LETTERS, "--format", "csv").splitlines()[1:] == [",,43"]

    pq.write_table(events(range(60)), tmp_path / "events.parquet")
    files = ("-i", str(tmp_path / "events.parquet"), "--time", "ts")
    run("-q", RUNS, *files, "--output", str(tmp_path / "rows.parquet"))
    expected = tl.run(RUNS, events(range(60)), time="ts", type="type").rows()
    assert same_rows(expected, written_to(tmp_path / "rows.parquet"), keys=["k"]) is None
