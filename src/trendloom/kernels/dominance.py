"""skip-till-any-match with two comparisons on a step: by halves of time, then by both values.

Who is before in one order can be read off a tree while time goes by (`ranked`). With two orders
and time there are three things to be before in, so the window, which is known, is divided:

1. The earlier half of its events is summed up, by the same steps.
2. It is handed over to the later half. In order of the first value, an entry of the earlier half is
   put into a tree at its place by the second, and an event of the later half adds the sum of all
   that the tree has before its own. Whoever is in the tree is earlier and before by the first.
3. The later half is summed up. Of a few events, every pair is looked at.

(Offline divide and conquer over time. That halves are summed up in order of time makes it right for
sums that depend on earlier ones.) An event is handed over or given to on each of log n levels and
a tree has as many, so a window costs O(n log² n), and nothing is ever subtracted.

An event has a cell for each state that it can be in, a *seat*. Arrows without a condition read the
sum of their state as ever, since events are still finished in order of time.

Orders are the places of `ranks`, and a step reads a pair of them. What it hands over is listed
twice, in either order: entries by place, readers by how far they reach. Lists are split with the
halves and remain in order. Places of one value of the equalities are neighbours in both lists, and
each has a tree to itself. Where both orders are one, a running sum will do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.cells import add, begin, clear, holds, take
from trendloom.kernels.checked import Checked
from trendloom.kernels.compiled import kernel
from trendloom.kernels.extreme import Extreme
from trendloom.kernels.forest import Forest, empty_forest, enter_index, new_forest, read_index
from trendloom.kernels.halves import Items
from trendloom.kernels.prefix import blocks_needed
from trendloom.kernels.program import NO_STATE, Ints
from trendloom.kernels.ranked import Steps
from trendloom.kernels.ranks import ORDERED, Ranks
from trendloom.kernels.scaled import Scaled

CODE_BITS = 31
"""Of an item: its event's number in the run, twice, and 1 for a reader. Above it, its place."""
LO, HI, MIDDLE, FREE, STEP = 0, 1, 2, 3, 4
"""A row of the stack: events, where the later half begins, room in use, which step is next."""
START, SIZE, HALVES, EARLIER = 0, 1, 2, 3
"""Of a list: where it is, how long, where its halves are, and how long the earlier one."""


class Pairs(NamedTuple):
    """Which two orders an index is asked by, `steps.ranking` being a pair's number."""

    first: Ints
    second: Ints
    state: Ints
    """Per index: the state whose entries it has."""
    target_start: Ints
    """States that read index i: `target[target_start[i] : target_start[i + 1]]`."""
    target: Ints
    owner: Ints
    """Per state: its variable."""


class Seats(NamedTuple):
    """Cells of a run: `first[state] + number[variable of the state, event]`."""

    first: Ints
    number: Items


@kernel
def sum_by_two_values(
    steps: Steps,
    pairs: Pairs,
    ranks: Ranks,
    order: Ints,
    mask: NDArray[np.uint64],
    first_event: Ints,
    end_event: Ints,
    few: int,
    scaled: Scaled,
    checked: Checked,
    extreme: Extreme,
    found: NDArray[np.uint8],
) -> None:
    """Makes every run; `found[run]` tells whether it has any trend.

    Cells: one per state, the finished trends, one for running sums, and the seats of the largest
    run. `few` events are looked at pair by pair.
    """
    finished = steps.states
    running = finished + 1
    stop = steps.stop
    lists = 2 * pairs.first.shape[0]
    longest = 0
    for run in range(first_event.shape[0]):
        longest = max(longest, end_event[run] - first_event[run])
    variables = steps.arrow_start.shape[0] - 1
    seats = Seats(np.zeros(steps.states, np.int64), np.zeros((variables, longest), np.int32))
    told = np.empty(2 * longest, np.int32)
    room = np.empty(0, np.int32)
    deep = 4
    while (1 << (deep - 4) // 2) < longest:
        deep += 2
    stack = np.zeros((deep, 5), np.int64)
    parts = np.zeros((deep, lists, 4), np.int64)
    forest = new_forest(
        blocks_needed(longest), 0, scaled.m.shape[1], checked.v.shape[1], extreme.k.shape[1]
    )

    for run in range(first_event.shape[0]):
        base, end = int(first_event[run]), int(end_event[run])
        cells = _seat(pairs.owner, mask, base, end, running + 1, seats)
        for cell in range(cells):
            clear(cell, scaled, checked, extreme)
        depth = 0
        stack[0, LO], stack[0, HI], stack[0, FREE], stack[0, STEP] = base, end, 0, 0
        if end - base > few:
            room = _list_all(pairs, ranks, base, end, room, stack, parts)
        while depth >= 0 and stop[0] == 0:
            lo, hi = stack[depth, LO], stack[depth, HI]
            if stack[depth, STEP] == 0:
                middle = hi if hi - lo <= few else _middle_of(order, lo, hi)
                if middle == hi:
                    if _finish(
                        steps, pairs, ranks, order, mask, seats, base, lo, hi,
                        scaled, checked, extreme,
                    ):  # fmt: skip
                        found[run] = 1
                    depth -= 1
                    continue
                stack[depth, MIDDLE], stack[depth, STEP] = middle, 1
                room = _split(middle - base, depth, room, stack, parts)
                depth += 1
                stack[depth, LO], stack[depth, HI] = lo, middle
            elif stack[depth, STEP] == 1:
                middle = stack[depth, MIDDLE]
                stack[depth, STEP] = 2
                for pair in range(pairs.first.shape[0]):
                    _hand_over(
                        steps, pairs, pair, ranks, seats, base, middle - base, room,
                        parts[depth], told, running, forest, scaled, checked, extreme,
                    )  # fmt: skip
                for k in range(lists):
                    later = parts[depth, k, HALVES] + parts[depth, k, EARLIER]
                    parts[depth + 1, k, START] = later
                    parts[depth + 1, k, SIZE] = parts[depth, k, SIZE] - parts[depth, k, EARLIER]
                depth += 1
                stack[depth, LO], stack[depth, HI] = middle, hi
            else:
                depth -= 1
                continue
            stack[depth, STEP] = 0
            stack[depth, FREE] = _behind(parts[depth - 1])

        for lane in range(scaled.m.shape[1]):
            scaled.out_m[run, lane] = scaled.m[finished, lane]
            scaled.out_e[run, lane] = scaled.e[finished, lane]
        for lane in range(checked.v.shape[1]):
            checked.out[run, lane] = checked.v[finished, lane]
        for lane in range(extreme.k.shape[1]):
            extreme.out[run, lane] = extreme.k[finished, lane]


@kernel
def _seat(
    owner: Ints, mask: NDArray[np.uint64], base: int, end: int, cells: int, seats: Seats
) -> int:
    """Numbers the seats of a run from `cells` on; returns the cell behind them."""
    for variable in range(seats.number.shape[0]):
        count = 0
        for event in range(base, end):
            seats.number[variable, event - base] = count
            count += int((mask[event] >> np.uint64(variable)) & np.uint64(1))
        for state in range(owner.shape[0]):
            if owner[state] == variable:
                seats.first[state] = cells
                cells += count
    return cells


@kernel
def _middle_of(order: Ints, lo: int, hi: int) -> int:
    """Where the time point in the middle begins, or else ends; `hi` if it is the only one."""
    middle = (lo + hi) >> 1
    at = middle
    while at > lo and order[at] == order[at - 1]:
        at -= 1
    if at > lo:
        return at
    while middle < hi and order[middle] == order[middle - 1]:
        middle += 1
    return middle


@kernel
def _list_all(
    pairs: Pairs, ranks: Ranks, base: int, end: int, room: Items, stack: Ints, parts: Ints
) -> Items:
    """All items of a run in the orders of every pair; returns the room, larger if need be."""
    keys = np.empty(2 * (end - base), np.int64)
    free = 0
    for k in range(parts.shape[1]):
        one, other = pairs.first[k >> 1], pairs.second[k >> 1]
        by = one if k % 2 == 0 else other
        count = 0
        if k % 2 == 0 or one != other:
            for event in range(base, end):
                code = 2 * (event - base)
                if ranks.left[one, event] >= 0 and ranks.left[other, event] >= 0:
                    # Behind all readers that reach as far as to it.
                    place = 2 * np.int64(ranks.left[by, event]) + 1
                    keys[count] = (place << CODE_BITS) | code
                    count += 1
                if (
                    ranks.right[one, event] > ranks.right_start[one, event]
                    and ranks.right[other, event] > ranks.right_start[other, event]
                ):
                    place = 2 * np.int64(ranks.right[by, event])
                    keys[count] = (place << CODE_BITS) | (code + 1)
                    count += 1
        ordered = np.sort(keys[:count])
        room = _with_room(room, free, count)
        for at in range(count):
            room[free + at] = ordered[at] & ((1 << CODE_BITS) - 1)
        parts[0, k, START], parts[0, k, SIZE] = free, count
        free += count
    stack[0, FREE] = free
    return room


@kernel
def _with_room(room: Items, used: int, more: int) -> Items:
    if used + more <= room.shape[0]:
        return room
    larger = np.empty(2 * (used + more), np.int32)
    larger[:used] = room[:used]
    return larger


@kernel
def _behind(lists: Ints) -> int:
    """Where the room that lists and their halves take ends."""
    last = lists.shape[0] - 1
    return lists[last, HALVES] + lists[last, SIZE]


@kernel
def _split(middle: int, depth: int, room: Items, stack: Ints, parts: Ints) -> Items:
    """Halves of all lists, each still in order; the earlier ones become those one level deeper."""
    free = stack[depth, FREE]
    for k in range(parts.shape[1]):
        start, size = parts[depth, k, START], parts[depth, k, SIZE]
        room = _with_room(room, free, size)
        before = 0
        for at in range(start, start + size):
            before += int(room[at] < 2 * middle)
        earlier, later = free, free + before
        for at in range(start, start + size):
            code = room[at]
            is_earlier = int(code < 2 * middle)
            # Either of two places without a branch, which nobody could predict.
            room[later ^ ((earlier ^ later) & -is_earlier)] = code
            earlier += is_earlier
            later += 1 - is_earlier
        parts[depth, k, HALVES], parts[depth, k, EARLIER] = free, before
        parts[depth + 1, k, START], parts[depth + 1, k, SIZE] = free, before
        free += size
    return room


@kernel
def _hand_over(
    steps: Steps, pairs: Pairs, pair: int, ranks: Ranks, seats: Seats, base: int, middle: int,
    room: Items, lists: Ints, told: Items, running: int, forest: Forest,
    scaled: Scaled, checked: Checked, extreme: Extreme,
) -> None:  # fmt: skip
    """Gives the sums of the events before the middle to the others, over one pair of orders."""
    one, other = pairs.first[pair], pairs.second[pair]
    if one != other:
        _tell(middle, room, lists[2 * pair + 1], told)
    start, size = lists[2 * pair, START], lists[2 * pair, SIZE]
    for index in range(steps.ranking.shape[0]):
        if steps.ranking[index] != pair:
            continue
        state = pairs.state[index]
        source, seat = seats.first[state], seats.number[pairs.owner[state]]
        at, before = start, 0
        while at < start + size:
            end, entries, readers = _group(ranks, one, base, middle, room, at, start + size)
            if entries > 0 and readers > 0:
                clear(running, scaled, checked, extreme)
                if one != other:
                    empty_forest(forest, blocks_needed(entries), 0)
                for k in range(at, end):
                    code = room[k]
                    event = code >> 1
                    if code & 1 == 0:
                        if event < middle:
                            cell = source + seat[event]
                            if one == other:
                                add(running, cell, scaled, checked, extreme)
                            else:
                                enter_index(
                                    ORDERED, 0, told[code] - before, entries, 0, 0,
                                    forest, cell, scaled, checked, extreme,
                                )  # fmt: skip
                    elif event >= middle:
                        for t in range(pairs.target_start[index], pairs.target_start[index + 1]):
                            target = pairs.target[t]
                            cell = seats.first[target] + seats.number[pairs.owner[target], event]
                            if one == other:
                                add(cell, running, scaled, checked, extreme)
                            else:
                                read_index(
                                    ORDERED, 0, told[code] - before, entries, 0, 0,
                                    forest, cell, scaled, checked, extreme,
                                )  # fmt: skip
            before += entries
            at = end


@kernel
def _tell(middle: int, room: Items, listed: Ints, told: Items) -> None:
    """Items of both halves in the second order: how many entries of the earlier are before."""
    before = 0
    for k in range(listed[START], listed[START] + listed[SIZE]):
        code = room[k]
        told[code] = before
        before += int(code & 1 == 0 and code < 2 * middle)


@kernel
def _group(
    ranks: Ranks, ranking: int, base: int, middle: int, room: Items, at: int, last: int
) -> tuple[int, int, int]:
    """The end of the items with equal values of the equalities; earlier entries, later readers."""
    entries, readers = 0, 0
    grouped = ranks.kind[ranking] != ORDERED
    group = -1
    while at < last:
        code = room[at]
        event = code >> 1
        if grouped:
            starts = ranks.right_start if code & 1 else ranks.left_start
            own = int(starts[ranking, base + event])
            if group >= 0 and own != group:
                break
            group = own
        entries += int(code & 1 == 0 and event < middle)
        readers += int(code & 1 == 1 and event >= middle)
        at += 1
    return at, entries, readers


@kernel
def _finish(
    steps: Steps, pairs: Pairs, ranks: Ranks, order: Ints, mask: NDArray[np.uint64], seats: Seats,
    base: int, lo: int, hi: int, scaled: Scaled, checked: Checked, extreme: Extreme,
) -> bool:  # fmt: skip
    """Sums up few events, or one time point; true if trends end there."""
    found = False
    finished = steps.states
    at = lo
    while at < hi:
        end = at + 1
        while end < hi and order[end] == order[at]:
            end += 1
        for event in range(at, end):
            for variable in range(steps.arrow_start.shape[0] - 1):
                if not (mask[event] >> np.uint64(variable)) & np.uint64(1):
                    continue
                number = seats.number[variable, event - base]
                arrow, last = steps.arrow_start[variable], steps.arrow_start[variable + 1]
                while arrow < last:
                    target = steps.target[arrow]
                    cell = seats.first[target] + number
                    while arrow < last and steps.target[arrow] == target:
                        source = steps.source[arrow]
                        first, end_read = steps.read_start[arrow], steps.read_start[arrow + 1]
                        if source == NO_STATE:
                            begin(cell, scaled, checked, extreme)
                        elif first == end_read:
                            add(cell, source, scaled, checked, extreme)
                        for k in range(first, end_read):
                            _pair(
                                pairs, ranks, steps.ranking[steps.read[k]], seats, source,
                                base, lo, at, event, cell, scaled, checked, extreme,
                            )  # fmt: skip
                        arrow += 1
                    take(cell, variable, event, scaled, checked, extreme)
        for event in range(at, end):
            for state in range(steps.states):
                variable = pairs.owner[state]
                if (mask[event] >> np.uint64(variable)) & np.uint64(1):
                    cell = seats.first[state] + seats.number[variable, event - base]
                    if holds(cell, scaled, checked):
                        if steps.plain[state]:
                            add(state, cell, scaled, checked, extreme)
                        if steps.final[state]:
                            add(finished, cell, scaled, checked, extreme)
                            found = True
        at = end
    return found


@kernel
def _pair(
    pairs: Pairs, ranks: Ranks, pair: int, seats: Seats, source: int, base: int, lo: int, at: int,
    event: int, cell: int, scaled: Scaled, checked: Checked, extreme: Extreme,
) -> None:  # fmt: skip
    """Adds the entries among the events `lo : at` that are before an event in both orders."""
    one, other = pairs.first[pair], pairs.second[pair]
    start_one, start_other = ranks.right_start[one, event], ranks.right_start[other, event]
    reach_one, reach_other = ranks.right[one, event], ranks.right[other, event]
    seat = seats.number[pairs.owner[source]]
    for before in range(lo, at):
        place_one, place_other = ranks.left[one, before], ranks.left[other, before]
        if start_one <= place_one < reach_one and start_other <= place_other < reach_other:
            add(cell, seats.first[source] + seat[before - base], scaled, checked, extreme)
