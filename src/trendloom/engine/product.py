"""Maps of many chunks → the result: multiplied in the order of time, window by window.

1. Rows are sorted by partition, pane and time.
2. Where two chunks have events of one partition and pane whose times interleave, their maps must
   not be multiplied: the whole group is left out, and reported as tangled. So is one with
   simultaneous events where conditions between neighbours are told from the rows.
3. Centred sums are brought to one common centre.
4. Each window is a run of rows; its vector goes through their maps, and is read as `Run` does.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trendloom.engine.arrow import from_numpy, to_numpy
from trendloom.engine.centres import moments
from trendloom.engine.exact_maps import apply_exact, rounded
from trendloom.engine.groups import Groups
from trendloom.engine.inputs import Centre, length_steps
from trendloom.engine.joints import TIED, end_fields, first_maps, in_turn, meeting
from trendloom.engine.map_shapes import exact_shape, shapes_of
from trendloom.engine.maps import (
    AT_ONCE,
    centred_operands,
    end_schema,
    map_schema,
    map_size,
    pane_length,
)
from trendloom.engine.numbers import overflow
from trendloom.engine.packed import Packed, Packing
from trendloom.engine.table import part_rows, put_together, result_table
from trendloom.engine.wire import reading
from trendloom.kernels.lattice_maps import apply_extremes
from trendloom.kernels.maps import apply_doubles, apply_integers, recentre
from trendloom.kernels.scaled import BEYOND
from trendloom.plan.distribution import has_joints
from trendloom.plan.plan import WindowStrategy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.evaluate import Evaluator
    from trendloom.engine.harvest import Harvest
    from trendloom.engine.setting import Setting
    from trendloom.engine.slots import State
    from trendloom.engine.windows import Runs

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

EVERYTHING = "all"
"""The column of a tangled table that has no group columns."""


@dataclass(frozen=True)
class _Sorted:
    """Rows in the order of partition, pane and time."""

    order: Ints
    partition: Ints
    group: Ints
    tangled: Ints
    """Groups."""

    def without_tangled(self) -> _Sorted:
        if not len(self.tangled):
            return self
        keep = ~np.isin(self.group, self.tangled)
        return _Sorted(self.order[keep], self.partition[keep], self.group[keep], self.tangled)


@dataclass(frozen=True)
class _PartMaps:
    """One part's maps in each number domain; None where no lane needs it."""

    doubles: Packed | None
    integers: Packed | None
    keys: Packed | None
    exact: Packed | None


@dataclass
class Product:
    """Feed it tables of maps with `add`, in any order, then `finish`."""

    setting: Setting
    _evaluators: list[Evaluator] = field(init=False)
    _keys: list[pa.Table] = field(init=False, default_factory=list)
    _numbers: list[dict[str, NDArray[Any]]] = field(init=False, default_factory=list)
    """Pane, first, last and centres."""
    _maps: dict[str, list[Packed]] = field(init=False, default_factory=dict)
    _ends: list[pa.Table] = field(init=False, default_factory=list)
    """First and last events (`joints`)."""

    def __post_init__(self) -> None:
        self._evaluators = self.setting.evaluators()

    def add(self, maps: pa.Table) -> None:
        """Rows of `make_maps`, of one chunk or of several."""
        if maps.num_rows == 0:
            return
        schema = map_schema(self.setting)
        with reading():
            self._take(schema, maps.select(schema.names).cast(schema))

    def _take(self, schema: pa.Schema, maps: pa.Table) -> None:
        count = len(self.setting.partition_types)
        self._keys.append(maps.select([f"p{k}" for k in range(count)]))
        ends = [one.name for one in end_fields(end_schema(self.setting))]
        if has_joints(self.setting.plan):
            self._ends.append(maps.select(ends))
        self._numbers.append(
            {
                name: to_numpy(maps.column(name).combine_chunks())
                for name, kind in zip(schema.names[count:], schema.types[count:], strict=True)
                if not pa.types.is_binary(kind) and (name == TIED or name not in ends)
            }
        )
        for number, evaluator in enumerate(self._evaluators):
            in_doubles, in_integers, in_keys = shapes_of(evaluator)
            if in_doubles is not None:
                self._unpack(maps, f"d{number}", in_doubles.doubles)
            if in_integers is not None:
                self._unpack(maps, f"i{number}", in_integers.integers)
            if in_keys is not None:
                self._unpack(maps, f"x{number}", in_keys.keys)
            exact = exact_shape(evaluator)
            if exact is not None:
                self._unpack(maps, f"n{number}", exact.exact)

    def _unpack(self, maps: pa.Table, name: str, packing: Packing) -> None:
        parts = self._maps.setdefault(name, [])
        parts.extend(packing.unpack(chunk) for chunk in maps.column(name).chunks)

    def finish(self) -> tuple[pa.Table, pa.Table]:
        """The result without the tangled groups, and those, as `tangled` has them."""
        plan, windows = self.setting.plan, self.setting.windows
        groups = Groups(plan.plain_groups, list(self.setting.partition_types))
        harvests = self.setting.harvests()
        numbers, rows, heads = self._arranged()
        groups.heads.extend(heads)
        tangled = self._tangled_table(heads, rows.tangled)
        rows = rows.without_tangled()
        if len(rows.order):
            moves = self._centres({name: column[rows.order] for name, column in numbers.items()})
            self._multiply(rows, numbers["pane"][rows.order], moves, harvests)
        result = put_together(plan, part_rows(plan, self._evaluators, harvests, {}, []))
        return result_table(plan, windows, self._evaluators, harvests, groups, result), tangled

    def tangled(self, part_events: int) -> pa.Table:
        """The tangled groups, without a product: `p0`, …, or `all` if nothing is grouped by.

        `width` says how many ticks of a group have about so many events, were they spread evenly;
        infinitely many if it has no more than that.
        """
        numbers, rows, heads = self._arranged()
        table = self._tangled_table(heads, rows.tangled)
        width = np.full(len(rows.tangled), np.inf)
        if len(width):
            mine = np.isin(rows.group, rows.tangled)
            place = np.searchsorted(rows.tangled, rows.group[mine])
            low, high, events = np.full(len(width), np.inf), -width, np.zeros(len(width))
            columns = (numbers[name][rows.order][mine] for name in ("first", "last", "events"))
            for change, found, column in zip(
                (np.minimum, np.maximum, np.add), (low, high, events), columns, strict=True
            ):
                change.at(found, place, column.astype(np.float64))
            parts = np.ceil(events / part_events)
            width = np.where(parts > 1, np.maximum(1.0, (high - low) / parts), np.inf)
        return table.append_column("width", from_numpy(width))

    def _arranged(self) -> tuple[dict[str, NDArray[Any]], _Sorted, list[pa.RecordBatch]]:
        """Numbers of all rows, their order, and the grouping attributes of every group."""
        if not self._numbers:
            none = np.zeros(0, np.int64)
            return {}, _Sorted(none, none, none, none), []
        numbers = {
            name: np.concatenate([part[name] for part in self._numbers])
            for name in self._numbers[0]
        }
        keys = pa.concat_tables(self._keys).combine_chunks()
        rows = self._sorted(keys, numbers)
        plain = self.setting.plan.plain_groups
        return numbers, rows, [_heads(keys, rows, plain)] if plain else []

    # ── order ────────────────────────────────────────────────────────────────────────────────

    def _sorted(self, keys: pa.Table, numbers: dict[str, NDArray[Any]]) -> _Sorted:
        codes = [_ranks(column) for column in keys.columns]
        pane, first, last = (numbers[name] for name in ("pane", "first", "last"))
        order = np.lexsort([first, pane, *reversed(codes)])
        starts = np.zeros(len(order), np.bool_)
        starts[0] = True
        group = np.zeros(len(order), np.int64)
        for k, code in enumerate(codes):
            code = code[order]
            starts[1:] |= code[1:] != code[:-1]
            if k + 1 == self.setting.plan.plain_groups:
                group = np.cumsum(starts) - 1
        pane, first, last = pane[order], first[order], last[order]
        together = ~starts[1:] & (pane[1:] == pane[:-1])
        tangled = group[1:][together & (last[:-1] >= first[1:])]
        if TIED in numbers:
            tangled = np.concatenate([tangled, group[numbers[TIED][order]]])
        return _Sorted(order, np.cumsum(starts) - 1, group, np.unique(tangled))

    def _tangled_table(self, heads: list[pa.RecordBatch], tangled: Ints) -> pa.Table:
        if not self.setting.plan.plain_groups:
            return pa.table({EVERYTHING: from_numpy(np.ones(len(tangled), np.bool_))})
        types = enumerate(self.setting.group_types)
        schema = pa.schema([(f"p{k}", kind) for k, kind in types])
        return pa.Table.from_batches(heads, schema=schema).take(from_numpy(tangled))

    # ── centres ──────────────────────────────────────────────────────────────────────────────

    def _centres(self, numbers: dict[str, NDArray[Any]]) -> dict[int, tuple[Floats, Floats]]:
        """Agrees on centres; per operand each row's ratio and shift to it."""
        moves: dict[int, tuple[Floats, Floats]] = {}
        for operand in centred_operands(self._evaluators):
            middle, scale = numbers[f"middle{operand}"], numbers[f"scale{operand}"]
            known = ~np.isnan(middle)
            centre = _common(middle[known], scale[known])
            for evaluator in self._evaluators:
                evaluator.centres[operand] = centre
            # In halves, for middles at both ends of the range.
            shift = (middle / 2 - centre.middle / 2) * centre.scale * 2
            moves[operand] = np.where(known, centre.scale / scale, 1.0), np.where(known, shift, 0.0)
        return moves

    # ── product ──────────────────────────────────────────────────────────────────────────────

    def _multiply(
        self,
        rows: _Sorted,
        pane: Ints,
        moves: dict[int, tuple[Floats, Floats]],
        harvests: list[Harvest],
    ) -> None:
        maps = {name: Packed.join(parts) for name, parts in self._maps.items()}
        ends = pa.concat_tables(self._ends) if self._ends else None
        windows = self.setting.windows
        starts = pane * pane_length(windows)
        for lo, hi, bounds in self._blocks(rows):
            runs = windows.runs_over(starts[lo:hi], bounds)
            group = rows.group[lo:hi][bounds[:-1]][runs.partition]
            order = rows.order[lo:hi]
            near = {k: (ratio[lo:hi], shift[lo:hi]) for k, (ratio, shift) in moves.items()}
            joints = None
            if ends is not None:
                joints = meeting(end_schema(self.setting), ends.take(from_numpy(order)))
            for number, (evaluator, harvest) in enumerate(
                zip(self._evaluators, harvests, strict=True)
            ):
                mine = _PartMaps(*(maps.get(f"{letter}{number}") for letter in "dixn"))
                state = _vectors(evaluator, runs, mine, order, near, joints)
                harvest.add(evaluator.read(state).with_trends(), group, runs.window)

    def _blocks(self, rows: _Sorted) -> Iterator[tuple[int, int, Ints]]:
        """Some whole partitions at a time: their rows, and where among them each begins."""
        windows = self.setting.windows
        overlap = 1
        if windows.strategy is WindowStrategy.SLIDING:
            overlap = -(-windows.within // windows.slide)
        most = max(1, AT_ONCE // (map_size(self.setting) + overlap))
        begins = np.flatnonzero(np.diff(rows.partition, prepend=-1))
        bounds = np.append(begins, len(rows.order)).astype(np.int64)
        at = 0
        while at < len(begins):
            end = int(np.searchsorted(bounds, bounds[at] + most, side="right")) - 1
            end = max(at + 1, end)
            yield int(bounds[at]), int(bounds[end]), bounds[at : end + 1] - bounds[at]
            at = end


def _ranks(column: pa.ChunkedArray) -> Ints:
    """Numbers that order as the values do."""
    encoded = column.combine_chunks().dictionary_encode()
    ranks = to_numpy(pc.rank(encoded.dictionary, tiebreaker="dense")).astype(np.int64)
    codes: Ints = ranks[to_numpy(encoded.indices)]
    return codes


def _heads(keys: pa.Table, rows: _Sorted, plain: int) -> pa.RecordBatch:
    """The grouping attributes of every group."""
    first = rows.order[np.flatnonzero(np.diff(rows.group, prepend=-1))]
    heads = keys.select([f"p{k}" for k in range(plain)]).take(from_numpy(first))
    return heads.combine_chunks().to_batches()[0]


def _common(middle: Floats, scale: Floats) -> Centre:
    """A centre for all: where most rows are, and so coarse that the others are near."""
    if not len(middle):
        return Centre()
    most = float(np.partition(middle, len(middle) // 2)[len(middle) // 2])
    # In powers of two: how far the middles are from it, and the values from the middles.
    away = np.abs(middle / 2 - most / 2).max()
    bits = max(int(np.frexp(away)[1]) + 1 if away else -900, 1 - int(np.frexp(scale.min())[1]))
    return Centre(most, 2.0 ** -min(bits, 1000))


def _vectors(
    evaluator: Evaluator,
    runs: Runs,
    maps: _PartMaps,
    rows: Ints,
    moves: dict[int, tuple[Floats, Floats]],
    joints: Chunk | None,
) -> State:
    """What the maps of each run's rows make of nothing. `rows` are those of the block.

    `joints` has the events before and between them, whose maps come in turn with theirs.
    """
    state = evaluator.blank(len(runs))
    scaled, checked, extremes = shapes_of(evaluator)
    exact = exact_shape(evaluator)
    firsts = None if joints is None else first_maps(evaluator, joints)
    lo, hi = (runs.lo, runs.hi) if firsts is None else (2 * runs.lo, 2 * runs.hi)
    v: NDArray[Any] = np.zeros((len(rows), 0), np.int64)
    if maps.exact is not None and exact is not None:
        head, tail = maps.exact.take(rows)
        v, shape = rounded(head, tail), (-1, exact.bases, exact.width)
        if firsts is not None and firsts.exact is not None:
            head, tail = map(in_turn, firsts.exact, (head, tail))
        blank = evaluator.first_integers(len(runs), exact.lanes)
        words = head.reshape(shape), tail.reshape(shape)
        state = replace(state, exact=apply_exact(*words, lo, hi, exact.lanes, blank))
    if maps.integers is not None and checked is not None and state.integers is not None:
        v, lost = maps.integers.take(rows)
        w = v
        if firsts is not None and firsts.integers is not None:
            w, lost = map(in_turn, firsts.integers, (v, lost))
        shape = (-1, checked.bases, checked.width)
        if not apply_integers(w.reshape(shape), lost, lo, hi, checked.lanes, state.integers.v):
            raise overflow()
    if maps.doubles is not None and scaled is not None and state.doubles is not None:
        m, exponent = maps.doubles.take(rows)
        e = exponent.astype(np.int64)
        e[~np.isfinite(m)] = BEYOND
        _recentre(evaluator, m, e, v, moves)
        if firsts is not None and firsts.doubles is not None:
            m, e = map(in_turn, firsts.doubles, (m, e))
        shape = (-1, scaled.bases, scaled.width)
        apply_doubles(
            m.reshape(shape), e.reshape(shape), lo, hi, scaled.lanes,
            state.doubles.m, state.doubles.e,
        )  # fmt: skip
    if maps.keys is not None and extremes is not None and state.extremes is not None:
        keys, _ = maps.keys.take(rows)
        if firsts is not None and firsts.keys is not None:
            keys = in_turn(firsts.keys, keys)
        shape = (-1, extremes.bases, extremes.width)
        step = length_steps(evaluator.layout.extremes)
        apply_extremes(keys.reshape(shape), lo, hi, step, state.extremes)
    return state


def _recentre(
    evaluator: Evaluator,
    m: Floats,
    e: Ints,
    v: NDArray[Any],
    moves: dict[int, tuple[Floats, Floats]],
) -> None:
    """Brings the centred sums of [row, number] maps to the common centres; `v` has the integers."""
    layout = evaluator.layout
    lanes, whole = layout.scaled or (), layout.checked or layout.exact or ()
    by_lane = (len(m), -1, 1 + len(lanes))
    for one in moments(lanes):
        ratio, shift = moves[one.operand]
        if one.count in lanes:
            at = 1 + lanes.index(one.count)
            count_m, count_e = m.reshape(by_lane)[:, :, at], e.reshape(by_lane)[:, :, at]
        else:
            counts = v.reshape(len(v), -1, 1 + len(whole))[:, :, 1 + whole.index(one.count)]
            count_m, count_e = counts.astype(np.float64), np.zeros(counts.shape, np.int64)
        recentre(
            m.reshape(by_lane), e.reshape(by_lane), count_m.copy(), count_e.copy(),
            1 + lanes.index(one.first), 1 + lanes.index(one.second), ratio, shift,
        )  # fmt: skip
