"""The command line on Spark: the local host's rows, from files and from streams."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import trendloom as tl
from spark.faults.written import written_rows
from spark.servers.settings import SPARK_HOME, as_options, quiet, settings
from spark.test_bad_input import Careless
from trendloom.cli.main import app
from trendloom.errors import TrendloomError
from trendloom.hosts.spark import stream as spark_stream
from trendloom.hosts.spark.jobs import Wanted, job_session
from trendloom.testing import same_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXAMPLES = Path(__file__).parents[2] / "examples"
LETTERS = ("--input", str(EXAMPLES / "streams/letters.csv"), "--time", "time", "--type", "type")
COUNT = "RETURN COUNT(*) PATTERN (SEQ(A+, B))+"
RUNS = "RETURN k, COUNT(*) AS n PATTERN SEQ(A+, B) WHERE [k] GROUP-BY k WITHIN 20 s SLIDE 20 s"

SCHEMA = "ts TIMESTAMP, type STRING, k STRING"
WINDOW = ("window_start", "window_end")


def call(*words: str) -> Any:
    return CliRunner().invoke(app, list(words), catch_exceptions=False)


def events(seconds: range) -> pa.Table:
    """Letters of three keys, one per second."""
    times = pa.array([1_700_000_000 + t for t in seconds], pa.int64()).cast(pa.timestamp("s"))
    return pa.table(
        {
            "ts": times.cast(pa.timestamp("us", "UTC")),
            "type": ["AB"[t % 2] for t in seconds],
            "k": ["xyz"[t % 3] for t in seconds],
        }
    )


def written_to(path: Path) -> list[dict[str, Any]]:
    """The rows; this session writes times without their zone."""
    table = pq.read_table(path)
    window = pa.timestamp("us", "UTC")
    fields = [f.with_type(window) if pa.types.is_timestamp(f.type) else f for f in table.schema]
    rows: list[dict[str, Any]] = table.cast(pa.schema(fields)).to_pylist()
    return rows


def written_lines(path: Path) -> list[dict[str, Any]]:
    """The rows of JSON files, with moments in the place of their texts."""
    texts = [line for part in path.glob("*.json") for line in part.read_text().splitlines()]
    rows = [json.loads(text) for text in texts]
    return [{**row, **{name: datetime.fromisoformat(row[name]) for name in WINDOW}} for row in rows]


def in_utc(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, **{name: row[name].replace(tzinfo=UTC) for name in WINDOW}} for row in rows]


@pytest.mark.usefixtures("spark")
def test_files_give_the_local_hosts_rows(tmp_path: Path) -> None:
    here = call("run", "-q", COUNT, *LETTERS)
    there = call("run", "-q", COUNT, *LETTERS, "--host", "spark")
    assert there.exit_code == 0, there.stderr
    assert there.stdout == here.stdout

    table = events(range(60))
    pq.write_table(table, tmp_path / "events.parquet")
    words = ["run", "-q", RUNS, "-i", str(tmp_path / "events.parquet"), "--time", "ts"]
    written = tmp_path / "rows.parquet"
    words += ["--host", "spark", "--output", str(written)]
    done = call(*words)
    assert done.exit_code == 0, done.stderr
    assert f"Wrote to the directory {written}." in done.stderr
    expected = tl.run(RUNS, table, time="ts", type="type").rows()
    assert same_rows(expected, written_to(written), keys=["k"]) is None
    assert "exists" in call(*words).stderr


def test_a_stream_goes_on_where_it_stopped(spark: SparkSession, tmp_path: Path) -> None:
    source, rows = tmp_path / "in", tmp_path / "rows"
    source.mkdir()
    words = ["stream", "-q", RUNS, "--source", f"parquet:{source}", "--sink", f"parquet:{rows}"]
    words += ["--checkpoint", str(tmp_path / "checkpoint"), "--time", "ts", "--shards", "2"]
    words += ["--watermark", "0 seconds", "--once", "--name", "runs"]
    with_metrics = tl.spark.metrics(spark, port=0)
    try:
        for number, seconds in enumerate((range(50), range(50, 80), range(1000, 1001))):
            pq.write_table(events(seconds), source / f"{number}.parquet")
            done = call(*words)
            assert done.exit_code == 0, done.stderr
        assert "watermark" in done.stderr
        told = with_metrics.tallies["runs"]
        at = f"http://127.0.0.1:{with_metrics.port}/metrics"
        with urllib.request.urlopen(at, timeout=10) as answer:
            assert (
                f'trendloom_events_total{{query="runs"}} {told.events}\n' in answer.read().decode()
            )
    finally:
        with_metrics.stop()
    expected = tl.run(RUNS, events(range(80)), time="ts", type="type").rows()
    assert same_rows(expected, written_to(rows), keys=["k"]) is None
    assert (told.events, told.rows, told.late) == (81, len(expected), 0)
    assert told.batches >= 3


LAST = range(1000, 1001)
"""A time after every window: its event ends them."""


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(("kind", "sink"), [("csv", "json"), ("json", "parquet")])
def test_files_of_text_are_streams(tmp_path: Path, kind: str, sink: str) -> None:
    source, rows = tmp_path / "in", tmp_path / "rows"
    source.mkdir()
    sent = pa.concat_tables([events(range(50)), events(LAST)])
    lines = [{**row, "ts": row["ts"].isoformat()} for row in sent.to_pylist()]
    if kind == "csv":
        text = ["ts,type,k", *(",".join(line.values()) for line in lines)]
    else:
        text = [json.dumps(line) for line in lines]
    (source / f"events.{kind}").write_text("\n".join(text))
    words = ["stream", "-q", RUNS, "--source", f"{kind}:{source}", "--sink", f"{sink}:{rows}"]
    words += ["--checkpoint", str(tmp_path / "kept"), "--schema", SCHEMA, "--time", "ts"]
    done = call(*words, "--watermark", "0 seconds", "--shards", "2", "--once", "--quiet")
    assert done.exit_code == 0, done.stderr
    found = written_to(rows) if sink == "parquet" else written_lines(rows)
    expected = tl.run(RUNS, events(range(50)), time="ts", type="type").rows()
    assert same_rows(expected, found, keys=["k"]) is None


def test_lines_of_a_socket_are_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    sent = pa.concat_tables([events(range(50)), events(LAST)]).to_pylist()
    rows = tmp_path / "rows"
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as pool:
        server.settimeout(60)
        at = f"socket:127.0.0.1:{server.getsockname()[1]}"
        words = ["stream", "-q", RUNS, "--source", at, "--sink", f"parquet:{rows}", "--time", "ts"]
        words += ["--checkpoint", str(tmp_path / "kept"), "--schema", SCHEMA, "--quiet"]
        running = pool.submit(call, *words, "--watermark", "0 seconds", "--shards", "2")
        client, _ = server.accept()
        with client:
            for row in sent:
                client.sendall(json.dumps({**row, "ts": row["ts"].isoformat()}).encode() + b"\n")
            expected = tl.run(RUNS, events(range(50)), time="ts", type="type").rows()
            found: list[dict[str, Any]] = []
            end = time.monotonic() + 120
            while not running.done() and time.monotonic() < end:
                log = rows / "_spark_metadata"
                if log.exists() and len(found := written_rows(rows)) >= len(expected):
                    break
                time.sleep(0.1)
            for stream in spark.streams.active:
                stream.stop()
        done = running.result(60)
    assert done.exit_code == 0, done.stderr
    assert same_rows(expected, in_utc(found), keys=["k"]) is None


def test_a_signal_to_all_processes_of_a_stream_stops_it_in_order(tmp_path: Path) -> None:
    """As service managers send it: the JVM gets it too, and must leave the stopping to us."""
    source, rows = tmp_path / "in", tmp_path / "rows"
    source.mkdir()
    pq.write_table(events(range(50)), source / "0.parquet")
    words = ["stream", "-q", RUNS, "--source", f"parquet:{source}", "--sink", f"parquet:{rows}"]
    words += ["--checkpoint", str(tmp_path / "kept"), "--time", "ts", "--shards", "1", "--quiet"]
    words += ["--watermark", "0 seconds", "--master", "local[1]"]
    with subprocess.Popen(
        [sys.executable, "-m", "trendloom", *words], env=quiet(tmp_path), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    ) as running:  # fmt: skip
        end = time.monotonic() + 200
        while not list((tmp_path / "kept/commits").glob("[0-9]*")):
            assert running.poll() is None, running.stderr and running.stderr.read()
            assert time.monotonic() < end
            time.sleep(0.2)
        os.killpg(running.pid, signal.SIGTERM)
        said = running.communicate(timeout=100)
    assert said == ("", "")
    assert running.returncode == 130


@pytest.mark.usefixtures("spark")
def test_a_checkpoint_that_is_refused_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, kept = tmp_path / "in", tmp_path / "kept"
    source.mkdir()

    def stream(query: str = RUNS, shards: int = 2) -> Any:
        words = ["stream", "-q", query, "--source", f"parquet:{source}", "--time", "ts", "--once"]
        words += ["--checkpoint", str(kept), "--shards", str(shards), "--quiet"]
        return call(*words)

    def told(done: Any) -> str:
        assert done.exit_code == 1
        first, _, rest = done.stderr.partition("\n")
        assert first == f"Error: Cannot go on from the checkpoint '{kept}'."
        return rest

    pq.write_table(events(range(10)), source / "0.parquet")
    assert stream().exit_code == 0
    pq.write_table(events(range(10, 20)), source / "1.parquet")
    assert "The state is of another query." in told(stream(RUNS.replace("A+", "A")))
    assert "was written with 2 shards, this stream has 3." in told(stream(shards=3))
    with monkeypatch.context() as patch:
        patch.setattr(spark_stream, "Shards", Careless)
        assert stream().exit_code == 0
    pq.write_table(events(range(20, 30)), source / "2.parquet")
    assert "The state's bytes are damaged: their checksum is wrong." in told(stream())


@pytest.mark.usefixtures("spark")
def test_a_refusal_in_a_worker_is_our_message_alone(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.json").write_text('{"ts": 1, "type": "A", "k": "x"}\n{"type": "A", "k": "x"}\n')
    words = ["stream", "-q", RUNS, "--source", f"json:{source}", "--time", "ts", "--once"]
    done = call(*words, "--schema", "ts BIGINT, type STRING, k STRING", "--shards", "1")
    assert done.exit_code == 1
    assert "Error: 1 row" in done.stderr
    assert "\tat " not in done.stderr
    assert "Traceback" not in done.stderr
    missing = call(*words)
    assert "--schema 'ts TIMESTAMP" in missing.stderr


def test_spark_submit_runs_the_command_line(tmp_path: Path) -> None:
    program = Path(tl.__file__).with_name("__main__.py")
    submit = [str(SPARK_HOME / "bin/spark-submit"), "--master", "local[1]"]
    command = [*submit, *as_options(settings(tmp_path)), str(program), "run", "-q", COUNT, *LETTERS]
    done = subprocess.run(
        [*command, "--host", "spark", "--json"],
        env=quiet(tmp_path),
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"window_start": None, "window_end": None, "COUNT(*)": 43}


def test_a_session_of_another_thread_is_left_running(spark: SparkSession) -> None:
    def count() -> int:
        with job_session(Wanted()) as found:
            return int(found.range(3).count())

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(count).result() == 3
    assert spark.range(4).count() == 4


def test_a_server_is_not_silently_left_for_a_session_that_is_active(spark: SparkSession) -> None:
    assert spark.range(1).count() == 1
    with (
        pytest.raises(TrendloomError, match="sc://elsewhere cannot be used"),
        job_session(Wanted(remote="sc://elsewhere")),
    ):
        pass
