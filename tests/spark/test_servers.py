"""The session and the Connect server are real: Python workers run, and state rests in RocksDB."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from spark.jobs import counted, run_to_end, total_of
from spark.servers.process import Server, free_port
from spark.servers.settings import ROCKSDB, ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession


def rest(until: Callable[[], bool], seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while not until() and time.monotonic() < end:
        time.sleep(0.05)
    return until()


def gone(pid: int) -> bool:
    """No such process, or one that is dead and not yet buried."""
    try:
        stat = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("no ps here")
    return stat.stdout.strip() == "" or stat.stdout.startswith("Z")


def stream_counts(session: SparkSession, home: Path) -> list[list[tuple[Any, ...]]]:
    """Two rows of one key, one file after the other, with a restart between them."""
    source = home / "rows"
    source.mkdir()
    counts = []
    for name in ("1.json", "2.json"):
        (source / name).write_text('{"k": "a"}\n')
        rows = session.readStream.schema("k string").json(str(source))
        counts.append(run_to_end(counted(rows), home))
    return counts


def test_python_workers_of_a_session_take_arrow(spark: SparkSession) -> None:
    assert total_of(spark, 10_000) == 49_995_000


def test_session_is_small_and_knows_no_time_zone(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.sql.streaming.stateStore.providerClass") == ROCKSDB
    assert spark.sparkContext.defaultParallelism == 2


def test_state_of_a_stream_outlives_a_restart(spark: SparkSession, tmp_path: Path) -> None:
    assert stream_counts(spark, tmp_path) == [[("a", 1)], [("a", 1), ("a", 2)]]
    assert list((tmp_path / "checkpoint" / "state" / "0").rglob("*.zip")), "not RocksDB"


def test_python_workers_of_a_connect_server_take_arrow(connect: SparkSession) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    assert type(connect).__module__ == "pyspark.sql.connect.session"
    assert total_of(connect, 10_000) == 49_995_000
    assert connect.range(3).select(F.sum("id").alias("total")).first().total == 3


def test_state_of_a_stream_outlives_a_restart_over_connect(
    connect: SparkSession, tmp_path: Path
) -> None:
    assert stream_counts(connect, tmp_path) == [[("a", 1)], [("a", 1), ("a", 2)]]


def test_server_that_ends_too_soon_tells_its_last_words(tmp_path: Path) -> None:
    server = Server("short", ["sh", "-c", "sleep 0.3; echo no disk >&2"], tmp_path, os.environ)
    with pytest.raises(RuntimeError, match=r"(?s)short ended, and was to answer.*no disk"):
        server.wait_for_port(free_port())


def test_exit_code_of_a_server_is_kept(tmp_path: Path) -> None:
    server = Server("seven", ["sh", "-c", "echo out; exit 7"], tmp_path, os.environ)
    assert server.wait(10) == 7
    assert server.output == "out\n"


def test_killing_a_server_kills_what_it_has_started(tmp_path: Path) -> None:
    command = ["sh", "-c", "sleep 100 & echo child $!; wait"]
    server = Server("parent", command, tmp_path, os.environ)
    server.wait_for_line("child")
    child = int(server.output.split()[1])
    assert not gone(child)
    server.kill()
    assert rest(lambda: gone(child) and gone(server.pid))


def test_server_dies_with_tests_that_are_killed(tmp_path: Path) -> None:
    script = (
        "import os, pathlib, sys; from spark.servers.process import Server\n"
        "server = Server('sleeper', ['sleep', '100'], pathlib.Path(sys.argv[1]), os.environ)\n"
        "print(server.pid, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == -9, done.stderr
    assert rest(lambda: gone(int(done.stdout)))
