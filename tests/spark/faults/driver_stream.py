"""Runs the stream from where its checkpoint is to the end of the files, and leaves a mark there."""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession

import trendloom as tl
from spark.faults.events import DDL, DELAY, QUERY
from spark.servers.settings import light, settings


def main(home: Path, own: Path) -> None:
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "1g")
    for key, value in {**settings(own), **light()}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    reader = session.readStream.schema(DDL).option("maxFilesPerTrigger", 1)
    rows = tl.spark.run(
        QUERY,
        reader.parquet(str(home / "events")),
        time="t",
        watermark=f"{DELAY} seconds",
        shards=4,
    )
    query = (
        rows.writeStream.format("parquet")
        .option("path", str(home / "rows"))
        .option("checkpointLocation", str(home / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    (home / "ended").touch()
    session.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
