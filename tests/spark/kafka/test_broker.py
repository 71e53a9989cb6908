"""Rows go into a real broker and come out of it, by batch and by stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark.jobs import counted, run_to_end

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from spark.servers.kafka import Broker


def produce(spark: SparkSession, broker: Broker, topic: str, rows: list[tuple[str, str]]) -> None:
    frame = spark.createDataFrame(rows, "key string, value string")
    options = {"kafka.bootstrap.servers": broker.bootstrap, "topic": topic}
    frame.write.format("kafka").options(**options).save()


def options(broker: Broker, topic: str) -> dict[str, str]:
    return {
        "kafka.bootstrap.servers": broker.bootstrap,
        "subscribe": topic,
        "startingOffsets": "earliest",
    }


def texts(frame: DataFrame) -> DataFrame:
    return frame.selectExpr("CAST(key AS string) AS k", "CAST(value AS string) AS v", "partition")


def test_batch_reads_what_a_batch_wrote(spark: SparkSession, broker: Broker) -> None:
    broker.create_topic("batch", partitions=2)
    produce(spark, broker, "batch", [("a", "1"), ("b", "2"), ("a", "3")])
    rows = texts(spark.read.format("kafka").options(**options(broker, "batch")).load()).collect()
    assert sorted((row.k, row.v) for row in rows) == [("a", "1"), ("a", "3"), ("b", "2")]
    assert len({row.partition for row in rows if row.k == "a"}) == 1


def test_stream_goes_on_where_it_stopped(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    broker.create_topic("stream", partitions=2)
    seen = []
    for value in ("1", "2"):
        produce(spark, broker, "stream", [("a", value)])
        source = spark.readStream.format("kafka").options(**options(broker, "stream")).load()
        seen.append(run_to_end(counted(texts(source)), tmp_path))
    assert seen == [[("a", 1)], [("a", 1), ("a", 2)]]
