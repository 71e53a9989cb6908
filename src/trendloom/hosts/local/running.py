"""From a scan's rows, in the order of the input, to the result: what is in order is not sorted.

1. In order of (keys, time, tie): the rows go to the engine as they are read.
2. Few: they are sorted in memory, by our own sort.
3. In order of (time, tie), and vectors are all that is kept of events: every batch is grouped by
   key for itself (`trendloom.engine.interleaved`).
4. Otherwise, DuckDB sorts them all, and spills where they do not fit.

The first batch decides, and every further one is looked at. Where one breaks the order, what was
computed so far is thrown away and all rows are read again, sorted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from trendloom.engine.interleaved import Interleaved
from trendloom.engine.run import Run
from trendloom.engine.sort import sort_events
from trendloom.hosts.local.order import Order, Watch
from trendloom.hosts.local.scan import BATCH_ROWS

if TYPE_CHECKING:
    from collections.abc import Callable

    from trendloom.engine.setting import Setting
    from trendloom.hosts.local.scanned import Batches

    Progress = Callable[[int, int | None], None]

FEW = BATCH_ROWS
"""Rows that are sorted in memory: one batch. Of more, DuckDB's sort on all cores was as fast."""


def run_batches(
    setting: Setting, batches: Batches, progress: Progress | None
) -> tuple[pa.Table, Order]:
    """The engine's table, and how the rows were brought into order. Closes the batches."""
    attempt = _Attempt(setting, batches, None, progress)
    while (table := attempt.table()) is None:
        attempt = attempt.next()
    return table, attempt.order or Order.AS_READ


class _Attempt:
    """The rows in one order, which may turn out not to be theirs."""

    def __init__(
        self, setting: Setting, batches: Batches, order: Order | None, progress: Progress | None
    ) -> None:
        self.setting = setting
        self.progress = progress
        self.order = order
        """None: the first batch will tell."""
        self.batches = batches
        self.keys = len(batches.partition_types)
        self.watch = Watch(batches.schema, self.keys)
        by_time = order is Order.BY_TIME
        self.run: Run | Interleaved = Interleaved(setting) if by_time else Run(setting)

    def table(self) -> pa.Table | None:
        """None if the rows are not in this order; the batches are then still open."""
        rows = self.batches.rows()
        try:
            for batch in rows:
                if self.order is not Order.BY_DUCKDB:
                    self.watch.see(batch)
                if self.order is None:
                    self._choose()
                if self.order is Order.IN_MEMORY:
                    # Usually there is one batch.
                    whole = pa.Table.from_batches([batch, *rows])
                    self._push(sort_events(whole, self.keys, ordered=True))
                elif not self._holds:
                    return None
                else:
                    self._push(batch)
            table = self.run.finish()
        except BaseException:
            self.batches.close()
            raise
        self.batches.close()
        return table

    def next(self) -> _Attempt:
        """All over again, in an order that the rows seen so far do not contradict."""
        order = Order.BY_TIME if self._goes_by_time else Order.BY_DUCKDB
        again = self.batches.again(sort=order is Order.BY_DUCKDB)
        return _Attempt(self.setting, again, order, self.progress)

    def _choose(self) -> None:
        """By the first batch, of which nothing has been pushed."""
        if not self.watch.by_key and self.batches.total_rows <= FEW:
            self.order = Order.IN_MEMORY
        elif not self.watch.by_key and self._goes_by_time:
            self.order, self.run = Order.BY_TIME, Interleaved(self.setting)
        else:
            self.order = Order.AS_READ

    @property
    def _goes_by_time(self) -> bool:
        return self.watch.by_time and isinstance(self.run, Run) and self.run.streams

    @property
    def _holds(self) -> bool:
        if self.order is Order.BY_DUCKDB:
            return True
        if isinstance(self.run, Interleaved):
            return self.watch.by_time and not self.run.is_crowded
        return self.watch.by_key

    def _push(self, batch: pa.RecordBatch) -> None:
        self.run.push(batch)
        if self.progress is not None:
            self.progress(self.run.rows_in, self.batches.total_rows)
