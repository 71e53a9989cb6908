"""Sums by two values over a chunk: the arguments of `kernels/dominance.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trendloom.engine.cells import Cells
from trendloom.engine.program import grouped, ints
from trendloom.engine.ranked import compile_steps
from trendloom.kernels.dominance import Pairs, sum_by_two_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.inputs import Centre
    from trendloom.engine.layout import Layout
    from trendloom.engine.ranks import RankingPair
    from trendloom.engine.windows import Runs
    from trendloom.kernels.ranked import Steps
    from trendloom.kernels.ranks import Ranks
    from trendloom.plan.plan import Part

FEW = 32
"""Events that are summed up pair by pair: to hand over so few costs more than it saves."""

SCANNED = 16
"""Events of windows that the router is through with before they would be ranked."""


def pays(runs: Runs) -> bool:
    """Whether to rank events for two comparisons costs less than to look at every pair."""
    return int((runs.hi - runs.lo).max(initial=0)) > SCANNED


class Paired:
    """A part's sums over the runs of a chunk, with conditions looked up by two values."""

    def __init__(
        self,
        part: Part,
        layout: Layout,
        chunk: Chunk,
        masks: NDArray[np.uint64],
        runs: Runs,
        centres: dict[int, Centre],
        rankings: Sequence[RankingPair],
        ranks: Ranks,
    ) -> None:
        steps = compile_steps(part, rankings)
        count = len(part.automaton.states) + 2 + _most_seats(part, masks, runs)
        cells = Cells(part.automaton.variables, chunk, count, len(runs))
        self.scaled = cells.scaled(layout.scaled, centres)
        self.checked = cells.checked(layout.checked)
        self.extreme = cells.extreme(layout.extremes)
        self.found = np.zeros(len(runs), np.uint8)
        sum_by_two_values(
            steps,
            _compile_pairs(part, steps, rankings),
            ranks,
            chunk.order,
            masks,
            runs.lo,
            runs.hi,
            FEW,
            self.scaled,
            self.checked,
            self.extreme,
            self.found,
        )

    @property
    def fits(self) -> bool:
        """As in `Ranked`."""
        return bool(self.checked.overflow[0] >= 0)


def _most_seats(part: Part, masks: NDArray[np.uint64], runs: Runs) -> int:
    """Of a run: a cell for every event and state that it can be in."""
    seats = np.zeros(len(masks) + 1, np.int64)
    for state in part.automaton.states:
        seats[1:] += ((masks >> np.uint64(state.variable)) & np.uint64(1)).astype(np.int64)
    line = np.cumsum(seats)
    return int((line[runs.hi] - line[runs.lo]).max(initial=0))


def _compile_pairs(part: Part, steps: Steps, pairs: Sequence[RankingPair]) -> Pairs:
    """Who writes and who reads each index, seen from the index."""
    indexes = range(len(steps.ranking))
    states: list[int] = [0 for _ in indexes]
    targets: list[list[tuple[int, ...]]] = [[] for _ in indexes]
    for arrow, target in enumerate(steps.target):
        for index in steps.read[steps.read_start[arrow] : steps.read_start[arrow + 1]]:
            states[index] = int(steps.source[arrow])
            targets[index].append((int(target),))
    target_start, target = grouped(targets, 1)
    return Pairs(
        first=ints(pair.first for pair in pairs),
        second=ints(pair.second for pair in pairs),
        state=ints(states),
        target_start=target_start,
        target=target,
        owner=ints(state.variable for state in part.automaton.states),
    )
