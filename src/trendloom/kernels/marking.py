"""A deterministic automaton that marks events, run over a stream: `histories` keeps its runs.

A step of the table is what one state does at one class of events: a stretch of moves, each a label
and a target. Steps are made when they are first met (UNKNOWN): an automaton has more of them than
any stream meets.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.histories import (
    DONE,
    GROW,
    LATEST,
    NEXT,
    NODES,
    NONE,
    SPINE,
    TOP,
    UNKNOWN,
    UNMARKED,
    Ints,
    add,
    unite,
    unite_shared,
    walk,
)

START, END = 0, 1
"""States: nothing leads to the first, nothing leaves the second."""

Flags = NDArray[np.bool_]


@kernel
def advance(
    first: Ints,
    label: Ints,
    target: Ints,
    event_class: Ints,
    key: Ints,
    bound: Ints,
    begins: Flags,
    base: int,
    nodes: Ints,
    where: Ints,
    heaps: Ints,
    coming: Ints,
    stack: Ints,
    path: Ints,
    found: Ints,
    offset: Ints,
    marks: Ints,
) -> int:
    """Goes on at event `where[NEXT]`, and writes what ends at each event, as `walk` does.

    `first[state, class]` is where its moves begin and end; below zero: not known. Event k has the
    number base + k, `key[k]` orders starts, and no history that started before `bound[k]` is of
    interest. `begins`: a new partition, in which nothing has happened yet.
    """
    states = first.shape[0]
    spine = np.empty(SPINE, np.int64)
    while where[NEXT] < event_class.shape[0]:
        k = where[NEXT]
        if where[TOP] > 0:
            # The last call ran out of room while this event's results were written.
            reason = walk(nodes, where, base + k, bound[k], stack, path, found, offset, marks)
            if reason != DONE:
                return reason
            where[NEXT] = k + 1
            continue
        if begins[k]:
            heaps[:] = NONE
            where[NODES] = 0
        kind = event_class[k]
        moves, moving = 0, False
        for state in range(states):
            if state != START and heaps[state] == NONE:
                continue
            low, high = first[state, kind, 0], first[state, kind, 1]
            if low < 0:
                return UNKNOWN
            moves += high - low
            stays = high == low + 1 and label[low] == UNMARKED and target[low] == state
            if not stays and (state != START or high > low):
                moving = True
        if not moving:
            where[NEXT] = k + 1
            continue
        if where[NODES] + moves * (SPINE + 1) > nodes.shape[0]:
            return GROW
        coming[:] = NONE
        for state in range(states):
            heap = heaps[state]
            if state != START and (heap == NONE or nodes[heap, LATEST] < bound[k]):
                continue
            for move in range(first[state, kind, 0], first[state, kind, 1]):
                to = target[move]
                if state == START:
                    made = add(nodes, where, base + k, label[move], NONE, key[k])
                elif label[move] != UNMARKED:
                    made = add(nodes, where, base + k, label[move], heap, nodes[heap, LATEST])
                elif coming[to] == NONE:
                    coming[to] = heap
                    continue
                else:
                    coming[to] = unite_shared(nodes, where, coming[to], heap, spine)
                    continue
                coming[to] = unite(nodes, where, coming[to], made, spine)
        heaps[:] = coming
        if heaps[END] == NONE:
            where[NEXT] = k + 1
            continue
        stack[0, 0], stack[0, 1] = heaps[END], 0
        where[TOP] = 1
        heaps[END] = NONE
    return DONE
