"""Which algorithm detects a graph's trends, and where H-CET cuts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trendloom.cet.costs import Estimate, Prices, atomic_bounds, point_bounds
from trendloom.cet.counting import count_trends
from trendloom.cet.memory import in_words
from trendloom.cet.partitioning import branch_and_bound, greedy
from trendloom.errors import LimitError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trendloom.cet.counting import Count
    from trendloom.cet.graph import Graph
    from trendloom.cet.wanted import Wanted

MOST_ATOMS = 64
"""Beyond, branch and bound takes longer than it can save."""
WORTH_PLANNING = 100_000
"""Fewer trends are listed before a plan is made."""
NO_CUT = 1 << 16
"""Bytes of paths for which no cut is looked for: H-CET is T-CET there (CET §4.3)."""


@dataclass(frozen=True, eq=False)
class Choice:
    """An algorithm for one graph, and what it is expected to hold and to do."""

    algorithm: str
    """"m", "t" or "h"."""
    bounds: NDArray[np.int64] | None
    """Where "t" and "h" cut: nodes, the first and the end included."""
    estimate: Estimate

    @property
    def graphlets(self) -> int:
        return 0 if self.bounds is None else len(self.bounds) - 1


def choose(graph: Graph, wanted: Wanted, count: Count | None = None) -> Choice:
    """The algorithm that was asked for; "auto" takes the one of least work.

    Trends leave as lists, so every event of every trend is copied anyway. That is most of the work
    of M-CET too, which therefore is what "auto" comes to unless kept paths save more steps than
    they cost. `count` is the graph's, if it is known already.
    """
    whole = Prices(graph, np.array([0, len(graph)]), np.inf)
    walked = Choice("m", None, Estimate(0.0, 0.0, whole.work_of_walk / 1e9))
    few = wanted.algorithm == "auto" and (count or count_trends(graph)).number < WORTH_PLANNING
    if wanted.algorithm == "m" or few:
        return walked
    room = room_for_paths(graph, wanted)
    if wanted.algorithm == "t":
        kept = whole.estimate((0, 1))
        if kept.bytes > room:
            raise LimitError(
                f"T-CET would hold {in_words(kept.bytes)} of paths at once; there is room for "
                f"{in_words(room)}.",
                remedy='Use algorithm="h", which cuts the graph, or raise memory_limit.',
            )
        return Choice("t", whole.bounds, kept)
    if wanted.algorithm == "h":
        kept = whole.estimate((0, 1))
        if kept.bytes <= min(room, NO_CUT):
            return Choice("h", whole.bounds, kept)
    cut = cut_of(graph, room, wanted.optimizer)
    if cut is not None and (wanted.algorithm == "h" or cut.estimate.work < walked.estimate.work):
        return cut
    return walked


def cut_of(graph: Graph, room: float, optimizer: str) -> Choice | None:
    """Where H-CET cuts: the plan of least work whose kept paths fit.

    Atomic graphlets first; where even they do not fit, every time point is a place to cut. None if
    nothing fits: H-CET with a graphlet per node is M-CET.
    """
    for bounds in (atomic_bounds(graph), point_bounds(graph)):
        prices = Prices(graph, bounds, room)
        quick = optimizer == "greedy" or prices.atoms > MOST_ATOMS
        if not np.isfinite(prices.work_of_walk):
            return None
        plan = (greedy if quick else branch_and_bound)(prices, room)
        if plan is not None:
            return Choice("h", prices.places(plan), prices.estimate(plan))
    return None


def room_for_paths(graph: Graph, wanted: Wanted) -> float:
    """Half of the memory; the other half is for the graph and for batches."""
    return max(wanted.memory / 2 - graph.bytes, 0.0)
