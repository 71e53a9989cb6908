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

An index (`forest`) belongs to a state and a condition on its way out.

On a stream a run goes on where it was: with the sums of its states, and with what the entries of
earlier events add to each event (`layers`). Then what enters an index is handed back.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.cells import add, begin, clear, take
from trendloom.kernels.checked import Checked
from trendloom.kernels.compiled import kernel
from trendloom.kernels.extreme import Extreme
from trendloom.kernels.forest import SPREAD, empty_forest, enter_index, new_forest, read_index
from trendloom.kernels.layers import Sums
from trendloom.kernels.prefix import WIDE, blocks_needed
from trendloom.kernels.program import NO_STATE, Ints
from trendloom.kernels.ranks import EQUAL, ORDERED, Ranks, is_sparse, narrow, room_to_narrow
from trendloom.kernels.scaled import Scaled, plus


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
    stop: Ints
    """Not zero once nobody waits for the result: long loops end, and leave it unfinished."""


class Carried(NamedTuple):
    """What runs that go on bring along and leave; nothing, for runs from nothing."""

    first: Ints
    """Event i of run r has the rows from `first[r] + (i - lo) * indexes` on, one per index."""
    sums: Sums
    """[row]: of earlier entries, for this event to read; then the event's own, if it entered."""
    entered: NDArray[np.uint8]
    """[row]: 1 if it did."""
    states: Sums
    """[run * (states + 1) + state]: before the events, then after; the last: finished trends."""


@kernel
def _carry(cell: int, sums: Sums, row: int, scaled: Scaled, extreme: Extreme) -> None:
    """Adds what was brought along."""
    for lane in range(scaled.m.shape[1]):
        scaled.m[cell, lane], scaled.e[cell, lane] = plus(
            scaled.m[cell, lane], scaled.e[cell, lane], sums.m[row, lane], sums.e[row, lane]
        )
    for lane in range(extreme.k.shape[1]):
        extreme.k[cell, lane] = min(extreme.k[cell, lane], sums.k[row, lane])


@kernel
def _leave(cell: int, sums: Sums, row: int, scaled: Scaled, extreme: Extreme) -> None:
    for lane in range(scaled.m.shape[1]):
        sums.m[row, lane] = scaled.m[cell, lane]
        sums.e[row, lane] = scaled.e[cell, lane]
    for lane in range(extreme.k.shape[1]):
        sums.k[row, lane] = extreme.k[cell, lane]


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
    carried: Carried,
) -> None:
    """Makes every run; `found[run]` tells whether it has any trend.

    Cells: one per state, the finished trends, and one per partial trend that a time point may
    create, at most `width`. Scaled or checked sums count trends, so one of them is in use; runs
    that go on have no checked ones.
    """
    states = steps.states
    finished = states
    first_fresh = states + 1
    variables = steps.arrow_start.shape[0] - 1
    indexes = steps.ranking.shape[0]
    runs = first_event.shape[0]
    stop = steps.stop
    lanes_s, lanes_c, lanes_x = scaled.m.shape[1], checked.v.shape[1], extreme.k.shape[1]

    own = room_to_narrow(ranks, first_event, end_event)
    first_block = np.zeros(indexes + 1, np.int64)
    first_item = np.zeros(indexes + 1, np.int64)
    new_state = np.empty(max(width, 1), np.int64)
    new_event = np.empty(max(width, 1), np.int64)
    forest = new_forest(0, 0, lanes_s, lanes_c, lanes_x)
    goes_on = carried.first.shape[0] > 0
    room_blocks = room_items = 0

    for run in range(runs):
        if stop[0] != 0:
            break
        lo, hi = int(first_event[run]), int(end_event[run])
        places, shift = ranks, 0
        if is_sparse(ranks, lo, hi):
            narrow(ranks, lo, hi, own)
            places, shift = own, lo
        _room(steps, places, first_block, first_item)
        blocks, items = int(first_block[indexes]), int(first_item[indexes])
        if blocks > room_blocks or items > room_items:
            room_blocks, room_items = max(blocks, room_blocks), max(items, room_items)
            forest = new_forest(room_blocks, room_items, lanes_s, lanes_c, lanes_x)
        else:
            empty_forest(forest, blocks, items)
        for cell in range(first_fresh):
            clear(cell, scaled, checked, extreme)
            if goes_on:
                _carry(cell, carried.states, run * first_fresh + cell, scaled, extreme)

        at = lo
        while at < hi and stop[0] == 0:
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
                        clear(cell, scaled, checked, extreme)
                        while arrow < last and steps.target[arrow] == target:
                            source = steps.source[arrow]
                            lo_read, hi_read = steps.read_start[arrow], steps.read_start[arrow + 1]
                            if source == NO_STATE:
                                begin(cell, scaled, checked, extreme)
                            elif lo_read == hi_read:
                                add(cell, source, scaled, checked, extreme)
                            for k in range(lo_read, hi_read):
                                index = steps.read[k]
                                ranking = steps.ranking[index]
                                start = places.right_start[ranking, event - shift]
                                reach = places.right[ranking, event - shift]
                                if reach > start:
                                    read_index(
                                        places.kind[ranking], start, reach,
                                        places.size[ranking, start],
                                        first_block[index], first_item[index],
                                        forest, cell, scaled, checked, extreme,
                                    )  # fmt: skip
                                if goes_on:
                                    row = carried.first[run] + (event - lo) * indexes + index
                                    _carry(cell, carried.sums, row, scaled, extreme)
                            arrow += 1
                        if take(cell, variable, event, scaled, checked, extreme):
                            new_state[created] = target
                            new_event[created] = event
                            created += 1
            for k in range(created):
                cell, state = first_fresh + k, new_state[k]
                event = new_event[k] - shift
                if steps.plain[state]:
                    add(state, cell, scaled, checked, extreme)
                if steps.final[state]:
                    add(finished, cell, scaled, checked, extreme)
                    found[run] = 1
                for w in range(steps.write_start[state], steps.write_start[state + 1]):
                    index = steps.write[w]
                    ranking = steps.ranking[index]
                    place = places.left[ranking, event]
                    if place >= 0:
                        start = places.left_start[ranking, event]
                        enter_index(
                            places.kind[ranking], start, place, places.size[ranking, start],
                            first_block[index], first_item[index],
                            forest, cell, scaled, checked, extreme,
                        )  # fmt: skip
                        if goes_on:
                            row = carried.first[run] + (new_event[k] - lo) * indexes + index
                            _leave(cell, carried.sums, row, scaled, extreme)
                            carried.entered[row] = 1
            at = end

        if goes_on:
            for cell in range(first_fresh):
                _leave(cell, carried.states, run * first_fresh + cell, scaled, extreme)
        for lane in range(lanes_s):
            scaled.out_m[run, lane] = scaled.m[finished, lane]
            scaled.out_e[run, lane] = scaled.e[finished, lane]
        for lane in range(lanes_c):
            checked.out[run, lane] = checked.v[finished, lane]
        for lane in range(lanes_x):
            extreme.out[run, lane] = extreme.k[finished, lane]
