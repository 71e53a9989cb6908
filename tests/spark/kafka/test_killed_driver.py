"""A stream from topic to topic whose driver is killed: one message per id is every row, once."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import trendloom as tl
from spark.faults.events import DELAY, QUERY, make_events
from spark.faults.killing import BATCHES, KILLS, PATIENCE, run_and_kill
from spark.faults.written import watermark
from spark.kafka.driver_topics import DDL
from spark.kafka.test_broker import options, texts
from trendloom.testing import same_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from spark.servers.kafka import Broker

DRIVER = Path(__file__).with_name("driver_topics.py")
ROWS = 1_500
SEED = 23
MICROSECOND = timedelta(microseconds=1)


@pytest.mark.timeout(PATIENCE)
def test_messages_may_come_again_but_never_others(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    # One partition, filled by one task: events come in the order of their arrival.
    broker.create_topic("killed-events")
    broker.create_topic("killed-rows", partitions=2)
    events = with_integer_times(pa.concat_tables(make_events(BATCHES, ROWS, SEED)))
    sent = spark.createDataFrame(events, DDL).coalesce(1).selectExpr("to_json(struct(*)) AS value")
    at = {"kafka.bootstrap.servers": broker.bootstrap, "topic": "killed-events"}
    sent.write.format("kafka").options(**at).save()

    run_and_kill(
        DRIVER,
        tmp_path,
        broker.bootstrap,
        str(ROWS),
        sink_size=lambda: broker.size("killed-rows"),
        seed=SEED,
    )

    read = spark.read.format("kafka").options(**options(broker, "killed-rows")).load()
    messages = [(message.k, message.v) for message in texts(read).collect()]
    once = dict(messages)
    assert set(messages) == set(once.items()), "one id, two values"
    assert KILLS < 20 or len(messages) > len(once), "no kill was late enough for messages again"

    over = (watermark(tmp_path / "checkpoint") - datetime(1970, 1, 1)) // MICROSECOND
    ahead = max(events["t"].to_pylist()) - over - DELAY * 1_000_000
    assert 0 <= ahead < 1_000
    batch = tl.run(QUERY, events, time="t", tick="us").rows()
    expected = [row for row in batch if row["window_end"] <= over]
    assert 100 < len(expected) < len(batch)
    assert same_rows(expected, list(map(json.loads, once.values())), keys=["k"]) is None


def with_integer_times(table: pa.Table) -> pa.Table:
    """JSON keeps integers as they are; of a timestamp Spark writes three digits only."""
    return table.set_column(0, "t", table["t"].cast(pa.int64()))
