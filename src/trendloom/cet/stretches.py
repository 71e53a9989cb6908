"""Graphs of windows that overlap, from the steps of the whole stretch (CET §6.3).

Predecessors are searched once per stretch of overlapping windows, not once per window; what a
window adds is linear in its own steps (`kernels/restricting`). Only where an event's variable tells
its state and nothing outside of a step decides about it: with guards, anchors or several states of
one variable a window's edges could be others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from trendloom.cet.graph import Graph
from trendloom.cet.memory import too_large, too_many
from trendloom.engine.arrow import filled
from trendloom.engine.stopping import check_stop
from trendloom.errors import LimitError
from trendloom.kernels.equal_steps import equal_steps
from trendloom.kernels.restricting import restricted
from trendloom.kernels.slicing import sliced
from trendloom.kernels.stairs import stairs
from trendloom.kernels.steps import nodes_at_most, row_at, steps_of
from trendloom.plan.pairs import Op
from trendloom.plan.predecessors import Search

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.windows import Runs
    from trendloom.kernels.predicates import Predicates
    from trendloom.kernels.program import Program
    from trendloom.plan.plan import Part
    from trendloom.plan.predecessors import Predecessors

    Ints = NDArray[np.int64]
    Words = NDArray[np.uint64]

LONGEST = {Search.EQUAL: 8, Search.STAIRS: 8, Search.SCAN: 2}
"""Windows, end to end, that a stretch is at most as long as: a scan is quadratic in its length."""


class Steps(NamedTuple):
    """`equal_steps`' arrays."""

    event: Ints
    state: Ints
    pred_start: Ints
    pred: Ints


@dataclass
class Stretching:
    """Whether windows that overlap share a search: until a stretch of them does not fit."""

    share: bool = True


class Searcher(NamedTuple):
    """What the searches for predecessors read."""

    found: Predecessors
    program: Program
    predicates: Predicates
    order: Ints
    masks: Words
    memory: int

    def needs(self, lo: int, hi: int) -> int:
        """Bytes, without edges."""
        most = nodes_at_most(self.program, self.masks, lo, hi)
        if self.found.search is Search.SCAN:
            return 8 * row_at(most) + 40 * most
        if self.found.search is Search.STAIRS:
            return 80 * (hi - lo)
        arrows = len(self.program.source)
        return 40 * most + 8 * arrows * (most + 8 * (hi - lo))

    def steps(self, lo: int, hi: int) -> Steps:
        """Of events `lo : hi`."""
        needed = self.needs(lo, hi)
        if needed > self.memory:
            raise too_large(hi - lo, needed, self.memory)
        most_edges = (self.memory - needed) // 24
        if self.found.search is Search.SCAN:
            nothing = np.zeros((0, 0), np.int64)
            event, state, _, _, pred_start, pred, _ = steps_of(
                self.program, self.predicates, self.order, self.masks, nothing,
                np.zeros(0, np.int64), lo, hi, True, most_edges,
            )  # fmt: skip
            found = Steps(event, state, pred_start, pred)
        elif self.found.search is Search.STAIRS:
            found = Steps(*self._stairs(lo, hi, most_edges))
        else:
            earlier, later, values = self._numbers(lo, hi)
            raw = equal_steps(
                self.program, self.predicates, self.order, self.masks, earlier, later, values,
                lo, hi, most_edges,
            )  # fmt: skip
            found = Steps(*raw)
        check_stop()
        if len(found.pred_start) == 0:
            raise too_many(hi - lo, self.memory)
        return found

    def _stairs(self, lo: int, hi: int, most_edges: int) -> tuple[Ints, ...]:
        assert self.found.order is not None
        op, column = self.found.order
        values = self.predicates.column[column, lo:hi]
        known = ~np.isnan(values)
        rank = np.full(hi - lo, -1, np.int64)
        rising = op in (Op.LT, Op.LE)
        distinct, rank[known] = np.unique(
            values[known] if rising else -values[known], return_inverse=True
        )
        steps: tuple[Ints, ...] = stairs(
            self.order, self.masks, rank, len(distinct), op in (Op.LT, Op.GT), lo, hi, most_edges
        )
        return steps

    def _numbers(self, lo: int, hi: int) -> tuple[Ints, Ints, int]:
        """Equal values of both sides of a condition have equal numbers; null has -1."""
        size = hi - lo
        arrows = len(self.program.source)
        earlier, later = (np.full((arrows, size), -1, np.int64) for _ in range(2))
        most = 1
        for program, (left, right) in self.found.keys.items():
            # Zero is added because -0.0 equals 0.0, and their bits do not.
            both = self.predicates.column[[left, right], lo:hi].ravel() + 0.0
            encoded = pa.array(both, from_pandas=True).dictionary_encode()
            number = filled(encoded.indices, -1)
            most = max(most, len(encoded.dictionary))
            for arrow in np.flatnonzero(self.program.predicate == program):
                earlier[arrow], later[arrow] = number[:size], number[size:]
        return earlier, later, most


def graphs_of_stretches(
    part: Part, searcher: Searcher, chunk: Chunk, runs: Runs, stretching: Stretching
) -> Iterator[Graph]:
    """The graphs of the runs that hold a complete trend, in order."""
    states = part.automaton.states
    variable_of = np.array([state.variable for state in states], np.int64)
    starts_in = np.zeros(len(states), np.uint8)
    starts_in[[a.target for a in part.automaton.arrows if a.source < 0 <= a.target]] = 1
    ends_in = (searcher.program.final >= 0).astype(np.uint8)
    k = 0
    while k < len(runs):
        behind = _stretch(searcher, runs, k) if stretching.share else k + 1
        steps = None
        if behind > k + 1:
            # Steps that are shared stay while a window's paths are kept: a fourth of the memory.
            lesser = searcher._replace(memory=searcher.memory // 4)
            try:
                steps = lesser.steps(int(runs.lo[k]), int(runs.hi[behind - 1]))
            except LimitError:
                stretching.share, behind = False, k + 1
        if steps is None:
            steps = searcher.steps(int(runs.lo[k]), int(runs.hi[k]))
        whole = bool(starts_in.all() and ends_in.all())
        starts, final = starts_in[steps.state], ends_in[steps.state]
        variable, point = variable_of[steps.state], chunk.order[steps.event]
        for run in range(k, behind):
            first, last = np.searchsorted(steps.event, [runs.lo[run], runs.hi[run]])
            at: slice | Ints = slice(first, last)
            if whole:
                begins, ends, pred_start, pred = sliced(steps.pred_start, steps.pred, first, last)
            else:
                at, begins, ends, pred_start, pred = restricted(
                    starts, final, steps.pred_start, steps.pred, first, last
                )
            if len(begins):
                yield Graph(
                    run, steps.event[at], variable[at], point[at], begins, ends, pred_start, pred
                )
        k = behind


def _stretch(searcher: Searcher, runs: Runs, first: int) -> int:
    """Behind the runs that are searched together with run `first`."""
    lo, hi = int(runs.lo[first]), int(runs.hi[first])
    longest = LONGEST[searcher.found.search] * (hi - lo)
    behind = first + 1
    while behind < len(runs) and runs.partition[behind] == runs.partition[first]:
        if not (lo <= runs.lo[behind] < hi and hi <= runs.hi[behind] <= lo + longest):
            break
        hi = int(runs.hi[behind])
        behind += 1
    return behind
