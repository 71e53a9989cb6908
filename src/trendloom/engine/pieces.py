"""Vectors of runs over several threads, the runs whole or in pieces.

1. `shares` cuts the runs' line. A cut inside of a run is moved to where a time point begins.
2. Each thread folds its runs, and the beginning of the one that is cut at its end, into vectors.
   The piece of a run that it begins with becomes a map, for want of a vector.
3. Maps are applied to their run's vector, in the order of time.

A map adds up more than a vector does. Where its integers do not fit, the vector goes on through the
piece's events instead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from trendloom.engine.inputs import (
    double_rows,
    feeding_variables,
    integer_rows,
    key_rows,
    length_steps,
)
from trendloom.engine.maps import shapes_of
from trendloom.engine.shares import NEVER, Portion, cut_runs
from trendloom.engine.sliding import vector_event
from trendloom.engine.threads import together
from trendloom.kernels.bases import double_maps, integer_maps
from trendloom.kernels.counted_bases import PACK
from trendloom.kernels.lattice_maps import apply_extremes, extreme_maps
from trendloom.kernels.maps import apply_doubles, apply_integers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.evaluate import Evaluator
    from trendloom.engine.maps import Shape
    from trendloom.engine.slots import State
    from trendloom.engine.windows import Runs
    from trendloom.kernels.table import Table

    Ints = NDArray[np.int64]

LEAST_EVENTS = 1 << 15
"""Of a share: starting a thread takes 0.15 ms, as long as some twenty thousand events do."""
DEARER = (1.7, 2.5, 2.1)
"""An event in a map of one pack of bases to one in a vector: doubles, integers, keys. Measured with
`(SEQ(A+, B))+` and `SEQ(A+, B)`, one to three lanes, on a core of an AMD EPYC."""
PAIRED = NEVER
"""Counts of one or two states are not cut: their vectors cost so little that two threads lose."""


@dataclass(frozen=True)
class Piece:
    """Events `lo : hi` of run `run`, as maps in each number domain."""

    run: int
    lo: int
    hi: int
    doubles: tuple[NDArray[np.float64], Ints] | None
    integers: tuple[Ints, NDArray[np.bool_]] | None
    keys: Ints | None


@dataclass(frozen=True)
class Vectors:
    """One part's events of a chunk, for vectors and for maps of them."""

    evaluator: Evaluator
    chunk: Chunk
    table: Table
    codes: NDArray[Any]

    def fold(self, runs: Runs, state: State) -> None:
        """Moves row r of the state on by the events of run r."""
        threads = self.evaluator.threads
        sizes = runs.hi - runs.lo
        shares = min(threads, int(sizes.sum()) // LEAST_EVENTS) if threads > 1 else 1
        if shares < 2:
            self.evaluator.fold_runs(self.chunk, self.table, self.codes, runs, state)
            return
        cuts = [
            (cut.run, self._at_time_point(runs, cut.run, cut.offset))
            for cut in cut_runs(sizes, shares, self._dearer())
        ]
        jobs = [
            partial(self._share, runs, state, *first, *end)
            for first, end in pairwise([(0, 0), *cuts, (len(runs), 0)])
            if first < end
        ]
        pieces = [piece for piece in together(jobs) if piece is not None]
        for piece in pieces:
            self._apply(piece, runs, state)

    def _dearer(self) -> float:
        """How many times an event costs in a map what it costs in a vector."""
        priced = [
            (vector_event(shape), (PAIRED if shape.paired else price) * -(-shape.bases // PACK))
            for shape, price in zip(shapes_of(self.evaluator), DEARER, strict=True)
            if shape is not None
        ]
        return sum(cost * price for cost, price in priced) / sum(cost for cost, _ in priced)

    def _at_time_point(self, runs: Runs, run: int, offset: int) -> int:
        if offset == 0:
            return 0
        order = self.chunk.order[runs.lo[run] : runs.hi[run]]
        return int(np.searchsorted(order, order[offset]))

    def _share(
        self, runs: Runs, state: State, first: int, skipped: int, last: int, more: int
    ) -> Piece | None:
        """From event `skipped` of run `first` to event `more` of run `last`."""
        piece = None
        if skipped:
            lo, hi = int(runs.lo[first]), int(runs.hi[first])
            piece = self._map(first, lo + skipped, lo + more if last == first else hi)
            first += 1
        end = last + (more > 0)
        if first < end:
            if more:
                runs = replace(runs, hi=runs.hi.copy())
                runs.hi[last] = runs.lo[last] + more
            mine = Portion.of(self.chunk, runs, first, end)
            codes, rows = self.codes[mine.lo : mine.hi], state.rows(first, end)
            self.evaluator.fold_runs(mine.chunk, self.table, codes, mine.runs, rows)
        return piece

    def _map(self, run: int, lo: int, hi: int) -> Piece:
        scaled, checked, extremes = shapes_of(self.evaluator)
        layout, variables = self.evaluator.layout, self.evaluator.part.automaton.variables
        chunk, table = self.chunk.slice(lo, hi), self.table
        events = chunk.order, self.codes[lo:hi], np.array([0]), np.array([hi - lo])
        doubles = integers = keys = None
        if scaled is not None and layout.scaled is not None:
            silent = table._replace(begins=np.zeros_like(table.begins))
            m, e = _blank(scaled, np.float64), _blank(scaled, np.int64)
            var = feeding_variables(variables, layout.scaled)
            x = double_rows(chunk, layout.scaled, self.evaluator.centres)
            double_maps(table, silent, *events, var, x, m, e)
            doubles = m, e
        if checked is not None and layout.checked is not None:
            v, lost = _blank(checked, np.int64), np.zeros((1, checked.bases), np.bool_)
            var = feeding_variables(variables, layout.checked)
            integer_maps(table, *events, var, integer_rows(chunk, layout.checked), v, lost)
            integers = v, lost
        if extremes is not None:
            lanes = layout.extremes
            keys = _blank(extremes, np.int64)
            var, step = feeding_variables(variables, lanes), length_steps(lanes)
            extreme_maps(table, *events, var, step, key_rows(chunk, lanes), keys)
        return Piece(run, lo, hi, doubles, integers, keys)

    def _apply(self, piece: Piece, runs: Runs, state: State) -> None:
        """Moves the run's vector, which is at the piece's beginning, to its end."""
        scaled, checked, _ = shapes_of(self.evaluator)
        row = state.rows(piece.run, piece.run + 1)
        one = np.array([0]), np.array([1])
        if piece.doubles is not None and row.doubles is not None and scaled is not None:
            apply_doubles(*piece.doubles, *one, scaled.lanes, row.doubles.m, row.doubles.e)
        if piece.keys is not None and row.extremes is not None:
            step = length_steps(self.evaluator.layout.extremes)
            apply_extremes(piece.keys, *one, step, row.extremes)
        if piece.integers is not None and row.integers is not None and checked is not None:
            moved = row.integers.v.copy()
            if apply_integers(*piece.integers, *one, checked.lanes, moved):
                row.integers.v[:] = moved
                return
            ends = {"lo": np.array([piece.lo]), "hi": np.array([piece.hi])}
            rest = replace(runs.pick(np.array([piece.run])), **ends)
            only = replace(row, doubles=None, extremes=None)
            self.evaluator.fold_runs(self.chunk, self.table, self.codes, rest, only)


def _blank(shape: Shape, kind: type[np.float64] | type[np.int64]) -> NDArray[Any]:
    return np.zeros((1, shape.bases, shape.width), kind)
