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

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

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

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

FEW = BATCH_ROWS
"""Rows that are sorted in memory: one batch. Of more, DuckDB's sort on all cores was as fast."""
HELD = 8 * BATCH_ROWS
"""Rows that are held for listings, and sorted in memory. Complex events of a formula then took 0.36
(1.2 M rows) and 0.37 (4.8 M) of the time that DuckDB's sort made of it, on one core and a busy
machine, best of 4 in turns; on two cores 0.40 and 0.38."""
ROOM = 1 << 30
"""And bytes, of rows that are long."""


def run_batches(
    setting: Setting, batches: Batches, progress: Progress | None
) -> tuple[pa.Table, Order]:
    """The engine's table, and how the rows were brought into order. Closes the batches."""

    def make(*, by_time: bool) -> Run | Interleaved | None:
        run = Run(setting)
        if not by_time:
            return run
        return Interleaved(setting) if run.streams else None

    return in_order(make, batches, progress)


class Taking(Protocol[T_co]):
    """Whatever takes batches in one order, and gives something when there are no more."""

    rows_in: int

    @property
    def is_crowded(self) -> bool: ...
    def push(self, batch: pa.RecordBatch) -> None: ...
    def finish(self) -> T_co: ...


class Making(Protocol[T_co]):
    """Makes one that has taken nothing yet; None where it cannot take rows in order of time."""

    def __call__(self, *, by_time: bool) -> Taking[T_co] | None: ...


def in_order(make: Making[T], batches: Batches, progress: Progress | None) -> tuple[T, Order]:
    """What comes of the batches, and how they were brought into order. Closes the batches."""
    attempt = _Attempt(make, batches, None, progress)
    while not attempt.succeeds():
        attempt = attempt.next()
    return attempt.run.finish(), attempt.order or Order.AS_READ


def known_order(batches: Batches, room: int = ROOM) -> tuple[Batches, Order]:
    """The same rows in order, for listings: what has been handed out cannot be taken back.

    So all rows are looked at before. Those that can be held, in `room` bytes, are read once;
    others until one is out of order, and then once more.
    """
    keys = len(batches.partition_types)
    watch = Watch(batches.schema, keys)
    fits = batches.total_rows <= HELD
    held: list[pa.RecordBatch] = []
    for batch in batches.rows():
        watch.see(batch)
        if fits:
            held.append(batch)
            room -= batch.nbytes
            if room < 0:
                fits, held = False, []
        if not fits and not watch.by_key:
            return batches.again(sort=True), Order.BY_DUCKDB
    if not fits:
        return batches.again(sort=False), Order.AS_READ
    if watch.by_key:
        return batches.holding(held), Order.AS_READ
    whole = sort_events(pa.Table.from_batches(held), keys, ordered=True)
    cut = [whole.slice(at, BATCH_ROWS) for at in range(0, whole.num_rows, BATCH_ROWS)]
    return batches.holding(cut), Order.IN_MEMORY


class _Attempt(Generic[T]):
    """The rows in one order, which may turn out not to be theirs."""

    def __init__(
        self, make: Making[T], batches: Batches, order: Order | None, progress: Progress | None
    ) -> None:
        self.make = make
        self.progress = progress
        self.order = order
        """None: the first batch will tell."""
        self.batches = batches
        self.keys = len(batches.partition_types)
        self.watch = Watch(batches.schema, self.keys)
        run = make(by_time=order is Order.BY_TIME)
        assert run is not None, "in order of time only after it was tried"
        self.run = run

    def succeeds(self) -> bool:
        """If the rows are not in this order, the batches are still open."""
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
                    return False
                else:
                    self._push(batch)
        except BaseException:
            self.batches.close()
            raise
        self.batches.close()
        return True

    def next(self) -> _Attempt[T]:
        """All over again, in an order that the rows seen so far do not contradict."""
        order = Order.BY_TIME if self._by_time() is not None else Order.BY_DUCKDB
        again = self.batches.again(sort=order is Order.BY_DUCKDB)
        return _Attempt(self.make, again, order, self.progress)

    def _choose(self) -> None:
        """By the first batch, of which nothing has been pushed."""
        if not self.watch.by_key and self.batches.total_rows <= FEW:
            self.order = Order.IN_MEMORY
        elif not self.watch.by_key and (side_by_side := self._by_time()) is not None:
            self.order, self.run = Order.BY_TIME, side_by_side
        else:
            self.order = Order.AS_READ

    def _by_time(self) -> Taking[T] | None:
        """What takes all partitions side by side, unless that was tried or cannot be."""
        tried = self.order is Order.BY_TIME
        return self.make(by_time=True) if self.watch.by_time and not tried else None

    @property
    def _holds(self) -> bool:
        if self.order is Order.BY_DUCKDB:
            return True
        if self.order is Order.BY_TIME:
            return self.watch.by_time and not self.run.is_crowded
        return self.watch.by_key

    def _push(self, batch: pa.RecordBatch) -> None:
        self.run.push(batch)
        if self.progress is not None:
            self.progress(self.run.rows_in, self.batches.total_rows)
