"""Paths through a graph of trends: their number, and the paths themselves, a buffer at a time.

Paths are walked from their ends back to their beginnings: the graph has predecessors, and no node
is without a way back, so nothing is ever walked in vain. Each kernel goes on where the last call
stopped, and stops before its buffer would overflow.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.steps import Flags, Ints

Floats = NDArray[np.float64]
Nodes = NDArray[np.int32]

DEPTH, NEXT_END, PENDING = 0, 1, 2
"""Where a walk stands: nodes on its stack, the next end to begin with, a path to write first."""


@kernel
def count_paths(begins: Flags, pred_start: Ints, pred: Ints) -> tuple[Floats, Ints]:
    """Per node: the paths from a beginning to it, as m · 2^e with m below 2^512."""
    nodes = begins.shape[0]
    m, e = np.zeros(nodes), np.zeros(nodes, np.int64)
    for node in range(nodes):
        top = 0
        total = float(begins[node])
        for k in range(pred_start[node], pred_start[node + 1]):
            top = max(top, e[pred[k]])
            total += m[pred[k]]
        if top:
            total = math.ldexp(float(begins[node]), -min(top, 2_000))
            for k in range(pred_start[node], pred_start[node + 1]):
                total += math.ldexp(m[pred[k]], max(e[pred[k]] - top, -2_000))
        if total >= 2.0**512:
            total = math.ldexp(total, -512)
            top += 512
        m[node], e[node] = total, top
    return m, e


@kernel
def longest_paths(begins: Flags, pred_start: Ints, pred: Ints) -> Ints:
    """Per node: the number of nodes of the longest path to it."""
    longest = np.zeros(begins.shape[0], np.int64)
    for node in range(begins.shape[0]):
        longest[node] = 1
        for k in range(pred_start[node], pred_start[node + 1]):
            longest[node] = max(longest[node], longest[pred[k]] + 1)
    return longest


@kernel
def walk(
    begins: Flags,
    pred_start: Ints,
    pred: Ints,
    last: Ints,
    stack: Ints,
    cursor: Ints,
    where: Ints,
    offset: NDArray[np.int32],
    out: Nodes,
    most: int,
) -> int:
    """M-CET (CET §4.2): depth first with one path in memory. Returns how many were written.

    `last` are the nodes that may end a path. Path k is `out[offset[k] : offset[k + 1]]`.
    """
    depth, next_end, pending = where[DEPTH], where[NEXT_END], where[PENDING]
    written = 0
    used = 0
    offset[0] = 0
    while True:
        if depth == 0:
            if next_end == last.shape[0]:
                break
            node = last[next_end]
            next_end += 1
            stack[0], cursor[0] = node, pred_start[node]
            depth, pending = 1, begins[node]
        if pending:
            if written == most or used + depth > out.shape[0]:
                break
            for k in range(depth):
                out[used + k] = stack[depth - 1 - k]
            used += depth
            written += 1
            offset[written] = used
            pending = 0
        at = cursor[depth - 1]
        if at == pred_start[stack[depth - 1] + 1]:
            depth -= 1
            continue
        cursor[depth - 1] = at + 1
        node = pred[at]
        stack[depth], cursor[depth] = node, pred_start[node]
        depth += 1
        pending = begins[node]
    where[DEPTH], where[NEXT_END], where[PENDING] = depth, next_end, pending
    return written


@kernel
def grow(
    begins: Flags,
    pred_start: Ints,
    pred: Ints,
    home: Ints,
    first: Ints,
    start: Ints,
    flat: Nodes,
) -> None:
    """T-CET (CET §4.2) in every graphlet: all its paths to each of its nodes, kept.

    `home[v]` is the first node of v's graphlet. Paths that end in v are `first[v] : first[v + 1]`,
    path p is `flat[start[p] : start[p + 1]]`. A path begins where a trend begins, or where a step
    from an earlier graphlet arrives. Every edge is passed once, whatever the number of paths.
    """
    path = 0
    used = 0
    for node in range(begins.shape[0]):
        first[node] = path
        enters = begins[node] != 0
        for k in range(pred_start[node], pred_start[node + 1]):
            enters |= pred[k] < home[node]
        if enters:
            flat[used] = node
            used += 1
            path += 1
            start[path] = used
        for k in range(pred_start[node], pred_start[node + 1]):
            before = pred[k]
            if before < home[node]:
                continue
            for p in range(first[before], first[before + 1]):
                for at in range(start[p], start[p + 1]):
                    flat[used] = flat[at]
                    used += 1
                flat[used] = node
                used += 1
                path += 1
                start[path] = used
        first[node + 1] = path


@kernel
def stitch(
    begins: Flags,
    pred_start: Ints,
    pred: Ints,
    home: Ints,
    first: Ints,
    start: Ints,
    flat: Nodes,
    last: Ints,
    stack: Ints,
    cursor: Ints,
    where: Ints,
    offset: NDArray[np.int32],
    out: Nodes,
    most: int,
) -> int:
    """H-CET (CET §4.3): M-CET over the kept paths, which are copied whole.

    A level of the stack is a kept path; its cursor is the edge into its first node and the path
    behind that edge that come next. Level 0 takes the paths of the ends in turn.
    """
    depth, next_end, pending = where[DEPTH], where[NEXT_END], where[PENDING]
    written = 0
    used = 0
    offset[0] = 0
    length = 0
    for level in range(depth):
        length += start[stack[level] + 1] - start[stack[level]]
    while True:
        if depth == 0:
            # `cursor[0, 1]` of an empty stack: the next path of the current end.
            while next_end < last.shape[0] and cursor[0, 1] >= first[last[next_end] + 1]:
                next_end += 1
                if next_end < last.shape[0]:
                    cursor[0, 1] = first[last[next_end]]
            if next_end == last.shape[0]:
                break
            stack[0] = cursor[0, 1]
            cursor[0, 1] += 1
            depth = 1
            length = start[stack[0] + 1] - start[stack[0]]
            entry = flat[start[stack[0]]]
            cursor[1, 0], cursor[1, 1] = pred_start[entry] - 1, 0
            pending = begins[entry]
        if pending:
            if written == most or used + length > out.shape[0]:
                break
            for level in range(depth - 1, -1, -1):
                for at in range(start[stack[level]], start[stack[level] + 1]):
                    out[used] = flat[at]
                    used += 1
            written += 1
            offset[written] = used
            pending = 0
        top = stack[depth - 1]
        entry = flat[start[top]]
        # The next path behind the current edge, else the next edge from an earlier graphlet.
        edge = cursor[depth, 0]
        if edge < pred_start[entry] or cursor[depth, 1] >= first[pred[edge] + 1]:
            edge += 1
            while edge < pred_start[entry + 1] and pred[edge] >= home[entry]:
                edge += 1
            if edge == pred_start[entry + 1]:
                length -= start[top + 1] - start[top]
                depth -= 1
                continue
            cursor[depth, 0], cursor[depth, 1] = edge, first[pred[edge]]
        path = cursor[depth, 1]
        cursor[depth, 1] += 1
        stack[depth] = path
        depth += 1
        length += start[path + 1] - start[path]
        entry = flat[start[path]]
        cursor[depth, 0], cursor[depth, 1] = pred_start[entry] - 1, 0
        pending = begins[entry]
    where[DEPTH], where[NEXT_END], where[PENDING] = depth, next_end, pending
    return written


@kernel
def heaviest(begins: Flags, pred_start: Ints, pred: Ints, weight: Floats) -> Floats:
    """Per node: the largest weight of a path to it, its own included."""
    best = np.full(begins.shape[0], -np.inf)
    for node in range(begins.shape[0]):
        if begins[node]:
            best[node] = 0.0
        for k in range(pred_start[node], pred_start[node + 1]):
            best[node] = max(best[node], best[pred[k]])
        best[node] += weight[node]
    return best
