"""One part of a plan over the windows of a chunk: the fast path, or the router."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from trendloom.engine.arrow import read_only
from trendloom.engine.inputs import (
    Centre,
    double_rows,
    doubles,
    feeding_variables,
    integer_rows,
    integers,
    key_rows,
    length_steps,
)
from trendloom.engine.lanes import TRENDS, Extremum, Lane, Sum
from trendloom.engine.lanes_of_windows import cut_stretches, stretches_of
from trendloom.engine.layout import is_whole
from trendloom.engine.neighbours import with_steps, without_ties
from trendloom.engine.numbers import Column, Doubles, Exact, Integers, overflow
from trendloom.engine.pending import Pending
from trendloom.engine.pieces import LEAST_EVENTS, Vectors
from trendloom.engine.program import compile_table, possible_masks
from trendloom.engine.ranked import Ranked
from trendloom.engine.ranks import rank, rankings_of, some_ranks
from trendloom.engine.router import Router
from trendloom.engine.shares import cut_runs, cut_windows, portions
from trendloom.engine.sliding import Slider, cut_panes, lay_panes
from trendloom.engine.slots import Slots, State
from trendloom.engine.spread import spread
from trendloom.engine.threads import together
from trendloom.kernels.extreme import ABSENT
from trendloom.kernels.fold import fold_doubles, fold_integers
from trendloom.kernels.lattice import fold_extremes
from trendloom.language.nodes import Semantics
from trendloom.plan.lookups import lookups

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.layout import Layout
    from trendloom.engine.ranks import Ranking
    from trendloom.engine.shares import Portion
    from trendloom.engine.windows import Runs
    from trendloom.kernels.ranks import Ranks
    from trendloom.kernels.table import Table
    from trendloom.pattern.folding import Folding
    from trendloom.plan.plan import Part

    Ints = NDArray[np.int64]

SMALL_MASK = 12
"""Up to so many letters the mask itself is the event's code."""
LEAST_SEARCHED = 1 << 12
"""Events of a thread's share where each is looked up or routed, which takes longer."""


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
    def steps(self) -> bool:
        """Whether conditions between neighbours are letters, and runs without ties are folded."""
        return bool(self.part.adjacent) and self.folding is not None and self.layout.fits_vectors

    @property
    def fast(self) -> Folding:
        """The fast path's automaton, where it is taken."""
        assert self.folding is not None, "only parts that fold have vectors"
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
        return self.semantics is not Semantics.CONTIGUOUS and lookups(self.part) is not None

    def evaluate(self, chunk: Chunk, runs: Runs) -> Slots:
        """Complete runs from nothing."""
        if self.steps:
            return self._step(chunk, runs)
        if self.ranks or not self.folds:
            return self._search(chunk, runs)
        state = self.blank(len(runs))
        self.fold(chunk, runs, state)
        return self.read(state)

    def empty(self) -> tuple[dict[Lane, Column], dict[Extremum, Ints]]:
        """The lanes of no slots: what an input without events gives."""
        none = np.zeros(0, np.int64)
        columns: dict[Lane, Column] = {}
        for lane in _with_count(self.layout.scaled or ()):
            columns[lane] = Doubles(np.zeros(0), none)
        if self.layout.checked is not None:
            columns |= {lane: Integers(none) for lane in _with_count(self.layout.checked)}
        if self.layout.exact is not None:
            exact = Exact(np.zeros(0, np.object_))
            columns |= dict.fromkeys(_with_count(self.layout.exact), exact)
        for lane in self.layout.distinct:
            whole = is_whole(lane, self.operand_types)
            columns[lane] = Integers(none) if whole else Doubles(np.zeros(0), none)
        return columns, dict.fromkeys(self.layout.extremes, none)

    # ── the fast path ────────────────────────────────────────────────────────────────────────

    def blank(self, rows: int) -> State:
        """Vectors of runs that have seen nothing."""
        cells = self.cells + 3
        in_doubles = in_integers = in_keys = None
        if self.layout.scaled is not None:
            shape = (rows, cells * (1 + len(self.layout.scaled)))
            in_doubles = Doubles(np.zeros(shape), np.zeros(shape, np.int64))
        if self.layout.checked is not None:
            in_integers = Integers(
                np.zeros((rows, cells * (1 + len(self.layout.checked))), np.int64)
            )
        if self.layout.extremes:
            in_keys = np.full((rows, cells * (1 + len(self.layout.extremes))), ABSENT, np.int64)
        return State(in_doubles, in_integers, in_keys)

    def fold(self, chunk: Chunk, runs: Runs, state: State) -> None:
        """Moves row r of the state on by the events of run r."""
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
            self.fold_runs(chunk, table, codes, runs.pick(lost), State(None, integers, None))
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
                raise overflow()
        if state.extremes is not None:
            lanes = self.layout.extremes
            fold_extremes(
                table, chunk.order, codes, runs.lo, runs.hi, state.extremes,
                feeding_variables(variables, lanes), length_steps(lanes), key_rows(chunk, lanes),
            )  # fmt: skip

    def read(self, state: State) -> Slots:
        """The finished trends' sums and extremes of every row."""
        columns: dict[Lane, Column] = {}
        extremes: dict[Extremum, Ints] = {}
        rows = 0
        ends = [self.cells]
        if self.semantics is Semantics.ANY:
            # Nothing is consumed, so the finished trends are all that ended in accepting states.
            ends = sorted(self.fast.accepts) or ends
        if state.doubles is not None and self.layout.scaled is not None:
            rows, width = len(state.doubles.m), 1 + len(self.layout.scaled)
            for k, lane in enumerate(_with_count(self.layout.scaled)):
                at = [end * width + k for end in ends]
                flat = Doubles(state.doubles.m[:, at].ravel(), state.doubles.e[:, at].ravel())
                columns[lane] = flat.sum_runs(np.arange(rows) * len(at))
        if state.integers is not None and self.layout.checked is not None:
            rows, width = len(state.integers.v), 1 + len(self.layout.checked)
            for k, lane in enumerate(_with_count(self.layout.checked)):
                at = [end * width + k for end in ends]
                whole = Integers(state.integers.v[:, at].ravel())
                columns[lane] = whole.sum_runs(np.arange(rows) * len(at))
        if state.extremes is not None:
            width = 1 + len(self.layout.extremes)
            for k, extremum in enumerate(self.layout.extremes, 1):
                at = [end * width + k for end in ends]
                extremes[extremum] = state.extremes[:, at].min(axis=1)
        return Slots(np.arange(rows), (), columns[TRENDS].nonzero, columns, extremes)

    def table(self, chunk: Chunk) -> tuple[Table, NDArray[Any]]:
        """The fast path's table and every event's code in it."""
        types = [self.letter_types[bits[0]] for bits in self.part.bits]
        conditions = len(self.part.programs)
        small = len(types) + conditions <= SMALL_MASK
        if len(types) <= SMALL_MASK and len(types) == len(self.letter_types):
            codes = chunk.mask
        elif small:
            # As wide as a scan of these letters alone has them: no further type for the kernels.
            codes = self._masks(chunk).astype(np.uint8 if len(types) <= 8 else np.uint16)
            codes = read_only(codes)
        else:
            codes = self._masks(chunk)
        if conditions:
            codes = with_steps(self.part, chunk, codes)
        if small:
            masks = possible_masks(types, conditions)
            return compile_table(self.fast, self.semantics, masks), codes
        distinct, codes = np.unique(codes, return_inverse=True)
        return compile_table(self.fast, self.semantics, [int(m) for m in distinct]), codes

    def _masks(self, chunk: Chunk) -> NDArray[np.uint64]:
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
        ways = (self._vectors, self._search)
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
        return self.read(state)

    # ── everything else ──────────────────────────────────────────────────────────────────────

    def _search(self, chunk: Chunk, runs: Runs) -> Slots:
        """By value where conditions are lookups, else event by event; in as many threads as pay."""
        masks, places = self._masks(chunk), None
        if self.ranks:
            found = lookups(self.part)
            assert found is not None, "every condition is a lookup"
            rankings = rankings_of(found)
            # Of the whole chunk: a sum by value is rounded in the order of places.
            places = rankings, rank(self.part, chunk, masks, rankings)
        sizes = runs.hi - runs.lo
        shares = min(self.threads, int(sizes.sum()) // LEAST_SEARCHED)
        stretches = None
        if places is not None and self.semantics is Semantics.ANY:
            stretches = stretches_of(self.part, self.layout, chunk, runs, places[0])
        if stretches is None:
            mine = portions(chunk, runs, cut_runs(sizes, shares))
        else:
            mine = portions(chunk, runs, cut_stretches(runs, stretches, shares))
        if places is not None and self.semantics is Semantics.ANY:
            slots = together([partial(self._rank, masks, *places, stretches, one) for one in mine])
            fitting = [one for one in slots if one is not None]
            if len(fitting) == len(slots):
                return Slots.join(fitting, [one.numbers for one in mine])
            places = None
        routed = together([partial(self._route, masks, places, one) for one in mine])
        return Slots.join(routed, [one.numbers for one in mine])

    def _rank(
        self,
        masks: NDArray[np.uint64],
        rankings: list[Ranking],
        ranks: Ranks,
        stretches: Ints | None,
        mine: Portion,
    ) -> Slots | None:
        """None where a sum of integers does not fit: the router adds up fewer at once."""
        masks, ranks = masks[mine.lo : mine.hi], some_ranks(ranks, mine.lo, mine.hi)
        runs, arguments = mine.runs, (self.part, self.layout, mine.chunk, masks, mine.runs)
        if stretches is not None:
            stretches = stretches[(stretches >= mine.first) & (stretches <= mine.end)] - mine.first
        ranked = Ranked(*arguments, self.centres, rankings, ranks, stretches)
        if not ranked.fits:
            return None
        columns: dict[Lane, Column] = {}
        for k, lane in enumerate(_with_count(self.layout.scaled or ())):
            if self.layout.scaled is not None:
                columns[lane] = Doubles(ranked.scaled.out_m[:, k], ranked.scaled.out_e[:, k])
        for k, lane in enumerate(_with_count(self.layout.checked or ())):
            if self.layout.checked is not None:
                columns[lane] = Integers(ranked.checked.out[:, k])
        extremes = {lane: ranked.extreme.out[:, k] for k, lane in enumerate(self.layout.extremes)}
        every = np.arange(len(runs))
        return Slots(every, (), ranked.found.astype(np.bool_), columns, extremes)

    def _route(
        self,
        masks: NDArray[np.uint64],
        places: tuple[list[Ranking], Ranks] | None,
        mine: Portion,
    ) -> Slots:
        layout, chunk = self.layout, mine.chunk
        masks = masks[mine.lo : mine.hi]
        work = spread(self.part, chunk, mine.runs, masks)
        slots = len(work.run)
        arguments = self.part, self.semantics, chunk, masks, work.codes, work.work, slots
        if places is None:
            router = Router(*arguments)
        else:
            rankings, ranks = places
            router = Pending(*arguments, rankings, some_ranks(ranks, mine.lo, mine.hi))

        # In exact mode the doubles are bounds: sums of magnitudes tell how many primes to take.
        sums = layout.scaled
        if layout.exact is not None:
            sums = (*layout.exact, *(layout.scaled or ()))
        bounds = len(layout.exact or ())
        scaled = None if sums is None else router.scaled(sums, self.centres, magnitudes=bounds)
        checked = None if layout.checked is None else router.checked(layout.checked)
        extreme = router.extreme(layout.extremes) if layout.extremes else None
        router.run(scaled=scaled, checked=checked, extreme=extreme)

        columns: dict[Lane, Column] = {}
        if scaled is not None and sums is not None:
            for k, lane in enumerate(_with_count(sums)):
                columns[lane] = Doubles(scaled.out_m[:, k], scaled.out_e[:, k])
            if layout.exact is not None:
                columns |= router.exact(layout.exact, scaled)
        if checked is not None and layout.checked is not None:
            if checked.overflow[0] < 0:
                raise overflow()
            for k, lane in enumerate(_with_count(layout.checked)):
                columns[lane] = Integers(checked.out[:, k])
        for variable in dict.fromkeys(lane.variable for lane in layout.distinct):
            assert variable is not None, "DISTINCT is of a variable"
            slot, event = router.members_of(variable)
            lanes = [lane for lane in layout.distinct if lane.variable == variable]
            columns |= self._distinct(chunk, lanes, slot, event, slots)
        extremes = {
            lane: extreme.out[:, k] for k, lane in enumerate(layout.extremes) if extreme is not None
        }
        return Slots(work.run, work.groups, router.found.astype(np.bool_), columns, extremes)

    def _distinct(
        self, chunk: Chunk, lanes: Sequence[Sum], slot: Ints, event: Ints, slots: int
    ) -> dict[Lane, Column]:
        """Sums over the events that are in any trend, each once."""
        columns: dict[Lane, Column] = {}
        for lane in lanes:
            values = doubles(chunk, lane, self.centres)[event]
            total = np.zeros(slots)
            np.add.at(total, slot, values)
            columns[lane] = Doubles(total, np.zeros(slots, np.int64))
            if is_whole(lane, self.operand_types):
                order = np.argsort(slot, kind="stable")
                starts = np.flatnonzero(np.diff(slot[order], prepend=-1))
                exact = np.zeros(slots, np.int64)
                if len(starts):
                    added = Integers(integers(chunk, lane)[event][order]).sum_runs(starts)
                    exact[slot[order][starts]] = added.v
                columns[lane] = Integers(exact)
        return columns


def _with_count(lanes: Sequence[Sum]) -> tuple[Lane, ...]:
    """The lanes of a summing semiring: lane 0 counts trends."""
    return (TRENDS, *lanes)
