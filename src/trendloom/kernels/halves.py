"""`count_by_value` where a pattern is one variable and its `+`: by halves of time, not by a tree.

An event's count is 1 and the counts of the earlier events that precede it in the order of values.

1. Events in order of value are split into the earlier and the later half of their time, each half
   still in order of value, and every later event is told how many earlier ones precede it.
2. The earlier half is counted, by the same steps.
3. Its counts are summed up in order of value, and every later event gets the sum it was told.
4. The later half is counted. A few events are counted pair by pair.

(Offline divide and conquer over time; the order in which halves are counted keeps it exact for
counts that depend on earlier ones.) Memory is read in order, or at random within a half: half the
time of the tree at a million events, whose every level is another miss of the caches.

Counts are `m * 2**(768 * e)`: three of the radixes of `scaled` in one, so that neighbours seldom
differ in their exponents, which is what the sums of step 3 wait for.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.scaled import RADIX, RADIX_BITS, SHRINK

Ints = NDArray[np.int64]
Items = NDArray[np.int32]
Floats = NDArray[np.float64]

RADIXES = 3
LARGE = 2.0 ** (RADIXES * RADIX_BITS)
SMALL = 2.0 ** -(RADIXES * RADIX_BITS)
NONE = -4
"""The exponent of nothing: far below that of 1, so that whatever is added replaces it."""


@kernel
def count_by_halves(
    order: Ints,
    left: Items,
    right: Items,
    first_event: Ints,
    end_event: Ints,
    pairs: int,
    out_m: Floats,
    out_e: Ints,
) -> None:
    """The number of trends of every run.

    Runs do not overlap. `left` has every place once; event j precedes i if `left[j] < right[i]`.
    `pairs` events are few: they are counted pair by pair.
    """
    events = left.shape[0]
    longest = 0
    for run in range(first_event.shape[0]):
        longest = max(longest, end_event[run] - first_event[run])
    lists = _by_value(left, right, first_event, end_event)
    m, e = np.zeros(events), np.full(events, NONE, np.int32)
    # A split at a time point may leave one half as large as the whole, but not twice in a row.
    room, told = np.empty(5 * longest + 8, np.int32), np.empty(5 * longest + 8, np.int32)
    sums_m, sums_e = np.empty(longest + 1), np.empty(longest + 1, np.int32)
    deep = 4
    while (1 << (deep - 4) // 2) < longest:
        deep += 2
    stack = np.zeros((deep, 6), np.int64)
    for run in range(first_event.shape[0]):
        lo, hi = first_event[run], end_event[run]
        for k in range(lo, hi):
            room[k - lo] = lists[k]
        _count(order, left, right, lo, hi, pairs, room, told, sums_m, sums_e, stack, m, e)
        total, scale = 0.0, NONE
        for event in range(lo, hi):
            total, scale = _plus(total, scale, m[event], e[event])
        _small(total, scale, out_m, out_e, run)


@kernel
def _by_value(left: Items, right: Items, first_event: Ints, end_event: Ints) -> Items:
    """Every run's events in order of value, from its first event's number on.

    So that whatever comes before an event in the list precedes it by value, equal values stand in
    order of time, or, where equal is not enough, against it.
    """
    events = left.shape[0]
    order = np.empty(events, np.int32)
    for event in range(events):
        order[left[event]] = event
    at = 0
    while at < events:
        reach = right[order[at]]
        end = at + 1
        while end < events and right[order[end]] == reach:
            end += 1
        if end - at > 1:
            # Their places are in no order of time.
            alike = np.sort(order[at:end])
            order[at:end] = alike[::-1] if reach == at else alike
        at = end
    runs = first_event.shape[0]
    if runs == 1 and end_event[0] - first_event[0] == events:
        return order
    run_of = np.full(events, -1, np.int32)
    cursor = first_event.copy()
    for run in range(runs):
        run_of[first_event[run] : end_event[run]] = run
    lists = np.empty(events, np.int32)
    for k in range(events):
        run = run_of[order[k]]
        if run >= 0:
            lists[cursor[run]] = order[k]
            cursor[run] += 1
    return lists


@kernel
def _count(
    order: Ints,
    left: Items,
    right: Items,
    lo: int,
    hi: int,
    pairs: int,
    room: Items,
    told: Items,
    sums_m: Floats,
    sums_e: Items,
    stack: Ints,
    m: Floats,
    e: Items,
) -> None:
    """Steps 1 to 4 for the events `lo : hi`, which are listed at the beginning of `room`.

    A row of the stack: lo, hi, where the events are listed, where their halves are, where the later
    half begins, and which step is next.
    """
    depth = 0
    _put(stack, 0, lo, hi, 0, hi - lo)
    while depth >= 0:
        lo, hi, listed, halves = stack[depth, :4]
        if stack[depth, 5] == 0:
            middle = hi if hi - lo <= pairs else middle_of(order, lo, hi)
            if middle == hi:
                _pair(order, left, right, lo, hi, m, e)
                depth -= 1
                continue
            stack[depth, 4], stack[depth, 5] = middle, 1
            _split(room, told, listed, hi - lo, middle, halves, halves + middle - lo)
            depth += 1
            _put(stack, depth, lo, middle, halves, halves + hi - lo)
        elif stack[depth, 5] == 1:
            middle = stack[depth, 4]
            stack[depth, 5] = 2
            later = halves + middle - lo
            _sum(room, halves, middle - lo, sums_m, sums_e, m, e)
            _tell(room, told, later, hi - middle, sums_m, sums_e, m, e)
            depth += 1
            _put(stack, depth, middle, hi, later, halves + hi - lo)
        else:
            depth -= 1


@kernel
def _put(stack: Ints, depth: int, lo: int, hi: int, listed: int, halves: int) -> None:
    stack[depth, 0], stack[depth, 1] = lo, hi
    stack[depth, 2], stack[depth, 3] = listed, halves
    stack[depth, 5] = 0


@kernel
def middle_of(order: Ints, lo: int, hi: int) -> int:
    """Where the time point in the middle begins, or else ends; `hi` if it is the only one."""
    middle = (lo + hi) >> 1
    at = middle
    while at > lo and order[at] == order[at - 1]:
        at -= 1
    if at > lo:
        return at
    while middle < hi and order[middle] == order[middle - 1]:
        middle += 1
    return middle


@kernel
def _split(
    room: Items, told: Items, listed: int, count: int, middle: int, earlier: int, later: int
) -> None:
    first = earlier
    for k in range(listed, listed + count):
        event = room[k]
        is_earlier = int(event < middle)
        # Either of two places without a branch, which nobody could predict.
        to = later ^ ((earlier ^ later) & -is_earlier)
        room[to] = event
        told[to] = earlier - first
        earlier += is_earlier
        later += 1 - is_earlier


@kernel
def _sum(
    room: Items, first: int, count: int, sums_m: Floats, sums_e: Items, m: Floats, e: Items
) -> None:
    total, scale = 0.0, NONE
    sums_m[0], sums_e[0] = total, scale
    for k in range(count):
        event = np.int64(np.uint32(room[first + k]))
        total, scale = _plus(total, scale, m[event], e[event])
        sums_m[k + 1], sums_e[k + 1] = total, scale


@kernel
def _tell(
    room: Items,
    told: Items,
    first: int,
    count: int,
    sums_m: Floats,
    sums_e: Items,
    m: Floats,
    e: Items,
) -> None:
    for k in range(first, first + count):
        event = np.int64(np.uint32(room[k]))
        at = np.int64(np.uint32(told[k]))
        m[event], e[event] = _plus(m[event], e[event], sums_m[at], sums_e[at])


@kernel
def _pair(order: Ints, left: Items, right: Items, lo: int, hi: int, m: Floats, e: Items) -> None:
    at = lo
    while at < hi:
        end = at + 1
        while end < hi and order[end] == order[at]:
            end += 1
        for event in range(at, end):
            total, scale = m[event], int(e[event])
            for before in range(lo, at):
                if left[before] < right[event]:
                    total, scale = _plus(total, scale, m[before], e[before])
            m[event], e[event] = _plus(total, scale, 1.0, 0)
        at = end


@kernel
def _plus(m: float, e: int, xm: float, xe: int) -> tuple[float, int]:
    """(m, e) + (xm, xe), both nothing or positive, in these radixes."""
    if xe == e:
        m += xm
        if m >= LARGE:
            return m * SMALL, e + 1
    elif xe > e:
        return xm + (m * SMALL if xe == e + 1 else 0.0), xe
    elif xe == e - 1:
        m += xm * SMALL
    return m, e


@kernel
def _small(m: float, e: int, out_m: Floats, out_e: Ints, run: int) -> None:
    """As `scaled` has it."""
    if m == 0.0:
        out_m[run], out_e[run] = 0.0, 0
        return
    e *= RADIXES
    while m >= RADIX:
        m *= SHRINK
        e += 1
    out_m[run], out_e[run] = m, e
