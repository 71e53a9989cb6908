"""In which order rows come: looked at on the way, so that nobody sorts what is in order."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from trendloom.engine.arrow import from_numpy
from trendloom.engine.chunk import join_batches
from trendloom.engine.sort import orders

if TYPE_CHECKING:
    import pyarrow as pa


class Order(Enum):
    """How the engine got its events in order."""

    AS_READ = "input was in order: not sorted"
    BY_TIME = "input was in order of time: grouped by key, batch by batch"
    IN_MEMORY = "sorted in memory"
    BY_DUCKDB = "sorted by DuckDB"


class Watch:
    """Show it every batch: it knows which orders still hold for all rows together.

    Ties are in order as they are. A key must ascend, not only stay together: a value that comes
    back is then found without a list of all values.
    """

    def __init__(self, schema: pa.Schema, keys: int) -> None:
        columns = [f"p{k}" for k in range(keys)] + ["time", "tie"]
        self._names = [name for name in columns if name in schema.names]
        self._keys = keys
        self._last: pa.RecordBatch | None = None
        self.by_key = True
        """In order of (p0, …, time, tie)."""
        self.by_time = True
        """In order of (time, tie), whatever the keys."""

    def see(self, batch: pa.RecordBatch) -> None:
        """The next rows, at least one."""
        if self._last is not None:
            self._look(join_batches([self._last, batch.select(self._names).slice(0, 1)]))
        self._look(batch)
        # A copy: a slice would keep the whole batch.
        self._last = batch.select(self._names).take(from_numpy(np.array([batch.num_rows - 1])))

    def _look(self, batch: pa.RecordBatch) -> None:
        # Keys of text are costly to compare: not after they were found out of order.
        skipped = 0 if self.by_key else self._keys
        held = orders(batch, self._names[skipped:])
        self.by_key &= held[0]
        self.by_time &= held[self._keys - skipped]
