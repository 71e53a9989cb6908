"""Maps of events, for patterns that `pair` counts: all three bases at once, in registers.

The bases do not wait for each other, so the three vectors of a map take hardly longer than one,
where trends are not added up as they finish, and half as long again where they are.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.pair import Floats, Rows, is_faint, is_late
from trendloom.kernels.program import ANY, Ints
from trendloom.kernels.scaled import RADIX, SHRINK
from trendloom.kernels.table import Table


@kernel(fastmath={"contract"})
def _map(
    rows: Rows,
    done: Floats | None,
    table: Table,
    order: Ints,
    code: NDArray[Any],
    at: int,
    end: int,
    cells: Floats,
    limit: float,
) -> tuple[int, int]:
    """Fills `cells`, [basis, cell]; returns where it stopped, as `sprint_pair`, and the exponent.

    Basis 0 has nothing, basis 1 + s one partial trend in cell s, and only basis 0 has beginnings.
    Cells: either state, then the finished trends. Integers that would reach the limit are left half
    done.
    """
    step, move, keep, _, _ = rows
    states = table.states
    a0 = b0 = e0 = b1 = e1 = a2 = e2 = 0.0
    a1, b2 = 1.0, 1.0 if states == 2 else 0.0
    unit = 1.0
    exponent = 0
    while at < end:
        start, c = at, code[at]
        m0, m1, m3, m4 = move[c, 0], move[c, 1], move[c, 3], move[c, 4]
        u, v = move[c, 2] * unit, move[c, 5] * unit
        if done is not None:
            d0, d1, w = done[c, 0], done[c, 1], done[c, 2] * unit
        at += 1
        if at < end and order[at] == order[start]:
            # All events of a time point read the cells as they were before it: their rows add up.
            keeps_one, keeps_two = keep[c, 0], keep[c, 1]
            m0, m4 = m0 - keeps_one, m4 - keeps_two
            while at < end and order[at] == order[start]:
                c = code[at]
                m0, m1, u = m0 + step[c, 0], m1 + step[c, 1], u + step[c, 2] * unit
                m3, m4, v = m3 + step[c, 3], m4 + step[c, 4], v + step[c, 5] * unit
                if done is not None:
                    d0, d1, w = d0 + done[c, 0], d1 + done[c, 1], w + done[c, 2] * unit
                keeps_one, keeps_two = keeps_one * keep[c, 0], keeps_two * keep[c, 1]
                at += 1
            m0, m4 = m0 + keeps_one, m4 + keeps_two
        x0, y0 = m0 * a0 + (m1 * b0 + u), m3 * a0 + (m4 * b0 + v)
        x1, y1 = m0 * a1 + m1 * b1, m3 * a1 + m4 * b1
        x2, y2 = m0 * a2 + m1 * b2, m3 * a2 + m4 * b2
        top = max(max(max(x0, y0), max(x1, y1)), max(x2, y2))
        if done is not None:
            e0 += d0 * a0 + (d1 * b0 + w)
            e1 += d0 * a1 + d1 * b1
            e2 += d0 * a2 + d1 * b2
            top = max(top, max(e0, max(e1, e2)))
        late = False
        if top >= limit:
            if limit < RADIX:
                at = start
                break
            while top >= RADIX:
                x0, y0, e0 = x0 * SHRINK, y0 * SHRINK, e0 * SHRINK
                x1, y1, e1 = x1 * SHRINK, y1 * SHRINK, e1 * SHRINK
                x2, y2, e2 = x2 * SHRINK, y2 * SHRINK, e2 * SHRINK
                late |= is_faint(x0) or is_faint(y0) or is_faint(e0) or is_faint(x1)
                late |= is_faint(y1) or is_faint(e1) or is_faint(x2) or is_faint(y2)
                late |= is_faint(e2)
                top, unit = top * SHRINK, unit * SHRINK
                exponent += 1
            late |= is_late(exponent, table, x0, y0)
        a0, b0, a1, b1, a2, b2 = x0, y0, x1, y1, x2, y2
        if late:
            break
    cells[0, 0], cells[0, 1], cells[0, 2] = a0, b0, e0
    cells[1, 0], cells[1, 1], cells[1, 2] = a1, b1, e1
    cells[2, 0], cells[2, 1], cells[2, 2] = a2, b2, e2
    return at, exponent


@kernel
def map_counts(
    rows: Rows,
    table: Table,
    order: Ints,
    code: NDArray[Any],
    at: int,
    end: int,
    cells: Floats,
    limit: float,
) -> tuple[int, int]:
    """With or without trends that are added up as they finish."""
    if table.semantics == ANY:
        return _map(rows, None, table, order, code, at, end, cells, limit)
    return _map(rows, rows.done, table, order, code, at, end, cells, limit)
