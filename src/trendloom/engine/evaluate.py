"""One part of a plan over the windows of a chunk: the fast path, or a search."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from trendloom.engine.arrow import read_only
from trendloom.engine.centres import moments
from trendloom.engine.centring import (
    around_partitions,
    around_runs,
    around_vectors,
    row_centres,
)
from trendloom.engine.ends import Moved
from trendloom.engine.ends import narrowed as narrowed_keys
from trendloom.engine.inputs import (
    Centre,
    double_rows,
    feeding_variables,
    integer_rows,
    key_rows,
    length_steps,
)
from trendloom.engine.lanes import TRENDS, Extremum, Lane, with_count
from trendloom.engine.layout import is_whole
from trendloom.engine.neighbours import with_steps, without_ties
from trendloom.engine.numbers import Column, Doubles, Exact, Integers, narrowed
from trendloom.engine.pieces import LEAST_EVENTS, Vectors
from trendloom.engine.program import compile_table, possible_masks
from trendloom.engine.searching import Search
from trendloom.engine.shares import cut_runs, cut_windows, portions
from trendloom.engine.sliding import Slider, cut_panes, lay_panes
from trendloom.engine.slots import Slots, State
from trendloom.engine.threads import together
from trendloom.kernels.extreme import ABSENT
from trendloom.kernels.fold import fold_doubles, fold_integers
from trendloom.kernels.lattice import fold_extremes
from trendloom.language.nodes import Semantics
from trendloom.plan.lookups import lookups

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.layout import Layout
    from trendloom.engine.shares import Portion
    from trendloom.engine.windows import Runs
    from trendloom.kernels.table import Table
    from trendloom.pattern.folding import Folding
    from trendloom.plan.plan import Part

    Ints = NDArray[np.int64]

SMALL_MASK = 12
"""Up to so many letters the mask itself is the event's code."""


@dataclass(frozen=True)
class Evaluator:
    """A part, its layout and what is the same for every chunk."""

    part: Part
    folding: Folding | None
    layout: Layout
    semantics: Semantics
    letter_types: tuple[str, ...]
    """Event types of the scan's letters."""
    operand_types: tuple[pa.DataType, ...]
    centres: dict[int, Centre]
    """Per operand: what centred sums are relative to."""
    threads: int = 1

    @property
    def folds(self) -> bool:
        return not self.part.adjacent and self.folding is not None and self.layout.fits_vectors

    @property
    def has_maps(self) -> bool:
        """Whether events can become maps: where they fold or step, and with exact integers too."""
        return self.folding is not None and not self.layout.distinct

    @property
    def steps(self) -> bool:
        """Whether conditions between neighbours are letters, and runs without ties are folded."""
        return bool(self.part.adjacent) and self.folding is not None and self.layout.fits_vectors

    @property
    def fast(self) -> Folding:
        """The fast path's automaton, where it is taken."""
        assert self.folding is not None, "only parts that fold or step have vectors"
        return self.folding

    @property
    def cells(self) -> int:
        """How many sums a lane of a vector has, without the finished trends'."""
        return self.fast.cells

    @property
    def dearer_maps(self) -> float:
        """How many times as dear maps are, beside vectors, as is reckoned with."""
        return 1.0

    @property
    def ranks(self) -> bool:
        """Whether conditions between consecutive events are looked up by value, not scanned."""
        sums = self.layout.exact is None and not self.layout.distinct
        if self.semantics is Semantics.ANY and not sums:
            return False
        return lookups(self.part, self.semantics) is not None

    def evaluate(self, chunk: Chunk, runs: Runs) -> Slots:
        """Complete runs from nothing, whatever their numbers are."""
        moved = Moved.of(self.layout.extremes, chunk, None)
        chunk, middles = around_partitions(self, chunk if moved is None else moved.chunk)
        slots = self.from_nothing(chunk, runs)
        if moved is not None:
            keys = {lane: moved.key(lane, keys) for lane, keys in slots.extremes.items()}
            slots = replace(slots, extremes=keys)
        if not middles:
            return slots
        of_slots = {k: middle[runs.partition][slots.run] for k, middle in middles.items()}
        centres = row_centres(self, moments(slots.columns), of_slots)
        return around_runs(self, chunk, runs, replace(slots, centres=centres))

    def from_nothing(self, chunk: Chunk, runs: Runs) -> Slots:
        """Complete runs of values that are centred, and not at the ends."""
        if self.steps:
            return self._step(chunk, runs)
        if self.ranks or not self.folds:
            return self.search(chunk, runs)
        return self.read(self.fold(chunk, runs, self.blank(len(runs))))

    def search(self, chunk: Chunk, runs: Runs) -> Slots:
        """Complete runs, by value or event by event."""
        return Search(self, chunk, runs).slots()

    def empty(self) -> tuple[dict[Lane, Column], dict[Extremum, Ints]]:
        """The lanes of no slots: what an input without events gives."""
        none = np.zeros(0, np.int64)
        columns: dict[Lane, Column] = {}
        for lane in with_count(self.layout.scaled or ()):
            columns[lane] = Doubles(np.zeros(0), none)
        if self.layout.checked is not None:
            columns |= {lane: Integers(none) for lane in with_count(self.layout.checked)}
        if self.layout.exact is not None:
            exact = Exact(np.zeros(0, np.object_))
            columns |= dict.fromkeys(with_count(self.layout.exact), exact)
        for lane in self.layout.distinct:
            whole = is_whole(lane, self.operand_types)
            columns[lane] = Integers(none) if whole else Doubles(np.zeros(0), none)
        return columns, dict.fromkeys(self.layout.extremes, none)

    # ── the fast path ────────────────────────────────────────────────────────────────────────

    def blank(self, rows: int) -> State:
        """Vectors of runs that have seen nothing: zero, but for one empty trend in armed cells."""
        cells, armed = self.cells + 3, np.array(self.fast.armed, np.int64)
        in_doubles = in_integers = in_keys = None
        if self.layout.scaled is not None:
            shape = (rows, cells * (1 + len(self.layout.scaled)))
            in_doubles = Doubles(np.zeros(shape), np.zeros(shape, np.int64))
            in_doubles.m[:, armed * (1 + len(self.layout.scaled))] = 1.0
        if self.layout.checked is not None:
            in_integers = Integers(self.first_integers(rows, 1 + len(self.layout.checked)))
        if self.layout.extremes:
            width = 1 + len(self.layout.extremes)
            in_keys = np.full((rows, cells * width), ABSENT, np.int64)
            lengths = np.flatnonzero(length_steps(self.layout.extremes))
            for lane in (0, *(1 + lengths)):
                in_keys[:, armed * width + lane] = 0
        return State(in_doubles, in_integers, in_keys)

    def first_integers(self, rows: int, lanes: int) -> Ints:
        """The same of so many lanes of integers, the count's among them."""
        vectors = np.zeros((rows, (self.cells + 3) * lanes), np.int64)
        vectors[:, np.array(self.fast.armed, np.int64) * lanes] = 1
        return vectors

    def fold(self, chunk: Chunk, runs: Runs, state: State) -> State:
        """The state with row r moved on by the events of run r. The one given is used up."""
        chunk, state = around_vectors(self, chunk, runs, state)
        moved = Moved.of(self.layout.extremes, chunk, state.extremes)
        if moved is None:
            return self._fold_integers(chunk, runs, state)
        return moved.back(self._fold_integers(moved.chunk, runs, moved.state(state)))

    def _fold_integers(self, chunk: Chunk, runs: Runs, state: State) -> State:
        """The same of values that are not at the ends; integers may be of any size."""
        first, rest = state.integers, state
        if first is not None and first.is_wide:
            rest = replace(state, integers=None)
        elif first is not None:
            first = first.take(np.arange(len(runs)))
        self._fold(chunk, runs, rest)
        if first is None or not (first.is_wide or state.overflow[0]):
            return state
        exact = Vectors(self, chunk, *self.table(chunk)).fold_exactly(runs, first.v)
        return replace(state, integers=Integers(narrowed(exact)), overflow=np.zeros(1, np.bool_))

    def _fold(self, chunk: Chunk, runs: Runs, state: State) -> None:
        """The same in place; says in `overflow` if integers do not fit."""
        table, codes = self.table(chunk)
        panes = cut_panes(chunk, runs)
        if panes is None or not panes.pay(self):
            Vectors(self, chunk, table, codes).fold(runs, state)
        else:
            shares = min(self.threads, panes.events // LEAST_EVENTS)
            mine = portions(chunk, runs, cut_windows(runs, shares) if shares > 1 else [])
            together([partial(self._slide, table, codes, one, state) for one in mine])

    def _slide(self, table: Table, codes: NDArray[Any], mine: Portion, state: State) -> None:
        """Maps of panes."""
        chunk, runs, codes = mine.chunk, mine.runs, codes[mine.lo : mine.hi]
        state = state.rows(mine.first, mine.end)
        lost = Slider.of(self, chunk, lay_panes(chunk, runs), table, codes).move(state)
        if len(lost) and state.integers is not None:
            # A vector has less to add up than a map.
            integers = state.integers.take(lost)
            rest = State(None, integers, None, overflow=state.overflow)
            self.fold_runs(chunk, table, codes, runs.pick(lost), rest)
            state.integers.v[lost] = integers.v

    def fold_runs(
        self, chunk: Chunk, table: Table, codes: NDArray[Any], runs: Runs, state: State
    ) -> None:
        """One vector after another."""
        variables = self.part.automaton.variables
        if state.doubles is not None and self.layout.scaled is not None:
            fold_doubles(
                table, chunk.order, codes, runs.lo, runs.hi, state.doubles.m, state.doubles.e,
                feeding_variables(variables, self.layout.scaled),
                double_rows(chunk, self.layout.scaled, self.centres),
            )  # fmt: skip
        if state.integers is not None and self.layout.checked is not None:
            fits = fold_integers(
                table, chunk.order, codes, runs.lo, runs.hi, state.integers.v,
                feeding_variables(variables, self.layout.checked),
                integer_rows(chunk, self.layout.checked),
            )  # fmt: skip
            if not fits:
                state.overflow[:] = True
        if state.extremes is not None:
            lanes = self.layout.extremes
            fold_extremes(
                table, chunk.order, codes, runs.lo, runs.hi, state.extremes,
                feeding_variables(variables, lanes), length_steps(lanes), key_rows(chunk, lanes),
            )  # fmt: skip

    def read(self, state: State) -> Slots:
        """The finished trends' sums and extremes of every row."""
        columns: dict[Lane, Column] = {}
        extremes: dict[Extremum, NDArray[Any]] = {}
        rows = 0
        ends = [self.cells]
        if self.semantics is Semantics.ANY:
            # Nothing is consumed, so the finished trends are all that ended in accepting states.
            ends = sorted(self.fast.accepts) or ends
        if state.doubles is not None and self.layout.scaled is not None:
            rows, width = len(state.doubles.m), 1 + len(self.layout.scaled)
            for k, lane in enumerate(with_count(self.layout.scaled)):
                at = [end * width + k for end in ends]
                flat = Doubles(state.doubles.m[:, at].ravel(), state.doubles.e[:, at].ravel())
                columns[lane] = flat.sum_runs(np.arange(rows) * len(at))
        if state.integers is not None and self.layout.checked is not None:
            rows, width = len(state.integers.v), 1 + len(self.layout.checked)
            for k, lane in enumerate(with_count(self.layout.checked)):
                at = [end * width + k for end in ends]
                whole = Integers(state.integers.v[:, at].ravel())
                columns[lane] = whole.sum_runs(np.arange(rows) * len(at))
        if state.exact is not None and self.layout.exact is not None:
            rows, width = len(state.exact), 1 + len(self.layout.exact)
            for k, lane in enumerate(with_count(self.layout.exact)):
                at = [end * width + k for end in ends]
                exact = Exact(state.exact[:, at].ravel())
                columns[lane] = exact.sum_runs(np.arange(rows) * len(at))
        if state.extremes is not None:
            width = 1 + len(self.layout.extremes)
            for k, extremum in enumerate(self.layout.extremes, 1):
                at = [end * width + k for end in ends]
                extremes[extremum] = narrowed_keys(state.extremes[:, at].min(axis=1))
        centres = row_centres(self, moments(self.layout.scaled or ()), state.middles)
        return Slots(np.arange(rows), (), columns[TRENDS].nonzero, columns, extremes, centres)

    def table(self, chunk: Chunk) -> tuple[Table, NDArray[Any]]:
        """The fast path's table and every event's code in it."""
        types = [self.letter_types[bits[0]] for bits in self.part.bits]
        conditions = len(self.part.programs)
        small = len(types) + conditions <= SMALL_MASK
        if len(types) <= SMALL_MASK and len(types) == len(self.letter_types):
            codes = chunk.mask
        elif small:
            # As wide as a scan of these letters alone has them: no further type for the kernels.
            codes = self.masks(chunk).astype(np.uint8 if len(types) <= 8 else np.uint16)
            codes = read_only(codes)
        else:
            codes = self.masks(chunk)
        if conditions:
            codes = with_steps(self.part, chunk, codes)
        if small:
            return self._small_table, codes
        distinct, codes = np.unique(codes, return_inverse=True)
        masks = [int(m) for m in distinct]
        return compile_table(self.fast, self.semantics, masks), read_only(codes)

    @cached_property
    def _small_table(self) -> Table:
        """Of every mask there can be, so once for all chunks: to compile it takes 0.2 ms."""
        types = [self.letter_types[bits[0]] for bits in self.part.bits]
        masks = possible_masks(types, len(self.part.programs))
        return compile_table(self.fast, self.semantics, masks)

    def masks(self, chunk: Chunk) -> NDArray[np.uint64]:
        """The part's own letters, as bits from 0."""
        whole = chunk.mask.astype(np.uint64)
        own = np.zeros(len(chunk), np.uint64)
        for k, bits in enumerate(self.part.bits):
            needed = np.uint64(sum(1 << bit for bit in set(bits)))
            own |= ((whole & needed) == needed).astype(np.uint64) << np.uint64(k)
        return own

    def _step(self, chunk: Chunk, runs: Runs) -> Slots:
        """Runs without simultaneous events go into vectors, the others to the router."""
        untied = without_ties(chunk, runs)
        lots = [np.flatnonzero(untied), np.flatnonzero(~untied)]
        ways = (self._vectors, self.search)
        pairs = [(way, lot) for way, lot in zip(ways, lots, strict=True) if len(lot)]
        slots = [way(chunk, runs.pick(lot)) for way, lot in pairs]
        return Slots.join(slots, [lot for _, lot in pairs])

    def _vectors(self, chunk: Chunk, runs: Runs) -> Slots:
        """A vector per run, whole runs to each thread: cut ones would be rounded otherwise."""
        table, codes = self.table(chunk)
        state = self.blank(len(runs))
        sizes = runs.hi - runs.lo
        shares = min(self.threads, int(sizes.sum()) // LEAST_EVENTS)
        together(
            [
                partial(
                    self.fold_runs, one.chunk, table, codes[one.lo : one.hi], one.runs,
                    state.rows(one.first, one.end),
                )
                for one in portions(chunk, runs, cut_runs(sizes, shares))
            ]
        )  # fmt: skip
        # Whole runs can be looked at again: the router has exact integers, too.
        return self.search(chunk, runs) if state.overflow[0] else self.read(state)
