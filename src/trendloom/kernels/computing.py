"""An automaton whose runs hold numbers, run over a stream: `histories` keeps their pasts.

A group is a set of runs that have put out the same so far, so every complex event is found once. A
run is a state and its slots, which are exact numbers (`exact`). At an event, the runs of a group
move; those that put out the same are a new group, in which equal runs are one. Groups of equal runs
are one group: their histories are united.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.exact import DEPTH, LOST, Floats, compute
from trendloom.kernels.histories import (
    DONE,
    FOUND,
    GROW,
    LATEST,
    NEXT,
    NODES,
    NONE,
    SPINE,
    TOP,
    UNMARKED,
    Ints,
    add,
    unite,
    unite_shared,
    walk,
)

Flags = NDArray[np.bool_]

START, END = 0, 1
GROUPS, ENDED, SHOWN = 5, 7, 8
"""`where` goes on: the number of groups, LOST, results of the event that are to be walked through,
and how many of them have been."""
COUNTERS = 9
FULL_TABLE, INEXACT = 5, 6
"""More reasons to return: no room for runs; a number would lose digits, nothing has happened."""
FEW = 8
"""Groups of more runs are not compared with each other."""

HEAP, FIRST, SIZE = range(3)
"""Of a group: its histories, its first run, how many runs. The first group is the start."""
STEP_TARGET, STEP_LABEL, STEP_GUARDS, STEP_GUARDS_END, STEP_MADE, STEP_STAYS = range(6)
"""Of a step; STEP_MADE is its first assignment, and there are as many as slots or values."""


@kernel
def advance(
    first: Ints,
    steps: Ints,
    guards: Ints,
    assigns: Ints,
    labels: int,
    program: Ints,
    constants: Floats,
    event_class: Ints,
    values: Floats,
    key: Ints,
    bound: Ints,
    begins: Flags,
    base: int,
    nodes: Ints,
    where: Ints,
    groups: Ints,
    states: Ints,
    slots: Floats,
    table: Ints,
    ends: Ints,
    paid: Floats,
    stack: Ints,
    path: Ints,
    found: Ints,
    offset: Ints,
    marks: Ints,
    prices: Floats,
) -> int:
    """As `marking.advance`. `values[event, attribute]` are exact numbers.

    `first[state, class]`: where its steps begin and end. Guards and assignments
    are stretches of `program`. Results are written as `walk` does; `prices[k]` are the numbers that
    result k puts out.
    """
    spine = np.empty(SPINE, np.int64)
    aside = np.empty((DEPTH, 2), np.float64)
    width = slots.shape[1]
    while where[NEXT] < event_class.shape[0]:
        k = where[NEXT]
        if where[TOP] > 0 or where[SHOWN] < where[ENDED]:
            reason = _show(
                nodes, where, base + k, bound[k], ends, paid, stack, path, found, offset, marks,
                prices,
            )  # fmt: skip
            if reason != DONE:
                return reason
            where[NEXT] = k + 1
            continue
        if begins[k]:
            where[GROUPS] = 1
            where[NODES] = 0
        kind = event_class[k]
        count = where[GROUPS]
        runs = groups[count - 1, FIRST] + groups[count - 1, SIZE]
        most, moving = 0, False
        for i in range(runs):
            low, high = first[states[i], kind, 0], first[states[i], kind, 1]
            most += high - low
            if not (i > 0 and high == low + 1 and steps[low, STEP_STAYS] == 1) and (
                i > 0 or high > low
            ):
                moving = True
        if not moving:
            where[NEXT] = k + 1
            continue
        # A group moves to at most as many groups as its runs have steps.
        if where[NODES] + (2 * most + 2) * (SPINE + 1) > nodes.shape[0]:
            return GROW
        if (
            runs + most + 2 > states.shape[0]
            or count + most + 2 > groups.shape[0]
            or most + 2 > ends.shape[0]
            or 4 * (most + 2) > table.shape[0]
        ):
            return FULL_TABLE
        size = 2 * (most + 2)
        table[: 2 * size] = NONE
        where[LOST], where[ENDED], where[SHOWN] = 0, 0, 0
        made_groups, made_runs, before = count, runs, where[NODES]
        for group in range(count):
            heap = groups[group, HEAP]
            if group > 0 and nodes[heap, LATEST] < bound[k]:
                continue
            low_run, high_run = groups[group, FIRST], groups[group, FIRST] + groups[group, SIZE]
            for label in range(labels):
                first_run, first_end = made_runs, where[ENDED]
                for i in range(low_run, high_run):
                    for step in range(first[states[i], kind, 0], first[states[i], kind, 1]):
                        if steps[step, STEP_LABEL] != label:
                            continue
                        if not _passes(
                            steps,
                            step,
                            guards,
                            program,
                            constants,
                            slots[i],
                            values[k],
                            aside,
                            where,
                        ):
                            continue
                        if steps[step, STEP_TARGET] == END:
                            at = where[ENDED]
                            _assign(
                                steps,
                                step,
                                assigns,
                                program,
                                constants,
                                slots[i],
                                values[k],
                                aside,
                                paid[at],
                                where,
                            )
                            if not _known_end(paid, first_end, at):
                                ends[at, 0], ends[at, 1] = heap, label
                                where[ENDED] = at + 1
                            continue
                        states[made_runs] = steps[step, STEP_TARGET]
                        if steps[step, STEP_STAYS] == 1:
                            slots[made_runs] = slots[i]
                        else:
                            _assign(
                                steps,
                                step,
                                assigns,
                                program,
                                constants,
                                slots[i],
                                values[k],
                                aside,
                                slots[made_runs],
                                where,
                            )
                        place = _find(table, 0, size, states, slots, made_runs, first_run)
                        if not first_run <= table[place] < made_runs:
                            table[place] = made_runs
                            made_runs += 1
                if made_runs == first_run:
                    continue
                # An unmarked event changes no history.
                fresh = NONE
                if group == 0:
                    fresh = add(nodes, where, base + k, label, NONE, key[k])
                elif label != UNMARKED:
                    fresh = add(nodes, where, base + k, label, heap, nodes[heap, LATEST])
                many = made_runs - first_run
                same = NONE
                if many <= FEW:
                    place = _find_group(
                        table, size, 2 * size, groups, states, slots, first_run, many
                    )
                    same = table[place]
                    if same == NONE:
                        table[place] = made_groups
                if same == NONE:
                    groups[made_groups, HEAP] = heap if fresh == NONE else fresh
                    groups[made_groups, FIRST], groups[made_groups, SIZE] = first_run, many
                    made_groups += 1
                else:
                    old = groups[same, HEAP]
                    if fresh == NONE:
                        groups[same, HEAP] = unite_shared(nodes, where, old, heap, spine)
                    else:
                        groups[same, HEAP] = unite(nodes, where, old, fresh, spine)
                    made_runs = first_run
        if where[LOST] == 1:
            where[NODES], where[ENDED] = before, 0
            return INEXACT
        for at in range(where[ENDED]):
            heap, label = ends[at, 0], ends[at, 1]
            latest = key[k] if heap == NONE else nodes[heap, LATEST]
            ends[at, 0] = add(nodes, where, base + k, label, heap, latest)
        # The new runs were written behind the old ones; the first of all is the start.
        for i in range(runs, made_runs):
            states[i - runs + 1] = states[i]
            for slot in range(width):
                slots[i - runs + 1, slot] = slots[i, slot]
        for group in range(count, made_groups):
            groups[group - count + 1, HEAP] = groups[group, HEAP]
            groups[group - count + 1, FIRST] = groups[group, FIRST] - runs + 1
            groups[group - count + 1, SIZE] = groups[group, SIZE]
        where[GROUPS] = made_groups - count + 1
        if where[ENDED] == 0:
            where[NEXT] = k + 1
    return DONE


@kernel
def _show(
    nodes: Ints,
    where: Ints,
    end: int,
    bound: int,
    ends: Ints,
    paid: Floats,
    stack: Ints,
    path: Ints,
    found: Ints,
    offset: Ints,
    marks: Ints,
    prices: Floats,
) -> int:
    """Walks through what ended at the event, from where the last call ran out of room."""
    while where[SHOWN] < where[ENDED]:
        at = where[SHOWN]
        if where[TOP] == 0:
            stack[0, 0], stack[0, 1] = ends[at, 0], 0
            where[TOP] = 1
        old = where[FOUND]
        reason = walk(nodes, where, end, bound, stack, path, found, offset, marks)
        for k in range(old, where[FOUND]):
            prices[k] = paid[at]
        if reason != DONE:
            return reason
        where[SHOWN] = at + 1
    return DONE


@kernel
def _passes(
    steps: Ints,
    step: int,
    guards: Ints,
    program: Ints,
    constants: Floats,
    held: Floats,
    values: Floats,
    aside: Floats,
    where: Ints,
) -> bool:
    for guard in range(steps[step, STEP_GUARDS], steps[step, STEP_GUARDS_END]):
        compute(program, guards[guard, 0], guards[guard, 1], constants, held, values, aside, where)
        if aside[0, 0] != 1.0:
            return False
    return True


@kernel
def _assign(
    steps: Ints,
    step: int,
    assigns: Ints,
    program: Ints,
    constants: Floats,
    held: Floats,
    values: Floats,
    aside: Floats,
    into: Floats,
    where: Ints,
) -> None:
    """Every slot has an assignment; an empty program is null."""
    for slot in range(into.shape[0] // 2):
        at = steps[step, STEP_MADE] + slot
        low, high = assigns[at, 0], assigns[at, 1]
        if low == high:
            into[2 * slot], into[2 * slot + 1] = np.nan, 0.0
        else:
            compute(program, low, high, constants, held, values, aside, where)
            into[2 * slot], into[2 * slot + 1] = aside[0, 0], aside[0, 1]


@kernel
def _equal(one: Floats, other: Floats) -> bool:
    for k in range(one.shape[0]):
        if one[k] != other[k] and (one[k] == one[k] or other[k] == other[k]):
            return False
    return True


@kernel
def _known_end(paid: Floats, low: int, at: int) -> bool:
    known = False
    for old in range(low, at):
        known = known or _equal(paid[old], paid[at])
    return known


@kernel
def _hash(state: int, held: Floats) -> int:
    # Products below 2^51: nothing overflows, compiled or not.
    mixed = state + 1
    for k in range(held.shape[0]):
        if held[k] - held[k] != 0.0:
            number = 77
        else:
            # Two parts of the double, each of at most 31 bits.
            part = abs(held[k])
            while part >= 2147483648.0:
                part *= 4.656612873077393e-10
            number = int(part)
            number ^= int((part - number) * 2147483647.0)
        mixed = (mixed ^ number) * 1000003
        mixed = (mixed ^ (mixed >> 17)) & 0x7FFFFFFF
    return mixed


@kernel
def _find(
    table: Ints, low: int, high: int, states: Ints, slots: Floats, run: int, first_run: int
) -> int:
    """Where the table has an equal run of its group, or has room: what is no run of it is room."""
    place = low + _hash(states[run], slots[run]) % (high - low)
    while first_run <= table[place] < run:
        one = table[place]
        if states[one] == states[run] and _equal(slots[one], slots[run]):
            return place
        place = place + 1 if place + 1 < high else low
    return place


@kernel
def _find_group(
    table: Ints,
    low: int,
    high: int,
    groups: Ints,
    states: Ints,
    slots: Floats,
    first_run: int,
    many: int,
) -> int:
    """Where the table has a group of equal runs, or has room."""
    mixed = 0
    for run in range(first_run, first_run + many):
        mixed += _hash(states[run], slots[run])
    place = low + mixed % (high - low)
    while table[place] != NONE:
        group = table[place]
        same = groups[group, SIZE] == many
        for run in range(first_run, first_run + many):
            if not same:
                break
            same = False
            for one in range(groups[group, FIRST], groups[group, FIRST] + many):
                if states[one] == states[run] and _equal(slots[one], slots[run]):
                    same = True
                    break
        if same:
            return place
        place = place + 1 if place + 1 < high else low
    return place
