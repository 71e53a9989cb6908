"""Which algorithm detects a graph's trends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trendloom.cet.detection import depth_first, stitched

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trendloom.cet.detection import Paths
    from trendloom.cet.graph import Graph
    from trendloom.cet.wanted import Wanted


def paths_of(graph: Graph, wanted: Wanted) -> Iterator[Paths]:
    match wanted.algorithm:
        case "t":
            yield from stitched(graph, np.array([0, len(graph)]), wanted.memory)
        case "h":
            middle = len(graph) // 2
            bounds = np.unique(np.array([0, middle, len(graph)]))
            yield from stitched(graph, bounds, wanted.memory)
        case _:
            yield from depth_first(graph, wanted.memory)
