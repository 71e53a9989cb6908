"""Events to measure with: generated columns and files, and the real data beside the repository."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

REAL = Path(__file__).parents[2] / "shared" / "data"
CACHE = Path(tempfile.gettempdir()) / "trendloom-benchmarks"
BATCH = 1 << 20
A, B = 1, 2
"""Masks of the letters of `(SEQ(A+, B))+`."""


def columns(events: int, ties: float) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Masks of A and B in no order that a processor could predict, and their times."""
    masks = np.empty(events, np.uint8)
    times = np.empty(events, np.int64)
    for first, mask, time in _blocks(events, ties):
        masks[first : first + len(mask)] = mask
        times[first : first + len(time)] = time
    return masks, times


def batches(events: int, ties: float) -> Iterator[pa.RecordBatch]:
    """The same, made on the way, as a host delivers them."""
    for _, mask, time in _blocks(events, ties):
        yield as_batch(mask, time)


def as_batch(masks: NDArray[np.uint8], times: NDArray[np.int64]) -> pa.RecordBatch:
    """Without a copy."""
    return pa.RecordBatch.from_arrays([pa.array(times), pa.array(masks)], names=["time", "mask"])


def _blocks(events: int, ties: float) -> Iterator[tuple[int, NDArray[np.uint8], NDArray[np.int64]]]:
    rng = np.random.default_rng(7)
    now = 0
    for first in range(0, events, BATCH):
        size = min(BATCH, events - first)
        time = now + np.cumsum(rng.random(size) >= ties)
        now = int(time[-1])
        yield first, rng.integers(A, B + 1, size, np.uint8), time


def parquet(events: int, keys: int) -> Path:
    """A file of `key`, `ts`, `type` and `value`, in order of time; made once and kept."""
    CACHE.mkdir(exist_ok=True)
    path = CACHE / f"letters-{events}-{keys}.parquet"
    if path.exists():
        return path
    rng = np.random.default_rng(11)
    names = pa.array(["A", "B"])
    unfinished = path.with_suffix(".part")
    writer = None
    for _, mask, time in _blocks(events, ties=0.05):
        size = len(mask)
        table = pa.table(
            {
                "key": pa.array(rng.integers(0, keys, size, np.int32)),
                "ts": pa.array(time).cast(pa.timestamp("us")),
                "type": names.take(pa.array(mask - A)),
                "value": pa.array(rng.random(size)),
            }
        )
        writer = writer or pq.ParquetWriter(unfinished, table.schema, compression="zstd")
        writer.write_table(table)
    assert writer is not None
    writer.close()
    return unfinished.rename(path)
