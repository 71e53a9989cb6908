"""Adds numbers up in the cluster's Python workers, slowly if told to; prints who took part."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

PARTS = 8


def main(seconds: float) -> None:
    def slow(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        time.sleep(seconds)
        yield from batches

    session = SparkSession.builder.getOrCreate()
    print("started", flush=True)
    rows = session.range(0, 10_000, 1, PARTS).mapInArrow(slow, "id long")
    print("total", rows.groupBy().sum("id").first()[0], flush=True)
    session.stop()


if __name__ == "__main__":
    main(float(sys.argv[1]))
