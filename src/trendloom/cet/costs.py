"""What H-CET holds and does for a way of cutting, from the graph's own path counts (CET Table 2).

The paper bounds the paths of a graphlet of n events by 3^(n/3); here they are counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trendloom.kernels.graphlets import graphlet_sizes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from trendloom.cet.graph import Graph

PATH_BYTES = 8
NODE_BYTES = 4


def sizes(graph: Graph, home: NDArray[np.int64]) -> tuple[float, float]:
    """The paths that are kept, and the nodes they have."""
    paths, nodes = graphlet_sizes(graph.begins, graph.pred_start, graph.pred, home)
    return float(paths), float(nodes)
