"""`sprint_bases` where trends are only counted, every code has one step, and one pack suffices.

Half of the time: a pack of counts is moved from its sources to its target in registers, which
takes some 1.6 times what one count does. Laid out as there: [cell · basis], and basis 0 is where
trends begin.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.plain import is_full, wraps
from trendloom.kernels.program import Ints
from trendloom.kernels.scaled import FAINT, SHRINK
from trendloom.kernels.table import CROWD, Counting

PACK = 4
"""Bases that are worked on at once: what the processor adds in one instruction."""
VANISHED = 5
"""So many radixes below 1 a double is 0."""


@kernel
def shrink_bases(values: NDArray[Any], bases: int, exponent: Ints) -> bool:
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


@kernel
def unit_of(values: NDArray[Any], exponent: int) -> Any:
    """What 1 is beside an exponent."""
    unit = values.dtype.type(1)
    # Nothing is left of it long before: a loop to the end would make a pass quadratic.
    for _ in range(min(exponent, VANISHED)):
        unit = unit * values.dtype.type(SHRINK)
    return unit


@kernel
def count_bases(
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
) -> int:
    """Runs events `at : end`; returns where it stopped. Arguments as in `sprint_bases`."""
    zero = values.dtype.type(0)
    unit = unit_of(values, exponent[0])
    late = exponent[0] > 2
    target, finished, begins, source, eats, keeps, _ = plain
    sources, eaten = source.shape[1], eats.shape[1]
    counts = np.zeros(CROWD * PACK, values.dtype)
    w0, w1, w2, w3 = 0, 0, 0, 0
    while at < end:
        first = at
        point = order[at]
        at += 1
        full = False
        if at == end or order[at] != point:
            c = code[first]
            k = source[c, 0] * PACK
            s0, s1, s2, s3 = values[k], values[k + 1], values[k + 2], values[k + 3]
            for other in range(1, sources):
                k = source[c, other] * PACK
                a0, a1, a2, a3 = values[k], values[k + 1], values[k + 2], values[k + 3]
                t0, t1, t2, t3 = s0 + a0, s1 + a1, s2 + a2, s3 + a3
                w0, w1 = w0 | wraps(s0, a0, t0), w1 | wraps(s1, a1, t1)
                w2, w3 = w2 | wraps(s2, a2, t2), w3 | wraps(s3, a3, t3)
                s0, s1, s2, s3 = t0, t1, t2, t3
            more = unit * begins[c]
            w0 |= wraps(s0, more, s0 + more)
            s0 += more
            k = target[c] * PACK
            a0, a1, a2, a3 = values[k], values[k + 1], values[k + 2], values[k + 3]
            if late & (begins[c] != 0) & (a0 == zero):
                at = first
                break
            if eaten > 0:
                # Read before the zeros are written: waiting for them takes as long as the rest.
                keep = keeps[c]
                a0, a1, a2, a3 = a0 * keep, a1 * keep, a2 * keep, a3 * keep
                for which in range(eaten):
                    j = eats[c, which] * PACK
                    values[j], values[j + 1], values[j + 2], values[j + 3] = zero, zero, zero, zero
            t0, t1, t2, t3 = s0 + a0, s1 + a1, s2 + a2, s3 + a3
            w0, w1 = w0 | wraps(s0, a0, t0), w1 | wraps(s1, a1, t1)
            w2, w3 = w2 | wraps(s2, a2, t2), w3 | wraps(s3, a3, t3)
            values[k], values[k + 1], values[k + 2], values[k + 3] = t0, t1, t2, t3
            full = is_full(max(max(t0, t1), max(t2, t3)))
            if finishing:
                k = finished[c] * PACK
                a0, a1, a2, a3 = values[k], values[k + 1], values[k + 2], values[k + 3]
                t0, t1, t2, t3 = s0 + a0, s1 + a1, s2 + a2, s3 + a3
                w0, w1 = w0 | wraps(s0, a0, t0), w1 | wraps(s1, a1, t1)
                w2, w3 = w2 | wraps(s2, a2, t2), w3 | wraps(s3, a3, t3)
                values[k], values[k + 1], values[k + 2], values[k + 3] = t0, t1, t2, t3
                full |= is_full(max(max(t0, t1), max(t2, t3)))
                k = sink * PACK
                values[k], values[k + 1], values[k + 2], values[k + 3] = zero, zero, zero, zero
        else:
            while at < end and order[at] == point:
                at += 1
            stuck = at - first > CROWD
            for event in range(first, min(at, first + CROWD)):
                c, new = code[event], (event - first) * PACK
                for k in range(PACK):
                    count = values[source[c, 0] * PACK + k]
                    for other in range(1, sources):
                        more = values[source[c, other] * PACK + k]
                        wrapped[k] |= wraps(count, more, count + more)
                        count += more
                    counts[new + k] = count
                more = unit * begins[c]
                w0 |= wraps(counts[new], more, counts[new] + more)
                counts[new] += more
                stuck |= late & (begins[c] != 0) & (values[target[c] * PACK] == zero)
            if stuck:
                at = first
                break
            for event in range(first, at):
                for which in range(eaten):
                    k = eats[code[event], which] * PACK
                    values[k], values[k + 1], values[k + 2], values[k + 3] = zero, zero, zero, zero
            for event in range(first, at):
                c, new = code[event], (event - first) * PACK
                for goal in range(1 + finishing):
                    base = (finished[c] if goal else target[c]) * PACK
                    for k in range(PACK):
                        total = values[base + k] + counts[new + k]
                        wrapped[k] |= wraps(values[base + k], counts[new + k], total)
                        values[base + k] = total
                        full |= is_full(total)
                if finishing:
                    k = sink * PACK
                    values[k], values[k + 1], values[k + 2], values[k + 3] = zero, zero, zero, zero
        if full:
            faint = shrink_bases(values, PACK, exponent)
            unit, late = unit_of(values, exponent[0]), exponent[0] > 2
            if faint:
                break
    wrapped[0] |= w0
    wrapped[1] |= w1
    wrapped[2] |= w2
    wrapped[3] |= w3
    return at
