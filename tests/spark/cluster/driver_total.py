"""Adds numbers up in the cluster's Python workers, slowly if told to; each task leaves a mark."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

PARTS = 8


def main(marks: Path, seconds: float) -> None:
    def slow(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # A task runs in its executor's folder, which lies in its worker's.
        (marks / os.getcwd().replace("/", "+")).touch()
        time.sleep(seconds)
        yield from batches

    session = SparkSession.builder.getOrCreate()
    rows = session.range(0, 10_000, 1, PARTS).mapInArrow(slow, "id long")
    print("total", rows.groupBy().sum("id").first()[0])
    session.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
