"""The fast path: type grain, no guards, sums only. One vector per window, one pass.

`route` can do all of this; here the automaton's arrows are compiled to a table per event code and
applied at once, without a tape. A run can stop after any time point and go on later, so memory is
one vector per open window, whatever the number of events (COGRA Theorem 4.3).

Row r of the state holds, lane after lane, the sums of every state, then those of the finished
trends, then two cells that make the table regular: a source that is always zero and a sink that
nobody reads. With them every code has the same number of sources and of consumed states, so the
inner loops have constant length and the processor predicts them.

Doubles: the sprints work on plain doubles that share one exponent, which is exact enough while no
cell is 2**600 times smaller than that. Where cells drift further apart (a huge partial count
beside a small finished one), `walk` goes on with an exponent per cell.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numba.core import types
from numba.extending import overload
from numpy.typing import NDArray

from trendloom.kernels.checked import times_checked
from trendloom.kernels.program import ANY, Ints
from trendloom.kernels.scaled import RADIX, SHRINK, plus, times

FAINT = 2.0**-600
CROWD = 64
"""Simultaneous events beyond this number are left to `sprint`."""


class Table(NamedTuple):
    """What an event of code c does: `steps` steps, each with the same number of sources.

    Absent steps go from the zero cell to the sink. Cells are numbered: states, FINISHED = states,
    ZERO = states + 1, SINK = states + 2.
    """

    semantics: int
    states: int
    target: Ints
    """[code, step]"""
    begins: Ints
    """[code, step] 1 if the event alone is a partial trend."""
    variable: Ints
    """[code, step]"""
    finished: Ints
    """[code, step] FINISHED if the step finishes trends that must be added up now, else SINK."""
    source: Ints
    """[code, step, k]"""
    eats: Ints
    """[code, k] states whose partial trends the code consumes (all of them, if contiguous)."""


class Counting(NamedTuple):
    """What `sprint_counting` reads of a table."""

    target: Ints
    finished: Ints
    begins: NDArray[Any]
    source: Ints
    eats: Ints
    keeps: NDArray[Any]
    """[code] 0 if the code consumes what its target holds, else 1."""
    counts: NDArray[Any]
    """Room for the counts of simultaneous events."""


def _wraps(a: Any, b: Any, total: Any) -> int:
    """Negative if the integers a + b wrapped to `total`; doubles never wrap."""
    return 0 if isinstance(total, float) else (a ^ total) & (b ^ total)


@overload(_wraps)
def _overload_wraps(a: Any, b: Any, total: Any) -> Any:
    if total == types.float64:

        def never(a: Any, b: Any, total: Any) -> int:
            return 0

        return never

    def wraps(a: Any, b: Any, total: Any) -> Any:
        return (a ^ total) & (b ^ total)

    return wraps


def _is_full(total: Any) -> bool:
    """Whether a double grew past the radix; integers never do."""
    return isinstance(total, float) and abs(total) >= RADIX


@overload(_is_full)
def _overload_is_full(total: Any) -> Any:
    if total == types.float64:

        def is_full(total: Any) -> bool:
            return abs(total) >= RADIX

        return is_full

    def never(total: Any) -> bool:
        return False

    return never


def _weigh(x: Any, count: Any, flag: Any) -> Any:
    """x once per trend."""
    return x * count if isinstance(count, float) else times_checked(x, count, flag)


@overload(_weigh)
def _overload_weigh(x: Any, count: Any, flag: Any) -> Any:
    if count == types.float64:

        def weigh_float(x: Any, count: Any, flag: Any) -> Any:
            return x * count

        return weigh_float

    def weigh_int(x: Any, count: Any, flag: Any) -> Any:
        return times_checked(x, count, flag)

    return weigh_int


@njit(cache=True, nogil=True)
def _shrunk(values: NDArray[Any]) -> bool:
    """Takes one radix off all cells. True: some are too faint now to share the exponent."""
    faint = False
    zero = values.dtype.type(0)
    for k in range(values.shape[0]):
        values[k] = values[k] * values.dtype.type(SHRINK)
        faint |= values[k] != zero and abs(values[k]) < FAINT
    return faint


@njit(cache=True, nogil=True)
def _feeds(table: Table, var: Ints) -> NDArray[np.bool_]:
    """[code, step, lane]: whether the step's events add to the lane."""
    codes, steps = table.target.shape
    feeds = np.zeros((codes, steps, var.shape[0]), np.bool_)
    for c in range(codes):
        for step in range(steps):
            for lane in range(1, var.shape[0]):
                feeds[c, step, lane] = var[lane] == table.variable[c, step] or var[lane] == -1
    return feeds


@njit(cache=True, nogil=True)
def _counting(table: Table, values: NDArray[Any]) -> Counting:
    """The table for counting: step 0 only, every array contiguous, so that an index is one load."""
    codes = table.target.shape[0]
    keeps = np.ones(codes, values.dtype)
    begins = np.zeros(codes, values.dtype)
    for c in range(codes):
        begins[c] = table.begins[c, 0]
        for k in range(table.eats.shape[1]):
            if table.eats[c, k] == table.target[c, 0]:
                keeps[c] = 0
    return Counting(
        np.ascontiguousarray(table.target[:, 0]),
        np.ascontiguousarray(table.finished[:, 0]),
        begins,
        np.ascontiguousarray(table.source[:, 0, :]),
        table.eats,
        keeps,
        np.zeros(CROWD, values.dtype),
    )


@njit(cache=True, nogil=True)
def sprint(
    table: Table,
    order: Ints,
    code: NDArray[Any],
    at: int,
    end: int,
    values: NDArray[Any],
    exponent: int,
    feeds: NDArray[np.bool_],
    x: NDArray[Any],
    flag: Ints,
) -> tuple[int, int]:
    """Runs events `at : end` on plain numbers; returns where it stopped and the exponent.

    Stops early, between two time points, only where doubles with one exponent do not suffice.
    """
    lanes = feeds.shape[2]
    zero = values.dtype.type(0)
    unit = values.dtype.type(1)
    shrink = values.dtype.type(SHRINK)
    for _ in range(exponent):
        unit = unit * shrink
    # Views in local names: reading them off the tuple in the loop costs more than the loop.
    target, finished, begins = table.target, table.finished, table.begins
    source, eats = table.source, table.eats
    steps, sources, eaten = source.shape[1], source.shape[2], eats.shape[1]
    sink = (table.states + 2) * lanes
    # Made here, so that the compiler knows that it is not `values`: a third of the time.
    sums = np.zeros(CROWD * steps * lanes, values.dtype)
    wrapped = 0

    while at < end:
        first = at
        point = order[at]
        at += 1
        while at < end and order[at] == point:
            at += 1
        if (at - first) * steps * lanes > sums.shape[0]:
            sums = np.zeros(2 * (at - first) * steps * lanes, values.dtype)
        # All events read the vector as it was before this time point, then all write.
        new = 0
        for event in range(first, at):
            c = code[event]
            for step in range(steps):
                if (
                    exponent > 2
                    and begins[c, step] != 0
                    and values[target[c, step] * lanes] == zero
                ):
                    return first, exponent
                sums[new] = unit * begins[c, step]
                for lane in range(1, lanes):
                    sums[new + lane] = zero
                for k in range(sources):
                    base = source[c, step, k] * lanes
                    for lane in range(lanes):
                        more = values[base + lane]
                        total = sums[new + lane] + more
                        wrapped |= _wraps(sums[new + lane], more, total)
                        sums[new + lane] = total
                for lane in range(1, lanes):
                    if feeds[c, step, lane]:
                        amount = x[lane, event]
                        if abs(amount) >= RADIX:
                            return first, exponent
                        more = _weigh(amount, sums[new], flag)
                        total = sums[new + lane] + more
                        wrapped |= _wraps(sums[new + lane], more, total)
                        sums[new + lane] = total
                new += lanes
        for event in range(first, at):
            c = code[event]
            for k in range(eaten):
                base = eats[c, k] * lanes
                for lane in range(lanes):
                    values[base + lane] = zero
        new = 0
        full = False
        for event in range(first, at):
            c = code[event]
            for step in range(steps):
                for cell in (target[c, step], finished[c, step]):
                    for lane in range(lanes):
                        k = cell * lanes + lane
                        total = values[k] + sums[new + lane]
                        wrapped |= _wraps(values[k], sums[new + lane], total)
                        values[k] = total
                        full |= _is_full(total)
                for lane in range(lanes):
                    values[sink + lane] = zero
                new += lanes
        if full:
            exponent += 1
            unit = unit * shrink
            if _shrunk(values):
                break
    flag[0] |= wrapped
    return at, exponent


@njit(cache=True, nogil=True)
def sprint_counting(
    plain: Counting,
    finishing: bool,
    sink: int,
    order: Ints,
    code: NDArray[Any],
    at: int,
    end: int,
    values: NDArray[Any],
    exponent: int,
    flag: Ints,
) -> tuple[int, int]:
    """`sprint` where only trends are counted and every code has one step: a third of the time."""
    zero = values.dtype.type(0)
    unit = values.dtype.type(1)
    shrink = values.dtype.type(SHRINK)
    for _ in range(exponent):
        unit = unit * shrink
    target, finished, begins, source, eats, keeps, counts = plain
    sources, eaten = source.shape[1], eats.shape[1]
    late = exponent > 2
    wrapped = 0

    while at < end:
        first = at
        point = order[at]
        at += 1
        full = False
        if at == end or order[at] != point:
            c = code[first]
            count = unit * begins[c]
            for k in range(sources):
                more = values[source[c, k]]
                wrapped |= _wraps(count, more, count + more)
                count += more
            if late & (begins[c] != 0) & (values[target[c]] == zero):
                return first, exponent
            held = values[target[c]]
            if eaten > 0:
                # Read before the zeros are written: waiting for them is a third of the time.
                held *= keeps[c]
                for k in range(eaten):
                    values[eats[c, k]] = zero
            total = held + count
            wrapped |= _wraps(held, count, total)
            values[target[c]] = total
            full = _is_full(total)
            if finishing:
                held = values[finished[c]]
                total = held + count
                wrapped |= _wraps(held, count, total)
                values[finished[c]] = total
                full |= _is_full(total)
                values[sink] = zero
        else:
            while at < end and order[at] == point:
                at += 1
            if at - first > counts.shape[0]:
                flag[0] |= wrapped
                return first, exponent
            stuck = False
            for event in range(first, at):
                c = code[event]
                count = unit * begins[c]
                for k in range(sources):
                    more = values[source[c, k]]
                    wrapped |= _wraps(count, more, count + more)
                    count += more
                stuck |= late & (begins[c] != 0) & (values[target[c]] == zero)
                counts[event - first] = count
            if stuck:
                return first, exponent
            for event in range(first, at):
                c = code[event]
                for k in range(eaten):
                    values[eats[c, k]] = zero
            for event in range(first, at):
                c = code[event]
                count = counts[event - first]
                held = values[target[c]]
                total = held + count
                wrapped |= _wraps(held, count, total)
                values[target[c]] = total
                full |= _is_full(total)
                if finishing:
                    held = values[finished[c]]
                    total = held + count
                    wrapped |= _wraps(held, count, total)
                    values[finished[c]] = total
                    full |= _is_full(total)
                    values[sink] = zero
        if full:
            exponent += 1
            late = exponent > 2
            unit = unit * shrink
            if _shrunk(values):
                break
    flag[0] |= wrapped
    return at, exponent


@njit(cache=True, nogil=True)
def advance(
    table: Table,
    order: Ints,
    code: NDArray[Any],
    at: int,
    end: int,
    values: NDArray[Any],
    exponent: int,
    plain: Counting,
    feeds: NDArray[np.bool_],
    x: NDArray[Any],
    flag: Ints,
) -> tuple[int, int]:
    """The faster of the two sprints where it goes, the other where it stops."""
    if feeds.shape[1] == 1 and feeds.shape[2] == 1:
        finishing, sink = table.semantics != ANY, table.states + 2
        at, exponent = sprint_counting(
            plain, finishing, sink, order, code, at, end, values, exponent, flag
        )
        if at == end:
            return at, exponent
    return sprint(table, order, code, at, end, values, exponent, feeds, x, flag)


@njit(cache=True, nogil=True)
def walk(
    table: Table,
    order: Ints,
    code: NDArray[Any],
    at: int,
    end: int,
    m: NDArray[np.float64],
    e: Ints,
    var: Ints,
    x: NDArray[np.float64],
) -> None:
    """The same for doubles with an exponent per cell (see `scaled`), to the end."""
    lanes = var.shape[0]
    steps, sources = table.source.shape[1], table.source.shape[2]
    size = (table.states + 3) * lanes
    sum_m, sum_e = np.zeros(lanes), np.zeros(lanes, np.int64)
    fresh_m, fresh_e = np.zeros(size), np.zeros(size, np.int64)
    while at < end:
        first = at
        while at < end and order[at] == order[first]:
            at += 1
        for event in range(first, at):
            c = code[event]
            for step in range(steps):
                for lane in range(lanes):
                    sum_m[lane], sum_e[lane] = 0.0, 0
                if table.begins[c, step]:
                    sum_m[0] = 1.0
                for k in range(sources):
                    base = table.source[c, step, k] * lanes
                    for lane in range(lanes):
                        sum_m[lane], sum_e[lane] = plus(
                            sum_m[lane], sum_e[lane], m[base + lane], e[base + lane]
                        )
                for lane in range(1, lanes):
                    if var[lane] == table.variable[c, step] or var[lane] == -1:
                        tm, te = times(x[lane, event], sum_m[0], sum_e[0])
                        sum_m[lane], sum_e[lane] = plus(sum_m[lane], sum_e[lane], tm, te)
                for cell in (table.target[c, step], table.finished[c, step]):
                    for lane in range(lanes):
                        k = cell * lanes + lane
                        fresh_m[k], fresh_e[k] = plus(
                            fresh_m[k], fresh_e[k], sum_m[lane], sum_e[lane]
                        )
        for event in range(first, at):
            for k in range(table.eats.shape[1]):
                base = table.eats[code[event], k] * lanes
                for lane in range(lanes):
                    m[base + lane], e[base + lane] = 0.0, 0
        for k in range((table.states + 1) * lanes):
            m[k], e[k] = plus(m[k], e[k], fresh_m[k], fresh_e[k])
        fresh_m[:] = 0.0
        fresh_e[:] = 0


@njit(cache=True, nogil=True)
def fold_doubles(
    table: Table,
    order: Ints,
    code: NDArray[Any],
    lo: Ints,
    hi: Ints,
    m: NDArray[np.float64],
    e: Ints,
    var: Ints,
    x: NDArray[np.float64],
) -> None:
    """Runs events `lo[r] : hi[r]` through row r of the state, for every r."""
    flag = np.zeros(1, np.int64)
    feeds, plain = _feeds(table, var), _counting(table, m)
    cells = m.shape[1]
    for run in range(lo.shape[0]):
        exponent = 0
        for k in range(cells):
            exponent = max(exponent, e[run, k])
        near = exponent < 1 << 30
        for k in range(cells):
            near = near and (m[run, k] == 0.0 or exponent - e[run, k] <= 2)
        at = lo[run]
        if near:
            for k in range(cells):
                if m[run, k] != 0.0:
                    for _ in range(exponent - e[run, k]):
                        m[run, k] *= SHRINK
                near = near and (m[run, k] == 0.0 or abs(m[run, k]) >= FAINT)
                e[run, k] = exponent
            if near:
                at, exponent = advance(
                    table, order, code, at, hi[run], m[run], exponent, plain, feeds, x, flag
                )
            # Back to an exponent per cell, as `plus` expects them: |m| ≥ 1 wherever e > 0.
            for k in range(cells):
                e[run, k] = exponent if m[run, k] != 0.0 else 0
                while e[run, k] > 0 and abs(m[run, k]) < 1.0:
                    m[run, k] *= RADIX
                    e[run, k] -= 1
        if at < hi[run]:
            walk(table, order, code, at, hi[run], m[run], e[run], var, x)


@njit(cache=True, nogil=True)
def fold_integers(
    table: Table,
    order: Ints,
    code: NDArray[Any],
    lo: Ints,
    hi: Ints,
    values: Ints,
    var: Ints,
    x: Ints,
) -> bool:
    """The same with 64-bit integers. False: some sum overflowed, and nothing here is right."""
    flag = np.zeros(1, np.int64)
    feeds, plain = _feeds(table, var), _counting(table, values)
    for run in range(lo.shape[0]):
        advance(table, order, code, lo[run], hi[run], values[run], 0, plain, feeds, x, flag)
    return flag[0] >= 0
