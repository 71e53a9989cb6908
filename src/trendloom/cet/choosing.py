"""Which algorithm detects a graph's trends, and where H-CET cuts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trendloom.cet.costs import Prices, atomic_bounds, point_bounds
from trendloom.cet.counting import count_trends
from trendloom.cet.detection import depth_first, stitched
from trendloom.cet.memory import in_words
from trendloom.cet.partitioning import branch_and_bound, greedy
from trendloom.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from trendloom.cet.detection import Paths
    from trendloom.cet.graph import Graph
    from trendloom.cet.wanted import Wanted

MOST_ATOMS = 64
"""Beyond, branch and bound takes longer than it can save."""
WORTH_PLANNING = 100_000
"""Fewer trends are listed before a plan is made."""


def paths_of(graph: Graph, wanted: Wanted) -> Iterator[Paths]:
    """The trends by the algorithm that was asked for; "auto" takes the one of least work.

    Trends leave as lists, so every event of every trend is copied anyway. That is most of the work
    of M-CET too, which therefore is what "auto" comes to unless kept paths save more steps than
    they cost.
    """
    few = wanted.algorithm == "auto" and count_trends(graph).number < WORTH_PLANNING
    if wanted.algorithm == "m" or few:
        return depth_first(graph, wanted.memory)
    if wanted.algorithm == "t":
        prices = Prices(graph, np.array([0, len(graph)]), np.inf)
        needed = prices.memory((0, 1))
        if needed > _room(graph, wanted):
            raise LimitError(
                f"T-CET would hold {in_words(needed)} of paths at once; there is room for "
                f"{in_words(_room(graph, wanted))}.",
                remedy='Use algorithm="h", which cuts the graph, or raise memory_limit.',
            )
        return stitched(graph, prices.bounds, wanted.memory)
    bounds, saves = cut_of(graph, _room(graph, wanted))
    if bounds is not None and (saves or wanted.algorithm == "h"):
        return stitched(graph, bounds, wanted.memory)
    return depth_first(graph, wanted.memory)


def cut_of(graph: Graph, room: float) -> tuple[NDArray[np.int64] | None, bool]:
    """The nodes at which H-CET cuts, and whether that is less work than M-CET.

    Atomic graphlets first; where even they do not fit, every time point is a place to cut. None if
    nothing fits: H-CET with a graphlet per node is M-CET.
    """
    for bounds in (atomic_bounds(graph), point_bounds(graph)):
        prices = Prices(graph, bounds, room)
        search = branch_and_bound if prices.atoms <= MOST_ATOMS else greedy
        if not np.isfinite(prices.work_of_walk):
            return None, False
        plan = search(prices, room)
        if plan is not None:
            return prices.places(plan), prices.work(plan) < prices.work_of_walk
    return None, False


def _room(graph: Graph, wanted: Wanted) -> float:
    """For kept paths: half of the memory; the other half is for the graph and for batches."""
    return max(wanted.memory / 2 - graph.bytes, 0.0)
