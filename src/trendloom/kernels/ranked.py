"""skip-till-any-match with conditions that compare neighbours: range sums by value.

The router adds up, for every event, the single entries of a state that its condition admits. Every
pair of events is looked at, which COGRA's Theorem 5.4 takes for optimal. Where the condition
compares a value of the earlier event with one of the later, the admitted entries are those before
a place in the order of values (`ranks`), and their sum is read off a tree (`prefix`): O(log n) per
event.

One run covers the events of one partition and window, a time point at a time. All events of a time
point read what was there before it, then all write:

1. *Extend.* An event, as each variable it may be, adds up the empty trend, the sums of the states
   before it, and for arrows with a condition the prefix of an index.
2. *Settle.* What is new joins its state, its indexes, and the finished trends.

An index belongs to a state and a condition on its way out. Equal values of equalities share a tree
of their own; small ones are no tree but a list, and where there is nothing to compare, one cell.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.checked import Checked, plus_checked, times_checked
from trendloom.kernels.compiled import kernel
from trendloom.kernels.extreme import ABSENT, Extreme
from trendloom.kernels.prefix import (
    BITS,
    LAST,
    WIDE,
    add_checked,
    add_extreme,
    add_scaled,
    before_checked,
    before_extreme,
    before_scaled,
    blocks_needed,
)
from trendloom.kernels.program import NO_STATE, Ints
from trendloom.kernels.ranks import EQUAL, ORDERED, Ranks, is_sparse, narrow, room_to_narrow
from trendloom.kernels.scaled import Scaled, plus, times

SPREAD = 3
"""Cells of a tree over s >= 16 places are at most so many times s."""


class Steps(NamedTuple):
    """The automaton, with what every arrow reads and every state writes."""

    states: int
    arrow_start: Ints
    """Arrows of variable v: `arrow_start[v] : arrow_start[v + 1]`, sorted by target."""
    source: Ints
    target: Ints
    read_start: Ints
    """Indexes that arrow a reads: `read[read_start[a] : read_start[a + 1]]`; none: the state."""
    read: Ints
    write_start: Ints
    """Indexes that state s writes."""
    write: Ints
    ranking: Ints
    """Per index: the order of its places."""
    plain: Ints
    """Per state: 1 if an arrow without a condition leaves it."""
    final: Ints
    """Per state: 1 if trends end there."""


class Forest(NamedTuple):
    """The indexes of a run, [lane, …]: trees, and lists of the entries of small groups."""

    scaled: NDArray[np.float64]
    list_m: NDArray[np.float64]
    list_e: Ints
    checked: Ints
    list_v: Ints
    extreme: Ints
    list_k: Ints


@kernel
def _room(steps: Steps, ranks: Ranks, first_block: Ints, first_item: Ints) -> None:
    """Where the indexes of a run begin; behind the last, how much they need."""
    for index in range(steps.ranking.shape[0]):
        ranking = steps.ranking[index]
        places = ranks.lefts[ranking]
        kind = ranks.kind[ranking]
        blocks = items = 0
        if kind == ORDERED:
            blocks = blocks_needed(places)
        else:
            items = places
            blocks = 0 if kind == EQUAL else (SPREAD * places) // WIDE + 1
        first_block[index + 1] = first_block[index] + blocks
        first_item[index + 1] = first_item[index] + items


@kernel
def _tree(kind: int, start: int, first_block: int) -> int:
    return first_block if kind == ORDERED else first_block + (SPREAD * start + LAST >> BITS)


@kernel
def _listed(kind: int, size: int) -> bool:
    return kind == EQUAL or (kind != ORDERED and size < WIDE)


@kernel
def _read(
    kind: int, start: int, end: int, size: int, first_block: int, first_item: int,
    forest: Forest, cell: int, scaled: Scaled, checked: Checked, extreme: Extreme,
) -> None:  # fmt: skip
    """Adds what an index holds at the places `start : end` to a cell."""
    if _listed(kind, size):
        lo = first_item + start
        hi = lo + 1 if kind == EQUAL else first_item + end
        for item in range(lo, hi):
            for lane in range(scaled.m.shape[1]):
                scaled.m[cell, lane], scaled.e[cell, lane] = plus(
                    scaled.m[cell, lane], scaled.e[cell, lane],
                    forest.list_m[lane, item], forest.list_e[lane, item],
                )  # fmt: skip
            for lane in range(checked.v.shape[1]):
                checked.v[cell, lane] = plus_checked(
                    checked.v[cell, lane], forest.list_v[lane, item], checked.overflow
                )
            for lane in range(extreme.k.shape[1]):
                extreme.k[cell, lane] = min(extreme.k[cell, lane], forest.list_k[lane, item])
        return
    block = _tree(kind, start, first_block)
    for lane in range(scaled.m.shape[1]):
        m, e = before_scaled(forest.scaled[lane], block, size, end - start)
        scaled.m[cell, lane], scaled.e[cell, lane] = plus(
            scaled.m[cell, lane], scaled.e[cell, lane], m, e
        )
    for lane in range(checked.v.shape[1]):
        more = before_checked(forest.checked[lane], block, size, end - start, checked.overflow)
        checked.v[cell, lane] = plus_checked(checked.v[cell, lane], more, checked.overflow)
    for lane in range(extreme.k.shape[1]):
        least = before_extreme(forest.extreme[lane], block, size, end - start)
        extreme.k[cell, lane] = min(extreme.k[cell, lane], least)


@kernel
def _enter(
    kind: int, start: int, place: int, size: int, first_block: int, first_item: int,
    forest: Forest, cell: int, scaled: Scaled, checked: Checked, extreme: Extreme,
) -> None:  # fmt: skip
    """Adds a cell to an index, at a place."""
    if _listed(kind, size):
        item = first_item + (start if kind == EQUAL else place)
        for lane in range(scaled.m.shape[1]):
            forest.list_m[lane, item], forest.list_e[lane, item] = plus(
                forest.list_m[lane, item], forest.list_e[lane, item],
                scaled.m[cell, lane], scaled.e[cell, lane],
            )  # fmt: skip
        for lane in range(checked.v.shape[1]):
            forest.list_v[lane, item] = plus_checked(
                forest.list_v[lane, item], checked.v[cell, lane], checked.overflow
            )
        for lane in range(extreme.k.shape[1]):
            forest.list_k[lane, item] = min(forest.list_k[lane, item], extreme.k[cell, lane])
        return
    block = _tree(kind, start, first_block)
    for lane in range(scaled.m.shape[1]):
        m, e = scaled.m[cell, lane], scaled.e[cell, lane]
        if m != 0.0:
            add_scaled(forest.scaled[lane], block, size, place - start, m, e)
    for lane in range(checked.v.shape[1]):
        v = checked.v[cell, lane]
        if v != 0:
            add_checked(forest.checked[lane], block, size, place - start, v, checked.overflow)
    for lane in range(extreme.k.shape[1]):
        k = extreme.k[cell, lane]
        if k != ABSENT:
            add_extreme(forest.extreme[lane], block, size, place - start, k)


@kernel
def _clear(cell: int, scaled: Scaled, checked: Checked, extreme: Extreme) -> None:
    for lane in range(scaled.m.shape[1]):
        scaled.m[cell, lane] = 0.0
        scaled.e[cell, lane] = 0
    for lane in range(checked.v.shape[1]):
        checked.v[cell, lane] = 0
    for lane in range(extreme.k.shape[1]):
        extreme.k[cell, lane] = ABSENT


@kernel
def _begin(cell: int, scaled: Scaled, checked: Checked, extreme: Extreme) -> None:
    """Adds the empty trend."""
    if scaled.m.shape[1] > 0:
        scaled.m[cell, 0], scaled.e[cell, 0] = plus(scaled.m[cell, 0], scaled.e[cell, 0], 1.0, 0)
    if checked.v.shape[1] > 0:
        checked.v[cell, 0] = plus_checked(checked.v[cell, 0], 1, checked.overflow)
    for lane in range(extreme.k.shape[1]):
        if extreme.step[lane] != 0:
            extreme.k[cell, lane] = min(extreme.k[cell, lane], 0)


@kernel
def _add(cell: int, other: int, scaled: Scaled, checked: Checked, extreme: Extreme) -> None:
    for lane in range(scaled.m.shape[1]):
        scaled.m[cell, lane], scaled.e[cell, lane] = plus(
            scaled.m[cell, lane], scaled.e[cell, lane],
            scaled.m[other, lane], scaled.e[other, lane],
        )  # fmt: skip
    for lane in range(checked.v.shape[1]):
        checked.v[cell, lane] = plus_checked(
            checked.v[cell, lane], checked.v[other, lane], checked.overflow
        )
    for lane in range(extreme.k.shape[1]):
        extreme.k[cell, lane] = min(extreme.k[cell, lane], extreme.k[other, lane])


@kernel
def _take(
    cell: int, variable: int, event: int, scaled: Scaled, checked: Checked, extreme: Extreme
) -> bool:
    """All trends of the cell take the event; false if there are none."""
    found = False
    if scaled.m.shape[1] > 0:
        count_m, count_e = scaled.m[cell, 0], scaled.e[cell, 0]
        found = count_m != 0.0
        for lane in range(1, scaled.m.shape[1]):
            if scaled.var[lane] == variable or scaled.var[lane] == -1:
                x = scaled.x[lane, event]
                if x != 0.0:
                    m, e = times(x, count_m, count_e)
                    scaled.m[cell, lane], scaled.e[cell, lane] = plus(
                        scaled.m[cell, lane], scaled.e[cell, lane], m, e
                    )
    if checked.v.shape[1] > 0:
        count = checked.v[cell, 0]
        found = found or count != 0
        for lane in range(1, checked.v.shape[1]):
            if checked.var[lane] == variable or checked.var[lane] == -1:
                more = times_checked(checked.x[lane, event], count, checked.overflow)
                checked.v[cell, lane] = plus_checked(checked.v[cell, lane], more, checked.overflow)
    for lane in range(extreme.k.shape[1]):
        if extreme.step[lane] != 0:
            if extreme.k[cell, lane] != ABSENT:
                extreme.k[cell, lane] += extreme.step[lane]
        elif extreme.var[lane] == variable and found:
            extreme.k[cell, lane] = min(extreme.k[cell, lane], extreme.key[lane, event])
    return found


@kernel
def sum_by_value(
    steps: Steps,
    ranks: Ranks,
    order: Ints,
    mask: NDArray[np.uint64],
    first_event: Ints,
    end_event: Ints,
    scaled: Scaled,
    checked: Checked,
    extreme: Extreme,
    width: int,
    found: NDArray[np.uint8],
) -> None:
    """Makes every run; `found[run]` tells whether it has any trend.

    Cells: one per state, the finished trends, and one per partial trend that a time point may
    create, at most `width`. Scaled or checked sums count trends, so one of them is in use.
    """
    states = steps.states
    finished = states
    first_fresh = states + 1
    variables = steps.arrow_start.shape[0] - 1
    indexes = steps.ranking.shape[0]
    runs = first_event.shape[0]
    lanes_s, lanes_c, lanes_x = scaled.m.shape[1], checked.v.shape[1], extreme.k.shape[1]

    own = room_to_narrow(ranks, first_event, end_event)
    first_block = np.zeros(indexes + 1, np.int64)
    first_item = np.zeros(indexes + 1, np.int64)
    new_state = np.empty(max(width, 1), np.int64)
    new_event = np.empty(max(width, 1), np.int64)
    forest = _forest(0, 0, lanes_s, lanes_c, lanes_x)
    room_blocks = room_items = 0

    for run in range(runs):
        lo, hi = int(first_event[run]), int(end_event[run])
        places, shift = ranks, 0
        if is_sparse(ranks, lo, hi):
            narrow(ranks, lo, hi, own)
            places, shift = own, lo
        _room(steps, places, first_block, first_item)
        blocks, items = int(first_block[indexes]), int(first_item[indexes])
        if blocks > room_blocks or items > room_items:
            room_blocks, room_items = max(blocks, room_blocks), max(items, room_items)
            forest = _forest(room_blocks, room_items, lanes_s, lanes_c, lanes_x)
        else:
            _empty(forest, blocks, items)
        for cell in range(first_fresh):
            _clear(cell, scaled, checked, extreme)

        at = lo
        while at < hi:
            end = at + 1
            while end < hi and order[end] == order[at]:
                end += 1
            created = 0
            for event in range(at, end):
                letters = mask[event]
                for variable in range(variables):
                    if not (letters >> np.uint64(variable)) & np.uint64(1):
                        continue
                    arrow = steps.arrow_start[variable]
                    last = steps.arrow_start[variable + 1]
                    while arrow < last:
                        target = steps.target[arrow]
                        cell = first_fresh + created
                        _clear(cell, scaled, checked, extreme)
                        while arrow < last and steps.target[arrow] == target:
                            source = steps.source[arrow]
                            lo_read, hi_read = steps.read_start[arrow], steps.read_start[arrow + 1]
                            if source == NO_STATE:
                                _begin(cell, scaled, checked, extreme)
                            elif lo_read == hi_read:
                                _add(cell, source, scaled, checked, extreme)
                            for k in range(lo_read, hi_read):
                                index = steps.read[k]
                                ranking = steps.ranking[index]
                                start = places.right_start[ranking, event - shift]
                                reach = places.right[ranking, event - shift]
                                if reach > start:
                                    _read(
                                        places.kind[ranking], start, reach,
                                        places.size[ranking, start],
                                        first_block[index], first_item[index],
                                        forest, cell, scaled, checked, extreme,
                                    )  # fmt: skip
                            arrow += 1
                        if _take(cell, variable, event, scaled, checked, extreme):
                            new_state[created] = target
                            new_event[created] = event
                            created += 1
            for k in range(created):
                cell, state = first_fresh + k, new_state[k]
                event = new_event[k] - shift
                if steps.plain[state]:
                    _add(state, cell, scaled, checked, extreme)
                if steps.final[state]:
                    _add(finished, cell, scaled, checked, extreme)
                    found[run] = 1
                for w in range(steps.write_start[state], steps.write_start[state + 1]):
                    index = steps.write[w]
                    ranking = steps.ranking[index]
                    place = places.left[ranking, event]
                    if place >= 0:
                        start = places.left_start[ranking, event]
                        _enter(
                            places.kind[ranking], start, place, places.size[ranking, start],
                            first_block[index], first_item[index],
                            forest, cell, scaled, checked, extreme,
                        )  # fmt: skip
            at = end

        for lane in range(lanes_s):
            scaled.out_m[run, lane] = scaled.m[finished, lane]
            scaled.out_e[run, lane] = scaled.e[finished, lane]
        for lane in range(lanes_c):
            checked.out[run, lane] = checked.v[finished, lane]
        for lane in range(lanes_x):
            extreme.out[run, lane] = extreme.k[finished, lane]


@kernel
def _forest(blocks: int, items: int, scaled: int, checked: int, extreme: int) -> Forest:
    return Forest(
        np.zeros((scaled, blocks * 2 * WIDE)),
        np.zeros((scaled, items)),
        np.zeros((scaled, items), np.int64),
        np.zeros((checked, blocks * WIDE), np.int64),
        np.zeros((checked, items), np.int64),
        np.full((extreme, blocks * WIDE), ABSENT, np.int64),
        np.full((extreme, items), ABSENT, np.int64),
    )


@kernel
def _empty(forest: Forest, blocks: int, items: int) -> None:
    """Only what the run will use: short windows must not pay for a long one."""
    forest.scaled[:, : blocks * 2 * WIDE] = 0.0
    forest.list_m[:, :items] = 0.0
    forest.list_e[:, :items] = 0
    forest.checked[:, : blocks * WIDE] = 0
    forest.list_v[:, :items] = 0
    forest.extreme[:, : blocks * WIDE] = ABSENT
    forest.list_k[:, :items] = ABSENT
