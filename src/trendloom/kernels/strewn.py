"""Events of many partitions in order of time → maps, each event added to its partition's map.

Nothing is sorted: a partition has its map open (`open_maps`), and an event finds it by number. What
an event does to its row is what `sprint_bases` does to its one.

Where doubles with one exponent per basis do not suffice, the row is written to `Spill` as it is,
and begins anew: maps can be multiplied later.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.alone import add_alone
from trendloom.kernels.bases import _add, _note, _weigh
from trendloom.kernels.compiled import kernel
from trendloom.kernels.counted_bases import PACK, shrink_bases, unit_of
from trendloom.kernels.fetching import prefetch
from trendloom.kernels.open_maps import (
    AHEAD,
    EVENTS,
    FIRST,
    HEAD,
    LAST,
    LATE_UNIT,
    LINE,
    UNIT,
    Addresses,
    Moves,
    Open,
    Spill,
    begin_rows,
)
from trendloom.kernels.plain import is_full, wraps
from trendloom.kernels.program import Ints
from trendloom.kernels.scaled import RADIX

Floats = NDArray[np.float64]


@kernel(forceinline=True)
def _move(
    moves: Moves, c: int, row: Any, event: int, lanes: int, bases: int, values: NDArray[Any],
    x: NDArray[Any], wrapped: Ints,
) -> bool:  # fmt: skip
    """One event alone at its time point; True if numbers grew past the radix.

    Addresses are unsigned: numba looks whether others count from the end, at every load.
    """
    zero = values.dtype.type(0)
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    top = zero
    for pack in range(0, bases, PACK):
        c0, c1, c2, c3 = zero, zero, zero, zero
        w0, w1, w2, w3 = 0, 0, 0, 0
        for lane in range(lanes):
            here = np.uint64(lane * bases + pack)
            k = moves.source[c, 0, 0] * row + moves.source[c, 0, 1] + here
            s0, s1, s2, s3 = values[k], values[k + one], values[k + two], values[k + three]
            for other in range(1, moves.source.shape[1]):
                k = moves.source[c, other, 0] * row + moves.source[c, other, 1] + here
                a0, a1, a2, a3 = values[k], values[k + one], values[k + two], values[k + three]
                t0, t1, t2, t3 = s0 + a0, s1 + a1, s2 + a2, s3 + a3
                w0, w1 = w0 | wraps(s0, a0, t0), w1 | wraps(s1, a1, t1)
                w2, w3 = w2 | wraps(s2, a2, t2), w3 | wraps(s3, a3, t3)
                s0, s1, s2, s3 = t0, t1, t2, t3
            if lane == 0:
                if pack == 0:
                    more = values[row + np.uint64(UNIT)] * moves.begins[c]
                    w0 |= wraps(s0, more, s0 + more)
                    s0 += more
                c0, c1, c2, c3 = s0, s1, s2, s3
            else:
                # Times 0 instead of a branch, which would be mispredicted.
                own = x[lane, event] * moves.feeds[c, lane]
                a0, a1 = _weigh(own, c0, wrapped, pack), _weigh(own, c1, wrapped, pack + 1)
                a2, a3 = _weigh(own, c2, wrapped, pack + 2), _weigh(own, c3, wrapped, pack + 3)
                t0, t1, t2, t3 = s0 + a0, s1 + a1, s2 + a2, s3 + a3
                w0, w1 = w0 | wraps(s0, a0, t0), w1 | wraps(s1, a1, t1)
                w2, w3 = w2 | wraps(s2, a2, t2), w3 | wraps(s3, a3, t3)
                s0, s1, s2, s3 = t0, t1, t2, t3
            for which in range(moves.eats.shape[1]):
                k = moves.eats[c, which, 0] * row + moves.eats[c, which, 1] + here
                values[k], values[k + one] = zero, zero
                values[k + two], values[k + three] = zero, zero
            for end in range(1 + moves.finishing):
                k = moves.target[c, end, 0] * row + moves.target[c, end, 1] + here
                a0, a1, a2, a3 = values[k], values[k + one], values[k + two], values[k + three]
                t0, t1, t2, t3 = s0 + a0, s1 + a1, s2 + a2, s3 + a3
                w0, w1 = w0 | wraps(s0, a0, t0), w1 | wraps(s1, a1, t1)
                w2, w3 = w2 | wraps(s2, a2, t2), w3 | wraps(s3, a3, t3)
                values[k], values[k + one], values[k + two], values[k + three] = t0, t1, t2, t3
                top = max(top, max(max(abs(t0), abs(t1)), max(abs(t2), abs(t3))))
            if moves.finishing:
                k = np.uint64(lanes * bases) + here
                values[k], values[k + one] = zero, zero
                values[k + two], values[k + three] = zero, zero
        signs = w0 | w1 | w2 | w3
        if signs < 0:
            wrapped[pack] |= w0
            wrapped[pack + 1] |= w1
            wrapped[pack + 2] |= w2
            wrapped[pack + 3] |= w3
    return is_full(top)


@kernel
def _note_lost(wrapped: Ints, lanes: int, lost: NDArray[np.bool_]) -> None:
    """A basis is lost by any of its lanes."""
    bases = lost.shape[0]
    for basis in range(bases):
        for lane in range(lanes):
            lost[basis] |= wrapped[lane * bases + basis] < 0
    wrapped[:] = 0


@kernel
def _begins_anew(moves: Moves, c: int, row: Any, values: NDArray[Any]) -> bool:
    """Whether a trend begins where there are none."""
    target = moves.target[c, 0]
    return moves.begins[c] != 0 and target[0] != 0 and values[row + target[1]] == 0


@kernel
def strew(
    moves: Moves,
    slot: NDArray[np.int32],
    time: Ints,
    code: NDArray[Any],
    at: int,
    end: int,
    x: NDArray[Any],
    rows: Open,
    spill: Spill,
) -> tuple[int, int]:
    """Adds events `at : end`, whole time points in order; `slot` says to which rows.

    Returns where it stopped and how many rows it spilled: early only for want of room.
    """
    values, words = rows.values, rows.words
    bases, lanes = rows.exponent.shape[1], moves.feeds.shape[1]
    width, stride = lanes * bases, spill.values.shape[1]
    spilled = 0
    wrapped = np.zeros(width, np.int64)
    sums = np.zeros(width, values.dtype)
    whole = rows.lost.shape[0] > 0
    base, step = np.uint64(2 * width), np.uint64(stride)
    unit, last, events = np.uint64(UNIT), np.uint64(LAST), np.uint64(EVENTS)
    plain = not whole and not moves.finishing and moves.eats.shape[1] == 0
    while at < end:
        if plain:
            if spilled == spill.row.shape[0]:
                return at, spilled
            at, full = add_alone(moves, slot, time, code, at, end, x, values, words, stride, bases)
            if full:
                spilled += _shrink(moves.states, rows, slot[at - 1], spill, spilled, width)
                continue
            if at == end:
                break
        first, point = at, time[at]
        at += 1
        while at < end and time[at] == point:
            at += 1
        if spilled + 2 * (at - first) > spill.row.shape[0]:
            return first, spilled
        if first + AHEAD < end:
            ahead = base + np.uint64(slot[first + AHEAD]) * step
            for line in range(0, stride, LINE):
                prefetch(values, ahead + np.uint64(line))
        for event in range(first, at):
            c, row = code[event], base + np.uint64(slot[event]) * step
            if values[row + unit] < LATE_UNIT and _begins_anew(moves, c, row, values):
                # No event of this time point is in the row yet.
                words[row + last] = min(words[row + last], point - 1)
                _close(moves.states, rows, slot[event], spill, spilled, width)
                spilled += 1
        meets = False
        for event in range(first, at):
            row = base + np.uint64(slot[event]) * step
            if words[row + events] == 0:
                words[row + np.uint64(FIRST)] = point
            else:
                meets |= words[row + last] == point
            words[row + last] = point
            words[row + events] += 1
        full = False
        if meets:
            if (at - first) * width > sums.shape[0]:
                sums = np.zeros(2 * (at - first) * width, values.dtype)
            _crowd(moves, slot, code, first, at, x, rows, stride, sums, wrapped)
            full = True
        else:
            for event in range(first, at):
                row = base + np.uint64(slot[event]) * step
                grew = _move(moves, code[event], row, event, lanes, bases, values, x, wrapped)
                full |= grew
                if whole:
                    _note_lost(wrapped, lanes, rows.lost[slot[event]])
        if full:
            for event in range(first, at):
                spilled += _shrink(moves.states, rows, slot[event], spill, spilled, width)
    return at, spilled


@kernel
def _at(address: Addresses, row: int) -> Any:
    return np.int64(address[0]) * row + np.int64(address[1])


@kernel
def _crowd(
    moves: Moves, slot: NDArray[np.int32], code: NDArray[Any], first: int, at: int,
    x: NDArray[Any], rows: Open, stride: int, sums: NDArray[Any], wrapped: Ints,
) -> None:  # fmt: skip
    """All events read the rows as they were before this time point, then all write."""
    values, whole = rows.values, rows.lost.shape[0] > 0
    bases, lanes = rows.exponent.shape[1], moves.feeds.shape[1]
    width = lanes * bases
    for event in range(first, at):
        c, row, new = code[event], 2 * width + slot[event] * stride, (event - first) * width
        k = _at(moves.source[c, 0], row)
        sums[new : new + width] = values[k : k + width]
        for other in range(1, moves.source.shape[1]):
            k = _at(moves.source[c, other], row)
            _add(sums, new, values, k, width, wrapped)
        more = values[row + UNIT] * moves.begins[c]
        _note(wrapped, 0, sums[new], more, sums[new] + more)
        sums[new] += more
        for lane in range(1, lanes):
            if moves.feeds[c, lane]:
                for basis in range(bases):
                    k = lane * bases + basis
                    more = _weigh(x[lane, event], sums[new + basis], wrapped, k)
                    _note(wrapped, k, sums[new + k], more, sums[new + k] + more)
                    sums[new + k] += more
        if whole:
            _note_lost(wrapped, lanes, rows.lost[slot[event]])
    for event in range(first, at):
        row = 2 * width + slot[event] * stride
        for which in range(moves.eats.shape[1]):
            k = _at(moves.eats[code[event], which], row)
            values[k : k + width] = 0
    for event in range(first, at):
        row, new = 2 * width + slot[event] * stride, (event - first) * width
        for end in range(1 + moves.finishing):
            k = _at(moves.target[code[event], end], row)
            _add(values, k, sums, new, width, wrapped)
        values[width : 2 * width] = 0
        if whole:
            _note_lost(wrapped, lanes, rows.lost[slot[event]])


@kernel
def _shrink(states: int, rows: Open, own: int, spill: Spill, place: int, width: int) -> int:
    """Takes a radix off a row that grew past it; 1 if it had to be closed instead."""
    stride, bases = spill.values.shape[1], rows.exponent.shape[1]
    row = 2 * width + own * stride
    if shrink_bases(rows.values[row + HEAD : row + stride], bases, rows.exponent[own]):
        _close(states, rows, own, spill, place, width)
        return 1
    rows.values[row + UNIT] = unit_of(rows.values, rows.exponent[own, 0])
    return 0


@kernel
def _close(states: int, rows: Open, own: int, spill: Spill, place: int, width: int) -> None:
    stride, bases = spill.values.shape[1], rows.exponent.shape[1]
    row = 2 * width + own * stride
    spill.row[place] = own
    spill.values[place] = rows.values[row : row + stride]
    spill.exponent[place] = rows.exponent[own]
    rows.exponent[own] = 0
    begin_rows(rows.values, rows.words, own, own + 1, states, width, stride, bases)


@kernel
def read_maps(values: Floats, exponent: Ints, out_m: Floats, out_e: Ints) -> None:
    """Rows, [row, stride], as maps [row, basis, cell · lane]; |m| ≥ 1 wherever e > 0."""
    bases = exponent.shape[1]
    for row in range(values.shape[0]):
        for basis in range(out_m.shape[1]):
            for k in range(out_m.shape[2]):
                cell = values[row, HEAD + k * bases + basis]
                own = exponent[row, basis] if cell != 0.0 else 0
                while own > 0 and abs(cell) < 1.0:
                    cell *= RADIX
                    own -= 1
                out_m[row, basis, k] = cell
                out_e[row, basis, k] = own
