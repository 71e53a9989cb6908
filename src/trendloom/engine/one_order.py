"""One variable's `+` under one comparison of one attribute: `S+` with `S.x > NEXT(S).x`.

What then precedes an event is told by two numbers, its time and its value, so that neither states
nor indexes are needed: counts alone have loops of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trendloom.engine.arrow import read_only
from trendloom.engine.columns import pair_columns
from trendloom.engine.lanes import TRENDS
from trendloom.engine.numbers import Doubles, Integers, overflow
from trendloom.engine.ranks import GREATER
from trendloom.engine.router import Router
from trendloom.engine.slots import Slots
from trendloom.kernels.halves import count_by_halves
from trendloom.kernels.nearest import FIRST, count_nearest, take_nearest
from trendloom.kernels.words import order_words, to_words
from trendloom.language.nodes import Semantics
from trendloom.plan.lookups import one_order
from trendloom.plan.pairs import Op

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.layout import Layout
    from trendloom.engine.windows import Runs
    from trendloom.kernels.program import Work
    from trendloom.kernels.replay import Lanes
    from trendloom.plan.plan import Part

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class OneOrder:
    """The comparison: `column` of an event, `op`, the same column of the next."""

    part: Part
    op: Op
    column: int

    @classmethod
    def of(cls, part: Part, semantics: Semantics) -> OneOrder | None:
        """None if the part is anything else."""
        one = one_order(part, semantics)
        return None if one is None else cls(part, one.op, one.left)

    @property
    def with_equal(self) -> bool:
        return self.op in (Op.LE, Op.GE)

    def falling(self, chunk: Chunk) -> Floats:
        """The values, turned where smaller ones come first: the next one's is smaller, or equal."""
        values: Floats = pair_columns(self.part, chunk)[self.column]
        return values if self.op in GREATER else -values

    def present(self, chunk: Chunk) -> Flags:
        """Which events may be the variable."""
        (bits,) = self.part.bits
        needed = chunk.mask.dtype.type(sum(1 << bit for bit in set(bits)))
        return np.asarray((chunk.mask & needed) == needed)

    def counter(
        self, semantics: Semantics, layout: Layout, runs: Runs
    ) -> Callable[[Chunk, Runs], Slots] | None:
        """What counts the trends of runs, if nothing else is asked of them."""
        sums = (layout.scaled, layout.checked, layout.exact)
        if layout.extremes or layout.distinct:
            return None
        if semantics is Semantics.NEXT and sums == (None, (), None):
            return self.count_nearest
        apart = bool((runs.lo[1:] >= runs.hi[:-1]).all())
        if semantics is Semantics.ANY and sums == ((), None, None) and apart:
            return self.count_by_halves
        return None

    def count_nearest(self, chunk: Chunk, runs: Runs) -> Slots:
        """Under skip-till-next-match."""
        out, beyond = np.zeros(len(runs), np.int64), np.zeros(1, np.int64)
        values, present = self.falling(chunk), self.present(chunk)
        count_nearest(values, present, self.with_equal, chunk.order, runs.lo, runs.hi, out, beyond)
        if beyond[0] < 0:
            raise overflow()
        return Slots(np.arange(len(runs)), (), out != 0, {TRENDS: Integers(out)}, {})

    def count_by_halves(self, chunk: Chunk, runs: Runs) -> Slots:
        """Under skip-till-any-match, where runs do not overlap."""
        values, present = pair_columns(self.part, chunk)[self.column], self.present(chunk)
        order, lo, hi = chunk.order, runs.lo, runs.hi
        alone = np.zeros(len(runs))
        here = present & ~np.isnan(values)
        if not here.all():
            # Whoever has no value is a trend alone, and beside nobody.
            before, after = _counted(present), _counted(here)
            alone = (before[hi] - before[lo] - (after[hi] - after[lo])).astype(np.float64)
            values, order, lo, hi = values[here], read_only(order[here]), after[lo], after[hi]
        out = Doubles(np.zeros(len(runs)), np.zeros(len(runs), np.int64))
        count_by_halves(self._by_value(values), order, lo, hi, out.m, out.e)
        every = np.concatenate([out.m[:, None], alone[:, None]], axis=1).ravel()
        scales = np.concatenate([out.e[:, None], np.zeros((len(runs), 1), np.int64)], axis=1)
        total = Doubles(every, scales.ravel()).sum_runs(np.arange(len(runs)) * 2)
        return Slots(np.arange(len(runs)), (), total.nonzero, {TRENDS: total}, {})

    def _by_value(self, values: Floats) -> NDArray[np.int32]:
        """The rows, so that what stands before a later one precedes it: equal values, too."""
        if not self.with_equal:
            # Equal ones the other way round.
            values = values[::-1].copy()
        words, bits, shift = to_words(values, self.op in GREATER)
        words.sort()
        rows = order_words(words, bits, shift, values, self.op in GREATER)
        return rows if self.with_equal else len(rows) - 1 - rows


def _counted(flags: Flags) -> Ints:
    """How many are set before each, and before the end."""
    return np.concatenate([[0], np.cumsum(flags)])


class Nearest(Router):
    """The router's passes where partial trends wait on a stack, for every semiring."""

    def __init__(
        self,
        part: Part,
        semantics: Semantics,
        chunk: Chunk,
        masks: NDArray[np.uint64],
        codes: Ints,
        work: Work,
        slots: int,
        one: OneOrder,
    ) -> None:
        super().__init__(part, semantics, chunk, masks, codes, work, slots)
        self.one = one
        self.values, self.present = one.falling(chunk), one.present(chunk)
        self.cells = FIRST + self.span

    def make(self, work: Work, lanes: Lanes) -> None:
        take_nearest(
            self.values,
            self.present,
            self.one.with_equal,
            self.chunk.order,
            work,
            lanes,
            self.span,
            self.found,
        )
