"""Events → maps, all bases of a map in one pass over the events.

A map's bases differ in where they start only: every event does the same to each of them. So their
cells lie side by side, [cell, lane, basis], and an inner loop runs over lanes and bases at once:
one pass costs less than half of what one per basis does for three of them.

Doubles of one basis share an exponent, as in `sprint`; where that does not suffice, each basis
goes on by itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.core import types
from numba.extending import overload
from numpy.typing import NDArray

from trendloom.kernels.checked import times_checked
from trendloom.kernels.fold import fold_doubles
from trendloom.kernels.plain import is_full, sign, weigh, wraps
from trendloom.kernels.program import ANY, Ints
from trendloom.kernels.scaled import RADIX, SHRINK
from trendloom.kernels.sprint import FAINT
from trendloom.kernels.table import CROWD, Counting, Table, counting_of, feeds_of

Floats = NDArray[np.float64]

FOUR = 4
"""Doubles that a processor adds at once."""


def _note(wrapped: Any, at: Any, a: Any, b: Any, total: Any) -> None:
    """Makes `wrapped[at]` negative if the integers a + b wrapped to `total`."""
    if not isinstance(total, float):
        wrapped[at] |= wraps(a, b, total)


@overload(_note)
def _overload_note(wrapped: Any, at: Any, a: Any, b: Any, total: Any) -> Any:
    if total == types.float64:

        def nothing(wrapped: Any, at: Any, a: Any, b: Any, total: Any) -> None:
            return None

        return nothing

    def note(wrapped: Any, at: Any, a: Any, b: Any, total: Any) -> None:
        wrapped[at] |= wraps(a, b, total)

    return note


def _weigh(x: Any, count: Any, wrapped: Any, at: Any) -> Any:
    """x once per trend; `wrapped[at]` notes overflow. Doubles must not pay for the view of it."""
    return weigh(x, count, wrapped[at : at + 1])


@overload(_weigh)
def _overload_weigh(x: Any, count: Any, wrapped: Any, at: Any) -> Any:
    if count == types.float64:

        def weigh_float(x: Any, count: Any, wrapped: Any, at: Any) -> Any:
            return x * count

        return weigh_float

    def weigh_int(x: Any, count: Any, wrapped: Any, at: Any) -> Any:
        return times_checked(x, count, wrapped[at : at + 1])

    return weigh_int


@njit(cache=True, nogil=True)
def _shrink_bases(values: NDArray[Any], bases: int, exponent: Ints) -> bool:
    """Takes a radix off the bases that grew past it. True: one has cells that are too faint now."""
    faint = False
    zero = values.dtype.type(0)
    for basis in range(bases):
        full = False
        for k in range(basis, values.shape[0], bases):
            full |= is_full(values[k])
        if full:
            exponent[basis] += 1
            for k in range(basis, values.shape[0], bases):
                values[k] = values[k] * values.dtype.type(SHRINK)
                faint |= values[k] != zero and abs(values[k]) < FAINT
    return faint


@njit(cache=True, nogil=True)
def _add(
    values: NDArray[Any], base: int, sums: NDArray[Any], new: int, width: int, wrapped: Ints
) -> bool:
    """Adds `width` sums to the values from `base`. True: some grew past the radix."""
    full = False
    for k in range(width):
        total = values[base + k] + sums[new + k]
        _note(wrapped, k, values[base + k], sums[new + k], total)
        values[base + k] = total
        full |= is_full(total)
    return full


@njit(cache=True, nogil=True)
def sprint_bases(
    table: Table,
    order: Ints,
    code: NDArray[Any],
    at: int,
    end: int,
    values: NDArray[Any],
    exponent: Ints,
    feeds: NDArray[np.bool_],
    x: NDArray[Any],
    wrapped: Ints,
) -> int:
    """Runs events `at : end` on [cell · lane · basis] `values`; returns where it stopped.

    Trends begin in basis 0 only. Stops early, between two time points, only where doubles with one
    exponent per basis do not suffice. `wrapped` is [lane · basis].
    """
    lanes, bases = feeds.shape[2], exponent.shape[0]
    width = lanes * bases
    zero = values.dtype.type(0)
    shrink = values.dtype.type(SHRINK)
    unit = values.dtype.type(1)
    late = False
    target, finished, begins = table.target, table.finished, table.begins
    source, eats = table.source, table.eats
    steps, sources, eaten = source.shape[1], source.shape[2], eats.shape[1]
    finishing = table.semantics != ANY
    sink = (table.states + 2) * width
    sums = np.zeros(CROWD * steps * width, values.dtype)

    while at < end:
        first = at
        point = order[at]
        at += 1
        while at < end and order[at] == point:
            at += 1
        if (at - first) * steps * width > sums.shape[0]:
            sums = np.zeros(2 * (at - first) * steps * width, values.dtype)
        # All events read the vectors as they were before this time point, then all write.
        new = 0
        for event in range(first, at):
            c = code[event]
            for step in range(steps):
                if late & (begins[c, step] != 0) & (values[target[c, step] * width] == zero):
                    return first
                base = source[c, step, 0] * width
                for k in range(width):
                    sums[new + k] = values[base + k]
                for other in range(1, sources):
                    base = source[c, step, other] * width
                    for k in range(width):
                        total = sums[new + k] + values[base + k]
                        _note(wrapped, k, sums[new + k], values[base + k], total)
                        sums[new + k] = total
                more = unit * begins[c, step]
                _note(wrapped, 0, sums[new], more, sums[new] + more)
                sums[new] += more
                for lane in range(1, lanes):
                    if feeds[c, step, lane]:
                        amount = x[lane, event]
                        if abs(amount) >= RADIX:
                            return first
                        for basis in range(bases):
                            k = lane * bases + basis
                            more = _weigh(amount, sums[new + basis], wrapped, k)
                            total = sums[new + k] + more
                            _note(wrapped, k, sums[new + k], more, total)
                            sums[new + k] = total
                new += width
        for event in range(first, at):
            c = code[event]
            for which in range(eaten):
                base = eats[c, which] * width
                for k in range(width):
                    values[base + k] = zero
        new = 0
        full = False
        for event in range(first, at):
            c = code[event]
            for step in range(steps):
                full |= _add(values, target[c, step] * width, sums, new, width, wrapped)
                if finishing:
                    full |= _add(values, finished[c, step] * width, sums, new, width, wrapped)
                    for k in range(width):
                        values[sink + k] = zero
                new += width
        if full:
            faint = _shrink_bases(values, bases, exponent)
            unit = values.dtype.type(1)
            for _ in range(exponent[0]):
                unit = unit * shrink
            late = exponent[0] > 2
            if faint:
                break
    return at


@njit(cache=True, nogil=True)
def sprint_four(
    plain: Counting,
    finishing: bool,
    sink: int,
    order: Ints,
    code: NDArray[Any],
    at: int,
    end: int,
    values: NDArray[Any],
    exponent: Ints,
    wrapped: Ints,
) -> tuple[int, bool]:
    """`sprint_bases` where only trends are counted, codes have one step, and bases are FOUR.

    Written out, so that four numbers are one of the processor's: a third of the time. Also returns
    whether it stopped because one exponent per basis does not suffice any more.
    """
    zero = values.dtype.type(0)
    shrink = values.dtype.type(SHRINK)
    unit = values.dtype.type(1)
    target, finished, begins, source, eats, keeps, _ = plain
    sources, eaten = source.shape[1], eats.shape[1]
    late = faint = False
    sums = np.zeros(FOUR * CROWD, values.dtype)
    w0 = w1 = w2 = w3 = 0
    while at < end and not faint:
        first = at
        point = order[at]
        at += 1
        full = False
        if at == end or order[at] != point:
            c = code[first]
            s0, s1, s2, s3 = unit * begins[c], zero, zero, zero
            for k in range(sources):
                b = source[c, k] * FOUR
                s0 += values[b]
                s1 += values[b + 1]
                s2 += values[b + 2]
                s3 += values[b + 3]
                w0, w1, w2, w3 = w0 | sign(s0), w1 | sign(s1), w2 | sign(s2), w3 | sign(s3)
            b = target[c] * FOUR
            if late & (begins[c] != 0) & (values[b] == zero):
                at = first
                break
            t0, t1, t2, t3 = values[b], values[b + 1], values[b + 2], values[b + 3]
            if eaten > 0:
                # Read before the zeros are written: waiting for them costs more.
                keep = keeps[c]
                t0, t1, t2, t3 = t0 * keep, t1 * keep, t2 * keep, t3 * keep
                for k in range(eaten):
                    z = eats[c, k] * FOUR
                    values[z], values[z + 1], values[z + 2], values[z + 3] = zero, zero, zero, zero
            t0, t1, t2, t3 = t0 + s0, t1 + s1, t2 + s2, t3 + s3
            w0, w1, w2, w3 = w0 | sign(t0), w1 | sign(t1), w2 | sign(t2), w3 | sign(t3)
            values[b], values[b + 1], values[b + 2], values[b + 3] = t0, t1, t2, t3
            full = is_full(t0) | is_full(t1) | is_full(t2) | is_full(t3)
            if finishing:
                b = finished[c] * FOUR
                t0, t1, t2, t3 = values[b], values[b + 1], values[b + 2], values[b + 3]
                t0, t1, t2, t3 = t0 + s0, t1 + s1, t2 + s2, t3 + s3
                w0, w1, w2, w3 = w0 | sign(t0), w1 | sign(t1), w2 | sign(t2), w3 | sign(t3)
                values[b], values[b + 1], values[b + 2], values[b + 3] = t0, t1, t2, t3
                full |= is_full(t0) | is_full(t1) | is_full(t2) | is_full(t3)
                b = sink * FOUR
                values[b], values[b + 1], values[b + 2], values[b + 3] = zero, zero, zero, zero
        else:
            while at < end and order[at] == point:
                at += 1
            stuck = at - first > CROWD
            for event in range(first, min(at, first + CROWD)):
                c = code[event]
                stuck |= late & (begins[c] != 0) & (values[target[c] * FOUR] == zero)
                to = (event - first) * FOUR
                for basis in range(FOUR):
                    total = unit * begins[c] if basis == 0 else zero
                    for k in range(sources):
                        total += values[source[c, k] * FOUR + basis]
                        wrapped[basis] |= sign(total)
                    sums[to + basis] = total
            if stuck:
                at = first
                break
            for event in range(first, at):
                for k in range(eaten):
                    for basis in range(FOUR):
                        values[eats[code[event], k] * FOUR + basis] = zero
            for event in range(first, at):
                for basis in range(FOUR):
                    count = sums[(event - first) * FOUR + basis]
                    for cell in (target[code[event]], finished[code[event]]):
                        total = values[cell * FOUR + basis] + count
                        wrapped[basis] |= sign(total)
                        values[cell * FOUR + basis] = total
                        full |= is_full(total)
                    values[sink * FOUR + basis] = zero
        if full:
            faint = _shrink_bases(values, FOUR, exponent)
            unit = values.dtype.type(1)
            for _ in range(exponent[0]):
                unit = unit * shrink
            late = exponent[0] > 2
    wrapped[0] |= w0
    wrapped[1] |= w1
    wrapped[2] |= w2
    wrapped[3] |= w3
    return at, faint


@njit(cache=True, nogil=True)
def _padded(table: Table, lanes: int, bases: int) -> int:
    """How many bases to move: FOUR where `sprint_four` can, the others being nothing."""
    counting = lanes == 1 and table.source.shape[1] == 1
    return FOUR if counting and bases <= FOUR else bases


@njit(cache=True, nogil=True)
def _advance(
    table: Table,
    order: Ints,
    code: NDArray[Any],
    at: int,
    end: int,
    values: NDArray[Any],
    exponent: Ints,
    plain: Counting,
    feeds: NDArray[np.bool_],
    x: NDArray[Any],
    wrapped: Ints,
) -> int:
    """The faster of the two sprints where it goes, the other where it stops."""
    if exponent.shape[0] == FOUR and feeds.shape[1] == 1 and feeds.shape[2] == 1:
        finishing, sink = table.semantics != ANY, table.states + 2
        at, faint = sprint_four(
            plain, finishing, sink, order, code, at, end, values, exponent, wrapped
        )
        if faint or at == end or exponent[0] > 0:
            return at
    return sprint_bases(table, order, code, at, end, values, exponent, feeds, x, wrapped)


@njit(cache=True, nogil=True)
def _start(values: NDArray[Any], states: int, lanes: int, bases: int) -> None:
    """Basis 0 has nothing, basis 1 + s one partial trend in state s."""
    values[:] = 0
    for state in range(states):
        values[state * lanes * bases + 1 + state] = 1


@njit(cache=True, nogil=True)
def double_maps(
    table: Table,
    silent: Table,
    order: Ints,
    code: NDArray[Any],
    lo: Ints,
    hi: Ints,
    var: Ints,
    x: Floats,
    out_m: Floats,
    out_e: Ints,
) -> None:
    """Row r of `out`, [row, basis, cell · lane], becomes the map of events `lo[r] : hi[r]`.

    In `silent` no trends begin; otherwise it is the table.
    """
    lanes = var.shape[0]
    bases = _padded(table, lanes, out_m.shape[1])
    cells = (table.states + 3) * lanes
    values, wrapped = np.zeros(cells * bases), np.zeros(lanes * bases, np.int64)
    feeds, plain = feeds_of(table, var), counting_of(table, values)
    exponent = np.zeros(bases, np.int64)
    m, e = np.zeros((1, cells)), np.zeros((1, cells), np.int64)
    for run in range(lo.shape[0]):
        _start(values, table.states, lanes, bases)
        exponent[:] = 0
        at = _advance(
            table, order, code, lo[run], hi[run], values, exponent, plain, feeds, x, wrapped
        )
        for basis in range(out_m.shape[1]):
            # An exponent per cell, as `plus` expects them: |m| ≥ 1 wherever e > 0.
            for k in range(cells):
                cell = values[k * bases + basis]
                own = exponent[basis] if cell != 0.0 else 0
                while own > 0 and abs(cell) < 1.0:
                    cell *= RADIX
                    own -= 1
                m[0, k], e[0, k] = cell, own
            if at < hi[run]:
                fold_doubles(
                    silent if basis else table, order, code, np.array([at]), hi[run : run + 1],
                    m, e, var, x,
                )  # fmt: skip
            width = out_m.shape[2]
            out_m[run, basis] = m[0, :width]
            out_e[run, basis] = e[0, :width]


@njit(cache=True, nogil=True)
def integer_maps(
    table: Table,
    order: Ints,
    code: NDArray[Any],
    lo: Ints,
    hi: Ints,
    var: Ints,
    x: Ints,
    out: Ints,
    lost: NDArray[np.bool_],
) -> None:
    """The same with 64-bit integers; `lost`, [row, basis], says which overflowed."""
    lanes = var.shape[0]
    bases = _padded(table, lanes, out.shape[1])
    values = np.zeros((table.states + 3) * lanes * bases, np.int64)
    feeds, plain = feeds_of(table, var), counting_of(table, values)
    wrapped, exponent = np.zeros(lanes * bases, np.int64), np.zeros(bases, np.int64)
    for run in range(lo.shape[0]):
        _start(values, table.states, lanes, bases)
        wrapped[:] = 0
        _advance(table, order, code, lo[run], hi[run], values, exponent, plain, feeds, x, wrapped)
        for basis in range(out.shape[1]):
            for k in range(out.shape[2]):
                out[run, basis, k] = values[k * bases + basis]
            for lane in range(lanes):
                lost[run, basis] |= wrapped[lane * bases + basis] < 0
