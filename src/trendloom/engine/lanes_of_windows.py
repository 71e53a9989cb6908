"""Which windows are computed together, as lanes of one tree: `kernels/lanes_ranked.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trendloom.engine.shares import Cut, cut_runs
from trendloom.kernels.lanes_ranked import OWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.layout import Layout
    from trendloom.engine.ranks import Ranking
    from trendloom.engine.windows import Runs
    from trendloom.plan.plan import Part

    Ints = NDArray[np.int64]

LANES = 8
"""Windows of a stretch: a number of each fills one line of the processor's cache."""
LEAST_SHARED = 3.0
"""Windows that hold an event of a stretch, on average: with fewer, one by one costs less."""
MOST_BYTES = 1 << 28
"""Of a stretch's tree: longer windows are computed one by one, so that memory stays bounded."""


def stretches_of(
    part: Part, layout: Layout, chunk: Chunk, runs: Runs, rankings: Sequence[Ranking]
) -> Ints | None:
    """The first run of every stretch and the number of runs; None if stretches do not pay."""
    if len(runs) < 2:
        return None
    lo, hi = runs.lo, runs.hi
    begins = np.ones(len(runs), np.bool_)
    begins[1:] = (np.diff(runs.partition) != 0) | (lo[1:] >= hi[:-1])
    begins[1:] |= (np.diff(lo) < 0) | (np.diff(hi) < 0)
    number = np.arange(len(runs))
    within = number - np.maximum.accumulate(np.where(begins, number, 0))
    first = np.flatnonzero(within % LANES == 0)
    end = np.append(first[1:], len(runs))
    low, high = lo[first], hi[end - 1]
    if int((hi - lo).sum()) < LEAST_SHARED * int((high - low).sum()):
        return None
    if int((high - low).max()) * _bytes_per_event(part, layout, rankings) > MOST_BYTES:
        return None
    inside = np.concatenate(
        [lo[lo > np.repeat(low, end - first)], hi[hi < np.repeat(high, end - first)]]
    )
    if (chunk.order[inside] == chunk.order[inside - 1]).any():
        # Windows of events: one may begin or end between two that are simultaneous.
        return None
    return np.append(first, len(runs))


def cut_stretches(runs: Runs, stretches: Ints, shares: int) -> list[Cut]:
    """Cuts between stretches: what is computed does not depend on the number of threads."""
    sizes = np.add.reduceat(runs.hi - runs.lo, stretches[:-1])
    return [Cut(int(stretches[cut.run]), 0) for cut in cut_runs(sizes, shares)]


def _bytes_per_event(part: Part, layout: Layout, rankings: Sequence[Ranking]) -> int:
    """Doubles may need exponents, and places be those of all events where these are few more."""
    trees = sum(
        one.earlier == state.variable for one in rankings for state in part.automaton.states
    )
    numbers = len(layout.extremes)
    numbers += 0 if layout.scaled is None else 2 * (1 + len(layout.scaled))
    numbers += 0 if layout.checked is None else 1 + len(layout.checked)
    return OWN * trees * numbers * LANES * 8
