"""A run of a plan over a host's sorted batches. Knows no host.

Batches are cut at time points, so that simultaneous events stay together. What waits for the next
batch is

- at type grain: one vector per open window of the last partition, whatever the number of events;
- otherwise: the events of the open windows of the last partition.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from trendloom.engine import estimate
from trendloom.engine.centring import around_own, around_runs
from trendloom.engine.chunk import Chunk, join_batches, make_chunk, same_partition, tied_events
from trendloom.engine.columns import as_doubles
from trendloom.engine.groups import Groups, Partitions
from trendloom.engine.holding import bytes_of_events, bytes_of_rows
from trendloom.engine.inputs import Centre
from trendloom.engine.partial import partial_table
from trendloom.engine.table import part_rows, put_together, result_table
from trendloom.engine.turnover import turnover
from trendloom.errors import warn
from trendloom.plan.plan import WindowStrategy

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from trendloom.engine.evaluate import Evaluator
    from trendloom.engine.harvest import Harvest, Rows
    from trendloom.engine.setting import Setting
    from trendloom.engine.slots import Slots, State
    from trendloom.engine.windows import Runs, Windows
    from trendloom.plan.plan import Plan

    Ints = NDArray[np.int64]


PROBED = 256
"""Rows of a batch in which the end of the time point before it is looked for."""
FEW = 16
"""Open windows: with more, closing and opening them once more costs what it saves."""


@dataclass(frozen=True)
class Seen:
    """Runs over the events of a chunk, and which of them had none before."""

    chunk: Chunk
    runs: Runs
    whole: NDArray[np.bool_]

    def settled(self, evaluator: Evaluator, slots: Slots) -> Slots:
        """Variances that are in doubt computed again, where all events are here."""
        return around_runs(evaluator, self.chunk, self.runs, slots, self.whole)


@dataclass
class _Open:
    """Vectors of the open windows of the partition that the last batch ended in."""

    window: Ints
    states: list[State]
    """Per part."""


@dataclass
class Run:
    """Feed it sorted batches with `push`, then take the result table with `finish`.

    A run that sees only some of the partitions gives its share of the result with `partial`.
    """

    setting: Setting
    rows_in: int = 0
    counts_ties: bool = False
    """Whether somebody tells of `ties`: counting takes a nanosecond per event."""
    ties: int = 0
    """Events that share their time with another one of their partition."""

    plan: Plan = field(init=False)
    windows: Windows = field(init=False)
    evaluators: list[Evaluator] = field(init=False)
    harvests: list[Harvest] = field(init=False)
    _waiting: list[pa.RecordBatch] = field(init=False, default_factory=list)
    _open: _Open | None = field(init=False, default=None)
    _groups: Groups = field(init=False)
    _seen: int = field(init=False, default=0)
    """The time of the last event that was looked at."""
    _timeline: dict[int, dict[int, Ints]] = field(init=False, default_factory=dict)
    _row_partition: list[list[Ints]] = field(init=False, default_factory=list)
    _expected: float = field(init=False, default=0.0)
    """Seconds that searches event by event will have taken."""

    def __post_init__(self) -> None:
        self.plan = self.setting.plan
        self.windows = self.setting.windows
        self.evaluators = self.setting.evaluators()
        self.harvests = self.setting.harvests()
        self._groups = Groups(self.plan.plain_groups, list(self.setting.partition_types))
        self._row_partition = [[] for _ in self.evaluators]

    @property
    def streams(self) -> bool:
        """Whether vectors suffice between batches."""
        simple = self.windows.strategy in (WindowStrategy.WHOLE, WindowStrategy.SLIDING)
        return simple and all(evaluator.folds for evaluator in self.evaluators)

    @property
    def tied(self) -> dict[tuple[str, ...], int]:
        """`ties`, of the one query that there is."""
        return {(): self.ties}

    @property
    def is_crowded(self) -> bool:
        """Never: one partition is open at a time."""
        return False

    # ── batches ──────────────────────────────────────────────────────────────────────────────

    def push(self, batch: pa.RecordBatch) -> None:
        """Takes the next rows of the scan."""
        self.rows_in += batch.num_rows
        if batch.num_rows == 0:
            return
        find_centres(self.evaluators, batch)
        self._waiting.append(batch)
        keys = len(self.plan.scan.partition)
        if not self.streams and self.windows.strategy is not WindowStrategy.SLIDING:
            # Nothing can be finished before the partition ends: wait without copying.
            begins = make_chunk(batch, keys).bounds
            first = self._waiting[0]
            if len(begins) == 2 and same_partition(first, 0, batch, keys):
                return
        if self.streams:
            self._complete(batch, keys)
            self._stream(make_chunk(join_batches(self._waiting), keys), last=False)
        else:
            self._buffer(make_chunk(join_batches(self._waiting), keys), last=False)

    def finish(self) -> pa.Table:
        """No more rows: the result."""
        rows = put_together(self.plan, self._part_rows())
        return result_table(
            self.plan, self.windows, self.evaluators, self.harvests, self._groups, rows
        )

    def partial(self) -> pa.Table:
        """No more rows: what `merge_partials` makes the result of, with other runs'."""
        rows = self._part_rows()
        return partial_table(self.setting, self.evaluators, self.harvests, self._groups, rows)

    def _part_rows(self) -> list[Rows]:
        self._end()
        return part_rows(
            self.plan, self.evaluators, self.harvests, self._timeline, self._row_partition
        )

    def _end(self) -> None:
        """Takes in what waits."""
        if not self._waiting:
            return
        chunk = make_chunk(join_batches(self._waiting), len(self.plan.scan.partition))
        self._waiting = []
        if self.streams:
            self._stream(chunk, last=True)
        else:
            self._buffer(chunk, last=True)

    # ── type grain: vectors wait ─────────────────────────────────────────────────────────────

    def _complete(self, batch: pa.RecordBatch, keys: int) -> None:
        """Folds the time point that waits, if the batch ends it, so that no batch is copied."""
        if len(self._waiting) != 2 or (self._open is not None and len(self._open.window) > FEW):
            return
        tail = self._waiting[0]
        chunk = make_chunk(join_batches([tail, batch.slice(0, PROBED)]), keys)
        end = _end_of_point(chunk, tail.num_rows - 1)
        if end < len(chunk):
            self._stream(chunk.head(end), last=False, whole=True)
            self._waiting = [batch.slice(end - tail.num_rows)]

    def _stream(self, chunk: Chunk, *, last: bool, whole: bool = False) -> None:
        """`last`: no rows follow; `whole`: none of the chunk's last time point do."""
        cut = len(chunk) if last or whole else last_point(chunk)
        self._waiting = [] if cut == len(chunk) else [chunk.batch.slice(cut)]
        if cut == 0:
            return
        if cut < len(chunk):
            chunk = chunk.head(cut)
        if self.counts_ties:
            self.ties += tied_events(chunk)
        partitions = self._groups.number(chunk)
        opened = self._open
        if opened is not None and not partitions.continues:
            self._close(opened, partitions.group_before)
            opened = None
        runs = self.windows.runs(chunk)
        states = [evaluator.blank(len(runs)) for evaluator in self.evaluators]
        went_on = np.zeros(len(runs), np.bool_)
        if opened is not None:
            rows, states = self._resume(opened, runs, states, int(partitions.group[0]))
            went_on[rows] = True
        states = [
            evaluator.fold(chunk, runs, state)
            for evaluator, state in zip(self.evaluators, states, strict=True)
        ]
        open_rows = np.zeros(len(runs), np.bool_)
        if not last:
            in_last = runs.partition == len(chunk.bounds) - 2
            if self.windows.strategy is WindowStrategy.WHOLE:
                open_rows = in_last
            else:
                open_rows = in_last & (self.windows.end(runs.window) > chunk.time[-1])
        group, closed = partitions.group[runs.partition], np.flatnonzero(~open_rows)
        if len(closed):
            taken = [state.take(closed) for state in states]
            seen = Seen(chunk, runs.pick(closed), ~went_on[closed])
            self._gather(taken, group[closed], runs.window[closed], seen)
        rows = np.flatnonzero(open_rows)
        self._open = None
        if len(rows):
            waiting, fresh = runs.pick(rows), ~went_on[rows]
            kept = [
                around_own(evaluator, chunk, waiting, state.take(rows), fresh)
                for evaluator, state in zip(self.evaluators, states, strict=True)
            ]
            self._open = _Open(waiting.window, kept)

    def _resume(
        self, opened: _Open, runs: Runs, states: list[State], group: int
    ) -> tuple[Ints, list[State]]:
        """Puts the waiting vectors into the runs that go on, and returns these runs.

        Closes the windows that got no event.
        """
        mine = np.flatnonzero(runs.partition == 0)
        position = {int(runs.window[row]): int(row) for row in mine}
        target = np.array([position.get(int(w), -1) for w in opened.window], np.int64)
        going = target >= 0
        rows = target[going]
        states = [
            state.put(rows, old.take(np.flatnonzero(going)), len(runs))
            for state, old in zip(states, opened.states, strict=True)
        ]
        rest = np.flatnonzero(~going)
        if len(rest):
            over = _Open(opened.window[rest], [state.take(rest) for state in opened.states])
            self._close(over, group)
        return rows, states

    def _close(self, opened: _Open, group: int) -> None:
        groups = np.full(len(opened.window), group, np.int64)
        self._gather(opened.states, groups, opened.window)

    def _gather(
        self, states: list[State], group: Ints, window: Ints, seen: Seen | None = None
    ) -> None:
        """Vectors of windows that are over, one per part; `seen`: where their last events are."""
        for evaluator, harvest, state in zip(self.evaluators, self.harvests, states, strict=True):
            slots = evaluator.read(state)
            if seen is not None:
                slots = seen.settled(evaluator, slots)
            harvest.add(slots.with_trends(), group, window)

    # ── everything else: events wait ─────────────────────────────────────────────────────────

    def _buffer(self, chunk: Chunk, *, last: bool) -> None:
        runs = self.windows.runs(chunk)
        keep = len(chunk)
        done = np.ones(len(runs), np.bool_)
        if not last:
            final = len(chunk.bounds) - 2
            in_last = runs.partition == final
            if self.windows.strategy is WindowStrategy.SLIDING:
                done = ~in_last | (self.windows.end(runs.window) <= chunk.time[-1])
                first_open = runs.lo[~done]
                keep = int(first_open.min(initial=len(chunk)))
                # Later windows may begin with events that are in no run yet: keep the last point.
                keep = min(keep, last_point(chunk))
            else:
                done = ~in_last
                keep = int(chunk.bounds[final])
        if self.windows.strategy is WindowStrategy.CHANGES:
            done &= self._turnover(chunk, runs)
        if self.counts_ties:
            self.ties += tied_events(chunk, keep)
        self._waiting = [] if keep == len(chunk) else [chunk.batch.slice(keep)]
        partitions = self._groups.number(chunk)
        if partitions.continues and self.windows.strategy is WindowStrategy.SLIDING:
            # Windows that ended before the events that waited were complete already then.
            done &= (runs.partition != 0) | (self.windows.end(runs.window) > self._seen)
        self._seen = int(chunk.time[-1])
        self._settle(chunk, runs, done, partitions)

    def _turnover(self, chunk: Chunk, runs: Runs) -> NDArray[np.bool_]:
        """Which windows have other trends than those before them."""
        return turnover(self.evaluators, chunk, runs)

    def _settle(
        self, chunk: Chunk, runs: Runs, done: NDArray[np.bool_], partitions: Partitions
    ) -> None:
        """Takes in the windows that are complete."""
        complete = runs.pick(done)
        if self.windows.strategy is WindowStrategy.CHANGES:
            note_timeline(self._timeline, complete, partitions)
        if not len(complete):
            return
        self._tell_if_slow(chunk, complete)
        for k, (evaluator, harvest) in enumerate(zip(self.evaluators, self.harvests, strict=True)):
            slots = evaluator.evaluate(chunk, complete).with_trends()
            harvest.add(slots, partitions.group[complete.partition], complete.window)
            self._row_partition[k].append(partitions.number[complete.partition][slots.run])

    def _tell_if_slow(self, chunk: Chunk, runs: Runs) -> None:
        """Once, before the windows that make it a long run."""
        if self._expected < estimate.LONG:
            self._expected += estimate.seconds(self.evaluators, chunk, runs)
            if self._expected >= estimate.LONG:
                warn(estimate.slow(self._expected, len(chunk)))

    def held(self) -> tuple[int, int]:
        """Bytes, at most about, of events that wait and of the result's rows so far."""
        rows = 0
        for evaluator, harvest in zip(self.evaluators, self.harvests, strict=True):
            rows += bytes_of_rows(evaluator, sum(len(part.group) for part in harvest.parts))
        return bytes_of_events(self.evaluators, self._waiting), rows


def note_timeline(timeline: dict[int, dict[int, Ints]], runs: Runs, partitions: Partitions) -> None:
    """At which time points each partition of each group has something to say."""
    for p in np.unique(runs.partition):
        of_group = timeline.setdefault(int(partitions.group[p]), {})
        of_group[int(partitions.number[p])] = runs.window[runs.partition == p]


def find_centres(evaluators: Sequence[Evaluator], batch: pa.RecordBatch) -> None:
    """Once an operand of a variance has values, what they are taken relative to is fixed."""
    for evaluator in evaluators:
        layout = evaluator.layout
        for lane in (*(layout.scaled or ()), *layout.distinct):
            operand = lane.operand
            if lane.centred and operand is not None and operand not in evaluator.centres:
                centre = Centre.near(as_doubles(batch.column(f"x{operand}"), np.nan))
                if centre is not None:
                    evaluator.centres[operand] = centre


def _end_of_point(chunk: Chunk, row: int) -> int:
    """The first row after one's time point."""
    high = int(chunk.bounds[np.searchsorted(chunk.bounds, row, side="right")])
    here = chunk.order[row:high]
    return row + int(np.searchsorted(here, here[0], side="right"))


def last_point(chunk: Chunk) -> int:
    """Where the last time point begins: more of it may come."""
    order = chunk.order
    low = int(chunk.bounds[-2])
    return low + int(np.searchsorted(order[low:], order[-1]))
