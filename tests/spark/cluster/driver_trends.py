"""Runs the query on the cluster by every batch plan, or as a stream.

Tasks that make rows of what was exchanged leave a mark and take their time.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import trendloom as tl
from spark.faults.events import DDL, DELAY, QUERY

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from pyspark.sql import DataFrame

PLANS = ("combine", "exchange", "direct")
SECONDS = 2


def batch(session: SparkSession, home: Path, plan: str) -> None:
    rows = tl.spark.run(QUERY, str(home / "events"), session, time="t", plan=plan)
    marks = home / "marks"

    def slow(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # A task runs in its executor's folder, which lies in its worker's.
        (marks / f"{plan}{os.getcwd().replace('/', '+')}").touch()
        time.sleep(SECONDS)
        yield from batches

    pq.write_table(rows.mapInArrow(slow, rows.schema).toArrow(), home / f"{plan}.parquet")


def stream(session: SparkSession, home: Path) -> None:
    reader = session.readStream.schema(DDL).option("maxFilesPerTrigger", 1)
    events: DataFrame = reader.parquet(str(home / "events"))
    rows = tl.spark.run(QUERY, events, time="t", watermark=f"{DELAY} seconds", shards=4)
    query = (
        rows.writeStream.format("parquet")
        .option("path", str(home / "rows"))
        .option("checkpointLocation", str(home / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def main(home: Path, what: str) -> None:
    session = SparkSession.builder.getOrCreate()
    if what == "stream":
        stream(session, home)
    else:
        for plan in PLANS:
            batch(session, home, plan)
    session.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
