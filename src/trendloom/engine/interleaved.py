"""A run over events in order of time, of all partitions at once: nothing is sorted as a whole.

Where vectors are all that is kept of past events (type grain), every partition can have its own
open at once, and a batch is grouped by partition while it is in the cache. The rows are those of
`Run` over the same events sorted by partition, and memory does not grow with their number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from trendloom.engine.arrow import to_numpy
from trendloom.engine.holding import bytes_of_events, bytes_of_rows
from trendloom.engine.live.mode import Mode
from trendloom.engine.live.sheet import Sheet
from trendloom.engine.live.vectors import Vectors
from trendloom.engine.run import find_centres

if TYPE_CHECKING:
    from trendloom.engine.setting import Setting

MOST_VECTORS = 1 << 19
"""Open at once: every batch looks at all of them, which should cost less than its events."""


class Interleaved:
    """Feed it batches in order of (time, tie) with `push`, then take the table with `finish`."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.evaluators = setting.evaluators()
        self.rows_in = 0
        self._vectors = Vectors(setting, self.evaluators, Mode.APPEND)
        self._waiting: list[pa.RecordBatch] = []
        """Events of the last time point: more of it may come."""
        self._tables: list[pa.Table] = []

    @property
    def tied(self) -> dict[tuple[str, ...], int]:
        """`ties`, of the one query that there is."""
        return {(): self.ties}

    @property
    def is_crowded(self) -> bool:
        """Whether a run over sorted events, which has one partition open at a time, does better."""
        return len(self._vectors.kept) > MOST_VECTORS

    @property
    def ties(self) -> int:
        """Events that share their time with another one of their partition."""
        return self._vectors.ties

    def push(self, batch: pa.RecordBatch) -> None:
        """Takes the next rows of the scan."""
        self.rows_in += batch.num_rows
        if batch.num_rows == 0:
            return
        find_centres(self.evaluators, batch)
        time = to_numpy(batch.column("time"))
        now = int(time[-1])
        cut = int(np.searchsorted(time, now))
        same = [b for b in self._waiting if b.column("time")[0].as_py() == now]
        ready = [*(() if same else self._waiting), batch.slice(0, cut)]
        self._waiting = [*same, batch.slice(cut)]
        if any(b.num_rows for b in ready):
            self._fold(ready, now)

    def finish(self) -> pa.Table:
        """No more rows: the result."""
        self._fold(self._waiting, None)
        self._waiting = []
        if self._tables:
            return pa.concat_tables(self._tables)
        sheet = Sheet(self.setting, self.evaluators)
        return sheet.table(sheet.rows())

    def held(self) -> tuple[int, int]:
        """Bytes, at most about, of events and vectors that wait and of the result's rows so far."""
        vectors = sum(bytes_of_rows(one, len(self._vectors.kept)) for one in self.evaluators)
        events = bytes_of_events(self.evaluators, self._waiting)
        return events + vectors, 2 * sum(table.nbytes for table in self._tables)

    def _fold(self, ready: list[pa.RecordBatch], now: int | None) -> None:
        events = pa.Table.from_batches(ready) if ready else None
        table = self._vectors.fold(events, now)
        if table is not None:
            self._tables.append(table)
