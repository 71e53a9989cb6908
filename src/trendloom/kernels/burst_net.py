"""All queries of a workload as flat arrays, and one query's events applied one after another.

A vector is one query's cells in one window, `at + cell * width + lane`, as doubles with an exponent
each (`scaled`): `m` and `e` hold all vectors one after another. Events are told apart by words: bit
k is set if the event is letter k of the joint scan.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.scaled import plus, times

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Words = NDArray[np.uint64]


class Net(NamedTuple):
    """Letters are numbered through all queries; so are steps, what one letter adds to one cell."""

    width: Ints
    """Per query: lanes, the count of trends included."""
    cells: Ints
    letter_start: Ints
    letter_bit: Ints
    step_start: Ints
    """Steps of letter v: `step_start[v] : step_start[v + 1]`."""
    target: Ints
    begins: Ints
    source_start: Ints
    source: Ints
    clear_start: Ints
    clear: Ints
    feed: Ints
    """[letter, lane]: the row of inputs that the letter's events add to the lane, or -1."""
    intake: Ints
    """[query, type]: the row of `intakes` if its bursts can be shared, or -1."""
    intakes: Ints
    """What a burst does to a query, a row as `FIELDS` tells; one array, because every access to
    another one counts references, and that took most of the time."""
    accept_start: Ints
    accept: Ints
    room: int
    """For sources and targets of a row of intakes."""
    use_start: Ints
    """Queries that have letters of type t: `use[use_start[t] : use_start[t + 1]]`."""
    use: Ints
    type_feed_start: Ints
    type_feed: Ints
    """Rows of inputs that bursts of type t feed into some lane."""


FIELDS = BIT, GROWS, BEGINS, SOURCES, TARGETS = 0, 1, 2, 3, 4
"""Of a row of intakes: the letter's bit, whether it is E+, whether it begins trends, how many
sources and targets it has; behind them `ROOM` sources, `ROOM` targets, and the lanes' feeds."""
LISTS = len(FIELDS)


@kernel
def taken(
    net: Net, step: int, width: int, vector: int, m: Floats, e: Ints, sum_m: Floats, sum_e: Ints
) -> None:
    """What a step takes up: the empty trend, and its sources."""
    for lane in range(width):
        sum_m[lane], sum_e[lane] = 0.0, 0
    if net.begins[step]:
        sum_m[0] = 1.0
    for k in range(net.source_start[step], net.source_start[step + 1]):
        base = vector + net.source[k] * width
        for lane in range(width):
            sum_m[lane], sum_e[lane] = plus(
                sum_m[lane], sum_e[lane], m[base + lane], e[base + lane]
            )


@kernel
def walk(
    net: Net,
    query: int,
    words: Words,
    veil: np.uint64,
    order: Ints,
    x: Floats,
    lo: int,
    hi: int,
    vector: int,
    m: Floats,
    e: Ints,
    fresh_m: Floats,
    fresh_e: Ints,
    sum_m: Floats,
    sum_e: Ints,
) -> None:
    """One query's events of `lo : hi`, but for letters under the veil, in time order (Eq. 2).

    `fresh` is all zero before and after.
    """
    width = net.width[query]
    size = net.cells[query] * width
    one = np.uint64(1)
    first_letter, end_letter = net.letter_start[query], net.letter_start[query + 1]
    at = lo
    while at < hi:
        first = at
        touched = False
        while at < hi and order[at] == order[first]:
            word = words[at] & ~veil
            for letter in range(first_letter, end_letter):
                if (word >> np.uint64(net.letter_bit[letter])) & one == 0:
                    continue
                touched = True
                for step in range(net.step_start[letter], net.step_start[letter + 1]):
                    taken(net, step, width, vector, m, e, sum_m, sum_e)
                    base = net.target[step] * width
                    for lane in range(width):
                        row = net.feed[letter, lane]
                        if row >= 0:
                            tm, te = times(x[row, at], sum_m[0], sum_e[0])
                            sum_m[lane], sum_e[lane] = plus(sum_m[lane], sum_e[lane], tm, te)
                        k = base + lane
                        fresh_m[k], fresh_e[k] = plus(
                            fresh_m[k], fresh_e[k], sum_m[lane], sum_e[lane]
                        )
            at += 1
        if not touched:
            continue
        for event in range(first, at):
            word = words[event] & ~veil
            for letter in range(first_letter, end_letter):
                if (word >> np.uint64(net.letter_bit[letter])) & one == 0:
                    continue
                for k in range(net.clear_start[letter], net.clear_start[letter + 1]):
                    base = vector + net.clear[k] * width
                    for lane in range(width):
                        m[base + lane], e[base + lane] = 0.0, 0
        for k in range(size):
            if fresh_m[k] != 0.0:
                at_k = vector + k
                m[at_k], e[at_k] = plus(m[at_k], e[at_k], fresh_m[k], fresh_e[k])
                fresh_m[k], fresh_e[k] = 0.0, 0


@kernel(inline="always")
def take_up(
    intakes: Ints,
    row: int,
    room: int,
    width: int,
    vector: int,
    m: Floats,
    e: Ints,
    sum_m: Floats,
    sum_e: Ints,
) -> None:
    """What the next event of a burst takes up: the snapshot x, for one query."""
    for lane in range(width):
        sum_m[lane], sum_e[lane] = 0.0, 0
    if intakes[row, BEGINS]:
        sum_m[0] = 1.0
    for k in range(LISTS, LISTS + intakes[row, SOURCES]):
        base = vector + intakes[row, k] * width
        for lane in range(width):
            sum_m[lane], sum_e[lane] = plus(
                sum_m[lane], sum_e[lane], m[base + lane], e[base + lane]
            )


@kernel(inline="always")
def give(
    intakes: Ints,
    row: int,
    room: int,
    width: int,
    all_m: Floats,
    all_e: Ints,
    vector: int,
    m: Floats,
    e: Ints,
) -> None:
    """Adds what a burst made to every target."""
    first = LISTS + room
    for k in range(first, first + intakes[row, TARGETS]):
        base = vector + intakes[row, k] * width
        for lane in range(width):
            m[base + lane], e[base + lane] = plus(
                m[base + lane], e[base + lane], all_m[lane], all_e[lane]
            )


@kernel
def alone(
    intakes: Ints,
    row: int,
    room: int,
    width: int,
    words: Words,
    x: Floats,
    lo: int,
    hi: int,
    vector: int,
    m: Floats,
    e: Ints,
    sum_m: Floats,
    sum_e: Ints,
    all_m: Floats,
    all_e: Ints,
) -> None:
    """A burst of one letter for one query: a graphlet that is not shared (§3.2).

    The events come one after another, at times of their own; `sum` is what the next one takes up.
    """
    take_up(intakes, row, room, width, vector, m, e, sum_m, sum_e)
    bit = np.uint64(intakes[row, BIT])
    grows = intakes[row, GROWS] != 0
    feeds = LISTS + 2 * room
    for lane in range(width):
        all_m[lane], all_e[lane] = 0.0, 0
    for event in range(lo, hi):
        if (words[event] >> bit) & np.uint64(1) == 0:
            continue
        count_m, count_e = sum_m[0], sum_e[0]
        for lane in range(width):
            new_m, new_e = sum_m[lane], sum_e[lane]
            feed = intakes[row, feeds + lane]
            if feed >= 0:
                tm, te = times(x[feed, event], count_m, count_e)
                new_m, new_e = plus(new_m, new_e, tm, te)
            all_m[lane], all_e[lane] = plus(all_m[lane], all_e[lane], new_m, new_e)
            if grows:
                sum_m[lane], sum_e[lane] = plus(sum_m[lane], sum_e[lane], new_m, new_e)
    give(intakes, row, room, width, all_m, all_e, vector, m, e)


@kernel
def finished(
    net: Net, query: int, vector: int, m: Floats, e: Ints, out_m: Floats, out_e: Ints
) -> None:
    """The sums of all trends that may end where they are (Eq. 3)."""
    width = net.width[query]
    for k in range(net.accept_start[query], net.accept_start[query + 1]):
        base = vector + net.accept[k] * width
        for lane in range(width):
            out_m[lane], out_e[lane] = plus(
                out_m[lane], out_e[lane], m[base + lane], e[base + lane]
            )
