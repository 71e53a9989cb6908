"""The steps of a run of one state whose only condition is an order: `A.x < NEXT(A).x`.

An order is transitive: whatever comes before a kept predecessor u, with a value below u's, can
precede u as well and is covered. The predecessors of an event therefore are a staircase: the latest
event below it in value, then the latest among those that are not below that one, and so on. Each is
a query for the largest node in a range of values, by a tree of maxima: O(log n) per edge, and
memory linear in nodes and edges.
"""

from __future__ import annotations

import numpy as np

from trendloom.kernels.compiled import kernel
from trendloom.kernels.equal_steps import RawSteps
from trendloom.kernels.steps import Ints, Words, grown


@kernel
def _latest(tree: Ints, leaves: int, lo: int, hi: int) -> int:
    """The largest node of the ranks `lo : hi`, -1 if there is none."""
    found = -1
    lo += leaves
    hi += leaves
    while lo < hi:
        if lo & 1:
            found = max(found, tree[lo])
            lo += 1
        if hi & 1:
            hi -= 1
            found = max(found, tree[hi])
        lo >>= 1
        hi >>= 1
    return found


@kernel
def stairs(
    order: Ints, mask: Words, rank: Ints, ranks: int, strict: bool, lo: int, hi: int, most: int
) -> RawSteps:
    """The steps of events `lo : hi`, an event following those of a smaller rank, or of an equal one
    if not `strict`. Rank -1: no value. `pred_start` is empty if there are over `most` edges.
    """
    size = hi - lo
    event_of = np.empty(size, np.int64)
    pred_start = np.zeros(size + 1, np.int64)
    pred = np.empty(max(16, 2 * size), np.int64)
    point = np.empty(size, np.int64)
    leaves = 1
    while leaves < ranks:
        leaves *= 2
    tree = np.full(2 * leaves, -1, np.int64)
    same = np.empty(size, np.int64)
    nodes = 0
    edges = 0
    at = lo
    while at < hi:
        end = at + 1
        while end < hi and order[end] == order[at]:
            end += 1
        fresh = nodes
        for event in range(at, end):
            if mask[event] & np.uint64(1) == np.uint64(0):
                continue
            here = rank[event - lo]
            above = here if strict else here + 1
            low, equal = -1, -1
            while here >= 0:
                # Of the rank of the last step itself only those before it are left, if any.
                node = max(_latest(tree, leaves, low + 1, above), equal)
                if node < 0:
                    break
                top = low
                for other in range(node, point[node] - 1, -1):
                    value = rank[event_of[other] - lo]
                    fits = low < value or (strict and low == value and value >= 0)
                    if fits and value < above:
                        if edges == pred.shape[0]:
                            pred = grown(pred)
                        pred[edges] = other
                        edges += 1
                        top = max(top, value)
                if strict:
                    equal = tree[leaves + top] if top > low else equal
                    while equal >= point[node]:
                        equal = same[equal]
                low = top
            event_of[nodes] = event
            point[nodes] = fresh
            nodes += 1
            pred_start[nodes] = edges
            if edges > most:
                return event_of[:0], event_of[:0], pred_start[:0], pred[:0]
        for node in range(fresh, nodes):
            value = rank[event_of[node] - lo]
            if value < 0:
                continue
            place = leaves + value
            same[node] = tree[place]
            while place > 0:
                tree[place] = node
                place >>= 1
        at = end
    zeros = np.zeros(nodes, np.int64)
    return event_of[:nodes], zeros, pred_start[: nodes + 1], pred[:edges]
