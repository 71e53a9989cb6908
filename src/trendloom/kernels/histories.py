"""Sets of marked runs that share their beginnings, and the runs in them one by one.

A node says: this event was marked so, after any of the histories `BEFORE`. Such a set of histories
is a heap of nodes, ordered by the latest start among them (the enumeration structure of CORE, with
a leftist heap in the place of its lists of unions):

- two sets become one by copying the few nodes of their right spines; sets are never changed,
  because other nodes may stand on them;
- whoever asks for the histories that start at `bound` or later never meets a node without one, so
  the next history is found in time linear in its length, however long the stream was.

Whatever a node points at is older than the node, so one sweep from the youngest to the oldest
finds what is still needed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel

Ints = NDArray[np.int64]

EVENT, LABEL, BEFORE, LATEST, LEFT, RIGHT, RANK = range(7)
WIDTH = 7
"""Of a node: a row of numbers. A history begins at a node without BEFORE; LATEST is its start."""

NONE = -1
UNMARKED = 0
"""The label of an event that begins a history and is marked with nothing."""

SPINE = 130
"""Two right spines together: each is at most 64 long."""

NODES, TOP, FOUND, MARKS, NEXT = range(5)
"""Counters of a search: nodes made, stack height, histories and marks written, the next event."""

DONE, FULL, GROW, UNKNOWN, STACK = range(5)
"""Why a kernel returned: nothing left, no room for results, for nodes; a step that is not in the
table yet; no room on the stack."""


@kernel
def add(nodes: Ints, where: Ints, event: int, label: int, before: int, latest: int) -> int:
    """A set of its own: the event marked so, after these histories."""
    node = where[NODES]
    where[NODES] = node + 1
    nodes[node, EVENT], nodes[node, LABEL] = event, label
    nodes[node, BEFORE], nodes[node, LATEST] = before, latest
    nodes[node, LEFT], nodes[node, RIGHT], nodes[node, RANK] = NONE, NONE, 1
    return node


@kernel
def unite(nodes: Ints, where: Ints, one: int, fresh: int, spine: Ints) -> int:
    """Both sets as one; `fresh` may be changed, since nothing else stands on it yet."""
    if one == NONE:
        return fresh
    if nodes[fresh, LEFT] == NONE and nodes[fresh, LATEST] >= nodes[one, LATEST]:
        nodes[fresh, LEFT] = one
        return fresh
    return unite_shared(nodes, where, one, fresh, spine)


@kernel
def unite_shared(nodes: Ints, where: Ints, one: int, other: int, spine: Ints) -> int:
    """Both sets as one, neither of which is changed."""
    depth = 0
    while one != NONE and other != NONE:
        if nodes[one, LATEST] < nodes[other, LATEST]:
            one, other = other, one
        spine[depth] = one
        depth += 1
        one = nodes[one, RIGHT]
    root = other if one == NONE else one
    for k in range(depth - 1, -1, -1):
        copied = spine[k]
        copy = where[NODES]
        where[NODES] = copy + 1
        for field in range(LEFT):
            nodes[copy, field] = nodes[copied, field]
        left, right = nodes[copied, LEFT], root
        if _rank(nodes, left) < _rank(nodes, right):
            left, right = right, left
        nodes[copy, LEFT], nodes[copy, RIGHT] = left, right
        nodes[copy, RANK] = 1 + _rank(nodes, right)
        root = copy
    return root


@kernel
def _rank(nodes: Ints, node: int) -> int:
    return 0 if node == NONE else nodes[node, RANK]


@kernel
def walk(
    nodes: Ints,
    where: Ints,
    end: int,
    bound: int,
    stack: Ints,
    path: Ints,
    found: Ints,
    offset: Ints,
    marks: Ints,
) -> int:
    """Writes histories that start at `bound` or later, until none is left or the room is used up.

    A row of `found` is the event of the start, its LATEST, and the end; a row of `marks` is an
    event and its label. The stack holds nodes and how many marks stand behind them; a number below
    zero says that the node's neighbours in its heap are on the stack already.
    """
    while where[TOP] > 0:
        top = where[TOP] - 1
        node, depth = stack[top, 0], stack[top, 1]
        if top + 4 > stack.shape[0] or abs(depth) + 2 > path.shape[0]:
            return STACK
        if depth >= 0:
            where[TOP] = top
            for side in range(LEFT, RIGHT + 1):
                near = nodes[node, side]
                if near != NONE and nodes[near, LATEST] >= bound:
                    stack[where[TOP], 0], stack[where[TOP], 1] = near, depth
                    where[TOP] += 1
        else:
            depth = -1 - depth
            where[TOP] = top
        path[depth] = node
        before = nodes[node, BEFORE]
        if before != NONE:
            stack[where[TOP], 0], stack[where[TOP], 1] = before, depth + 1
            where[TOP] += 1
            continue
        k, written = where[FOUND], where[MARKS]
        if k >= found.shape[0] or written + depth + 1 > marks.shape[0]:
            stack[where[TOP], 0], stack[where[TOP], 1] = node, -1 - depth
            where[TOP] += 1
            return FULL
        found[k, 0], found[k, 1], found[k, 2] = nodes[node, EVENT], nodes[node, LATEST], end
        for back in range(depth, -1, -1):
            if nodes[path[back], LABEL] != UNMARKED:
                marks[written, 0] = nodes[path[back], EVENT]
                marks[written, 1] = nodes[path[back], LABEL]
                written += 1
        offset[k + 1] = written
        where[FOUND], where[MARKS] = k + 1, written
    return DONE


@kernel
def compact(nodes: Ints, where: Ints, roots: Ints, bound: int) -> None:
    """Leaves only what the roots need for histories that start at `bound` or later."""
    size = where[NODES]
    place = np.full(size, NONE, np.int64)
    for k in range(roots.shape[0]):
        if roots[k] != NONE and nodes[roots[k], LATEST] >= bound:
            place[roots[k]] = 0
    for node in range(size - 1, -1, -1):
        if place[node] == NONE:
            continue
        for field in (BEFORE, LEFT, RIGHT):
            at = nodes[node, field]
            if at != NONE and nodes[at, LATEST] >= bound:
                place[at] = 0
    kept = 0
    for node in range(size):
        if place[node] == NONE:
            continue
        place[node] = kept
        for field in (BEFORE, LEFT, RIGHT):
            at = nodes[node, field]
            nodes[node, field] = NONE if at == NONE else place[at]
        for field in range(WIDTH):
            nodes[kept, field] = nodes[node, field]
        kept += 1
    for k in range(roots.shape[0]):
        if roots[k] != NONE:
            roots[k] = place[roots[k]]
    where[NODES] = kept
