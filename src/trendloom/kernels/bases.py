"""Events → maps, all bases of a map in one pass over the events.

A map's bases differ in where they start only: every event does the same to each of them. So their
cells lie side by side, [cell, lane, basis], and an inner loop runs over lanes and bases at once.
Bases are filled up to whole packs, so that the innermost loops have a constant length.

Doubles of one basis share an exponent, as in `sprint`; where that does not suffice, it stops.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types
from numba.extending import overload
from numpy.typing import NDArray

from trendloom.kernels.checked import times_checked
from trendloom.kernels.compiled import kernel
from trendloom.kernels.counted_bases import PACK, count_bases, shrink_bases, unit_of
from trendloom.kernels.plain import is_full, weigh, wraps
from trendloom.kernels.program import ANY, Ints
from trendloom.kernels.scaled import RADIX
from trendloom.kernels.table import CROWD, Counting, Table


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


@kernel
def _add(
    values: NDArray[Any], base: int, sums: NDArray[Any], new: int, width: int, wrapped: Ints
) -> bool:
    """Adds `width` sums to the values from `base`. True: some grew past the radix."""
    full = False
    for pack in range(0, width, PACK):
        for k in range(pack, pack + PACK):
            total = values[base + k] + sums[new + k]
            _note(wrapped, k, values[base + k], sums[new + k], total)
            values[base + k] = total
            full |= is_full(total)
    return full


@kernel
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
    small: bool,
    wrapped: Ints,
) -> int:
    """Runs events `at : end` on [cell · lane · basis] `values`; returns where it stopped.

    Trends begin in basis 0 only, and bases are whole packs. Stops early, between two time points,
    only where doubles with one exponent per basis do not suffice. `small` says that `x` is within
    the radix, `wrapped` is [lane · basis].
    """
    lanes, bases = feeds.shape[2], exponent.shape[0]
    width = lanes * bases
    zero = values.dtype.type(0)
    unit, late = unit_of(values, exponent[0]), exponent[0] > 2
    target, finished, begins = table.target, table.finished, table.begins
    source, eats, sink = table.source, table.eats, table.states + 2
    finishing = table.semantics != ANY
    steps, sources, eaten = source.shape[1], source.shape[2], eats.shape[1]
    alone = small and steps == 1
    sums = np.zeros(CROWD * steps * width, values.dtype)

    while at < end:
        first = at
        point = order[at]
        c = code[at]
        at += 1
        if late & (begins[c, 0] != 0) & (values[target[c, 0] * width] == zero):
            return first
        if alone and (at == end or order[at] != point):
            # Each pack stays in registers from its sources to its target.
            full = False
            for pack in range(0, bases, PACK):
                c0, c1, c2, c3 = zero, zero, zero, zero
                w0, w1, w2, w3 = 0, 0, 0, 0
                for lane in range(lanes):
                    here = lane * bases + pack
                    k = source[c, 0, 0] * width + here
                    s0, s1, s2, s3 = values[k], values[k + 1], values[k + 2], values[k + 3]
                    for other in range(1, sources):
                        k = source[c, 0, other] * width + here
                        a0, a1, a2, a3 = values[k], values[k + 1], values[k + 2], values[k + 3]
                        t0, t1, t2, t3 = s0 + a0, s1 + a1, s2 + a2, s3 + a3
                        w0, w1 = w0 | wraps(s0, a0, t0), w1 | wraps(s1, a1, t1)
                        w2, w3 = w2 | wraps(s2, a2, t2), w3 | wraps(s3, a3, t3)
                        s0, s1, s2, s3 = t0, t1, t2, t3
                    if lane == 0:
                        if pack == 0:
                            more = unit * begins[c, 0]
                            w0 |= wraps(s0, more, s0 + more)
                            s0 += more
                        c0, c1, c2, c3 = s0, s1, s2, s3
                    elif feeds[c, 0, lane]:
                        own = x[lane, first]
                        a0 = _weigh(own, c0, wrapped, pack)
                        a1 = _weigh(own, c1, wrapped, pack + 1)
                        a2 = _weigh(own, c2, wrapped, pack + 2)
                        a3 = _weigh(own, c3, wrapped, pack + 3)
                        t0, t1, t2, t3 = s0 + a0, s1 + a1, s2 + a2, s3 + a3
                        w0, w1 = w0 | wraps(s0, a0, t0), w1 | wraps(s1, a1, t1)
                        w2, w3 = w2 | wraps(s2, a2, t2), w3 | wraps(s3, a3, t3)
                        s0, s1, s2, s3 = t0, t1, t2, t3
                    for which in range(eaten):
                        k = eats[c, which] * width + here
                        values[k], values[k + 1] = zero, zero
                        values[k + 2], values[k + 3] = zero, zero
                    for end_cell in range(1 + finishing):
                        k = (finished[c, 0] if end_cell else target[c, 0]) * width + here
                        a0, a1, a2, a3 = values[k], values[k + 1], values[k + 2], values[k + 3]
                        t0, t1, t2, t3 = s0 + a0, s1 + a1, s2 + a2, s3 + a3
                        w0, w1 = w0 | wraps(s0, a0, t0), w1 | wraps(s1, a1, t1)
                        w2, w3 = w2 | wraps(s2, a2, t2), w3 | wraps(s3, a3, t3)
                        values[k], values[k + 1], values[k + 2], values[k + 3] = t0, t1, t2, t3
                        full |= is_full(t0) | is_full(t1) | is_full(t2) | is_full(t3)
                    if finishing:
                        k = sink * width + here
                        values[k], values[k + 1] = zero, zero
                        values[k + 2], values[k + 3] = zero, zero
                # A basis is lost by any of its lanes.
                wrapped[pack] |= w0
                wrapped[pack + 1] |= w1
                wrapped[pack + 2] |= w2
                wrapped[pack + 3] |= w3
        else:
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
                    for pack in range(0, width, PACK):
                        for k in range(pack, pack + PACK):
                            sums[new + k] = values[base + k]
                    for other in range(1, sources):
                        _add(sums, new, values, source[c, step, other] * width, width, wrapped)
                    more = unit * begins[c, step]
                    _note(wrapped, 0, sums[new], more, sums[new] + more)
                    sums[new] += more
                    for lane in range(1, lanes):
                        if feeds[c, step, lane]:
                            amount = x[lane, event]
                            if abs(amount) >= RADIX:
                                return first
                            for pack in range(0, bases, PACK):
                                for basis in range(pack, pack + PACK):
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
                        base = sink * width
                        for k in range(width):
                            values[base + k] = zero
                    new += width
        if full:
            faint = shrink_bases(values, bases, exponent)
            unit, late = unit_of(values, exponent[0]), exponent[0] > 2
            if faint:
                break
    return at


@kernel
def advance_bases(
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
    small: bool,
    wrapped: Ints,
) -> int:
    """The faster of the two sprints where it goes, the other where it stops."""
    if feeds.shape[1] == 1 and feeds.shape[2] == 1 and exponent.shape[0] == PACK:
        finishing, sink = table.semantics != ANY, table.states + 2
        at = count_bases(plain, finishing, sink, order, code, at, end, values, exponent, wrapped)
        if at == end:
            return at
    return sprint_bases(table, order, code, at, end, values, exponent, feeds, x, small, wrapped)
