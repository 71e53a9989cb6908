"""From the steps of a stretch of events to the graph of one window in it (CET §6.3).

Whether a step is the longest way between its two nodes depends on what lies between them only, so
the steps of a window are those of the stretch that have both ends in it. What changes with the
window is where trends begin and end: at nodes that nothing in the window precedes, or follows.
"""

from __future__ import annotations

import numpy as np

from trendloom.kernels.compiled import kernel
from trendloom.kernels.steps import Flags, Ints

Restricted = tuple[Ints, Flags, Flags, Ints, Ints]
"""The nodes' old numbers, and their marks and edges under new ones."""


@kernel
def restricted(
    starts: Flags, final: Flags, pred_start: Ints, pred: Ints, first: int, last: int
) -> Restricted:
    """The complete trends of nodes `first : last`; `starts` and `final` are what states allow.

    Without nodes that no trend reaches, or that lead to none.
    """
    size = last - first
    reached, live = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    begins, ends = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    for node in range(size):
        for k in range(pred_start[first + node], pred_start[first + node + 1]):
            before = pred[k] - first
            if before >= 0 and reached[before]:
                reached[node] = 1
                break
        if not reached[node] and starts[first + node]:
            begins[node] = reached[node] = 1
    for node in range(size - 1, -1, -1):
        if not reached[node]:
            continue
        if not live[node] and final[first + node]:
            ends[node] = live[node] = 1
        if live[node]:
            for k in range(pred_start[first + node], pred_start[first + node + 1]):
                before = pred[k] - first
                if before >= 0:
                    live[before] = 1
    number = np.empty(size, np.int64)
    nodes = 0
    edges = 0
    for node in range(size):
        live[node] &= reached[node]
        number[node] = nodes
        if live[node]:
            nodes += 1
            edges += pred_start[first + node + 1] - pred_start[first + node]
    old = np.empty(nodes, np.int64)
    begins_, ends_ = np.empty(nodes, np.uint8), np.empty(nodes, np.uint8)
    start = np.zeros(nodes + 1, np.int64)
    kept = np.empty(edges, np.int64)
    edges = 0
    for node in range(size):
        if not live[node]:
            continue
        here = number[node]
        old[here] = first + node
        begins_[here], ends_[here] = begins[node], ends[node]
        for k in range(pred_start[first + node], pred_start[first + node + 1]):
            before = pred[k] - first
            if before >= 0 and live[before]:
                kept[edges] = number[before]
                edges += 1
        start[here + 1] = edges
    return old, begins_, ends_, start, kept[:edges].copy()
