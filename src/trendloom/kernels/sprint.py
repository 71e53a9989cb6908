"""The inner loops of the fast path, on plain numbers: doubles of one exponent, or 64-bit integers.

Doubles share one exponent, which is exact enough while no cell is 2**600 times smaller than that.
Where cells drift further apart (a huge partial count beside a small finished one), the sprints
stop and `fold` goes on with an exponent per cell.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.plain import is_full, weigh, wraps
from trendloom.kernels.program import ANY, Ints
from trendloom.kernels.scaled import FAINT, RADIX, SHRINK
from trendloom.kernels.table import CROWD, Counting, Table


@kernel
def shrunk(values: NDArray[Any]) -> bool:
    """Takes one radix off all cells. True: some are too faint now to share the exponent."""
    faint = False
    zero = values.dtype.type(0)
    for k in range(values.shape[0]):
        values[k] = values[k] * values.dtype.type(SHRINK)
        faint |= values[k] != zero and abs(values[k]) < FAINT
    return faint


@kernel
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
    small: bool,
    flag: Ints,
) -> tuple[int, int]:
    """Runs events `at : end` on plain numbers; returns where it stopped and the exponent.

    Stops early, between two time points, only where doubles with one exponent do not suffice.
    `small` says that `x` is within the radix.
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

    alone = small and steps == 1
    finishing = table.semantics != ANY

    while at < end:
        first = at
        point = order[at]
        at += 1
        if alone and (at == end or order[at] != point):
            # Lane by lane in registers, from the sources to the target: half of the time.
            c = code[first]
            goal, done = target[c, 0] * lanes, finished[c, 0] * lanes
            if exponent > 2 and begins[c, 0] != 0 and values[goal] == zero:
                return first, exponent
            count = zero
            full = False
            for lane in range(lanes):
                own = values[source[c, 0, 0] * lanes + lane]
                for k in range(1, sources):
                    more = values[source[c, 0, k] * lanes + lane]
                    wrapped |= wraps(own, more, own + more)
                    own += more
                if lane == 0:
                    more = unit * begins[c, 0]
                    wrapped |= wraps(own, more, own + more)
                    own += more
                    count = own
                elif feeds[c, 0, lane]:
                    more = weigh(x[lane, first], count, flag)
                    wrapped |= wraps(own, more, own + more)
                    own += more
                for k in range(eaten):
                    values[eats[c, k] * lanes + lane] = zero
                held = values[goal + lane]
                total = held + own
                wrapped |= wraps(held, own, total)
                values[goal + lane] = total
                full |= is_full(total)
                if finishing:
                    held = values[done + lane]
                    total = held + own
                    wrapped |= wraps(held, own, total)
                    values[done + lane] = total
                    full |= is_full(total)
                    values[sink + lane] = zero
            if full:
                exponent += 1
                unit = unit * shrink
                if shrunk(values):
                    break
            continue
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
                for lane in range(lanes):
                    sums[new + lane] = zero
                for k in range(sources):
                    base = source[c, step, k] * lanes
                    for lane in range(lanes):
                        more = values[base + lane]
                        total = sums[new + lane] + more
                        wrapped |= wraps(sums[new + lane], more, total)
                        sums[new + lane] = total
                # In the order of above: rounded alike, whatever other runs are here.
                more = unit * begins[c, step]
                wrapped |= wraps(sums[new], more, sums[new] + more)
                sums[new] += more
                for lane in range(1, lanes):
                    if feeds[c, step, lane]:
                        amount = x[lane, event]
                        if abs(amount) >= RADIX:
                            return first, exponent
                        more = weigh(amount, sums[new], flag)
                        total = sums[new + lane] + more
                        wrapped |= wraps(sums[new + lane], more, total)
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
                        wrapped |= wraps(values[k], sums[new + lane], total)
                        values[k] = total
                        full |= is_full(total)
                for lane in range(lanes):
                    values[sink + lane] = zero
                new += lanes
        if full:
            exponent += 1
            unit = unit * shrink
            if shrunk(values):
                break
    flag[0] |= wrapped
    return at, exponent


@kernel
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
                wrapped |= wraps(count, more, count + more)
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
            wrapped |= wraps(held, count, total)
            values[target[c]] = total
            full = is_full(total)
            if finishing:
                held = values[finished[c]]
                total = held + count
                wrapped |= wraps(held, count, total)
                values[finished[c]] = total
                full |= is_full(total)
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
                    wrapped |= wraps(count, more, count + more)
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
                wrapped |= wraps(held, count, total)
                values[target[c]] = total
                full |= is_full(total)
                if finishing:
                    held = values[finished[c]]
                    total = held + count
                    wrapped |= wraps(held, count, total)
                    values[finished[c]] = total
                    full |= is_full(total)
                    values[sink] = zero
        if full:
            exponent += 1
            late = exponent > 2
            unit = unit * shrink
            if shrunk(values):
                break
    flag[0] |= wrapped
    return at, exponent


@kernel
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
    small: bool,
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
    return sprint(table, order, code, at, end, values, exponent, feeds, x, small, flag)
