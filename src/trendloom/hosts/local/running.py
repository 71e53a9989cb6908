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
from trendloom.engine.stopping import check_stop
from trendloom.hosts.local.order import Order, Watch
from trendloom.hosts.local.scan import BATCH_ROWS
from trendloom.hosts.local.simultaneous import Ties, tell_ties
from trendloom.hosts.scan.failures import beyond_limit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
    setting: Setting, batches: Batches, progress: Progress | None, memory: int | None = None
) -> tuple[pa.Table, Order]:
    """The engine's table, and how the rows were brought into order. Closes the batches.

    `memory`: the caller's limit; half of it is for what the engine holds, the rest for the scan.
    """
    room = None if memory is None else memory // 2

    def make(*, by_time: bool) -> Run | Interleaved | None:
        run = Run(setting, counts_ties=True)
        if not by_time:
            return run
        return Interleaved(setting) if run.streams else None

    def check(run: Taking[pa.Table]) -> None:
        assert isinstance(run, Run | Interleaved)
        if room is not None and memory is not None and sum(run.held()) > room:
            raise beyond_limit(*run.held(), memory)

    return in_order(make, batches, progress, room, check)


class Taking(Protocol[T_co]):
    """Whatever takes batches in one order, and gives something when there are no more."""

    rows_in: int

    @property
    def is_crowded(self) -> bool: ...
    @property
    def tied(self) -> Mapping[tuple[str, ...], int]:
        """How many events are simultaneous, by the queries of a workload; () where there is one."""

    def push(self, batch: pa.RecordBatch) -> None: ...
    def finish(self) -> T_co: ...


class Making(Protocol[T_co]):
    """Makes one that has taken nothing yet; None where it cannot take rows in order of time."""

    def __call__(self, *, by_time: bool) -> Taking[T_co] | None: ...


def in_order(
    make: Making[T],
    batches: Batches,
    progress: Progress | None,
    room: int | None = None,
    check: Callable[[Taking[T]], None] = lambda _: None,
) -> tuple[T, Order]:
    """What comes of the batches, and how they were brought into order. Closes the batches.

    What is sorted in memory fits into `room` bytes; `check` looks at the run after every batch.
    """
    attempt = _Attempt(make, batches, None, progress, room, check)
    while not attempt.succeeds():
        attempt = attempt.next()
    result = attempt.run.finish()
    if "tie" not in batches.schema.names:
        for queries, count in attempt.run.tied.items():
            tell_ties(count, queries, partitioned=attempt.keys > 0)
    return result, attempt.order or Order.AS_READ


def known_order(batches: Batches, room: int = ROOM, *, tell: bool = False) -> tuple[Batches, Order]:
    """The same rows in order, for listings: what has been handed out cannot be taken back.

    So all rows are looked at before. Those that can be held, in `room` bytes, are read once;
    others until one is out of order, and then once more. `tell`: how many are simultaneous.
    """
    keys = len(batches.partition_types)
    watch = Watch(batches.schema, keys)
    ties = Ties(keys) if tell else None
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
            return batches.again(sort=True).counting(ties), Order.BY_DUCKDB
    if not fits:
        return batches.again(sort=False).counting(ties), Order.AS_READ
    if watch.by_key:
        _tell(ties, held)
        return batches.holding(held), Order.AS_READ
    whole = sort_events(pa.Table.from_batches(held), keys, ordered=True)
    _tell(ties, [whole])
    cut = [whole.slice(at, BATCH_ROWS) for at in range(0, whole.num_rows, BATCH_ROWS)]
    return batches.holding(cut), Order.IN_MEMORY


def _tell(ties: Ties | None, held: list[pa.RecordBatch]) -> None:
    """Of rows that are all there: before anything is listed."""
    if ties is not None:
        for batch in held:
            ties.see(batch)
        ties.tell()


class _Attempt(Generic[T]):
    """The rows in one order, which may turn out not to be theirs."""

    def __init__(
        self,
        make: Making[T],
        batches: Batches,
        order: Order | None,
        progress: Progress | None,
        room: int | None,
        check: Callable[[Taking[T]], None],
    ) -> None:
        self.make = make
        self.room = room
        self.check = check
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
                    self._choose(batch)
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
        return _Attempt(self.make, again, order, self.progress, self.room, self.check)

    def _choose(self, first: pa.RecordBatch) -> None:
        """By the first batch, of which nothing has been pushed."""
        rows = self.batches.total_rows
        # Held as they come, in order, and for the moment of sorting once more.
        fits = self.room is None or 3 * rows * first.nbytes <= self.room * first.num_rows
        if not self.watch.by_key and rows <= FEW and fits:
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
        check_stop()
        self.run.push(batch)
        self.check(self.run)
        if self.progress is not None:
            self.progress(self.run.rows_in, self.batches.total_rows)
