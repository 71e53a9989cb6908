"""Runs that are no fold: by value where conditions are lookups, else event by event.

1. `S+` under one comparison of one attribute has loops of its own (`one_order`).
2. Other lookups under skip-till-any-match are sums over places (`ranked`), windows that overlap as
   lanes of one tree (`lanes_of_windows`), those by two values by halves of time (`dominance`).
3. Under skip-till-next-match entries wait by value (`pending`, or a stack), and write the tape.
4. Everything else is the router's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from trendloom.engine.dominance import Paired, pays
from trendloom.engine.inputs import doubles, integers
from trendloom.engine.lanes import with_count
from trendloom.engine.lanes_of_windows import cut_stretches, stretches_of
from trendloom.engine.layout import is_whole
from trendloom.engine.numbers import Column, Doubles, Integers, narrowed
from trendloom.engine.one_order import Nearest, OneOrder
from trendloom.engine.pending import Pending
from trendloom.engine.ranked import Ranked
from trendloom.engine.ranks import rank, rankings_of, some_ranks
from trendloom.engine.router import Router
from trendloom.engine.shares import cut_runs, portions
from trendloom.engine.slots import Slots
from trendloom.engine.spread import spread
from trendloom.engine.stopping import check_stop
from trendloom.engine.threads import together
from trendloom.language.nodes import Semantics
from trendloom.plan.lookups import lookups

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.evaluate import Evaluator
    from trendloom.engine.lanes import Lane, Sum
    from trendloom.engine.ranks import Ranking, RankingPair
    from trendloom.engine.shares import Portion
    from trendloom.engine.windows import Runs
    from trendloom.kernels.ranks import Ranks

    Ints = NDArray[np.int64]

LEAST_SEARCHED = 1 << 12
"""Events of a thread's share where each is looked up or routed, which takes longer."""


@dataclass(frozen=True)
class Search:
    """An evaluator over the runs of a chunk, in as many threads as pay."""

    by: Evaluator
    chunk: Chunk
    runs: Runs

    def slots(self) -> Slots:
        """Of all runs, from nothing."""
        by = self.by
        if not by.ranks:
            return self._routed(by.masks(self.chunk), None)
        order = OneOrder.of(by.part, by.semantics)
        if order is not None:
            count = order.counter(by.semantics, by.layout, self.runs)
            if count is not None:
                return self._join(self._portions(), lambda one: count(one.chunk, one.runs))
            if by.semantics is Semantics.NEXT:
                return self._routed(by.masks(self.chunk), order)
        return self._by_value()

    def _by_value(self) -> Slots:
        by, masks = self.by, self.by.masks(self.chunk)
        found = lookups(by.part, by.semantics)
        assert found is not None, "every condition is a lookup"
        rankings, pairs = rankings_of(found)
        if pairs and not pays(self.runs):
            return self._routed(masks, None)
        # Of the whole chunk: a sum by value is rounded in the order of places.
        ranks = rank(by.part, self.chunk, masks, rankings)
        if by.semantics is Semantics.NEXT:
            return self._routed(masks, (rankings, ranks))
        mine, stretches = self._portions(), None
        if not pairs:
            stretches = stretches_of(by.part, by.layout, self.chunk, self.runs, rankings)
            if stretches is not None:
                cuts = cut_stretches(self.runs, stretches, self._shares)
                mine = portions(self.chunk, self.runs, cuts)
        look = partial(self._ranked, masks, rankings, ranks, pairs, stretches)
        slots = together([partial(look, one) for one in mine])
        fitting = [one for one in slots if one is not None]
        if len(fitting) < len(slots):
            return self._routed(masks, None)
        return Slots.join(fitting, [one.numbers for one in mine])

    def _routed(
        self, masks: NDArray[np.uint64], places: OneOrder | tuple[list[Ranking], Ranks] | None
    ) -> Slots:
        return self._join(self._portions(), partial(self._route, masks, places))

    @property
    def _shares(self) -> int:
        return min(self.by.threads, int((self.runs.hi - self.runs.lo).sum()) // LEAST_SEARCHED)

    def _portions(self) -> list[Portion]:
        cuts = cut_runs(self.runs.hi - self.runs.lo, self._shares)
        return portions(self.chunk, self.runs, cuts)

    @staticmethod
    def _join(mine: list[Portion], evaluate: Callable[[Portion], Slots]) -> Slots:
        slots = together([partial(evaluate, one) for one in mine])
        return Slots.join(slots, [one.numbers for one in mine])

    def _ranked(
        self,
        masks: NDArray[np.uint64],
        rankings: list[Ranking],
        ranks: Ranks,
        pairs: list[RankingPair],
        stretches: Ints | None,
        mine: Portion,
    ) -> Slots | None:
        """None where a sum of integers does not fit: the router adds up fewer at once."""
        layout, runs = self.by.layout, mine.runs
        masks, ranks = masks[mine.lo : mine.hi], some_ranks(ranks, mine.lo, mine.hi)
        given = self.by.part, layout, mine.chunk, masks, runs, self.by.centres
        ranked: Paired | Ranked
        if pairs:
            ranked = Paired(*given, pairs, ranks)
        else:
            if stretches is not None:
                own = (stretches >= mine.first) & (stretches <= mine.end)
                stretches = stretches[own] - mine.first
            ranked = Ranked(*given, rankings, ranks, stretches)
        check_stop()
        if not ranked.fits:
            return None
        columns: dict[Lane, Column] = {}
        if layout.scaled is not None:
            for k, lane in enumerate(with_count(layout.scaled)):
                columns[lane] = Doubles(ranked.scaled.out_m[:, k], ranked.scaled.out_e[:, k])
        if layout.checked is not None:
            for k, lane in enumerate(with_count(layout.checked)):
                columns[lane] = Integers(ranked.checked.out[:, k])
        extremes = {lane: ranked.extreme.out[:, k] for k, lane in enumerate(layout.extremes)}
        every = np.arange(len(runs))
        return Slots(every, (), ranked.found.astype(np.bool_), columns, extremes)

    def _route(
        self,
        masks: NDArray[np.uint64],
        places: OneOrder | tuple[list[Ranking], Ranks] | None,
        mine: Portion,
    ) -> Slots:
        by, layout, chunk = self.by, self.by.layout, mine.chunk
        masks = masks[mine.lo : mine.hi]
        work = spread(by.part, chunk, mine.runs, masks)
        slots = len(work.run)
        arguments = by.part, by.semantics, chunk, masks, work.codes, work.work, slots
        if places is None:
            router = Router(*arguments)
        elif isinstance(places, OneOrder):
            router = Nearest(*arguments, places)
        else:
            rankings, ranks = places
            router = Pending(*arguments, rankings, some_ranks(ranks, mine.lo, mine.hi))

        # In exact mode the doubles are bounds: sums of magnitudes tell how many primes to take.
        sums = layout.scaled
        if layout.exact is not None:
            sums = (*layout.exact, *(layout.scaled or ()))
        bounds = len(layout.exact or ())
        scaled = None if sums is None else router.scaled(sums, by.centres, magnitudes=bounds)
        checked = None if layout.checked is None else router.checked(layout.checked)
        extreme = router.extreme(layout.extremes) if layout.extremes else None
        router.run(scaled=scaled, checked=checked, extreme=extreme)

        columns: dict[Lane, Column] = {}
        if scaled is not None and sums is not None:
            for k, lane in enumerate(with_count(sums)):
                columns[lane] = Doubles(scaled.out_m[:, k], scaled.out_e[:, k])
            if layout.exact is not None:
                columns |= router.exact(layout.exact, scaled)
        if checked is not None and layout.checked is not None:
            for k, lane in enumerate(with_count(layout.checked)):
                columns[lane] = Integers(checked.out[:, k])
            if checked.overflow[0] < 0:
                columns |= self._exactly(router, layout.checked)
        for variable in dict.fromkeys(lane.variable for lane in layout.distinct):
            assert variable is not None, "DISTINCT is of a variable"
            slot, event = router.members_of(variable)
            lanes = [lane for lane in layout.distinct if lane.variable == variable]
            columns |= self._distinct(chunk, lanes, slot, event, slots)
        extremes = {
            lane: extreme.out[:, k] for k, lane in enumerate(layout.extremes) if extreme is not None
        }
        return Slots(work.run, work.groups, router.found.astype(np.bool_), columns, extremes)

    def _exactly(self, router: Router, lanes: Sequence[Sum]) -> dict[Lane, Column]:
        """Sums that leave 64 bits on their way."""
        bounds = router.scaled(lanes, self.by.centres, magnitudes=len(lanes))
        router.run(scaled=bounds)
        exact = router.exact(lanes, bounds)
        return {lane: Integers(narrowed(column.v)) for lane, column in exact.items()}

    def _distinct(
        self, chunk: Chunk, lanes: Sequence[Sum], slot: Ints, event: Ints, slots: int
    ) -> dict[Lane, Column]:
        """Sums over the events that are in any trend, each once."""
        columns: dict[Lane, Column] = {}
        for lane in lanes:
            values = doubles(chunk, lane, self.by.centres)[event]
            total = np.zeros(slots)
            np.add.at(total, slot, values)
            columns[lane] = Doubles(total, np.zeros(slots, np.int64))
            if is_whole(lane, self.by.operand_types):
                order = np.argsort(slot, kind="stable")
                starts = np.flatnonzero(np.diff(slot[order], prepend=-1))
                added = Integers(integers(chunk, lane)[event][order])
                if len(starts):
                    added = added.sum_runs(starts)
                exact = np.zeros(slots, added.v.dtype)
                exact[slot[order][starts]] = added.v
                columns[lane] = Integers(exact)
        return columns
