"""Small jobs that go through Python workers, by Arrow and by state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.state import GroupState

SEEN = "k string, seen long"


def total(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    added = sum(pc.sum(batch.column("id")).as_py() or 0 for batch in batches)
    yield pa.RecordBatch.from_pydict({"total": [added]})


def total_of(session: SparkSession, rows: int, partitions: int = 2) -> int:
    """The sum of 0, 1, …, rows - 1, added up in Python workers."""
    parts = session.range(0, rows, 1, partitions).mapInArrow(total, "total long").collect()
    return sum(row.total for row in parts)


def count_seen(
    key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: GroupState
) -> Iterator[pd.DataFrame]:
    """How many rows of a key there have been; the count rests as bytes."""
    before = int.from_bytes(state.get[0], "little") if state.exists else 0
    seen = before + sum(len(frame) for frame in frames)
    state.update((seen.to_bytes(8, "little"),))
    yield pd.DataFrame({"k": [key[0]], "seen": [seen]})


def counted(rows: DataFrame) -> DataFrame:
    groups = rows.groupBy("k")
    return groups.applyInPandasWithState(count_seen, SEEN, "state binary", "append", "NoTimeout")


def run_to_end(rows: DataFrame, home: Path) -> list[tuple[Any, ...]]:
    """Read what there is now, go on from the last checkpoint, and stop; all rows written so far."""
    writer = rows.writeStream.format("parquet").option("path", str(home / "written"))
    writer = writer.option("checkpointLocation", str(home / "checkpoint"))
    query = writer.trigger(availableNow=True).start()
    try:
        assert query.awaitTermination(120), "the stream did not end"
    finally:
        query.stop()
    return sorted(
        tuple(row) for row in rows.sparkSession.read.parquet(str(home / "written")).collect()
    )
