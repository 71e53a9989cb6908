"""Graphlets, stretches of a graph's nodes in time: where they may be cut, and what they hold."""

from __future__ import annotations

import numpy as np
from numba import njit

from trendloom.kernels.steps import Flags, Ints


@njit(cache=True, nogil=True)
def graphlet_sizes(begins: Flags, pred_start: Ints, pred: Ints, home: Ints) -> tuple[float, float]:
    """How many paths `grow` keeps, and how many nodes they have."""
    nodes = begins.shape[0]
    paths, length = np.zeros(nodes), np.zeros(nodes)
    all_paths = 0.0
    all_nodes = 0.0
    for node in range(nodes):
        enters = begins[node] != 0
        for k in range(pred_start[node], pred_start[node + 1]):
            before = pred[k]
            if before < home[node]:
                enters = True
            else:
                paths[node] += paths[before]
                length[node] += length[before] + paths[before]
        if enters:
            paths[node] += 1.0
            length[node] += 1.0
        all_paths += paths[node]
        all_nodes += length[node]
    return all_paths, all_nodes
