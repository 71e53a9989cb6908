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

from trendloom.engine.exact_maps import apply_exact, cut_to_fit, exact_maps
from trendloom.engine.inputs import length_steps
from trendloom.engine.layout import Layout
from trendloom.engine.map_shapes import exact_shape, shapes_of
from trendloom.engine.mapping import Mapper
from trendloom.engine.shares import Portion, cut_runs
from trendloom.engine.sliding import vector_event
from trendloom.engine.threads import together
from trendloom.kernels.counted_bases import PACK
from trendloom.kernels.lattice_maps import apply_extremes
from trendloom.kernels.maps import apply_doubles, apply_integers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.evaluate import Evaluator
    from trendloom.engine.map_shapes import Shape
    from trendloom.engine.mapping import Maps
    from trendloom.engine.slots import State
    from trendloom.engine.windows import Runs
    from trendloom.kernels.table import Table

    Ints = NDArray[np.int64]

LEAST_EVENTS = 1 << 15
"""Of a share: starting a thread takes 0.15 ms, as long as some twenty thousand events do."""
DEARER = (1.7, 2.5, 2.1)
"""An event in a map of one pack of bases to one in a vector: doubles, integers, keys. Measured with
`(SEQ(A+, B))+` and `SEQ(A+, B)`, one to three lanes, on a core of an AMD EPYC."""
AT_ONCE = 1 << 22
"""Numbers of maps of exact integers."""
COUNTED = 6.0
"""What is reckoned with for one or two states that are only counted. A map costs 1.3 to 2.6
vectors, but these cost so little that what a second thread gained was lost on starting it: at this
price two threads leave a run whole, and three cut it."""


@dataclass(frozen=True)
class Piece:
    """Events `lo : hi` of run `run`, as one map in each number domain."""

    run: int
    lo: int
    hi: int
    maps: Maps


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

    def fold_exactly(self, runs: Runs, first: NDArray[Any]) -> NDArray[np.object_]:
        """What the runs make of vectors of integers, of any size: through maps that fit."""
        layout = self.evaluator.layout
        only = Layout(None, None, layout.checked, (), ())
        by = replace(self.evaluator, layout=only)
        mapper = Mapper(by, self.chunk, self.table, self.codes)
        shape = exact_shape(by)
        assert shape is not None, "there are integers to be moved"
        make, x = mapper.make_exact, mapper.exact_rows
        most = max(1, AT_ONCE // shape.size)
        out = np.zeros(first.shape, np.object_)
        for at in range(0, len(runs), most):
            some = runs.pick(np.arange(at, min(at + most, len(runs))))
            numbered = replace(some, window=np.arange(len(some)))
            panes = cut_to_fit(numbered, self.chunk, [(make, x)], most, 0)
            lo = np.searchsorted(panes.window, numbered.window)
            hi = np.searchsorted(panes.window, numbered.window, "right")
            maps = exact_maps(make, x, panes.lo, panes.hi, shape.lanes)
            out[at : at + most] = apply_exact(*maps, lo, hi, shape.lanes, first[at : at + most])
        return out

    def _dearer(self) -> float:
        """How many times an event costs in a map what it costs in a vector."""
        priced = [
            (vector_event(shape), _map_price(shape, price))
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
        mapper = Mapper(self.evaluator, self.chunk.slice(lo, hi), self.table, self.codes[lo:hi])
        return Piece(run, lo, hi, mapper.maps(np.array([0]), np.array([hi - lo])))

    def _apply(self, piece: Piece, runs: Runs, state: State) -> None:
        """Moves the run's vector, which is at the piece's beginning, to its end."""
        scaled, checked, _ = shapes_of(self.evaluator)
        row, maps = state.rows(piece.run, piece.run + 1), piece.maps
        one = np.array([0]), np.array([1])
        if maps.doubles is not None and row.doubles is not None and scaled is not None:
            apply_doubles(*maps.doubles, *one, scaled.lanes, row.doubles.m, row.doubles.e)
        if maps.keys is not None and row.extremes is not None:
            step = length_steps(self.evaluator.layout.extremes)
            apply_extremes(maps.keys, *one, step, row.extremes)
        if maps.integers is not None and row.integers is not None and checked is not None:
            moved = row.integers.v.copy()
            if apply_integers(*maps.integers, *one, checked.lanes, moved):
                row.integers.v[:] = moved
                return
            ends = {"lo": np.array([piece.lo]), "hi": np.array([piece.hi])}
            rest = replace(runs.pick(np.array([piece.run])), **ends)
            only = replace(row, doubles=None, extremes=None)
            self.evaluator.fold_runs(self.chunk, self.table, self.codes, rest, only)


def _map_price(shape: Shape, packed: float) -> float:
    """An event in a map to one in a vector; `packed` for each pack of bases."""
    if not shape.paired:
        return packed * -(-shape.bases // PACK)
    return COUNTED if shape.lanes == 1 else float(shape.bases)
