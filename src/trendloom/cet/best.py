"""The best k trends of a graph without building the others: longest, or largest sum.

1. Forward, the best weight with which each node can be reached: the semiring (max, +) over the
   graph.
2. Back from the ends, the most promising partial path first: what it weighs already plus the best
   way to reach it. That promise is exact, so paths are completed in the order of their weights, and
   nothing is expanded that is not on the way to one of the best k or as good.
"""

from __future__ import annotations

import heapq
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from trendloom.cet.detection import Paths
from trendloom.kernels.paths import heaviest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trendloom.cet.graph import Graph

Suffix = tuple[int, "Suffix | None"]
"""A node and what comes after it."""


def best_paths(graph: Graph, weight: NDArray[np.float64], k: int) -> Paths:
    """The k heaviest paths, or all if there are fewer, heaviest first. `weight` is per node."""
    reach = heaviest(graph.begins, graph.pred_start, graph.pred, weight)
    # Among equals the newest first: depth first, else all equally good paths would grow at once.
    tie = count(0, -1)
    # (promise, tie, is whole, weight after the node, suffix): heapq pops the smallest.
    heap: list[tuple[float, int, bool, float, Suffix]] = [
        (-float(reach[node]), next(tie), False, 0.0, (int(node), None)) for node in graph.last
    ]
    heapq.heapify(heap)
    offset, nodes = [0], []
    while heap and len(offset) <= k:
        _, _, whole, after, suffix = heapq.heappop(heap)
        node, _ = suffix
        if whole:
            step: Suffix | None = suffix
            while step is not None:
                nodes.append(step[0])
                step = step[1]
            offset.append(len(nodes))
            continue
        total = after + float(weight[node])
        if graph.begins[node]:
            heapq.heappush(heap, (-total, next(tie), True, total, suffix))
        for before in graph.pred[graph.pred_start[node] : graph.pred_start[node + 1]].tolist():
            promise = -(total + float(reach[before]))
            heapq.heappush(heap, (promise, next(tie), False, total, (before, suffix)))
    return Paths(np.array(offset, np.int32), np.array(nodes, np.int32))
