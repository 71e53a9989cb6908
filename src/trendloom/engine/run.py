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
import pyarrow as pa
import pyarrow.compute as pc

from trendloom import bigint
from trendloom.engine.arrow import from_numpy
from trendloom.engine.chunk import Chunk, join_batches, make_chunk, mark_changes, same_partition
from trendloom.engine.evaluate import Evaluator, State
from trendloom.engine.finish import value_column
from trendloom.engine.harvest import EVERY, Harvest, Rows, on_change, paired
from trendloom.engine.layout import Numbers, lay_out
from trendloom.engine.windows import Runs, Windows
from trendloom.language.nodes import Aggregate, GroupKey
from trendloom.plan.plan import BindingKind, Part, Plan, WindowStrategy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


@dataclass
class _Open:
    """Vectors of the open windows of the partition that the last batch ended in."""

    window: Ints
    states: list[State]
    """Per part."""


@dataclass
class Run:
    """Feed it sorted batches with `push`, then take the result table with `finish`."""

    plan: Plan
    operand_types: Sequence[pa.DataType]
    partition_types: Sequence[pa.DataType]
    nanoseconds: int
    """Per tick of the time column."""
    numbers: Numbers = Numbers.AUTO
    rows_in: int = 0

    windows: Windows = field(init=False)
    evaluators: list[Evaluator] = field(init=False, default_factory=list)
    harvests: list[Harvest] = field(init=False, default_factory=list)
    _waiting: list[pa.RecordBatch] = field(init=False, default_factory=list)
    _open: _Open | None = field(init=False, default=None)
    _groups: list[pa.RecordBatch] = field(init=False, default_factory=list)
    _group: int = field(init=False, default=-1)
    _partition: int = field(init=False, default=-1)
    _seen: int = field(init=False, default=0)
    """The time of the last event that was looked at."""
    _last_keys: pa.RecordBatch | None = field(init=False, default=None)
    _timeline: dict[int, dict[int, Ints]] = field(init=False, default_factory=dict)
    _row_partition: list[list[Ints]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.windows = Windows.of(self.plan, self.nanoseconds)
        types = tuple(letter.type for letter in self.plan.scan.letters)
        for part in self._parts:
            layout = lay_out(self.plan, self.operand_types, self.numbers, part)
            self.evaluators.append(
                Evaluator(part, layout, self.plan.semantics, types, tuple(self.operand_types), {})
            )
            self.harvests.append(Harvest(len(self._group_variables)))
            self._row_partition.append([])

    @property
    def _parts(self) -> list[Part]:
        return [*self.plan.parts, *([self.plan.overlap] if self.plan.overlap is not None else [])]

    @property
    def _group_variables(self) -> list[int]:
        """Positions in GROUP-BY of attributes of variables."""
        return [k for k, key in enumerate(self.plan.group_by) if key.variable is not None]

    @property
    def streams(self) -> bool:
        """Whether vectors suffice between batches."""
        simple = self.windows.strategy in (WindowStrategy.WHOLE, WindowStrategy.SLIDING)
        return simple and all(evaluator.folds for evaluator in self.evaluators)

    # ── batches ──────────────────────────────────────────────────────────────────────────────

    def push(self, batch: pa.RecordBatch) -> None:
        """Takes the next rows of the scan."""
        self.rows_in += batch.num_rows
        if batch.num_rows == 0:
            return
        self._find_centres(batch)
        self._waiting.append(batch)
        keys = len(self.plan.scan.partition)
        if not self.streams and self.windows.strategy is not WindowStrategy.SLIDING:
            # Nothing can be finished before the partition ends: wait without copying.
            begins = make_chunk(batch, keys).bounds
            first = self._waiting[0]
            if len(begins) == 2 and same_partition(first, 0, batch, keys):
                return
        chunk = make_chunk(join_batches(self._waiting), keys)
        if self.streams:
            self._stream(chunk, last=False)
        else:
            self._buffer(chunk, last=False)

    def finish(self) -> pa.Table:
        """No more rows: the result."""
        if self._waiting:
            chunk = make_chunk(join_batches(self._waiting), len(self.plan.scan.partition))
            self._waiting = []
            if self.streams:
                self._stream(chunk, last=True)
            else:
                self._buffer(chunk, last=True)
        return self._table()

    def _find_centres(self, batch: pa.RecordBatch) -> None:
        """Centred sums are relative to the mean of the first values: near enough, and constant."""
        for evaluator in self.evaluators:
            layout = evaluator.layout
            for lane in (*(layout.scaled or ()), *layout.distinct):
                if lane.centred and lane.operand is not None:
                    mean = pc.mean(batch.column(f"x{lane.operand}")).as_py()
                    if mean is not None and np.isfinite(mean):
                        evaluator.centres.setdefault(lane.operand, float(mean))

    # ── type grain: vectors wait ─────────────────────────────────────────────────────────────

    def _stream(self, chunk: Chunk, *, last: bool) -> None:
        cut = len(chunk) if last else _last_point(chunk)
        self._waiting = [] if cut == len(chunk) else [chunk.batch.slice(cut)]
        if cut == 0:
            return
        if cut < len(chunk):
            chunk = make_chunk(chunk.batch.slice(0, cut), chunk.keys)
        group_before = self._group
        continues, groups, _ = self._number_partitions(chunk)
        opened = self._open
        if opened is not None and not continues:
            self._close(opened, group_before)
            opened = None
        runs = self.windows.runs(chunk)
        states = [evaluator.blank(len(runs)) for evaluator in self.evaluators]
        if opened is not None:
            self._resume(opened, runs, states, groups)
        for evaluator, state in zip(self.evaluators, states, strict=True):
            evaluator.fold(chunk, runs, state)
        open_rows = np.zeros(len(runs), np.bool_)
        if not last:
            in_last = runs.partition == len(chunk.bounds) - 2
            if self.windows.strategy is WindowStrategy.WHOLE:
                open_rows = in_last
            else:
                open_rows = in_last & (self.windows.end(runs.window) > chunk.time[-1])
        self._emit(states, ~open_rows, groups[runs.partition], runs.window)
        rows = np.flatnonzero(open_rows)
        self._open = None
        if len(rows):
            self._open = _Open(runs.window[rows], [state.take(rows) for state in states])

    def _resume(
        self,
        opened: _Open,
        runs: Runs,
        states: list[State],
        groups: Ints,
    ) -> None:
        """Puts the waiting vectors into the runs that go on; closes those that got no event."""
        mine = np.flatnonzero(runs.partition == 0)
        position = {int(runs.window[row]): int(row) for row in mine}
        target = np.array([position.get(int(w), -1) for w in opened.window], np.int64)
        going = target >= 0
        for state, old in zip(states, opened.states, strict=True):
            state.put(target[going], old.take(np.flatnonzero(going)))
        rest = np.flatnonzero(~going)
        if len(rest):
            over = _Open(opened.window[rest], [state.take(rest) for state in opened.states])
            self._close(over, int(groups[0]))

    def _close(self, opened: _Open, group: int) -> None:
        count = len(opened.window)
        groups = np.full(count, group, np.int64)
        self._emit(opened.states, np.ones(count, np.bool_), groups, opened.window)

    def _emit(
        self,
        states: list[State],
        rows: NDArray[np.bool_],
        group: Ints,
        window: Ints,
    ) -> None:
        at = np.flatnonzero(rows)
        if not len(at):
            return
        for evaluator, harvest, state in zip(self.evaluators, self.harvests, states, strict=True):
            slots = evaluator.read(state.take(at))
            harvest.add(slots, group[at], window[at])

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
                keep = min(keep, _last_point(chunk))
            else:
                done = ~in_last
                keep = int(chunk.bounds[final])
        self._waiting = [] if keep == len(chunk) else [chunk.batch.slice(keep)]
        continues, groups, partitions = self._number_partitions(chunk)
        if continues and self.windows.strategy is WindowStrategy.SLIDING:
            # Windows that ended before the events that waited were complete already then.
            done &= (runs.partition != 0) | (self.windows.end(runs.window) > self._seen)
        self._seen = int(chunk.time[-1])
        complete = runs.pick(done)
        if self.windows.strategy is WindowStrategy.CHANGES:
            self._note_timeline(complete, groups, partitions)
        if not len(complete):
            return
        for k, (evaluator, harvest) in enumerate(zip(self.evaluators, self.harvests, strict=True)):
            slots = evaluator.evaluate(chunk, complete)
            harvest.add(slots, groups[complete.partition], complete.window)
            self._row_partition[k].append(partitions[complete.partition][slots.run])

    def _note_timeline(self, runs: Runs, groups: Ints, partitions: Ints) -> None:
        for p in np.unique(runs.partition):
            points = runs.window[runs.partition == p]
            self._timeline.setdefault(int(groups[p]), {})[int(partitions[p])] = points

    # ── groups ───────────────────────────────────────────────────────────────────────────────

    def _number_partitions(self, chunk: Chunk) -> tuple[bool, Ints, Ints]:
        """(does the first partition go on from before, group of each partition, its number)."""
        first_rows = chunk.bounds[:-1]
        keys = chunk.key_rows(first_rows, chunk.keys)
        plain = self.plan.plain_groups
        count = len(first_rows)
        new_group = np.zeros(count, np.bool_)
        for k in range(plain):
            mark_changes(keys.column(f"p{k}"), new_group)
        continues = self._last_keys is not None and same_partition(
            self._last_keys, 0, keys, chunk.keys
        )
        same_group = self._last_keys is not None and same_partition(self._last_keys, 0, keys, plain)
        new_group[0] = not same_group
        groups = self._group + np.cumsum(new_group)
        starts = np.flatnonzero(new_group)
        if len(starts) and plain:
            names = [f"p{k}" for k in range(plain)]
            self._groups.append(keys.select(names).take(from_numpy(starts)))
        partitions = self._partition + np.arange(count) + (0 if continues else 1)
        self._group = int(groups[-1])
        self._partition = int(partitions[-1])
        self._last_keys = keys.slice(count - 1)
        return continues, groups.astype(np.int64), partitions.astype(np.int64)

    # ── the result ───────────────────────────────────────────────────────────────────────────

    def _table(self) -> pa.Table:
        rows = self._rows()
        fields: list[pa.Field] = []
        arrays: list[pa.Array] = []
        for output in self.plan.outputs:
            metadata = None
            match output.value:
                case GroupKey() as key:
                    array = self._group_column(key, rows)
                case Aggregate() as aggregate:
                    _, metadata, array = value_column(
                        self.plan, aggregate, rows, self.operand_types
                    )
            fields.append(pa.field(output.name, array.type, metadata=metadata))
            arrays.append(array)
        if self.windows.strategy is WindowStrategy.CHANGES:
            keep = self._changed(rows, arrays)
        else:
            keep = rows.found
        start = from_numpy(self.windows.start(rows.window))
        end = from_numpy(self.windows.end(rows.window))
        table = pa.Table.from_arrays(
            [start, end, *arrays],
            schema=pa.schema([("window_start", pa.int64()), ("window_end", pa.int64()), *fields]),
        )
        return table.filter(from_numpy(keep))

    def _rows(self) -> Rows:
        sides: list[Rows] = []
        for k, harvest in enumerate(self.harvests):
            rows = harvest.rows() or self._no_rows(k)
            own = [
                b.key
                for b in self._parts[k].bindings
                if b.kind is BindingKind.GROUP and b.key is not None
            ]
            rows = self._place_values(rows, own)
            if self.windows.strategy is WindowStrategy.CHANGES:
                partition = np.concatenate(self._row_partition[k] or [np.zeros(0, np.int64)])
                rows = on_change(rows, self._timeline, partition)
            sides.append(rows.merged())
        if len(self.plan.parts) == 1:
            return sides[0]
        both = sides.pop() if self.plan.overlap is not None else None
        return paired(sides, both).merged()

    def _place_values(self, rows: Rows, own: list[int]) -> Rows:
        """The values of the part's grouping variables in GROUP-BY order, EVERY for the others'."""
        wanted = self._group_variables
        values = np.full((len(rows), len(wanted)), EVERY, np.int64)
        for b, key in enumerate(own):
            values[:, wanted.index(key)] = rows.values[:, b]
        return Rows(rows.group, rows.window, values, rows.found, rows.columns, rows.extremes)

    def _no_rows(self, k: int) -> Rows:
        """What an input without events gives: lanes of no rows."""
        evaluator = self.evaluators[k]
        empty = np.zeros(0, np.int64)
        columns, extremes = evaluator.empty()
        values = np.zeros((0, len(self._group_variables)), np.int64)
        return Rows(empty, empty, values, np.zeros(0, np.bool_), columns, extremes)

    def _group_column(self, key: GroupKey, rows: Rows) -> pa.Array:
        number = self.plan.group_by.index(key)
        if key.variable is None:
            plain = [k.attribute for k in self.plan.group_by if k.variable is None]
            at = list(dict.fromkeys(plain)).index(key.attribute)
            if not self._groups:
                return pa.nulls(0, self.partition_types[at])
            column = join_batches(self._groups).column(f"p{at}")
            if isinstance(column, pa.DictionaryArray):
                column = column.dictionary_decode()
            return column.take(from_numpy(rows.group))
        position = self._group_variables.index(number)
        part = self.plan.part_of(key.variable)
        own = [b.key for b in self.plan.parts[part].bindings if b.kind is BindingKind.GROUP]
        return self.harvests[part].decode(own.index(number), rows.values[:, position])

    def _changed(self, rows: Rows, arrays: list[pa.Array]) -> NDArray[np.bool_]:
        """Rows whose RETURN values differ from the group's row before (at first: from no trend)."""
        visible = [
            bigint.as_integers(array) if array.type == bigint.TYPE else array.to_pylist()
            for array, output in zip(arrays, self.plan.outputs, strict=True)
            if not output.hidden and isinstance(output.value, Aggregate)
        ]
        nothing = tuple(
            0 if self._counts_zero(output.value) else None
            for output in self.plan.outputs
            if not output.hidden and isinstance(output.value, Aggregate)
        )
        before: dict[tuple[int, ...], tuple[object, ...]] = {}
        keep = np.zeros(len(rows), np.bool_)
        for row in range(len(rows)):
            key = (int(rows.group[row]), *(int(v) for v in rows.values[row]))
            now = tuple(column[row] for column in visible)
            keep[row] = now != before.get(key, nothing)
            before[key] = now
        return keep

    @staticmethod
    def _counts_zero(value: Aggregate | GroupKey) -> bool:
        return isinstance(value, Aggregate) and value.function.value == "COUNT" and not value.log2


def _last_point(chunk: Chunk) -> int:
    """Where the last time point begins: more of it may come."""
    order = chunk.order
    low = int(chunk.bounds[-2])
    return low + int(np.searchsorted(order[low:], order[-1]))
