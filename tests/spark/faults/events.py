"""Events that come in files, one micro-batch each, and the query that is asked of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pathlib import Path

QUERY = """
RETURN k, COUNT(*) AS trends, COUNT(A) AS events, SUM(A.x) AS total
PATTERN SEQ(A+, B) WHERE [k] GROUP-BY k WITHIN 20 seconds SLIDE 10 seconds
"""
KEYS = 50
STEP = 15.0
"""Seconds of event time in one file."""
DELAY = 4
"""Seconds by which events may come out of order."""
DDL = "t TIMESTAMP_NTZ, type STRING, k BIGINT, x BIGINT"
START = np.datetime64("2024-03-01T00:00:00", "us")


def make_events(files: int, rows: int, seed: int) -> list[pa.Table]:
    """Tables in the order of their arrival, each event at most DELAY seconds too late."""
    chance = np.random.default_rng(seed)
    count = files * rows
    arrival = np.sort(chance.uniform(0, files * STEP, count))
    seconds = arrival - chance.uniform(0, DELAY - 1, count)
    table = pa.table(
        {
            "t": START + (seconds * 1e6).astype("timedelta64[us]"),
            "type": pa.array(chance.choice(["A", "B", "C"], count, p=[0.3, 0.5, 0.2])),
            "k": chance.integers(0, KEYS, count),
            "x": chance.integers(-9, 10, count),
        }
    )
    return [table.slice(at, rows) for at in range(0, count, rows)]


def write_events(tables: list[pa.Table], folder: Path) -> None:
    """In files whose age is their order: so Spark reads them."""
    folder.mkdir()
    for number, table in enumerate(tables):
        path = folder / f"{number:03}.parquet"
        pq.write_table(table, path)
        os.utime(path, (1_000_000 + number, 1_000_000 + number))
