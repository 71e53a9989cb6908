"""`trendloom stream` from one topic to another, as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import trendloom as tl
from spark.kafka.test_broker import options, produce, texts
from spark.servers.settings import connector, quiet
from trendloom.testing import same_rows

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from spark.servers.kafka import Broker

QUERY = "RETURN COUNT(*) AS n, MAX(A.x) AS high PATTERN SEQ(A+, B) WHERE [k] GROUP-BY k WITHIN 9 s"


def event(t: int) -> dict[str, Any]:
    return {"t": t, "type": "AAB"[t % 3], "k": "wxyz"[t // 3 % 4], "x": t * 7 % 11}


def test_rows_arrive_once_with_ids_of_their_own(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    events = [event(t) for t in range(1, 61)]
    for name in ("events", "rows"):
        broker.create_topic(name, partitions=2)
    # The last one tells that everything before it is over.
    last = {"t": 10_000, "type": "Z", "k": "w", "x": 0}
    sent = [(str(one["t"]), json.dumps(one)) for one in (*events, last)]
    produce(spark, broker, "events", sent)
    command = [sys.executable, "-m", "trendloom", "stream", "-q", QUERY, "--time", "t"]
    command += ["--source", f"kafka:{broker.bootstrap}/events"]
    command += ["--sink", f"kafka:{broker.bootstrap}/rows"]
    command += ["--schema", "t BIGINT, type STRING, k STRING, x INT", "--watermark", "5 seconds"]
    command += ["--checkpoint", str(tmp_path / "checkpoint"), "--once", "--shards", "2"]
    command += ["--master", "local[2]", "--jars", connector()]
    done = subprocess.run(
        command, env=quiet(tmp_path), capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "60 events, 0 rows, 0 late" in done.stderr
    read = spark.read.format("kafka").options(**options(broker, "rows")).load()
    messages = texts(read).collect()
    empty = {"window_start": None, "window_end": None}
    rows = [{**empty, **json.loads(message.v)} for message in messages]
    expected = tl.run(QUERY, events, time="t", type="type").rows()
    assert same_rows(expected, rows) is None
    assert len({message.k for message in messages}) == len(expected)
    assert all(len(message.k) == 64 for message in messages)
    assert "trendloom_group" not in messages[0].v
