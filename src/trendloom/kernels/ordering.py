"""An automaton whose runs remember values, run over a stream: `histories` keeps their pasts.

A run is in a state and has slots, each a value that an event had (as a number that orders as the
values do) and whether there was one. A step of the table is what a state does at a class of events:
tests of a slot against the event, and for every outcome of them a stretch of moves. Runs in one
state with equal slots are one run. Steps are made when they are first met (UNKNOWN), and so are
their outcomes: `where[WANTED]` and the two behind it say which.
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

Flags = NDArray[np.bool_]

START, END = 0, 1
INCREASING, DECREASING, SAME = range(3)
NO_SLOT = -1
"""In the place of a slot: nothing came before, so any value will do (SAME: but there must be one).
In a move: the value of an attribute, -1 - attribute."""

WANTED, RUNS, FULL_TABLE = 5, 8, 5
"""`where` goes on: state, class and outcome that were UNKNOWN, then the number of runs. A reason
more: no room for runs."""


@kernel
def advance(
    tests: Ints,
    test: Ints,
    outcomes: Ints,
    moves: Ints,
    copies: Ints,
    event_class: Ints,
    value: Ints,
    known: Flags,
    key: Ints,
    bound: Ints,
    begins: Flags,
    base: int,
    nodes: Ints,
    where: Ints,
    runs: Ints,
    chosen: Ints,
    table: Ints,
    stack: Ints,
    path: Ints,
    found: Ints,
    offset: Ints,
    marks: Ints,
) -> int:
    """As `marking.advance`. `value[attribute, event]`, if `known`.

    `tests[state, class]`: where its tests begin and end, and where its outcomes begin (below zero:
    not known). A test is a shape, a slot and an attribute. An outcome says where moves begin and
    end. A move is a label, a target, where in `copies` the sources of the target's slots stand,
    whether it changes nothing, and how many slots the target has.
    A run is a state, a history, and its slots: values, then whether they are known.
    """
    slots = (runs.shape[1] - 2) // 2
    spine = np.empty(SPINE, np.int64)
    fresh = np.zeros(2 * slots, np.int64)
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
            where[RUNS] = 1
            where[NODES] = 0
        kind = event_class[k]
        count = where[RUNS]
        most, moving = 0, False
        # The first run is the start, which no event changes.
        for i in range(count):
            state = runs[i, 0]
            at = tests[state, kind, 2]
            if at < 0:
                where[WANTED], where[WANTED + 1], where[WANTED + 2] = state, kind, 0
                return UNKNOWN
            outcome = 0
            for number in range(tests[state, kind, 0], tests[state, kind, 1]):
                if _holds(test, number, runs, i, slots, value, known, k):
                    outcome |= 1 << (number - tests[state, kind, 0])
            if outcomes[at + outcome, 0] < 0:
                where[WANTED], where[WANTED + 1], where[WANTED + 2] = state, kind, outcome
                return UNKNOWN
            chosen[i] = at + outcome
            low, high = outcomes[at + outcome, 0], outcomes[at + outcome, 1]
            most += high - low
            stays = i > 0 and high == low + 1 and moves[low, 3] == 1
            if not stays and (i > 0 or high > low):
                moving = True
        if not moving:
            where[NEXT] = k + 1
            continue
        if where[NODES] + most * (SPINE + 1) > nodes.shape[0]:
            return GROW
        if 2 * (most + 2) > table.shape[0] or count + most + 2 > runs.shape[0]:
            return FULL_TABLE
        # The new runs are written behind the old ones; the table finds them by their content.
        size = 2 * (most + 2)
        table[:size] = NONE
        last, ended = count, NONE
        for i in range(count):
            heap = runs[i, 1]
            if i > 0 and nodes[heap, LATEST] < bound[k]:
                continue
            at = chosen[i]
            for move in range(outcomes[at, 0], outcomes[at, 1]):
                label, to, first = moves[move, 0], moves[move, 1], moves[move, 2]
                place = NONE
                old = ended
                if to != END:
                    fresh[:] = 0
                    for slot in range(moves[move, 4]):
                        source = copies[first + slot]
                        if source >= 0:
                            fresh[slot] = runs[i, 2 + source]
                            fresh[slots + slot] = runs[i, 2 + slots + source]
                        elif known[-1 - source, k]:
                            fresh[slot] = value[-1 - source, k]
                            fresh[slots + slot] = 1
                    place = _find(table, size, runs, to, fresh)
                    if table[place] == NONE:
                        table[place] = last
                        runs[last, 0], runs[last, 1] = to, NONE
                        runs[last, 2:] = fresh
                        last += 1
                    old = runs[table[place], 1]
                if i == 0:
                    made = add(nodes, where, base + k, label, NONE, key[k])
                    made = unite(nodes, where, old, made, spine)
                elif label != UNMARKED:
                    made = add(nodes, where, base + k, label, heap, nodes[heap, LATEST])
                    made = unite(nodes, where, old, made, spine)
                elif old == NONE:
                    made = heap
                else:
                    made = unite_shared(nodes, where, old, heap, spine)
                if to == END:
                    ended = made
                else:
                    runs[table[place], 1] = made
        for i in range(count, last):
            runs[i - count + 1] = runs[i]
        where[RUNS] = last - count + 1
        if ended == NONE:
            where[NEXT] = k + 1
            continue
        stack[0, 0], stack[0, 1] = ended, 0
        where[TOP] = 1
    return DONE


@kernel
def _holds(
    test: Ints, number: int, runs: Ints, i: int, slots: int, value: Ints, known: Flags, k: int
) -> bool:
    shape, slot, attribute = test[number, 0], test[number, 1], test[number, 2]
    if slot == NO_SLOT:
        return known[attribute, k]
    if runs[i, 2 + slots + slot] == 0 or not known[attribute, k]:
        return False
    before, now = runs[i, 2 + slot], value[attribute, k]
    if shape == INCREASING:
        return before < now
    return before > now if shape == DECREASING else before == now


@kernel
def _find(table: Ints, size: int, runs: Ints, state: int, fresh: Ints) -> int:
    """Where the table has such a run, or has room for it."""
    # Products below 2^51: nothing overflows, compiled or not.
    mixed = state
    for k in range(fresh.shape[0]):
        mixed = (mixed ^ (fresh[k] & 0x7FFFFFFF) ^ ((fresh[k] >> 31) & 0x7FFFFFFF)) * 1000003
        mixed = (mixed ^ (mixed >> 17)) & 0x7FFFFFFF
    place = mixed % size
    while table[place] != NONE:
        one = table[place]
        same = runs[one, 0] == state
        for k in range(fresh.shape[0]):
            same = same and runs[one, 2 + k] == fresh[k]
        if same:
            return place
        place = place + 1 if place + 1 < size else 0
    return place
