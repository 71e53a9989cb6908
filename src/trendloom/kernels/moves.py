"""Vectors of several queries, moved side by side: what chop-connect (A-Seq §4.2) is in one vector.

Queries with a common part have a copy of its cells each. Where the copies are neighbours, an event
moves all of them at once: cells `to : to + n` take from cells `start : start + n`. A code's moves
are lists of such stretches, instead of one step per cell as in `table`; whatever has no neighbours
is a stretch of one cell. Plain numbers only, as in `sprint`: 64-bit integers, or doubles that are
within the radix, which stop where one grows past it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.plain import is_full, weigh, wraps
from trendloom.kernels.program import Ints

CROWD = 256
"""So many sums of simultaneous events are kept without asking for memory."""


class Moves(NamedTuple):
    """What an event of code c does. All but `direct` and `room`: rows `start[c] : start[c + 1]`."""

    direct: NDArray[np.bool_]
    """[code] Nothing that is read is written, so cells take at once, without a place between."""
    single: Ints
    """[code, 3] To a cell, from a cell, how many: all that a direct code does, or 0 of them."""
    room: Ints
    """[code] How many new sums there are, each of a cell and with a place."""
    add_start: Ints
    add: Ints
    """[row, 4] To a cell, or a place; from a cell; how many."""
    begin_start: Ints
    begin: Ints
    """[row, 2] A cell, or a place, where the event alone is a partial trend."""
    feed_start: Ints
    feed: Ints
    """[row, 2] A place, and a lane that the event adds to there."""
    eat_start: Ints
    eat: Ints
    """[row, 2] Cells that are set to zero: the first, how many."""
    write_start: Ints
    write: Ints
    """[row, 3] To a cell, from a place, how many."""


@kernel
def _move(
    moves: Moves,
    order: Ints,
    code: NDArray[Any],
    at: int,
    end: int,
    values: NDArray[Any],
    lanes: int,
    x: NDArray[Any],
    flag: Ints,
) -> int:
    """Runs events `at : end` on one vector; returns where it stopped, between two time points."""
    direct, single, room, add_start, add, begin_start, begin = moves[:7]
    feed_start, feed, eat_start, eat, write_start, write = moves[7:]
    zero, unit = values.dtype.type(0), values.dtype.type(1)
    sums = np.zeros(CROWD, values.dtype)
    wrapped = 0
    full = False
    while at < end and not full:
        first = at
        point = order[at]
        at += 1
        c = code[first]
        alone = at == end or order[at] != point
        size = single[c, 2]
        if alone and size > 0:
            # Most events are one stretch: a third of the time.
            to, start = single[c, 0] * lanes, single[c, 1] * lanes
            for k in range(size * lanes):
                held, more = values[to + k], values[start + k]
                total = held + more
                wrapped |= wraps(held, more, total)
                full |= is_full(total)
                values[to + k] = total
            continue
        if alone and direct[c]:
            for row in range(add_start[c], add_start[c + 1]):
                to, start = add[row, 0] * lanes, add[row, 2] * lanes
                for k in range(add[row, 3] * lanes):
                    held, more = values[to + k], values[start + k]
                    total = held + more
                    wrapped |= wraps(held, more, total)
                    full |= is_full(total)
                    values[to + k] = total
            for row in range(begin_start[c], begin_start[c + 1]):
                held = values[begin[row, 0] * lanes]
                total = held + unit
                wrapped |= wraps(held, unit, total)
                values[begin[row, 0] * lanes] = total
            continue
        while at < end and order[at] == point:
            at += 1
        size = 0
        for event in range(first, at):
            size += room[code[event]] * lanes
        if size > sums.shape[0]:
            sums = np.zeros(2 * size, values.dtype)
        sums[:size] = zero
        # All events read the vector as it was before this time point, then all write.
        new = 0
        for event in range(first, at):
            c = code[event]
            for row in range(add_start[c], add_start[c + 1]):
                to, start = new + add[row, 1] * lanes, add[row, 2] * lanes
                for k in range(add[row, 3] * lanes):
                    more = values[start + k]
                    total = sums[to + k] + more
                    wrapped |= wraps(sums[to + k], more, total)
                    sums[to + k] = total
            for row in range(begin_start[c], begin_start[c + 1]):
                k = new + begin[row, 1] * lanes
                total = sums[k] + unit
                wrapped |= wraps(sums[k], unit, total)
                sums[k] = total
            for row in range(feed_start[c], feed_start[c + 1]):
                place, lane = new + feed[row, 0] * lanes, feed[row, 1]
                more = weigh(x[lane, event], sums[place], flag)
                total = sums[place + lane] + more
                wrapped |= wraps(sums[place + lane], more, total)
                sums[place + lane] = total
            new += room[c] * lanes
        for event in range(first, at):
            c = code[event]
            for row in range(eat_start[c], eat_start[c + 1]):
                start = eat[row, 0] * lanes
                for k in range(eat[row, 1] * lanes):
                    values[start + k] = zero
        new = 0
        for event in range(first, at):
            c = code[event]
            for row in range(write_start[c], write_start[c + 1]):
                to, start = write[row, 0] * lanes, new + write[row, 1] * lanes
                for k in range(write[row, 2] * lanes):
                    held, more = values[to + k], sums[start + k]
                    total = held + more
                    wrapped |= wraps(held, more, total)
                    full |= is_full(total)
                    values[to + k] = total
            new += room[c] * lanes
    flag[0] |= wrapped
    return at


@kernel
def move_runs(
    moves: Moves,
    order: Ints,
    code: NDArray[Any],
    lo: Ints,
    hi: Ints,
    values: NDArray[Any],
    lanes: int,
    x: NDArray[Any],
    flag: Ints,
) -> Ints:
    """Runs events `lo[r] : hi[r]` through row r of the state; returns where each stopped.

    `flag[0]` is negative if some integer wrapped, and nothing here is right.
    """
    reached = np.empty(lo.shape[0], np.int64)
    for run in range(lo.shape[0]):
        reached[run] = _move(moves, order, code, lo[run], hi[run], values[run], lanes, x, flag)
    return reached
