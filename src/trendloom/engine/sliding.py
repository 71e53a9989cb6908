"""Windows that overlap, on the fast path: a vector for each, or maps of panes for all of them.

A vector per window looks at an event once for every window that holds it. Maps of panes
(`kernels.stacks`) look at it once, whatever the number of windows, but move several vectors then,
and multiply. Which costs less is counted per chunk: `Panes.pay`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trendloom.engine.arrow import read_only
from trendloom.engine.inputs import (
    double_rows,
    feeding_variables,
    integer_rows,
    key_rows,
    length_steps,
)
from trendloom.engine.map_shapes import Shape, shapes_of
from trendloom.kernels.counted_bases import PACK
from trendloom.kernels.event_maps import double_maps, integer_maps
from trendloom.kernels.key_products import replay_keys
from trendloom.kernels.stacks import schedule
from trendloom.kernels.sum_products import replay_sums
from trendloom.kernels.table import feeds_of
from trendloom.kernels.tagged import LOST

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.evaluate import Evaluator
    from trendloom.engine.slots import State
    from trendloom.engine.windows import Runs
    from trendloom.kernels.table import Table

    Ints = NDArray[np.int64]

TAPE = 1 << 15
"""So many steps are scheduled at a time, so that they stay in the processor's cache."""
LEAST_VISITS = 1
"""Per event, by runs: up to this, maps have nothing to save."""
FEW = 24
"""Up to so many events are put into a map one by one; beyond, `kernels.bases` is faster for all its
preparations."""

# Nanoseconds, on a core of an AMD EPYC that had other work beside: only their ratios matter.
VECTOR, VECTOR_LANE = 6.0, 4.0
"""Of an event in a vector: with the count, and per further lane."""
PAIR, PAIR_LANE = 3.1, 6.5
"""The same of one or two states: with the count alone, or per further lane, which counts too."""
MAPPED, PACKED = 10.0, 5.0
"""Of an event in the map of a large pane, and per lane and pack of bases of that."""
PAIR_MAP, PAIR_ENDS = 4.0, 4.0
"""The same of one or two states that are counted, and where trends are added up as they finish."""
POINT, STEP = 10.0, 18.0
"""Of an event put before or behind a map by itself, and per basis and lane of that."""
ANSWER, TERM = 100.0, 3.5
"""Of a vector through maps, and of each product of two numbers in that or in a product of maps."""


@dataclass(frozen=True)
class Panes:
    """Events cut where windows begin or end: run r is panes `lo[r] : hi[r]`."""

    cut: Ints
    lo: Ints
    hi: Ints
    events: int
    """In panes that any run holds."""
    visits: int
    """Of events by runs."""

    @cached_property
    def room(self) -> int:
        """The most panes of a run."""
        return int((self.hi - self.lo).max(initial=0))

    def tapes(self) -> Iterator[tuple[Ints, int]]:
        """What to do, some of it at a time."""
        tape = np.empty((max(TAPE, 2 * self.room + 1), 4), np.int64)
        stacks = np.zeros(4, np.int64)
        while length := schedule(stacks, self.lo, self.hi, tape):
            yield tape, length

    def pay(self, evaluator: Evaluator) -> bool:
        """Whether maps cost less than a vector per run."""
        shapes = [shape for shape in shapes_of(evaluator) if shape is not None]
        by_vectors = sum(self.visits * vector_event(shape) for shape in shapes)
        return evaluator.dearer_maps * sum(self._by_maps(shape) for shape in shapes) < by_vectors

    def _by_maps(self, shape: Shape) -> float:
        panes, numbers = len(self.cut) - 1, shape.bases * shape.lanes
        through = TERM * shape.states * shape.cells * (2 * shape.lanes - 1)
        answers = len(self.lo) * (ANSWER + through)
        if self.events <= FEW * panes:
            return answers + self.events * 2 * (POINT + STEP * numbers)
        return answers + self.events * map_event(shape) + panes * 2 * shape.bases * through


def vector_event(shape: Shape) -> float:
    """The cost of an event in a vector."""
    if not shape.paired:
        return VECTOR + VECTOR_LANE * (shape.lanes - 1)
    return PAIR if shape.lanes == 1 else PAIR_LANE * (shape.lanes - 1)


def map_event(shape: Shape) -> float:
    """The cost of an event in a map."""
    if not shape.paired:
        return MAPPED + PACKED * shape.lanes * -(-shape.bases // PACK)
    if shape.lanes == 1:
        return PAIR_MAP + PAIR_ENDS * (shape.cells > shape.states)
    return shape.bases * vector_event(shape)


def cut_panes(chunk: Chunk, runs: Runs) -> Panes | None:
    """None where there is nothing to gain, or nothing to cut at."""
    visits = int((runs.hi - runs.lo).sum())
    if visits <= LEAST_VISITS * len(chunk):
        return None
    if (np.diff(runs.lo) < 0).any() or (np.diff(runs.hi) < 0).any():
        return None
    panes = lay_panes(chunk, runs)
    # Windows of events may part simultaneous ones, which maps in turn would put in an order.
    inner = panes.cut[(panes.cut > 0) & (panes.cut < len(chunk))]
    inner = inner[chunk.order[inner] == chunk.order[inner - 1]]
    return panes if np.isin(inner, chunk.bounds).all() else None


def lay_panes(chunk: Chunk, runs: Runs) -> Panes:
    """Panes of runs that neither begin nor end before those in front of them."""
    visits = int((runs.hi - runs.lo).sum())
    cuts = np.zeros(len(chunk) + 1, np.bool_)
    cuts[runs.lo] = True
    cuts[runs.hi] = True
    cut = np.flatnonzero(cuts).astype(np.int64)
    place = np.cumsum(cuts) - 1
    events = min(len(chunk), visits)
    return Panes(cut, place[runs.lo], place[runs.hi], events, visits)


@dataclass(frozen=True)
class Slider:
    """One part's events of a chunk, and the panes they are cut into."""

    evaluator: Evaluator
    chunk: Chunk
    panes: Panes
    table: Table
    order: Ints
    codes: Ints

    @classmethod
    def of(
        cls, evaluator: Evaluator, chunk: Chunk, panes: Panes, table: Table, codes: NDArray[Any]
    ) -> Slider:
        """Of codes that are the same to the compiler, however wide they are: it takes seconds."""
        wide = read_only(codes.astype(np.int64))
        return cls(evaluator, chunk, panes, table, chunk.order, wide)

    def move(self, state: State) -> Ints:
        """Moves row r of the state on by the panes of run r; returns the rows to do otherwise.

        Those have integers that do not fit, at least not in maps. Theirs are left as they were.
        """
        scaled, checked, extremes = shapes_of(self.evaluator)
        layout, lost = self.evaluator.layout, np.zeros(0, np.int64)
        if checked is not None and state.integers is not None:
            x = integer_rows(self.chunk, layout.checked or ())
            v, tags = state.integers.v.copy(), np.zeros_like(state.integers.v)
            self._slide_sums(checked, self._variables(layout.checked or ()), x, v, tags)
            if tags.any():
                lost = np.flatnonzero(tags.any(axis=1))
                v[lost] = state.integers.v[lost]
            state.integers.v[:] = v
        if scaled is not None and state.doubles is not None:
            reals = double_rows(self.chunk, layout.scaled or (), self.evaluator.centres)
            var = self._variables(layout.scaled or ())
            self._slide_sums(scaled, var, reals, state.doubles.m, state.doubles.e)
        if extremes is not None and state.extremes is not None:
            self._slide_keys(extremes, state.extremes)
        return lost

    def _variables(self, lanes: tuple[Any, ...]) -> Ints:
        return feeding_variables(self.evaluator.part.automaton.variables, lanes)

    def _slide_sums(
        self, shape: Shape, var: Ints, x: NDArray[Any], out: NDArray[Any], tags: Ints
    ) -> None:
        ready, large_m, large_e = self._large(shape, var, x, out.dtype)
        front = self.panes.room * shape.size
        behind = front + large_m.size
        size = behind + 4 * shape.size + 2 * shape.width
        m, e = np.empty(size, out.dtype), np.empty(size, np.int64)
        m[front:behind], e[front:behind] = large_m.ravel(), large_e.ravel()
        feeds, back = feeds_of(self.table, var), np.zeros(1, np.int64)
        for tape, length in self.panes.tapes():
            replay_sums(
                tape, length, self.panes.cut, ready, self.table, self.order, self.codes, feeds, x,
                (shape.states, shape.lanes, shape.width), m, e, back, out, tags,
            )  # fmt: skip

    def _large(
        self, shape: Shape, var: Ints, x: NDArray[Any], kind: np.dtype[Any]
    ) -> tuple[Ints, NDArray[Any], Ints]:
        """The maps of large panes: per pane its number, behind the front's, or -1; and the maps."""
        lo, hi = self.panes.cut[:-1], self.panes.cut[1:]
        large = hi - lo > FEW
        number = np.where(large, np.cumsum(large) - 1 + self.panes.room, -1)
        lo, hi = lo[large], hi[large]
        m = np.zeros((len(lo), shape.bases, shape.width), kind)
        e = np.zeros(m.shape, np.int64)
        events = self.order, self.codes, lo, hi, var, x
        if kind == np.float64:
            double_maps(self.table, *events, m, e)
        else:
            lost = np.zeros(m.shape[:2], np.bool_)
            integer_maps(self.table, *events, m, lost)
            m[lost], e[lost] = LOST, LOST
        return number, m, e

    def _slide_keys(self, shape: Shape, out: Ints) -> None:
        lanes = self.evaluator.layout.extremes
        feeds = feeds_of(self.table, self._variables(lanes))
        keys = np.empty((self.panes.room + 3) * shape.size + 2 * shape.width, np.int64)
        back = np.zeros(1, np.int64)
        for tape, length in self.panes.tapes():
            replay_keys(
                tape, length, self.panes.cut, self.table, self.order, self.codes, feeds,
                length_steps(lanes), key_rows(self.chunk, lanes),
                (shape.states, shape.lanes, shape.width), keys, back, out,
            )  # fmt: skip
