"""The sprint of patterns with one or two states whose trends are only counted, as matrices.

What an event does to two cells is two rows of three numbers: what the new cell has of either old
one, and of a trend that begins. The rows wait in the cache by code, the cells stay in registers,
and nothing branches on the code: under half of the time of `sprint_counting`, which looks its cells
up. A kernel compiled for one pattern, with a branch per type, is slower too: it mispredicts.

Integers go through doubles as well, for as long as these hold them exactly: a processor multiplies
and adds doubles in one instruction, and 64-bit integers in several.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.program import Ints
from trendloom.kernels.scaled import FAINT, RADIX, SHRINK
from trendloom.kernels.table import Table

Floats = NDArray[np.float64]
LATE = 2
"""Past this exponent a trend that begins is too faint to be added to nothing."""
WHOLE = 2.0**50
"""Whole numbers below this are exact, and so are sums of a few of them."""


class Rows(NamedTuple):
    """[code, 3 * cell + k]: k = 0, 1 for the cells, 2 for a trend that begins."""

    step: Floats
    """What an event adds."""
    move: Floats
    """What is there after an event that is alone at its time point."""
    keep: Floats
    """[code, cell] 0 if the event consumes what the cell holds, else 1."""
    ends: Floats
    """[code, cell] 1 if what the event adds to the cell is finished, else 0."""
    done: Floats
    """[code, k] what an event adds to the finished trends."""


@kernel
def fits_pair(table: Table) -> bool:
    """One or two states, and no finished trends that are added up in one of them (workloads do)."""
    return table.states <= 2 and bool(np.all(table.finished >= table.states))


@kernel
def pair_of(table: Table) -> Rows:
    """Empty where `fits_pair` is not."""
    codes = table.target.shape[0] if fits_pair(table) else 0
    step, move, done = np.zeros((codes, 6)), np.zeros((codes, 6)), np.zeros((codes, 3))
    keep, ends = np.ones((codes, 2)), np.zeros((codes, 2))
    for c in range(codes):
        for which in range(table.target.shape[1]):
            cell = table.target[c, which]
            if cell < table.states:
                step[c, 3 * cell + 2] += table.begins[c, which]
                for k in range(table.source.shape[2]):
                    if table.source[c, which, k] < table.states:
                        step[c, 3 * cell + table.source[c, which, k]] += 1.0
                if table.finished[c, which] == table.states:
                    ends[c, cell] = 1.0
        for k in range(table.eats.shape[1]):
            if table.eats[c, k] < table.states:
                keep[c, table.eats[c, k]] = 0.0
        move[c] = step[c]
        move[c, 0] += keep[c, 0]
        move[c, 4] += keep[c, 1]
        done[c] = ends[c, 0] * step[c, :3] + ends[c, 1] * step[c, 3:]
    return Rows(step, move, keep, ends, done)


@kernel
def is_faint(value: float) -> bool:
    return value != 0.0 and abs(value) < FAINT


@kernel
def is_late(exponent: int, table: Table, one: float, two: float) -> bool:
    """Whether trends could begin in an empty cell: now, or once an event has emptied it."""
    empty = one == 0.0 or (table.states == 2 and two == 0.0)
    return exponent > LATE and (empty or table.eats.shape[1] > 0)


@kernel(fastmath={"contract"})
def sprint_pair(
    rows: Rows,
    done: Floats | None,
    table: Table,
    order: Ints,
    code: NDArray[Any],
    at: int,
    end: int,
    values: NDArray[Any],
    exponent: int,
    limit: float,
) -> tuple[int, int]:
    """As `sprint`; stops also where a cell is still empty when numbers have grown.

    The limit is the radix, or `WHOLE` for integers: before these reach it, it stops. `done` is that
    of the rows, or None under skip-till-any-match: then the compiler leaves the finished trends out
    and has registers for the rest.
    """
    # Views in local names: reading them off the tuple in the loop costs more than the loop.
    step, move, keep, _, _ = rows
    states = table.states
    one, ended = float(values[0]), float(values[states])
    two = float(values[1]) if states == 2 else 0.0
    if max(max(one, two), ended) >= limit:
        return at, exponent
    unit = 1.0
    for _ in range(exponent):
        unit *= SHRINK
    going = True
    while at < end and going and not is_late(exponent, table, one, two):
        while at < end and max(one, two) < limit and (done is None or ended < limit):
            c = code[at]
            if at + 1 == end or order[at + 1] != order[at]:
                if done is not None:
                    ended += done[c, 0] * one + (done[c, 1] * two + done[c, 2] * unit)
                first = move[c, 0] * one + (move[c, 1] * two + move[c, 2] * unit)
                two = move[c, 3] * one + (move[c, 4] * two + move[c, 5] * unit)
                one = first
                at += 1
                continue
            # All events of a time point read the cells as they were before it.
            start, point = at, order[at]
            first = second = third = 0.0
            keeps_one = keeps_two = 1.0
            while at < end and order[at] == point:
                c = code[at]
                first += step[c, 0] * one + (step[c, 1] * two + step[c, 2] * unit)
                second += step[c, 3] * one + (step[c, 4] * two + step[c, 5] * unit)
                if done is not None:
                    third += done[c, 0] * one + (done[c, 1] * two + done[c, 2] * unit)
                keeps_one, keeps_two = keeps_one * keep[c, 0], keeps_two * keep[c, 1]
                at += 1
            if limit < RADIX and max(first, second) >= limit:
                # So many at once may not be exact any more.
                at = start
                break
            one, two, ended = keeps_one * one + first, keeps_two * two + second, ended + third
        going = limit == RADIX
        while max(max(one, two), ended) >= RADIX:
            one, two, ended, unit = one * SHRINK, two * SHRINK, ended * SHRINK, unit * SHRINK
            exponent += 1
            going &= not (is_faint(one) or is_faint(two) or is_faint(ended))
    values[0], values[states] = one, ended
    if states == 2:
        values[1] = two
    return at, exponent
