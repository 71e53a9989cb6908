"""The sprint of patterns with one or two states whose trends are only counted, as matrices.

What an event does to two cells is two rows of three numbers: what the new cell has of either old
one, and of a trend that begins. The rows wait in the cache by code, the cells stay in registers,
and nothing branches on the code: under half of the time of `sprint_counting`, which looks its cells
up. A kernel compiled for one pattern, with a branch per type, is slower too: it mispredicts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.program import ANY, Ints
from trendloom.kernels.scaled import FAINT, RADIX, SHRINK
from trendloom.kernels.table import Table

Floats = NDArray[np.float64]
LATE = 2
"""Past this exponent a trend that begins is too faint to be added to nothing."""


class Rows(NamedTuple):
    """[code, 3 * cell + k]: k = 0, 1 for the cells, 2 for a trend that begins."""

    step: Floats
    """What an event adds."""
    move: Floats
    """What is there after an event that is alone at its time point."""


@kernel
def fits_pair(table: Table) -> bool:
    """Nothing is consumed or cleared, so what is there stays."""
    return table.semantics == ANY and table.states <= 2 and table.eats.shape[1] == 0


@kernel
def pair_of(table: Table) -> Rows:
    """Empty where `fits_pair` is not."""
    codes = table.target.shape[0] if fits_pair(table) else 0
    step, move = np.zeros((codes, 6)), np.zeros((codes, 6))
    for c in range(codes):
        for which in range(table.target.shape[1]):
            cell = table.target[c, which]
            if cell < table.states:
                step[c, 3 * cell + 2] += table.begins[c, which]
                for k in range(table.source.shape[2]):
                    if table.source[c, which, k] < table.states:
                        step[c, 3 * cell + table.source[c, which, k]] += 1.0
        move[c] = step[c]
        move[c, 0] += 1.0
        move[c, 4] += 1.0
    return Rows(step, move)


@kernel(fastmath={"contract"})
def sprint_pair(
    rows: Rows,
    states: int,
    order: Ints,
    code: NDArray[Any],
    at: int,
    end: int,
    values: Floats,
    exponent: int,
) -> tuple[int, int]:
    """As `sprint`; stops also where a cell is still empty when numbers have grown."""
    step, move = rows
    one = values[0]
    two = values[1] if states == 2 else 0.0
    unit = 1.0
    for _ in range(exponent):
        unit *= SHRINK
    while at < end:
        if exponent > LATE and (one == 0.0 or (states == 2 and two == 0.0)):
            break
        while at < end and max(one, two) < RADIX:
            c = code[at]
            if at + 1 == end or order[at + 1] != order[at]:
                first = move[c, 0] * one + (move[c, 1] * two + move[c, 2] * unit)
                two = move[c, 3] * one + (move[c, 4] * two + move[c, 5] * unit)
                one = first
                at += 1
                continue
            # All events of a time point read the cells as they were before it.
            point = order[at]
            first = second = 0.0
            while at < end and order[at] == point:
                c = code[at]
                first += step[c, 0] * one + (step[c, 1] * two + step[c, 2] * unit)
                second += step[c, 3] * one + (step[c, 4] * two + step[c, 5] * unit)
                at += 1
            one += first
            two += second
        while max(one, two) >= RADIX:
            one, two, unit = one * SHRINK, two * SHRINK, unit * SHRINK
            exponent += 1
        if min(one, two) < FAINT and min(one, two) > 0.0:
            break
    values[0] = one
    if states == 2:
        values[1] = two
    return at, exponent
