"""Type grain: one vector per partition and open window is all that is kept of past events.

1. Events wait until the watermark has passed them: then their order is final.
2. They are sorted and cut into runs, one per partition and window.
3. A run goes on with the vector of its partition and window, if there is one.
4. Vectors of windows that are over are read and forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from trendloom.engine.arrow import from_numpy
from trendloom.engine.centring import around_one, around_own
from trendloom.engine.chunk import make_chunk, tied_events
from trendloom.engine.ends import joined, widened
from trendloom.engine.groups import Groups
from trendloom.engine.live.mode import Mode
from trendloom.engine.live.sheet import Sheet
from trendloom.engine.live.tables import (
    check_extremes,
    check_names,
    columns_of,
    events_of,
    exponents,
    key_types,
    to_lists,
    to_rows,
    wide_lists,
    wide_rows,
    window_numbers,
)
from trendloom.engine.live.waiting import Waiting, pair_numbers
from trendloom.engine.numbers import Doubles, Integers
from trendloom.engine.scanned import plain
from trendloom.engine.slots import State
from trendloom.engine.sort import key_codes, sort_events
from trendloom.plan.plan import WindowStrategy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trendloom.engine.evaluate import Evaluator
    from trendloom.engine.setting import Setting

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Kept:
    """Vector i is of the partition with attributes `keys[…][i]` and of window `window[i]`."""

    keys: tuple[pa.Array, ...]
    window: Ints
    states: tuple[State, ...]
    """Per part."""

    def __len__(self) -> int:
        return len(self.window)

    def take(self, rows: Ints) -> Kept:
        at = from_numpy(rows)
        return Kept(
            tuple(key.take(at) for key in self.keys),
            self.window[rows],
            tuple(state.take(rows) for state in self.states),
        )

    def and_(self, other: Kept) -> Kept:
        return Kept(
            tuple(map(_concatenated, self.keys, other.keys)),
            np.concatenate([self.window, other.window]),
            tuple(
                _stacked(mine, theirs, (len(self), len(other)))
                for mine, theirs in zip(self.states, other.states, strict=True)
            ),
        )


class Vectors:
    """The shard's vectors, and the events that the watermark has not passed."""

    NAME = "vectors"

    def __init__(self, setting: Setting, evaluators: list[Evaluator], mode: Mode) -> None:
        self.setting = setting
        self.evaluators = evaluators
        self.mode = mode
        self.waiting = Waiting()
        self.kept = self._none()
        self.ties = 0
        """Events that share their time with another one of their partition."""

    @property
    def is_empty(self) -> bool:
        return not len(self.waiting) and not len(self.kept)

    def deadline(self, watermark: int) -> int | None:
        """`watermark`: the one in force."""
        windows = self.setting.windows
        points = []
        if len(self.kept):
            points.append(int(windows.end(self.kept.window).min()))
        if len(self.waiting):
            first = int(self.waiting.time().min())
            update = self.mode is Mode.UPDATE
            points.append(first + 1 if update else windows.next_end(max(first, watermark)))
        return min(points, default=None)

    def move(self, _before: int, now: int) -> pa.Table | None:
        """The watermark moves: the rows that come of it, None if nothing does."""
        ready = self.waiting.before(now)
        ends = self.setting.windows.end(self.kept.window)
        if ready is None and not (ends <= now).any():
            return None
        if ready is not None:
            self.waiting.keep(self.waiting.time() >= now)
        return self.fold(ready, now)

    def fold(self, ready: pa.Table | None, now: int | None) -> pa.Table | None:
        """The rows that come of events before `now`, later than all before; None: of the last."""
        kept, touched = self.kept, np.zeros(len(self.kept), np.bool_)
        if ready is not None:
            kept, touched = self._folded(ready)
        closed = self._over(kept.window, now)
        shown = closed
        going = np.flatnonzero(~closed & self._begun(kept))
        if self.mode is Mode.APPEND and not closed.any():
            self.kept = kept.take(going)
            return None
        groups, group = self._grouped(kept)
        if self.mode is Mode.UPDATE:
            # All partitions of a group that has new events, with events of their own or without.
            pairs = pair_numbers(group, kept.window)
            shown = np.isin(pairs, pairs[touched])
        sheet = Sheet(self.setting, self.evaluators)
        out = np.flatnonzero(shown)
        if len(out):
            sheet.add_states(kept.take(out).states, group[out], kept.window[out])
        self.kept = kept.take(going)
        return sheet.table(sheet.rows(), groups)

    def _over(self, window: Ints, now: int | None) -> Bools:
        if now is None:
            return np.ones(len(window), np.bool_)
        if self.setting.windows.strategy is WindowStrategy.WHOLE:
            return np.zeros(len(window), np.bool_)
        return self.setting.windows.end(window) <= now

    def _folded(self, ready: pa.Table) -> tuple[Kept, Bools]:
        """All vectors after these events, and which of them the events moved."""
        keys = len(self.setting.partition_types)
        chunk = make_chunk(sort_events(ready, keys), keys)
        self.ties += tied_events(chunk)
        runs = self.setting.windows.runs(chunk)
        states = tuple(evaluator.blank(len(runs)) for evaluator in self.evaluators)

        # Which run goes on with which vector: both by (partition, window).
        here = chunk.key_rows(chunk.bounds[:-1], keys)
        heads = tuple(here.column(k) for k in range(keys))
        old = len(self.kept)
        joint = tuple(map(_concatenated, self.kept.keys, heads))
        numbers, _ = key_codes(joint, old + len(chunk.bounds) - 1)
        pairs = pair_numbers(
            np.concatenate([numbers[:old], numbers[old:][runs.partition]]),
            np.concatenate([self.kept.window, runs.window]),
        )
        order = np.argsort(pairs[old:])
        place = np.searchsorted(pairs[old:], pairs[:old], sorter=order)
        run = order[np.minimum(place, len(order) - 1)]
        goes_on = pairs[old:][run] == pairs[:old]
        rows = np.flatnonzero(goes_on)
        states = tuple(
            evaluator.fold(chunk, runs, state.put(run[rows], kept.take(rows), len(runs)))
            for evaluator, state, kept in zip(
                self.evaluators, states, self.kept.states, strict=True
            )
        )

        fresh = np.ones(len(runs), np.bool_)
        fresh[run[rows]] = False
        states = tuple(
            around_own(evaluator, chunk, runs, state, fresh)
            for evaluator, state in zip(self.evaluators, states, strict=True)
        )
        at = from_numpy(runs.partition)
        moved = Kept(tuple(head.take(at) for head in heads), runs.window, states)
        still = self.kept.take(np.flatnonzero(~goes_on))
        return still.and_(moved), np.arange(len(still) + len(moved)) >= len(still)

    def _grouped(self, kept: Kept) -> tuple[Groups, Ints]:
        """The groups, in order of their attributes, and each vector's."""
        setting = self.setting
        groups = Groups(setting.plan.plain_groups, list(setting.partition_types))
        mine = kept.keys[: groups.plain]
        group, _ = key_codes(mine, len(kept), ordered=True)
        if groups.plain and len(kept):
            first = from_numpy(np.unique(group, return_index=True)[1])
            names = [f"p{k}" for k in range(groups.plain)]
            groups.heads.append(pa.RecordBatch.from_arrays([k.take(first) for k in mine], names))
        return groups, group

    def _begun(self, kept: Kept) -> Bools:
        """Vectors as they are at first are as good as none. Every part counts its trends: sums
        tell."""
        begun = np.zeros(len(kept), np.bool_)
        for evaluator, state in zip(self.evaluators, kept.states, strict=True):
            cells, first = _cells(evaluator), evaluator.blank(1)
            if state.doubles is not None and first.doubles is not None:
                ours, theirs = state.doubles.m[:, : cells[0]], first.doubles.m[:, : cells[0]]
                begun |= (ours != theirs).any(axis=1)
            if state.integers is not None and first.integers is not None:
                whole, none = state.integers.v[:, : cells[1]], first.integers.v[:, : cells[1]]
                begun |= (whole != none).any(axis=1)
        return begun

    def _none(self) -> Kept:
        keys = tuple(pa.nulls(0, plain(kind)) for kind in self.setting.partition_types)
        states = tuple(evaluator.blank(0) for evaluator in self.evaluators)
        return Kept(keys, np.zeros(0, np.int64), states)

    # ── at rest ──────────────────────────────────────────────────────────────────────────────

    @property
    def shape(self) -> list[object]:
        """What the cells of a vector mean. Vectors of another shape cannot go on."""
        return [self.shape_of(evaluator) for evaluator in self.evaluators]

    def shape_of(self, evaluator: Evaluator) -> object:
        """Of one part."""
        fast, lanes = evaluator.fast, self.lanes_of(evaluator)
        arrows = [[a.source, a.variable, a.target] for a in fast.arrows]
        names = list(evaluator.part.automaton.variables)
        clears = [list(fast.clears)] if any(fast.clears) else []
        return [names, arrows, list(fast.accepts), lanes, *clears]

    @staticmethod
    def lanes_of(evaluator: Evaluator) -> list[object]:
        """What is added up, and of what the least is kept."""
        layout = evaluator.layout
        lanes: list[object] = [
            None if sums is None else [[s.variable, s.operand, s.power, s.centred] for s in sums]
            for sums in (layout.scaled, layout.checked)
        ]
        if layout.extremes:
            lanes.append([[x.variable, x.operand, x.largest] for x in layout.extremes])
        return lanes

    def tables(self) -> dict[str, pa.Table]:
        columns: dict[str, pa.Array] = {f"p{k}": key for k, key in enumerate(self.kept.keys)}
        columns["window"] = from_numpy(self.kept.window)
        for k, (evaluator, own) in enumerate(zip(self.evaluators, self.kept.states, strict=True)):
            in_doubles, in_integers, in_keys = _cells(evaluator)
            state = around_one(evaluator, own)
            if state.doubles is not None:
                columns[f"m{k}"] = to_lists(state.doubles.m[:, :in_doubles])
                exponents = state.doubles.e[:, :in_doubles]
                if exponents.any():
                    columns[f"e{k}"] = to_lists(exponents)
            if state.integers is not None:
                columns |= wide_lists(f"v{k}", state.integers.v[:, :in_integers])
            if state.extremes is not None:
                columns |= wide_lists(f"x{k}", state.extremes[:, :in_keys])
        tables = {"vectors": pa.table(columns)} if len(self.kept) else {}
        return tables | _waiting_table("pending", self.waiting)

    def load(self, tables: dict[str, pa.Table], _watermark: int) -> None:
        check_names(tables, self.table_names)
        self.waiting = Waiting(events_of(self.setting, tables.get("pending")))
        if "vectors" not in tables:
            return
        columns = columns_of(tables["vectors"], *self._column_types())
        window = window_numbers(self.setting, columns["window"])
        states = []
        for k, evaluator in enumerate(self.evaluators):
            in_doubles, in_integers, in_keys = _cells(evaluator)
            state = evaluator.blank(len(window))
            if state.doubles is not None:
                state.doubles.m[:, :in_doubles] = to_rows(columns[f"m{k}"])
                if f"e{k}" in columns:
                    state.doubles.e[:, :in_doubles] = exponents(columns[f"e{k}"])
            if state.integers is not None:
                whole = wide_rows(columns, f"v{k}")
                integers = Integers(state.integers.v.astype(whole.dtype))
                integers.v[:, :in_integers] = whole
                state = replace(state, integers=integers)
            if state.extremes is not None:
                least = wide_rows(columns, f"x{k}")
                extremes = widened(state.extremes) if least.dtype == np.object_ else state.extremes
                extremes[:, :in_keys] = least
                check_extremes(evaluator, extremes[:, :in_keys], self.keys_of_cell(evaluator))
                state = replace(state, extremes=extremes)
            # At rest they are relative to one middle (`around_one`).
            middles = {o: np.full(len(window), c.middle) for o, c in evaluator.centres.items()}
            states.append(replace(state, middles=middles))
        keys = tuple(columns[f"p{k}"] for k in range(len(self.setting.partition_types)))
        self.kept = Kept(keys, window, tuple(states))

    def keys_of_cell(self, evaluator: Evaluator) -> int:
        """How many keys a vector has for each of its cells."""
        return 1 + len(evaluator.layout.extremes)

    @property
    def table_names(self) -> list[str]:
        """Those that a state may have."""
        return ["pending", "vectors"]

    def _column_types(self) -> tuple[dict[str, pa.DataType], dict[str, pa.DataType]]:
        """Columns of vectors that must be there, and those that may be."""
        needed, optional = {**key_types(self.setting), "window": pa.int64()}, {}
        for k, (evaluator, state) in enumerate(zip(self.evaluators, self.kept.states, strict=True)):
            in_doubles, in_integers, in_keys = _cells(evaluator)
            if state.doubles is not None:
                needed[f"m{k}"] = to_lists(state.doubles.m[:0, :in_doubles]).type
                optional[f"e{k}"] = to_lists(state.doubles.e[:0, :in_doubles]).type
            if state.integers is not None:
                width = state.integers.v[:, :in_integers].shape[1]
                needed[f"v{k}"] = pa.list_(pa.int64(), width)
                optional[f"v{k}_wide"] = pa.list_(pa.string(), width)
            if state.extremes is not None:
                width = state.extremes[:, :in_keys].shape[1]
                needed[f"x{k}"] = pa.list_(pa.int64(), width)
                optional[f"x{k}_wide"] = pa.list_(pa.string(), width)
        return needed, optional


def _waiting_table(name: str, waiting: Waiting) -> dict[str, pa.Table]:
    return {} if waiting.table is None else {name: waiting.table.combine_chunks()}


def _cells(evaluator: Evaluator) -> tuple[int, int, int]:
    """How many leading numbers of a vector mean something: doubles, integers, keys."""
    cells = evaluator.cells + 1
    layout = evaluator.layout
    scaled, checked, extremes = (
        cells * (1 + len(lanes or ())) for lanes in (layout.scaled, layout.checked, layout.extremes)
    )
    return scaled, checked, extremes


def _concatenated(left: pa.Array, right: pa.Array) -> pa.Array:
    return pa.concat_arrays([left, right])


def _stacked(left: State, right: State, rows: tuple[int, int]) -> State:
    doubles = integers = extremes = shelf = None
    if left.doubles is not None and right.doubles is not None:
        m = np.concatenate([left.doubles.m, right.doubles.m])
        doubles = Doubles(m, np.concatenate([left.doubles.e, right.doubles.e]))
    if left.integers is not None and right.integers is not None:
        integers = Integers(np.concatenate([left.integers.v, right.integers.v]))
    if left.extremes is not None and right.extremes is not None:
        extremes = joined([left.extremes, right.extremes])
    if left.shelf is not None and right.shelf is not None:
        shelf = np.concatenate([left.shelf, right.shelf])
    middles = {
        operand: np.concatenate(
            [
                state.middles.get(operand, np.full(count, np.nan))
                for state, count in zip((left, right), rows, strict=True)
            ]
        )
        for operand in left.middles | right.middles
    }
    return State(doubles, integers, extremes, shelf, middles=middles)
