"""Range sums by value over a chunk: the arguments of `kernels/ranked.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trendloom.engine.cells import Cells, longest_tie
from trendloom.engine.lanes_of_windows import LANES
from trendloom.engine.program import grouped, ints
from trendloom.engine.stopping import stop_flag
from trendloom.kernels.counted import count_by_value
from trendloom.kernels.lanes_counted import count_in_lanes
from trendloom.kernels.lanes_ranked import sum_in_lanes
from trendloom.kernels.layers import Sums
from trendloom.kernels.pending import EVERY
from trendloom.kernels.ranked import Carried, Steps, sum_by_value
from trendloom.kernels.scaled import within_radix
from trendloom.pattern.automaton import DEAD, START

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.inputs import Centre
    from trendloom.engine.layout import Layout
    from trendloom.engine.ranks import Ranking, RankingPair
    from trendloom.engine.windows import Runs
    from trendloom.kernels.ranks import Ranks
    from trendloom.plan.plan import Part

    Ints = NDArray[np.int64]

_NO_SUMS = Sums(np.zeros((0, 0)), np.zeros((0, 0), np.int64), np.zeros((0, 0), np.int64))
FROM_NOTHING = Carried(np.zeros(0, np.int64), _NO_SUMS, np.zeros(0, np.uint8), _NO_SUMS)
"""Of runs that do not go on."""


class Ranked:
    """A part's sums over the runs of a chunk, with conditions looked up by value."""

    def __init__(
        self,
        part: Part,
        layout: Layout,
        chunk: Chunk,
        masks: NDArray[np.uint64],
        runs: Runs,
        centres: dict[int, Centre],
        rankings: Sequence[Ranking],
        ranks: Ranks,
        stretches: Ints | None = None,
    ) -> None:
        """`stretches`: the runs that are lanes of one tree, if any are (`stretches_of`)."""
        steps = compile_steps(part, rankings)
        width = longest_tie(chunk.order) * len(part.automaton.states)
        count = len(part.automaton.states) + 2 + width
        cells = Cells(part.automaton.variables, chunk, count, len(runs))
        self.scaled = cells.scaled(layout.scaled, centres)
        self.checked = cells.checked(layout.checked)
        self.extreme = cells.extreme(layout.extremes)
        self.found = np.zeros(len(runs), np.uint8)
        only_counts = layout.scaled == () and layout.checked is None and not layout.extremes
        if stretches is not None and within_radix(self.scaled.x, runs.lo, runs.hi):
            events = steps, ranks, chunk.order, masks, runs.lo, runs.hi, stretches, LANES
            # Plain doubles reach far, and take a fraction of the time.
            if only_counts:
                out_m, out_e = self.scaled.out_m[:, 0], self.scaled.out_e[:, 0]
                if not count_in_lanes(*events, False, width, out_m, out_e):
                    count_in_lanes(*events, True, width, out_m, out_e)
                self.found[:] = out_m != 0.0
                return
            arguments = self.scaled, self.checked, self.extreme, width, self.found
            if not sum_in_lanes(*events, False, *arguments):
                sum_in_lanes(*events, True, *arguments)
            return
        if only_counts and not ranks.kind.any():
            out_m, out_e = self.scaled.out_m[:, 0], self.scaled.out_e[:, 0]
            count_by_value(steps, ranks, chunk.order, masks, runs.lo, runs.hi, width, out_m, out_e)
            self.found[:] = out_m != 0.0
            return
        sum_by_value(
            steps,
            ranks,
            chunk.order,
            masks,
            runs.lo,
            runs.hi,
            self.scaled,
            self.checked,
            self.extreme,
            width,
            self.found,
            FROM_NOTHING,
        )

    @property
    def fits(self) -> bool:
        """Whether no integer left the 64 bits. A sum by value may that no trend asks for."""
        return bool(self.checked.overflow[0] >= 0)


def compile_steps(
    part: Part, rankings: Sequence[Ranking | RankingPair], *, consuming: bool = False
) -> Steps:
    """The part's arrows, and an index for every state and order, or pair of them, on its way out.

    Where steps consume what they extend, those that lead to no trend count too, and a state that
    has indexes has one of all its entries for the arrows without a condition.
    """
    automaton = part.automaton
    states = automaton.states
    indexes: dict[tuple[int, int], int] = {}
    arrows: list[list[tuple[int, ...]]] = [[] for _ in automaton.variables]
    reads: list[list[tuple[int, ...]]] = []
    plain = [0] * len(states)
    live = [arrow for arrow in automaton.arrows if consuming or arrow.target != DEAD]
    event_grained = part.event_grained
    for a in sorted(live, key=lambda arrow: (arrow.variable, arrow.target)):
        arrows[a.variable].append((a.source, a.target))
        reads.append([])
        if a.source == START:
            continue
        step = (states[a.source].variable, a.variable)
        if step not in part.adjacent:
            plain[a.source] = 1
            if consuming and event_grained[a.source]:
                index = indexes.setdefault((a.source, EVERY), len(indexes))
                reads[-1].append((index,))
        for number, one in enumerate(rankings):
            if (one.earlier, one.later) == step:
                index = indexes.setdefault((a.source, number), len(indexes))
                reads[-1].append((index,))
    writes: list[list[tuple[int, ...]]] = [[] for _ in states]
    for (state, _), index in indexes.items():
        writes[state].append((index,))
    arrow_start, source, target = grouped(arrows, 2)
    read_start, read = grouped(reads, 1)
    write_start, write = grouped(writes, 1)
    accepting = {accept.state for accept in automaton.accepts}
    return Steps(
        states=len(states),
        arrow_start=arrow_start,
        source=source,
        target=target,
        read_start=read_start,
        read=read,
        write_start=write_start,
        write=write,
        ranking=ints(number for _, number in indexes),
        plain=ints(plain),
        final=ints(int(state in accepting) for state in range(len(states))),
        stop=stop_flag(),
    )
