"""Maps of all partitions at once, of events in order of time: nothing is sorted.

The rows are those of `make_maps` over the same events sorted by partition. Every partition has its
map open, and an event is added to it where it stands (`kernels/strewn.py`).

1. Batches come in order of time, and time points are not cut: what is of a batch's last one waits
   for the next batch.
2. A batch is cut by pane. At the end of a pane all open maps are closed.
3. A batch of many panes, or with numbers beyond the doubles' radix, is sorted and reduced by
   itself: `make_maps`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from trendloom.engine.arrow import from_numpy, read_only, to_numpy
from trendloom.engine.chunk import Chunk, join_batches
from trendloom.engine.evaluate import SMALL_MASK
from trendloom.engine.inputs import double_rows, feeding_variables, integer_rows
from trendloom.engine.map_shapes import Shape, shapes_of
from trendloom.engine.maps import (
    LARGEST_EXPONENT,
    as_plain,
    centred_operands,
    make_maps,
    map_schema,
    pane_length,
)
from trendloom.engine.numbering import Numbering, can_number
from trendloom.engine.program import compile_table, possible_masks
from trendloom.engine.sort import one_batch, orders, sort_events
from trendloom.kernels.counted_bases import PACK
from trendloom.kernels.open_maps import (
    EVENTS,
    FIRST,
    HEAD,
    LAST,
    Open,
    Spill,
    begin_rows,
    moves_of,
)
from trendloom.kernels.scaled import RADIX
from trendloom.kernels.strewn import read_maps, strew
from trendloom.plan.distribution import has_joints
from trendloom.plan.plan import WindowStrategy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trendloom.engine.evaluate import Evaluator
    from trendloom.engine.lanes import Sum
    from trendloom.engine.setting import Setting

    Ints = NDArray[np.int64]

PANE_EVENTS = 1 << 12
"""Of fewer events at once, closing the maps costs more than sorting."""
MOST_OPEN = 1 << 19
SPILLED = 1 << 10


def can_strew(setting: Setting, *, tie: bool = False) -> bool:
    """Whether a mappable plan has one table of sums in one number domain, by partition."""
    evaluators = setting.evaluators()
    if len(evaluators) != 1 or tie or not setting.partition_types:
        return False
    in_doubles, in_integers, in_keys = shapes_of(evaluators[0])
    one = (in_doubles is None) != (in_integers is None) and in_keys is None
    one = one and not (centred_operands(evaluators) or has_joints(setting.plan))
    one = one and evaluators[0].layout.exact is None
    return one and can_number(setting.partition_types) and _goes_one_way(evaluators[0])


def reduce_events(setting: Setting, events: pa.Table) -> pa.Table:
    """The maps of one task's events, which come in any order."""
    if can_strew(setting, tie="tie" in events.schema.names):
        batch = one_batch(events)
        if orders(batch, ["time"])[0]:
            maps = StrewnMaps(setting)
            maps.push(pa.Table.from_batches([batch]))
            return maps.finish()
    return make_maps(setting, sort_events(events, len(setting.partition_types)))


class StrewnMaps:
    """Feed it tables of scan columns with `push`, in order of time, then `finish`."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        (self._evaluator,) = setting.evaluators()
        in_doubles, in_integers, _ = shapes_of(self._evaluator)
        self._whole = in_doubles is None
        self._shape: Shape = in_doubles or in_integers  # type: ignore[assignment]
        bases = -(-self._shape.bases // PACK) * PACK
        self._width = self._shape.lanes * bases
        self._stride = HEAD + self._shape.cells * self._width
        self._numbering = Numbering(setting.partition_types)
        self._open = _room(0, self._width, self._stride, bases, whole=self._whole)
        self._pane = 0
        self._waiting: pa.RecordBatch | None = None
        """Events of the last time point: more of it may come."""
        self._closed: list[pa.Table] = []

    def push(self, table: pa.Table) -> None:
        """Takes the next events, none of them earlier than those before."""
        if table.num_rows == 0:
            return
        batch = one_batch(table)
        if not orders(batch, ["time"])[0]:
            batch = sort_events(table, 0)
        time = to_numpy(batch.column("time"))
        if self._waiting is not None:
            now = self._waiting.column("time")[0].as_py()
            assert time[0] >= now, "batches are in order of time"
            more = int(np.searchsorted(time, now, side="right"))
            same = join_batches([self._waiting, batch.slice(0, more)]) if more else self._waiting
            self._waiting = None
            batch, time = batch.slice(more), time[more:]
            if not len(time):
                self._waiting = same
                return
            self._add(same)
        cut = int(np.searchsorted(time, time[-1]))
        self._waiting = batch.slice(cut)
        self._add(batch.slice(0, cut))

    def finish(self) -> pa.Table:
        """No more events: the maps."""
        if self._waiting is not None:
            self._add(self._waiting)
        self._close()
        return pa.concat_tables([map_schema(self.setting).empty_table(), *self._closed])

    def _add(self, batch: pa.RecordBatch) -> None:
        """Whole time points in order."""
        if batch.num_rows == 0:
            return
        keys = len(self.setting.partition_types)
        time, mask = (read_only(to_numpy(batch.column(name))) for name in ("time", "mask"))
        chunk = Chunk(batch, keys, time, time, mask, np.array([0, len(time)], np.int64))
        x = self._inputs(chunk)
        cuts, panes = self._cut(time)
        if len(panes) * PANE_EVENTS > len(time) + PANE_EVENTS or not _is_small(x):
            self._close()
            rows = pa.Table.from_batches([batch])
            self._closed.append(make_maps(self.setting, sort_events(rows, keys)))
            return
        slot = self._numbering.number(batch.select([f"p{k}" for k in range(keys)]))
        self._make_room()
        table, codes = self._evaluator.table(chunk)
        var = feeding_variables(self._evaluator.part.automaton.variables, self._lanes)
        moves = moves_of(table, var, self._open.exponent.shape[1])
        for at, end, pane in zip(cuts[:-1], cuts[1:], panes, strict=True):
            if pane != self._pane:
                self._close()
                self._pane = int(pane)
            room = SPILLED
            while at < end:
                spill = self._spill(room)
                at, spilled = strew(moves, slot, time, codes, at, end, x, self._open, spill)
                self._write(spill.row[:spilled], spill.values[:spilled], spill.exponent[:spilled])
                # One time point may have more events than there is room for.
                room = SPILLED if spilled else 2 * room
        if self._numbering.count > MOST_OPEN:
            self._close()
            self._numbering = Numbering(self.setting.partition_types)
            bases = self._open.exponent.shape[1]
            self._open = _room(0, self._width, self._stride, bases, whole=self._whole)

    @property
    def _lanes(self) -> tuple[Sum, ...]:
        layout = self._evaluator.layout
        return (layout.checked if self._whole else layout.scaled) or ()

    def _inputs(self, chunk: Chunk) -> NDArray[np.float64] | Ints:
        whole = self._whole
        return integer_rows(chunk, self._lanes) if whole else double_rows(chunk, self._lanes, {})

    def _cut(self, time: Ints) -> tuple[list[int], Ints]:
        """Where panes begin and end, and their numbers."""
        windows = self.setting.windows
        if windows.strategy is not WindowStrategy.SLIDING:
            return [0, len(time)], np.zeros(1, np.int64)
        windows.check_range(time)
        pane = time // pane_length(windows)
        starts = np.append(0, np.flatnonzero(pane[1:] != pane[:-1]) + 1)
        return [*starts.tolist(), len(time)], pane[starts]

    # ── rows ─────────────────────────────────────────────────────────────────────────────────

    def _make_room(self) -> None:
        have, need = len(self._open.exponent), self._numbering.count
        if have >= need:
            return
        bases = self._open.exponent.shape[1]
        rows = max(need, 2 * have)
        new = _room(rows, self._width, self._stride, bases, whole=self._whole)
        new.values[: len(self._open.values)] = self._open.values
        new.exponent[:have] = self._open.exponent
        new.lost[: len(self._open.lost)] = self._open.lost
        self._begin(new, have, rows)
        self._open = new

    def _begin(self, rows: Open, lo: int, hi: int) -> None:
        states, bases = self._shape.states, rows.exponent.shape[1]
        begin_rows(rows.values, rows.words, lo, hi, states, self._width, self._stride, bases)

    def _spill(self, room: int) -> Spill:
        values = np.empty((room, self._stride), self._open.values.dtype)
        exponent = np.empty((room, self._open.exponent.shape[1]), np.int64)
        return Spill(np.empty(room, np.int64), values, exponent)

    def _close(self) -> None:
        """Writes every open map that has events, and begins anew."""
        count = self._numbering.count
        if not count:
            return
        rows = self._open.values[2 * self._width :].reshape(-1, self._stride)[:count]
        used = np.flatnonzero(rows.view(np.int64)[:, EVENTS])
        self._write(used, rows[used], self._open.exponent[used])
        self._open.exponent[:] = 0
        self._open.lost[:] = False
        self._begin(self._open, 0, len(self._open.exponent))

    def _write(self, number: Ints, rows: NDArray[np.float64] | Ints, exponent: Ints) -> None:
        """Maps of the current pane."""
        if not len(number):
            return
        words = rows.view(np.int64)
        columns: list[pa.Array] = [as_plain(c) for c in self._numbering.heads(number)]
        columns.append(from_numpy(np.full(len(number), self._pane)))
        columns += [from_numpy(words[:, at].copy()) for at in (FIRST, LAST, EVENTS)]
        columns.append(self._packed(number, rows, exponent))
        self._closed.append(pa.Table.from_arrays(columns, schema=map_schema(self.setting)))

    def _packed(self, number: Ints, rows: NDArray[np.float64] | Ints, exponent: Ints) -> pa.Array:
        shape, count = self._shape, len(number)
        if self._whole:
            cells = rows[:, HEAD:].reshape(count, shape.width, -1)[:, :, : shape.bases]
            maps = cells.transpose(0, 2, 1).reshape(count, shape.size)
            return shape.integers.pack(maps, self._open.lost[number, : shape.bases])
        m = np.empty((count, shape.bases, shape.width))
        e = np.empty(m.shape, np.int64)
        read_maps(rows.view(np.float64), exponent, m, e)
        exponents = np.minimum(e, LARGEST_EXPONENT).reshape(count, shape.size)
        return shape.doubles.pack(m.reshape(count, shape.size), exponents)


def _goes_one_way(evaluator: Evaluator) -> bool:
    """Whether an event of any code makes at most one step."""
    types = [evaluator.letter_types[bits[0]] for bits in evaluator.part.bits]
    if len(types) > SMALL_MASK:
        return False
    table = compile_table(evaluator.fast, evaluator.semantics, possible_masks(types))
    return bool(table.target.shape[1] == 1)


def _is_small(x: NDArray[np.float64] | Ints) -> bool:
    """Whether all are finite and below the radix."""
    if x.dtype.kind == "i" or x.size <= 1:
        return True
    return bool(np.max(x[1:]) < RADIX and np.min(x[1:]) > -RADIX)


def _room(rows: int, width: int, stride: int, bases: int, *, whole: bool) -> Open:
    values = np.zeros(2 * width + rows * stride, np.int64 if whole else np.float64)
    lost = np.zeros((rows if whole else 0, bases), np.bool_)
    return Open(values, values.view(np.int64), np.zeros((rows, bases), np.int64), lost)
