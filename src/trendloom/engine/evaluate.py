"""Runs one part of a plan over complete windows of a chunk.

1. Bound variables turn a run into one run per value (`spread`).
2. The lanes' inputs are gathered as columns.
3. `fold` (type grain, sums) or `route` (everything else) fills a row per slot.
4. Exact integers take further passes with residues; DISTINCT one pass per block of events.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from trendloom.engine.columns import (
    as_doubles,
    as_integers,
    order_keys,
    pair_columns,
    valid,
)
from trendloom.engine.exact import PRIMES_PER_PASS, join_residues, primes, primes_needed
from trendloom.engine.lanes import TRENDS, Extremum, Lane, Sum
from trendloom.engine.numbers import Column, Doubles, Exact, Integers, overflow
from trendloom.engine.program import (
    compile_predicates,
    compile_program,
    compile_table,
    foldable,
    possible_masks,
)
from trendloom.errors import LimitError
from trendloom.kernels.checked import Checked
from trendloom.kernels.extreme import ABSENT, Extreme
from trendloom.kernels.fold import fold_doubles, fold_integers
from trendloom.kernels.members import BLOCK_BITS, BLOCK_WORDS, Members
from trendloom.kernels.modular import Modular
from trendloom.kernels.program import Work
from trendloom.kernels.route import cells_needed, route
from trendloom.kernels.scaled import Scaled
from trendloom.language.nodes import Semantics
from trendloom.plan.plan import BindingKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.layout import Layout
    from trendloom.engine.windows import Runs
    from trendloom.kernels.fold import Table
    from trendloom.kernels.route import Lanes
    from trendloom.plan.plan import Part

MAX_RUNS = 20_000_000
SMALL_MASK = 12
"""Up to so many letters the mask itself is the event's code."""

Inputs = dict[Sum, "NDArray[np.float64] | NDArray[np.int64]"]


@dataclass(frozen=True)
class Slots:
    """Results of one part: slot i belongs to run `run[i]` and to values of its grouping variables."""

    run: NDArray[np.int64]
    groups: tuple[pa.Array, ...]
    """Per grouping binding: the value, null for trends without the variable."""
    found: NDArray[np.bool_]
    columns: dict[Lane, Column]
    extremes: dict[Extremum, NDArray[np.int64]]


@dataclass(frozen=True)
class Evaluator:
    """A part, its layout and what is the same for every chunk."""

    part: Part
    layout: Layout
    semantics: Semantics
    types: tuple[str, ...]
    """Event types of the scan's letters."""
    centres: dict[int, float]
    """Per operand: the constant that centred sums are relative to."""

    @property
    def folds(self) -> bool:
        return foldable(self.part) and self.layout.sums_only

    # ── masks ────────────────────────────────────────────────────────────────────────────────

    def masks(self, chunk: Chunk) -> NDArray[np.uint64]:
        """The part's own letters, as bits from 0."""
        whole = chunk.mask.astype(np.uint64)
        first = self.part.bits[0][0]
        if self.part.bits == tuple((first + k,) for k in range(len(self.part.bits))):
            width = np.uint64((1 << len(self.part.bits)) - 1)
            return (whole >> np.uint64(first)) & width  # type: ignore[no-any-return]
        own = np.zeros(len(chunk), np.uint64)
        for k, bits in enumerate(self.part.bits):
            needed = np.uint64(sum(1 << bit for bit in set(bits)))
            own |= ((whole & needed) == needed).astype(np.uint64) << np.uint64(k)
        return own

    def table(self, chunk: Chunk) -> tuple[Table, NDArray[np.int64] | NDArray[np.uint8]]:
        """The fast path's table and every event's code in it."""
        letters = len(self.part.bits)
        types = [self.types[bits[0]] for bits in self.part.bits]
        alone = self.part.bits == tuple((k,) for k in range(len(self.types)))
        if letters <= SMALL_MASK:
            codes = chunk.mask if alone else self.masks(chunk).astype(np.uint16)
            return compile_table(self.part, self.semantics, possible_masks(types)), codes
        distinct, codes = np.unique(self.masks(chunk), return_inverse=True)
        return compile_table(self.part, self.semantics, [int(m) for m in distinct]), codes

    # ── the fast path ────────────────────────────────────────────────────────────────────────

    def fold(
        self, chunk: Chunk, runs: Runs, doubles: Doubles | None, integers: Integers | None
    ) -> None:
        """Moves the state on by the runs' events. Row r of a state is run r's vector."""
        table, codes = self.table(chunk)
        if doubles is not None and self.layout.scaled is not None:
            x = self._inputs(chunk, self.layout.scaled, np.float64)
            var = self._variables(self.layout.scaled)
            fold_doubles(
                table, chunk.order, codes, runs.lo, runs.hi, doubles.m, doubles.e, var, x
            )
        if integers is not None and self.layout.checked is not None:
            x = self._inputs(chunk, self.layout.checked, np.int64)
            var = self._variables(self.layout.checked)
            if not fold_integers(table, chunk.order, codes, runs.lo, runs.hi, integers.v, var, x):
                raise overflow()

    def blank(self, rows: int) -> tuple[Doubles | None, Integers | None]:
        """States of runs that have seen nothing."""
        cells = len(self.part.automaton.states) + 3
        doubles = integers = None
        if self.layout.scaled is not None:
            shape = (rows, cells * (1 + len(self.layout.scaled)))
            doubles = Doubles(np.zeros(shape), np.zeros(shape, np.int64))
        if self.layout.checked is not None:
            shape = (rows, cells * (1 + len(self.layout.checked)))
            integers = Integers(np.zeros(shape, np.int64))
        return doubles, integers

    def read(self, doubles: Doubles | None, integers: Integers | None) -> Slots:
        """The finished trends' sums of every row."""
        columns: dict[Lane, Column] = {}
        rows = 0
        states = len(self.part.automaton.states)
        ends = [states]
        if self.semantics is Semantics.ANY:
            # Nothing is consumed, so the finished trends are all that ended in accepting states.
            ends = sorted({accept.state for accept in self.part.automaton.accepts}) or ends
        if doubles is not None and self.layout.scaled is not None:
            rows = len(doubles.m)
            width = 1 + len(self.layout.scaled)
            for k, lane in enumerate((TRENDS, *self.layout.scaled)):
                at = [end * width + k for end in ends]
                flat = Doubles(doubles.m[:, at].ravel(), doubles.e[:, at].ravel())
                columns[lane] = flat.sum_runs(np.arange(rows) * len(at))
        if integers is not None and self.layout.checked is not None:
            rows = len(integers.v)
            width = 1 + len(self.layout.checked)
            for k, lane in enumerate((TRENDS, *self.layout.checked)):
                at = [end * width + k for end in ends]
                flat_ints = Integers(integers.v[:, at].ravel())
                columns[lane] = flat_ints.sum_runs(np.arange(rows) * len(at))
        return Slots(np.arange(rows), (), columns[TRENDS].nonzero, columns, {})

    def empty(self) -> tuple[dict[Lane, Column], dict[Extremum, NDArray[np.int64]]]:
        """The lanes of no slots: what an input without events gives."""
        none = np.zeros(0, np.int64)
        columns: dict[Lane, Column] = {}
        for lane in (TRENDS, *(self.layout.scaled or ())):
            columns[lane] = Doubles(np.zeros(0), none)
        if self.layout.checked is not None:
            columns |= {lane: Integers(none) for lane in (TRENDS, *self.layout.checked)}
        if self.layout.exact is not None:
            exact = Exact(np.zeros(0, np.object_))
            columns |= {lane: exact for lane in (TRENDS, *self.layout.exact)}
        columns |= {lane: Integers(none) for lane in self.layout.distinct}
        return columns, {lane: none for lane in self.layout.extremes}

    # ── everything else ──────────────────────────────────────────────────────────────────────

    def evaluate(self, chunk: Chunk, runs: Runs) -> Slots:
        """Complete runs, by the fast path or the router."""
        if self.folds:
            doubles, integers = self.blank(len(runs))
            self.fold(chunk, runs, doubles, integers)
            return self.read(doubles, integers)
        return self._route(chunk, runs)

    def _route(self, chunk: Chunk, runs: Runs) -> Slots:
        masks = self.masks(chunk)
        codes, dictionaries = self._bound_values(chunk)
        work, slot_run, slot_values = self._spread(runs, masks, codes)
        slots = len(slot_run)
        router = _Router(self, chunk, masks, codes, work, slots)
        found = np.zeros(slots, np.uint8)
        layout = self.layout
        columns: dict[Lane, Column] = {}
        extremes: dict[Extremum, NDArray[np.int64]] = {}

        # In exact mode the doubles serve as bounds: sums of magnitudes tell how many primes to take.
        bounds = layout.scaled
        if layout.exact is not None:
            bounds = (*layout.exact, *(layout.scaled or ()))
        scaled = None
        if bounds is not None:
            scaled = router.scaled(bounds, magnitudes=len(layout.exact or ()))
        checked = None if layout.checked is None else router.checked(layout.checked)
        extreme = router.extreme(layout.extremes) if layout.extremes else None
        router.pass_(found, scaled=scaled, checked=checked, extreme=extreme)
        if checked is not None:
            if checked.overflow[0] < 0:
                raise overflow()
            for k, lane in enumerate((TRENDS, *(layout.checked or ()))):
                columns[lane] = Integers(checked.out[:, k])
        if scaled is not None and bounds is not None:
            for k, lane in enumerate((TRENDS, *bounds)):
                if not (lane is TRENDS and layout.checked is not None):
                    columns[lane] = Doubles(scaled.out_m[:, k], scaled.out_e[:, k])
        if layout.exact is not None:
            assert scaled is not None
            columns |= router.exact(layout.exact, scaled)
        for k, extremum in enumerate(layout.extremes):
            assert extreme is not None
            extremes[extremum] = extreme.out[:, k]
        for variable in dict.fromkeys(lane.variable for lane in layout.distinct):
            assert variable is not None
            slot, event = router.members(variable)
            mine = [lane for lane in layout.distinct if lane.variable == variable]
            columns |= self._distinct(chunk, mine, slot, event, slots)
        groups = tuple(
            _decode(dictionaries[b], slot_values[:, b])
            for b, binding in enumerate(self.part.bindings)
            if binding.kind is BindingKind.GROUP
        )
        return Slots(slot_run, groups, found.astype(np.bool_), columns, extremes)

    def _bound_values(self, chunk: Chunk) -> tuple[NDArray[np.int64], list[pa.Array | None]]:
        """Per binding and event: the number of its grouping value, -1 for null."""
        codes = np.full((len(self.part.bindings), len(chunk)), -1, np.int64)
        dictionaries: list[pa.Array | None] = []
        for b, binding in enumerate(self.part.bindings):
            dictionaries.append(None)
            if binding.operand is not None:
                column = chunk.operand(binding.operand)
                if not isinstance(column, pa.DictionaryArray):
                    column = column.dictionary_encode()
                codes[b] = as_integers(column.indices.cast(pa.int64()).fill_null(-1))
                dictionaries[b] = column.dictionary
        return codes, dictionaries

    def _spread(
        self, runs: Runs, masks: NDArray[np.uint64], codes: NDArray[np.int64]
    ) -> tuple[Work, NDArray[np.int64], NDArray[np.int64]]:
        """One run per value of the bound variables; runs of one slot are neighbours."""
        bindings = self.part.bindings
        count = len(runs)
        if not bindings:
            every = np.arange(count)
            return Work(runs.lo, runs.hi, every, np.zeros((count, 0), np.int64)), every, every[:, None]
        names = self.part.automaton.variables
        bits = [np.uint64(1 << names.index(b.variable)) for b in bindings]
        groups = [b for b, binding in enumerate(bindings) if binding.kind is BindingKind.GROUP]
        anchors = [b for b, binding in enumerate(bindings) if binding.kind is BindingKind.ANCHOR]
        lo: list[int] = []
        hi: list[int] = []
        slot: list[int] = []
        bound: list[list[int]] = []
        slot_run: list[int] = []
        slot_values: list[list[int]] = []
        for run in range(count):
            first, last = int(runs.lo[run]), int(runs.hi[run])
            here = [np.flatnonzero(masks[first:last] & bit) + first for bit in bits]
            choices = {b: [int(k) for k in here[b]] for b in anchors}
            for b in groups:
                present = np.unique(codes[b][here[b]])
                choices[b] = [int(k) for k in present if k >= 0] + [-1] * bindings[b].optional
            for values in product(*(choices[b] for b in groups)):
                by_group = dict(zip(groups, values, strict=True))
                slot_run.append(run)
                slot_values.append([by_group.get(b, -1) for b in range(len(bindings))])
                for events in product(*(choices[b] for b in anchors)):
                    by_anchor = dict(zip(anchors, events, strict=True))
                    lo.append(first)
                    hi.append(last)
                    slot.append(len(slot_run) - 1)
                    bound.append([(by_group | by_anchor)[b] for b in range(len(bindings))])
                if len(lo) > MAX_RUNS:
                    raise LimitError(
                        f"More than {MAX_RUNS:,} combinations of anchors and grouping values.",
                        remedy="Use a shorter window, or fewer conditions between distant events.",
                    )
        as_ints = [np.array(column, np.int64) for column in (lo, hi, slot)]
        return (
            Work(*as_ints, np.array(bound, np.int64).reshape(len(lo), len(bindings))),
            np.array(slot_run, np.int64),
            np.array(slot_values, np.int64).reshape(len(slot_run), len(bindings)),
        )

    # ── inputs of lanes ──────────────────────────────────────────────────────────────────────

    def value(self, chunk: Chunk, lane: Sum, kind: type) -> NDArray[np.float64] | NDArray[np.int64]:
        """What each event adds to a lane; 0 for nulls."""
        if lane.operand is None:
            return np.ones(len(chunk), kind)
        column = chunk.operand(lane.operand)
        if lane.power == 0:
            return valid(column).astype(kind)
        if kind is np.int64:
            return as_integers(column)
        values = as_doubles(column, np.nan)
        if lane.centred:
            values = values - self.centres.get(lane.operand, 0.0)
        if lane.power == 2:
            values = values * values
        return np.nan_to_num(values, nan=0.0, posinf=np.inf, neginf=-np.inf)

    def _inputs(
        self, chunk: Chunk, lanes: Sequence[Sum], kind: type, *, magnitudes: int = 0
    ) -> NDArray[np.float64] | NDArray[np.int64]:
        if not lanes:
            return np.zeros((1, 1), kind)
        x = np.zeros((1 + len(lanes), len(chunk)), kind)
        for k, lane in enumerate(lanes, start=1):
            x[k] = self.value(chunk, lane, kind)
            if k <= magnitudes:
                np.abs(x[k], out=x[k])
        return x

    def _variables(self, lanes: Sequence[Sum]) -> NDArray[np.int64]:
        """The variable that feeds each lane: -1 for every one, -2 for lane 0, which counts."""
        names = self.part.automaton.variables
        return np.array(
            [-2, *(-1 if lane.variable is None else names.index(lane.variable) for lane in lanes)],
            np.int64,
        )

    def _distinct(
        self,
        chunk: Chunk,
        lanes: Sequence[Sum],
        slot: NDArray[np.int64],
        event: NDArray[np.int64],
        slots: int,
    ) -> dict[Lane, Column]:
        """Sums over the events that are in any trend."""
        columns: dict[Lane, Column] = {}
        for lane in lanes:
            whole = lane.power == 0 or (
                not lane.centred
                and lane.operand is not None
                and pa.types.is_integer(chunk.operand(lane.operand).type)
            )
            if whole:
                values = self.value(chunk, lane, np.int64)[event]
                total = np.zeros(slots, np.int64)
                np.add.at(total, slot, values)
                size = np.zeros(slots)
                np.add.at(size, slot, np.abs(values.astype(np.float64)))
                if size.max(initial=0.0) >= 2.0**62:
                    raise overflow()
                columns[lane] = Integers(total)
            else:
                sums = np.zeros(slots)
                np.add.at(sums, slot, self.value(chunk, lane, np.float64)[event])
                columns[lane] = Doubles(sums, np.zeros(slots, np.int64))
        return columns


def _decode(dictionary: pa.Array | None, codes: NDArray[np.int64]) -> pa.Array:
    assert dictionary is not None
    return dictionary.take(pa.array(codes, pa.int64(), mask=codes < 0))


class _Router:
    """The router's arguments for one chunk; several passes may use them."""

    def __init__(
        self,
        evaluator: Evaluator,
        chunk: Chunk,
        masks: NDArray[np.uint64],
        values: NDArray[np.int64],
        work: Work,
        slots: int,
    ) -> None:
        self.evaluator = evaluator
        self.chunk = chunk
        self.masks = masks
        self.values = values
        self.work = work
        self.slots = slots
        part = evaluator.part
        self.program = compile_program(part, evaluator.semantics)
        self.predicates = compile_predicates(part, pair_columns(part, chunk))
        self.span = int((work.hi - work.lo).max(initial=0))
        self.width = _longest_tie(chunk.order) * len(part.automaton.states) if self.span else 1
        self.cells = cells_needed(self.program, self.span, self.width)

    def pass_(
        self,
        found: NDArray[np.uint8],
        *,
        work: Work | None = None,
        scaled: Scaled | None = None,
        checked: Checked | None = None,
        modular: Modular | None = None,
        extreme: Extreme | None = None,
        members: Members | None = None,
    ) -> None:
        lanes: Lanes = (
            scaled or self.scaled(None),
            checked or self.checked(None),
            modular or self.modular(None, 0),
            extreme or self.extreme(()),
            members or self._members(None, 0),
        )
        route(
            self.program,
            self.predicates,
            self.chunk.order,
            self.masks,
            self.values,
            work or self.work,
            lanes,
            self.span,
            self.width,
            found,
        )

    # Each semiring's cells, or an empty one where it is not in use.

    def scaled(self, lanes: Sequence[Sum] | None, *, magnitudes: int = 0) -> Scaled:
        width = 0 if lanes is None else 1 + len(lanes)
        cells, slots = (self.cells, self.slots) if width else (0, 0)
        return Scaled(
            np.zeros((cells, width)),
            np.zeros((cells, width), np.int64),
            self.evaluator._variables(lanes or ()),
            self.evaluator._inputs(self.chunk, lanes or (), np.float64, magnitudes=magnitudes),
            np.zeros((slots, width)),
            np.zeros((slots, width), np.int64),
        )

    def checked(self, lanes: Sequence[Sum] | None) -> Checked:
        width = 0 if lanes is None else 1 + len(lanes)
        cells, slots = (self.cells, self.slots) if width else (0, 0)
        return Checked(
            np.zeros((cells, width), np.int64),
            self.evaluator._variables(lanes or ()),
            self.evaluator._inputs(self.chunk, lanes or (), np.int64),
            np.zeros((slots, width), np.int64),
            np.zeros(1, np.int64),
        )

    def modular(self, lanes: Sequence[Sum] | None, first: int, count: int = 0) -> Modular:
        width = 0 if lanes is None else (1 + len(lanes)) * count
        cells, slots = (self.cells, self.slots) if width else (0, 0)
        return Modular(
            np.zeros((cells, width), np.int64),
            self.evaluator._variables(lanes or ()),
            self.evaluator._inputs(self.chunk, lanes or (), np.int64),
            primes(first + count)[first:].copy(),
            np.zeros((slots, width), np.int64),
        )

    def extreme(self, lanes: Sequence[Extremum]) -> Extreme:
        names = self.evaluator.part.automaton.variables
        cells, slots = (self.cells, self.slots) if lanes else (0, 0)
        keys = np.full((len(lanes), len(self.chunk)), ABSENT, np.int64)
        for k, lane in enumerate(lanes):
            if lane.operand is not None:
                keys[k] = order_keys(self.chunk.operand(lane.operand), largest=lane.largest)
        return Extreme(
            np.full((cells, len(lanes)), ABSENT, np.int64),
            np.array([-2 if x.variable is None else names.index(x.variable) for x in lanes], np.int64),
            np.array(
                [0 if x.variable is not None else -1 if x.largest else 1 for x in lanes], np.int64
            ),
            keys,
            np.full((slots, len(lanes)), ABSENT, np.int64),
        )

    def _members(self, variable: str | None, base: int) -> Members:
        names = self.evaluator.part.automaton.variables
        words = 0 if variable is None else BLOCK_WORDS
        ordinal = np.zeros(0 if variable is None else len(self.chunk), np.int64)
        number = -1
        room = 0
        if variable is not None:
            number = names.index(variable)
            candidate = ((self.masks >> np.uint64(number)) & np.uint64(1)).astype(np.bool_)
            ordinal = np.where(candidate, np.cumsum(candidate) - 1, -1)
            ends = np.append(np.diff(self.work.slot) != 0, True)[: len(self.work.slot)]
            room = int((self.work.hi - self.work.lo)[ends].sum())
        return Members(
            np.zeros((self.cells if words else 0, words), np.uint64),
            np.array([number], np.int64),
            ordinal,
            np.array([base], np.int64),
            np.zeros(room, np.int64),
            np.zeros(room, np.int64),
            np.zeros(1, np.int64),
        )

    # Passes of their own.

    def exact(self, lanes: Sequence[Sum], bounds: Scaled) -> dict[Lane, Column]:
        """Exact sums: residues modulo as many primes as the bounds ask for."""
        width = 1 + len(lanes)
        bits = np.zeros(self.slots)
        for k in range(width):
            column = Doubles(np.abs(bounds.out_m[:, k]), bounds.out_e[:, k])
            bits = np.maximum(bits, np.where(column.nonzero, column.log2(), 0.0))
        needed = primes_needed(bits)
        residues: list[NDArray[np.int64]] = []
        found = np.zeros(self.slots, np.uint8)
        for first in range(0, int(needed.max(initial=0)), PRIMES_PER_PASS):
            count = min(PRIMES_PER_PASS, int(needed.max()) - first)
            lane = self.modular(lanes, first, count)
            still = needed[self.work.slot] > first
            self.pass_(found, work=Work(*(column[still] for column in self.work)), modular=lane)
            residues.append(lane.out.reshape(self.slots, width, count))
        columns: dict[Lane, Column] = {}
        for k, name in enumerate((TRENDS, *lanes)):
            values = np.zeros(self.slots, np.object_)
            for slot in range(self.slots):
                mine = [block[slot, k] for block in residues]
                if mine:
                    values[slot] = join_residues(np.concatenate(mine)[: needed[slot]])
            columns[name] = Exact(values)
        return columns

    def members(self, variable: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(slot, event) for every event that is the variable in any trend of the slot."""
        lanes = self._members(variable, 0)
        slots: list[NDArray[np.int64]] = []
        events: list[NDArray[np.int64]] = []
        found = np.zeros(self.slots, np.uint8)
        candidates = lanes.ordinal >= 0
        seen = np.append(0, np.cumsum(candidates))
        low, high = seen[self.work.lo], seen[self.work.hi]
        for base in range(0, int(high.max(initial=0)), BLOCK_BITS):
            block = self._members(variable, base)
            touched = (low < base + BLOCK_BITS) & (high > base)
            if not touched.any():
                continue
            self.pass_(found, work=Work(*(column[touched] for column in self.work)), members=block)
            size = int(block.out_size[0])
            slots.append(block.out_slot[:size])
            events.append(block.out_event[:size])
        empty = [np.zeros(0, np.int64)]
        return np.concatenate(slots or empty), np.concatenate(events or empty)


def _longest_tie(order: NDArray[np.int64]) -> int:
    """The largest number of rows of one order in a row."""
    changes = np.flatnonzero(np.diff(order)) + 1
    edges = np.concatenate([[0], changes, [len(order)]])
    return int(np.diff(edges).max(initial=1))
