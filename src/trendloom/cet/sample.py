"""k trends drawn uniformly and independently, from path counts: each as likely as any other.

From an end, drawn by the number of paths to it, back to a beginning: at each node a predecessor is
drawn by the number of paths to it, or the beginning if the node is one. All k walk at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trendloom.cet.detection import Paths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trendloom.cet.graph import Graph

    Ints = NDArray[np.int64]


def sample_paths(graph: Graph, k: int, random: np.random.Generator) -> Paths:
    """With replacement: a graph of few trends gives some of them more than once."""
    m, e = graph.paths_to
    last = graph.last
    share = np.ldexp(m[last], np.maximum(e[last] - e[last].max(), -2_000))
    node = random.choice(last, size=k, p=share / share.sum())
    back = [node]
    going = np.arange(k)
    while len(going):
        before = _step(graph, m, e, node[going], random)
        node = node.copy()
        node[going] = before
        going = going[before >= 0]
        if len(going):
            back.append(np.where(np.isin(np.arange(k), going), node, -1))
    table = np.stack(back[::-1], axis=1)
    here = table >= 0
    offset = np.concatenate([[0], np.cumsum(here.sum(axis=1))]).astype(np.int32)
    return Paths(offset, table[here].astype(np.int32))


def _step(
    graph: Graph, m: NDArray[np.float64], e: Ints, node: Ints, random: np.random.Generator
) -> Ints:
    """A predecessor of each node, -1 for the beginning."""
    at = random.random(len(node))
    chosen = np.empty(len(node), np.int64)
    for one in np.unique(node):
        mine = node == one
        preds = graph.pred[graph.pred_start[one] : graph.pred_start[one + 1]]
        ways = np.ldexp(m[preds], np.maximum(e[preds] - e[one], -2_000))
        begins = np.ldexp(float(graph.begins[one]), -min(int(e[one]), 2_000))
        edges = np.cumsum(np.append(ways, begins))
        places = np.searchsorted(edges, at[mine] * edges[-1], side="right")
        chosen[mine] = np.append(preds, -1)[np.minimum(places, len(preds))]
    return chosen
