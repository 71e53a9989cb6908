"""Graphlets, stretches of a graph's nodes in time: where they may be cut, and what they hold."""

from __future__ import annotations

import numpy as np

from trendloom.kernels.compiled import kernel
from trendloom.kernels.paths import Floats
from trendloom.kernels.steps import Flags, Ints

PATH_BYTES = 8
NODE_BYTES = 4
"""What `grow` takes for a path, and for each of its nodes."""


@kernel
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


@kernel
def cut_places(point: Ints, pred_start: Ints, pred: Ints) -> Ints:
    """The nodes before which the graph may be cut (CET Def. 6), its first and its end included.

    A cut lies between two time points, and every step across it leads from a node without a step
    inside the earlier side to one without a step inside the later side.
    """
    nodes = point.shape[0]
    nearest, farthest = np.full(nodes, nodes), np.full(nodes, -1)
    barred = np.zeros(nodes + 2, np.int64)
    for node in range(nodes):
        low, high = nodes, -1
        for k in range(pred_start[node], pred_start[node + 1]):
            before = pred[k]
            low, high = min(low, before), max(high, before)
            nearest[before] = min(nearest[before], node)
            farthest[before] = max(farthest[before], node)
        if high >= 0:
            barred[low + 1] += 1
            barred[high + 1] -= 1
    for node in range(nodes):
        if farthest[node] >= 0:
            barred[nearest[node] + 1] += 1
            barred[farthest[node] + 1] -= 1
    places = np.empty(nodes + 1, np.int64)
    found = 0
    open_ = 0
    for node in range(nodes):
        open_ += barred[node]
        if node == 0 or (open_ == 0 and point[node] != point[node - 1]):
            places[found] = node
            found += 1
    places[found] = nodes
    return places[: found + 1].copy()


@kernel
def paths_from(ends: Flags, pred_start: Ints, pred: Ints) -> Floats:
    """Per node: the paths from it to an end; infinity where a double has no room."""
    count = ends.astype(np.float64)
    for node in range(ends.shape[0] - 1, -1, -1):
        for k in range(pred_start[node], pred_start[node + 1]):
            count[pred[k]] += count[node]
    return count


@kernel
def stretch_sizes(
    begins: Flags,
    pred_start: Ints,
    pred: Ints,
    after: Floats,
    bounds: Ints,
    g: int,
    room: float,
) -> Floats:
    """Of the graphlets from `bounds[g]` to every later bound: kept paths, their nodes, and how
    often a kept path is taken when trends are stitched together. `after` is `paths_from`.

    Past `room` bytes of kept paths it stops, and all further ones are infinite.
    """
    lo = bounds[g]
    nodes = bounds[-1]
    out = np.full((bounds.shape[0] - 1 - g, 3), np.inf)
    paths, length = np.zeros(nodes - lo), np.zeros(nodes - lo)
    kept, kept_nodes, taken = 0.0, 0.0, 0.0
    for k in range(out.shape[0]):
        for node in range(bounds[g + k], bounds[g + k + 1]):
            at = node - lo
            enters = begins[node] != 0
            for edge in range(pred_start[node], pred_start[node + 1]):
                before = pred[edge] - lo
                if before < 0:
                    enters = True
                else:
                    paths[at] += paths[before]
                    length[at] += length[before] + paths[before]
                    # The step is inside now: it is no longer stitched.
                    taken -= paths[before] * after[node]
            if enters:
                paths[at] += 1.0
                length[at] += 1.0
            kept += paths[at]
            kept_nodes += length[at]
            # All ways on from here leave the graphlet, as far as it reaches now.
            taken += paths[at] * after[node]
        if PATH_BYTES * kept + NODE_BYTES * kept_nodes > room:
            break
        out[k, 0], out[k, 1], out[k, 2] = kept, kept_nodes, taken
    return out
