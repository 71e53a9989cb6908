"""One graph and the ways to cut it, for a picture: what each way holds and does (CET Figures 5, 8).

Large graphs are not for eyes: the graph with the most trends among those that can be drawn is.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from trendloom.cet.choosing import choose, room_for_paths
from trendloom.cet.costs import Estimate, Prices, atomic_bounds, point_bounds
from trendloom.cet.counting import Count, count_trends
from trendloom.cet.partitioning import balanced
from trendloom.engine.arrow import to_numpy
from trendloom.errors import LimitError
from trendloom.kernels.graphlets import NODE_BYTES, PATH_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from trendloom.cet.costs import Cut
    from trendloom.cet.graph import Graph
    from trendloom.cet.wanted import Wanted
    from trendloom.engine.chunk import Chunk

    Ints = NDArray[np.int64]

MOST_NODES = 150
MOST_EDGES = 600
LEVELS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Numbers of graphlets that are compared, as far as the graph has places to cut."""


@dataclass(frozen=True)
class Way:
    """M-CET, T-CET, or H-CET with so many graphlets."""

    name: str
    bounds: tuple[int, ...]
    """Nodes, the first and the end included; (): no path is kept."""
    kept: tuple[float, ...]
    """Paths per graphlet."""
    estimate: Estimate


@dataclass(frozen=True, eq=False)
class Sketch:
    """What a picture shows."""

    graph: Graph
    row: Ints
    """Per node: the row of the input."""
    variables: tuple[str, ...]
    trends: Count
    ways: tuple[Way, ...]
    drawn: Way
    """Whose cuts are drawn."""
    room: float
    """Bytes for kept paths."""


def is_drawable(graph: Graph) -> bool:
    return len(graph) <= MOST_NODES and graph.edges <= MOST_EDGES


def most_trends(graphs: Iterable[tuple[Graph, Chunk]]) -> tuple[Graph, Count, Ints]:
    """Of those that can be drawn, the one with the most trends, and the rows of its nodes."""
    best: tuple[Graph, Count, Ints] | None = None
    smallest: Graph | None = None
    for graph, chunk in graphs:
        if smallest is None or len(graph) < len(smallest):
            smallest = graph
        if is_drawable(graph):
            count = count_trends(graph)
            if best is None or count.log2 > best[1].log2:
                row = to_numpy(chunk.batch.column("row"))
                best = graph, count, np.asarray(row[graph.event], np.int64)
    if best is not None:
        return best
    if smallest is None:
        raise LimitError("There is no trend to draw.", remedy="Look at the query's conditions.")
    raise LimitError(
        f"The smallest graph has {len(smallest):,} nodes and {smallest.edges:,} edges; at most "
        f"{MOST_NODES} and {MOST_EDGES} are drawn.",
        remedy="Use a shorter WITHIN, or fewer events.",
    )


def sketch(
    graph: Graph,
    count: Count,
    row: Ints,
    variables: tuple[str, ...],
    wanted: Wanted,
    graphlets: int | None = None,
) -> Sketch:
    """With the cut that a listing would make, or into so many graphlets of about equal size."""
    bounds = atomic_bounds(graph)
    if graphlets is not None and len(bounds) - 1 < graphlets:
        # Where Def. 6 allows too few cuts, every time point is a place, as for a listing.
        bounds = point_bounds(graph)
    prices = Prices(graph, bounds, np.inf)
    levels = {level for level in (*LEVELS, graphlets or 1) if level <= prices.atoms}
    if graphlets is not None and not 1 <= graphlets <= prices.atoms:
        raise LimitError(
            f"The graph can be cut into 1 to {prices.atoms} graphlets, not {graphlets}.",
            remedy="Give graphlets a number among these, or leave it out.",
        )
    ways = [_way(prices, balanced(prices, level)) for level in sorted(levels)]
    one_path = Estimate(1.0, PATH_BYTES + NODE_BYTES * graph.depth, prices.work_of_walk / 1e9)
    ways.append(Way("M-CET", (), (), one_path))
    if graphlets is None:
        choice = choose(graph, wanted)
        places = () if choice.bounds is None else tuple(choice.bounds.tolist())
        known = [way for way in ways if way.bounds == places]
        if not known:
            whole = Prices(graph, np.array(places), np.inf)
            ways.append(_way(whole, tuple(range(len(places))), " (chosen)"))
            known = ways[-1:]
    else:
        known = [way for way in ways if len(way.bounds) == graphlets + 1]
    return Sketch(
        graph, row, variables, count, tuple(ways), known[0], room_for_paths(graph, wanted)
    )


def _way(prices: Prices, cut: Cut, more: str = "") -> Way:
    graphlets = len(cut) - 1
    name = "T-CET" if graphlets == 1 else f"H-CET, {graphlets} graphlets{more}"
    kept = tuple(prices.estimate(pair).paths for pair in pairwise(cut))
    return Way(name, tuple(prices.places(cut).tolist()), kept, prices.estimate(cut))


def edges_of(graph: Graph) -> Iterator[tuple[int, int]]:
    """Pairs of nodes, the earlier first."""
    for node in range(len(graph)):
        for before in graph.pred[graph.pred_start[node] : graph.pred_start[node + 1]].tolist():
            yield before, node
