"""Sums beside the counts of `pair`: one lane's two sums and the two counts, all in registers.

Lanes take turns over a block of events, and each counts anew, which hides behind the waiting for
its sums: 6.5 ns an event and lane, where counting alone takes 3.1, and two lanes that go through
memory together, as in `sprint`, take 22.5.

Lanes share an exponent, so none is shrunk in the middle of a block, which ends where a count is
full. Sums have room until then, for a double holds four radixes; where that does not suffice, or
where integers are no longer exact, the block is left as it was, for `sprint`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.pair import Floats, Rows, is_late, sprint_pair
from trendloom.kernels.program import ANY, Ints
from trendloom.kernels.scaled import RADIX, SHRINK
from trendloom.kernels.sprint import shrunk
from trendloom.kernels.table import Table

BLOCK = 1024
"""Events: their values and codes stay in the first-level cache for the next lane."""


@kernel
def feeds_pair(table: Table, feeds: NDArray[np.bool_]) -> Floats:
    """[lane, code, cell]: 1 if what the event adds to the cell is times its value in the lane."""
    codes, steps, lanes = feeds.shape
    weight = np.zeros((lanes, codes, 2))
    for c in range(codes):
        for which in range(steps):
            if table.target[c, which] < min(table.states, 2):
                for lane in range(1, lanes):
                    weight[lane, c, table.target[c, which]] = feeds[c, which, lane]
    return weight


@kernel(fastmath={"contract"})
def _sum(
    rows: Rows,
    weight: Floats,
    done: Floats | None,
    order: Ints,
    code: NDArray[Any],
    at: int,
    last: int,
    end: int,
    unit: float,
    limit: float,
    x: NDArray[Any],
    cells: Floats,
) -> tuple[int, float]:
    """One lane through a block; returns where its last time point ended, or a count was full.

    And the largest of all sums on the way. `cells` are the lane's counts and its sums, the finished
    ones behind the others.
    """
    step, move, keep, ends, _ = rows
    one, two, ended = cells[0, 0], cells[0, 1], cells[0, 2]
    a, b, ended_sum = cells[1, 0], cells[1, 1], cells[1, 2]
    top = 0.0
    while at < last and max(one, two) < limit and (done is None or ended < limit):
        start, c = at, code[at]
        first = step[c, 0] * one + (step[c, 1] * two + step[c, 2] * unit)
        second = step[c, 3] * one + (step[c, 4] * two + step[c, 5] * unit)
        # What the event brings: its value, once for every trend that takes it.
        own, other = weight[c, 0] * x[at] * first, weight[c, 1] * x[at] * second
        at += 1
        if at == end or order[at] != order[start]:
            if done is not None:
                ended += ends[c, 0] * first + ends[c, 1] * second
                ended_sum += done[c, 0] * a + (done[c, 1] * b + ends[c, 0] * own)
                ended_sum += ends[c, 1] * other
            one, two = keep[c, 0] * one + first, keep[c, 1] * two + second
            own += move[c, 0] * a + move[c, 1] * b
            b = move[c, 3] * a + (move[c, 4] * b + other)
            a = own
        else:
            # All events of a time point read the cells as they were before it.
            at = start
            new_one = new_two = new_a = new_b = 0.0
            keeps_one = keeps_two = 1.0
            while at < end and order[at] == order[start]:
                c = code[at]
                first = step[c, 0] * one + (step[c, 1] * two + step[c, 2] * unit)
                second = step[c, 3] * one + (step[c, 4] * two + step[c, 5] * unit)
                own = step[c, 0] * a + (step[c, 1] * b + weight[c, 0] * x[at] * first)
                other = step[c, 3] * a + (step[c, 4] * b + weight[c, 1] * x[at] * second)
                new_one, new_two = new_one + first, new_two + second
                new_a, new_b = new_a + own, new_b + other
                if done is not None:
                    ended += ends[c, 0] * first + ends[c, 1] * second
                    ended_sum += ends[c, 0] * own + ends[c, 1] * other
                keeps_one, keeps_two = keeps_one * keep[c, 0], keeps_two * keep[c, 1]
                top = max(top, max(max(abs(own), abs(other)), max(abs(new_a), abs(new_b))))
                at += 1
            one, two = keeps_one * one + new_one, keeps_two * two + new_two
            a, b = keeps_one * a + new_a, keeps_two * b + new_b
        top = max(top, max(abs(a), abs(b)))
        if done is not None:
            top = max(top, abs(ended_sum))
    cells[0, 0], cells[0, 1], cells[0, 2] = one, two, ended
    cells[1, 0], cells[1, 1], cells[1, 2] = a, b, ended_sum
    return at, top


@kernel
def sprint_sums(
    rows: Rows,
    done: Floats | None,
    weight: Floats,
    table: Table,
    order: Ints,
    code: NDArray[Any],
    at: int,
    end: int,
    values: NDArray[Any],
    exponent: int,
    limit: float,
    x: NDArray[Any],
    cells: Floats,
) -> tuple[int, int]:
    """As `sprint_pair`, of several lanes; `cells`, [lane, count or sum, cell], for them to work in.

    Stops also before a block whose sums are too large.
    """
    lanes, states = weight.shape[0], table.states
    most = np.inf if limit == RADIX else limit
    for k in range(values.shape[0]):
        # As a double: the magnitude of the least integer is no integer.
        if abs(float(values[k])) >= most:
            return at, exponent
    unit = 1.0
    for _ in range(exponent):
        unit *= SHRINK
    while at < end:
        if is_late(exponent, table, float(values[0]), float(values[lanes])):
            break
        last, stop = min(end, at + BLOCK), at
        fits = True
        for lane in range(1, lanes):
            for k in range(states + 1):
                cell = 2 if k == states else k
                cells[lane, 0, cell] = values[k * lanes]
                cells[lane, 1, cell] = values[k * lanes + lane]
            stop, top = _sum(
                rows, weight[lane], done, order, code, at, last, end, unit, limit, x[lane],
                cells[lane],
            )  # fmt: skip
            for cell in range(3):
                top = max(top, cells[lane, 0, cell])
                fits &= abs(cells[lane, 1, cell]) < most
            fits &= top < most
        if not fits:
            break
        for lane in range(1, lanes):
            for k in range(states + 1):
                cell = 2 if k == states else k
                values[k * lanes] = cells[lane, 0, cell]
                values[k * lanes + lane] = cells[lane, 1, cell]
        at = stop
        faint = False
        while np.abs(values).max() >= RADIX:
            exponent += 1
            unit *= SHRINK
            faint |= shrunk(values)
        if faint:
            break
    return at, exponent


@kernel
def advance_pair(
    rows: Rows,
    weight: Floats,
    table: Table,
    order: Ints,
    code: NDArray[Any],
    at: int,
    end: int,
    values: NDArray[Any],
    exponent: int,
    limit: float,
    x: NDArray[Any],
    cells: Floats,
) -> tuple[int, int]:
    """With or without sums, and with or without trends that are added up as they finish."""
    if weight.shape[0] == 1:
        if table.semantics == ANY:
            return sprint_pair(rows, None, table, order, code, at, end, values, exponent, limit)
        return sprint_pair(rows, rows.done, table, order, code, at, end, values, exponent, limit)
    if table.semantics == ANY:
        return sprint_sums(
            rows, None, weight, table, order, code, at, end, values, exponent, limit, x, cells
        )
    return sprint_sums(
        rows, rows.done, weight, table, order, code, at, end, values, exponent, limit, x, cells
    )
