"""Events for all sides: a Parquet file, and beside it the flat file that the Java program reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pathlib import Path

OTHERS = 0.1
"""Of the events, those that the patterns do not name."""


def write(directory: Path, events: int, keys: int, others: float = OTHERS) -> Path:
    """`key`, `ts`, `type` and `price`, in order of time, no two at the same."""
    path = directory / f"{events}-{keys}.parquet"
    rng = np.random.default_rng(2)
    key = rng.integers(0, keys, events, np.int32)
    kind = rng.choice(3, events, p=[others, (1 - others) / 2, (1 - others) / 2]).astype(np.uint8)
    table = pa.table(
        {
            "key": pa.array(key),
            "ts": pa.array(np.arange(events)).cast(pa.timestamp("us")),
            "type": pa.array(["C", "A", "B"]).take(pa.array(kind)),
            "price": pa.array(rng.random(events)),
        }
    )
    pq.write_table(table, path)
    path.with_suffix(".bin").write_bytes(key.astype("<i4").tobytes() + kind.tobytes())
    return path
