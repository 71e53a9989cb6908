"""The fast path: type grain, no guards, sums only. One vector per window, one pass.

`route` can do all of this; here the automaton's arrows are compiled to a table per event code and
applied at once, without a tape. A run can stop after any time point and go on later, so memory is
one vector per open window, whatever the number of events (COGRA Theorem 4.3).

Row r of the state holds, lane after lane, the sums of every state, then those of the finished
trends, then two cells that make the table regular: a source that is always zero and a sink that
nobody reads. With them every code has the same number of sources and of consumed states, so the
inner loops have constant length and the processor predicts them.

Doubles: `sprint` works on plain doubles that share one exponent, which is exact enough while no
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


def _full(values: Any, at: int, amount: Any, flag: Any) -> bool:
    """values[at] += amount. True: a double grew past the radix. Integers raise the flag instead."""
    s = values[at] + amount
    if values.dtype == np.float64:
        values[at] = s
        return bool(abs(s) >= RADIX)
    flag[0] |= (values[at] ^ s) & (amount ^ s)
    values[at] = s
    return False


@overload(_full)
def _overload_full(values: Any, at: Any, amount: Any, flag: Any) -> Any:
    if values.dtype == types.float64:

        def add_float(values: Any, at: Any, amount: Any, flag: Any) -> bool:
            s = values[at] + amount
            values[at] = s
            return abs(s) >= RADIX

        return add_float

    def add_int(values: Any, at: Any, amount: Any, flag: Any) -> bool:
        s = values[at] + amount
        flag[0] |= (values[at] ^ s) & (amount ^ s)
        values[at] = s
        return False

    return add_int


def _watch(count: Any, flag: Any) -> None:
    """A sum of counts that wrapped is negative."""
    if not isinstance(count, float):
        flag[0] |= count


@overload(_watch)
def _overload_watch(count: Any, flag: Any) -> Any:
    if count == types.float64:

        def watch_float(count: Any, flag: Any) -> None:
            pass

        return watch_float

    def watch_int(count: Any, flag: Any) -> None:
        flag[0] |= count

    return watch_int


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


DONE, FULL, STUCK = 0, 1, 2


@njit(cache=True, nogil=True)
def crowd(
    table: Table,
    code: NDArray[Any],
    first: int,
    last: int,
    values: NDArray[Any],
    unit: Any,
    late: bool,
    var: Ints,
    x: NDArray[Any],
    scratch: NDArray[Any],
    flag: Ints,
) -> int:
    """One time point of any events: all read the vector as it was, then all write.

    STUCK: nothing was changed, doubles with one exponent do not suffice here.
    """
    lanes = var.shape[0]
    steps, sources = table.source.shape[1], table.source.shape[2]
    zero = values.dtype.type(0)
    sink = (table.states + 2) * lanes
    size = (last - first) * steps * lanes
    sums = scratch if size <= scratch.shape[0] else np.empty(size, values.dtype)
    new = 0
    for event in range(first, last):
        c = code[event]
        for step in range(steps):
            for lane in range(lanes):
                sums[new + lane] = zero
            if table.begins[c, step]:
                if late and values[table.target[c, step] * lanes] == zero:
                    return STUCK
                sums[new] = unit
            for k in range(sources):
                base = table.source[c, step, k] * lanes
                for lane in range(lanes):
                    _full(sums, new + lane, values[base + lane], flag)
            for lane in range(1, lanes):
                if var[lane] == table.variable[c, step] or var[lane] == -1:
                    amount = x[lane, event]
                    if abs(amount) >= RADIX:
                        return STUCK
                    _full(sums, new + lane, _weigh(amount, sums[new], flag), flag)
            new += lanes
    for event in range(first, last):
        for k in range(table.eats.shape[1]):
            base = table.eats[code[event], k] * lanes
            for lane in range(lanes):
                values[base + lane] = zero
    new = 0
    full = False
    for event in range(first, last):
        c = code[event]
        for step in range(steps):
            base = table.target[c, step] * lanes
            done = table.finished[c, step] * lanes
            for lane in range(lanes):
                full |= _full(values, base + lane, sums[new + lane], flag)
                full |= _full(values, done + lane, sums[new + lane], flag)
                values[sink + lane] = zero
            new += lanes
    return FULL if full else DONE


@njit(cache=True, nogil=True)
def sprint(
    table: Table,
    order: Ints,
    code: NDArray[Any],
    at: int,
    end: int,
    values: NDArray[Any],
    exponent: int,
    var: Ints,
    x: NDArray[Any],
    flag: Ints,
) -> tuple[int, int]:
    """Runs events `at : end` on plain numbers; returns where it stopped and the exponent.

    Stops early, between two time points, only where doubles with one exponent do not suffice.
    """
    simple = var.shape[0] == 1 and table.source.shape[1] == 1
    zero = values.dtype.type(0)
    unit = values.dtype.type(1)
    shrink = values.dtype.type(SHRINK)
    late = exponent > 2
    for _ in range(exponent):
        unit = unit * shrink
    # Views in local names: reading them off the tuple in the loop costs four times the loop.
    target, finished, begins = table.target[:, 0], table.finished[:, 0], table.begins[:, 0]
    source, eats = table.source[:, 0], table.eats
    sources, eaten = source.shape[1], eats.shape[1]
    sink = table.states + 2
    finishing = table.semantics != ANY
    scratch = np.zeros(64 * table.source.shape[1] * var.shape[0], values.dtype)

    while at < end:
        first = at
        point = order[at]
        at += 1
        if simple and (at == end or order[at] != point):
            c = code[first]
            count = unit * begins[c]
            for k in range(sources):
                count += values[source[c, k]]
                _watch(count, flag)
            if late & (begins[c] != 0) & (values[target[c]] == zero):
                return first, exponent
            for k in range(eaten):
                values[eats[c, k]] = zero
            full = _full(values, target[c], count, flag)
            if finishing:
                full |= _full(values, finished[c], count, flag)
                values[sink] = zero
        else:
            while at < end and order[at] == point:
                at += 1
            outcome = crowd(table, code, first, at, values, unit, late, var, x, scratch, flag)
            if outcome == STUCK:
                return first, exponent
            full = outcome == FULL
        if full:
            exponent += 1
            late = exponent > 2
            unit = unit * shrink
            faint = False
            for k in range(values.shape[0]):
                values[k] = values[k] * shrink
                faint |= values[k] != zero and abs(values[k]) < FAINT
            if faint:
                return at, exponent
    return at, exponent


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
                for _ in range(exponent - e[run, k]):
                    m[run, k] *= SHRINK
                near = near and (m[run, k] == 0.0 or abs(m[run, k]) >= FAINT)
                e[run, k] = exponent
            if near:
                at, exponent = sprint(
                    table, order, code, at, hi[run], m[run], exponent, var, x, flag
                )
                for k in range(cells):
                    e[run, k] = exponent if m[run, k] != 0.0 else 0
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
    for run in range(lo.shape[0]):
        sprint(table, order, code, lo[run], hi[run], values[run], 0, var, x, flag)
    return flag[0] >= 0
