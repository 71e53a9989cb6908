"""Runs the stream from topic to topic, as `trendloom stream` does but in small micro-batches."""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

import trendloom as tl
from spark.faults.events import DELAY, QUERY
from spark.servers.settings import light, settings
from trendloom.hosts.spark.places import Place
from trendloom.hosts.spark.sinks import Keyed, Sink

DDL = "t BIGINT, type STRING, k BIGINT, x BIGINT"


def main(home: Path, own: Path, bootstrap: str, rows_at_once: str) -> None:
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "1g")
    for key, value in {**settings(own), **light()}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    reader = session.readStream.format("kafka").option("kafka.bootstrap.servers", bootstrap)
    reader = reader.option("subscribe", "killed-events").option("startingOffsets", "earliest")
    messages = reader.option("maxOffsetsPerTrigger", rows_at_once).load()
    parsed = f.from_json(f.col("value").cast("string"), DDL).alias("event")
    events = messages.select(parsed).select("event.*")
    keyed = Keyed.of(QUERY)
    rows = tl.spark.run(
        keyed.text, events, time="t", tick="us", watermark=f"{DELAY} seconds", shards=4
    )
    place = Place.read(f"kafka:{bootstrap}/killed-rows", ("kafka",))
    sink = Sink(place, "killed", checkpoint=str(home / "checkpoint"), once=True)
    sink.start(rows, keyed.groups, lambda _: None).awaitTermination()
    (home / "ended").touch()
    session.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4])
