"""The last stage of a stream: the rows out of the state operator's blobs.

It runs in workers of its own, so it imports little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trendloom.engine import wire
from trendloom.workloads.union import with_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from trendloom.hosts.spark.stages import Batches, Stage


def read_rows(names: Sequence[str], schema: pa.Schema, *, several: bool) -> Stage:
    """The operator's output → result rows; `names` of the queries."""

    def stage(batches: Batches) -> Batches:
        for batch in batches:
            numbers = batch.column("feed").to_pylist()
            for number, blob in zip(numbers, batch.column("blob"), strict=True):
                if blob.is_valid:
                    rows = wire.unpack("rows", memoryview(blob.as_buffer()))[1]["rows"]
                    named = with_name(names[number], rows, schema) if several else rows
                    yield from named.combine_chunks().to_batches()

    return stage
