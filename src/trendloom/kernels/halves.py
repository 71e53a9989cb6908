"""skip-till-any-match of one variable's `+` under one order, counted by halves of time.

An event's count is 1 and the counts of the earlier events that precede it in the order of values.

1. Events in order of value are split into the earlier and the later half of their time, each half
   still in order of value, and every later event is told how many earlier ones precede it.
2. The earlier half is counted, by the same steps.
3. Its counts are summed up in order of value, and every later event gets the sum it was told.
4. The later half is counted. A block of events is counted pair by pair, many pairs at a stroke.

(Offline divide and conquer over time; the order in which halves are counted keeps it exact for
counts that depend on earlier ones.) Lists are read in order, and counts at random within a half: a
tree has another miss of the caches on every level.

Simultaneous events do not precede one another. They are numbered against the order of values, so
that nobody has to look at times again: j precedes i if it has the smaller number and stands before
it in the list.

Counts are `m * 2**(768 * e)`: three of the radixes of `scaled` in one, so that neighbours seldom
differ in their exponents. m and e lie side by side, to be fetched at once.
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
BESIDE = np.array([1.0, SMALL, 0.0])
"""What is left of a count beside one whose exponent is larger by 0, by 1, by 2 or more."""
BLOCK = 64
"""Events that are counted pair by pair; their counts grow by less than 2 ** BLOCK meanwhile."""
SOME = 16
LEVELS = 40


@kernel
def count_by_halves(
    rows: Items, order: Ints, first_event: Ints, end_event: Ints, out_m: Floats, out_e: Ints
) -> None:
    """The number of trends of every run.

    Runs follow one another without overlap. `rows` are all events in order of value, so that
    whatever stands before an event precedes it, if it is earlier: equal values in order of time, or
    against it.
    """
    events = rows.shape[0]
    longest = 0
    for run in range(first_event.shape[0]):
        longest = max(longest, end_event[run] - first_event[run])
    lists = _of_runs(_numbered(rows, order), first_event, end_event)
    cells = np.empty(2 * events)
    exponents = cells.view(np.int64)
    # Every level lists its half, or a block more than that.
    size = 3 * longest + LEVELS * BLOCK
    room, told = np.empty(size, np.int32), np.empty(size, np.int32)
    sums = np.empty(2 * (longest // 2 + BLOCK + 1))
    stack = np.zeros((LEVELS, 6), np.int64)
    block = np.zeros((4, BLOCK))
    for run in range(first_event.shape[0]):
        lo, hi = first_event[run], end_event[run]
        for event in range(lo, hi):
            room[event - lo] = lists[event]
            cells[2 * event], exponents[2 * event + 1] = 1.0, 0
        _count(lo, hi, room, told, sums, stack, block, cells, exponents)
        total, scale = 0.0, 0
        for event in range(lo, hi):
            total, scale = _plus(total, scale, cells[2 * event], exponents[2 * event + 1])
        _small(total, scale, out_m, out_e, run)


@kernel
def _numbered(rows: Items, order: Ints) -> Items:
    """The rows, simultaneous ones numbered against the order of values."""
    events = rows.shape[0]
    tied = False
    for event in range(1, events):
        tied |= order[event] == order[event - 1]
    if not tied:
        return rows
    first = np.zeros(events, np.int32)
    for event in range(1, events):
        first[event] = first[event - 1] if order[event] == order[event - 1] else event
    given = np.zeros(events, np.int32)
    numbers = np.empty(events, np.int32)
    for k in range(events - 1, -1, -1):
        point = first[rows[k]]
        numbers[k] = point + given[point]
        given[point] += 1
    return numbers


@kernel
def _of_runs(rows: Items, first_event: Ints, end_event: Ints) -> Items:
    """Every run's events in order of value, from its first event's number on."""
    events = rows.shape[0]
    runs = first_event.shape[0]
    if runs == 1 and end_event[0] - first_event[0] == events:
        return rows
    run_of = np.full(events, -1, np.int32)
    cursor = first_event.copy()
    for run in range(runs):
        run_of[first_event[run] : end_event[run]] = run
    lists = np.empty(events, np.int32)
    for k in range(events):
        run = run_of[rows[k]]
        if run >= 0:
            lists[cursor[run]] = rows[k]
            cursor[run] += 1
    return lists


@kernel
def _count(
    lo: int,
    hi: int,
    room: Items,
    told: Items,
    sums: Floats,
    stack: Ints,
    block: Floats,
    cells: Floats,
    exponents: Ints,
) -> None:
    """Steps 1 to 4 for the events `lo : hi`, which are listed at the beginning of `room`.

    A row of the stack: lo, hi, where the events are listed, where their halves are, where the later
    half begins, and which step is next.
    """
    depth = 0
    scales = sums.view(np.int64)
    _put(stack, 0, lo, hi, 0, hi - lo)
    while depth >= 0:
        lo, hi, listed, halves = stack[depth, :4]
        if stack[depth, 5] == 0:
            if hi - lo <= BLOCK:
                _pair(room, listed, lo, hi, block, cells, exponents)
                depth -= 1
                continue
            # The earlier half in whole blocks.
            middle = lo + ((hi - lo + BLOCK - 1) // BLOCK + 1) // 2 * BLOCK
            stack[depth, 4], stack[depth, 5] = middle, 1
            _split(room, told, listed, hi - lo, middle, halves, halves + middle - lo)
            depth += 1
            _put(stack, depth, lo, middle, halves, halves + hi - lo)
        elif stack[depth, 5] == 1:
            middle = stack[depth, 4]
            stack[depth, 5] = 2
            later = halves + middle - lo
            _sum(room, halves, middle - lo, sums, scales, cells, exponents)
            _tell(room, told, later, hi - middle, sums, scales, cells, exponents)
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
    room: Items,
    first: int,
    count: int,
    sums: Floats,
    scales: Ints,
    cells: Floats,
    exponents: Ints,
) -> None:
    """Sums of the first, the first two, … cells of a list, some at a time.

    While no exponent rises, a sum waits for one addition only: that it becomes too large is seen to
    behind the last of them. In half the time.
    """
    total, scale = 0.0, 0
    sums[0], scales[1] = total, scale
    at = 0
    while at < count:
        end = min(at + SOME, count)
        most = 0
        for k in range(at, end):
            most = max(most, exponents[2 * np.int64(np.uint32(room[first + k])) + 1])
        for k in range(at, end):
            cell = 2 * np.int64(np.uint32(room[first + k]))
            m, e = cells[cell], exponents[cell + 1]
            if most > scale:
                total, scale = _plus(total, scale, m, e)
            else:
                total += m * BESIDE[min(scale - e, 2)]
            sums[2 * k + 2], scales[2 * k + 3] = total, scale
        if total >= LARGE:
            total *= SMALL
            scale += 1
        at = end


@kernel
def _tell(
    room: Items,
    told: Items,
    first: int,
    count: int,
    sums: Floats,
    scales: Ints,
    cells: Floats,
    exponents: Ints,
) -> None:
    for k in range(first, first + count):
        at = 2 * np.int64(np.uint32(room[k]))
        sum_at = 2 * np.int64(np.uint32(told[k]))
        e, scale = exponents[at + 1], scales[sum_at + 1]
        top = max(e, scale)
        # Which of them is larger could not be predicted.
        m = cells[at] * BESIDE[min(top - e, 2)] + sums[sum_at] * BESIDE[min(top - scale, 2)]
        if m >= LARGE:
            m *= SMALL
            top += 1
        cells[at], exponents[at + 1] = m, top


@kernel
def _pair(
    room: Items,
    listed: int,
    lo: int,
    hi: int,
    block: Floats,
    cells: Floats,
    exponents: Ints,
) -> None:
    """Hands every count of a block to the later events behind it, without a branch.

    Before the block, whoever stands further behind has the larger sum. Exponents, left as they were
    then, are therefore in the order of places, but for rounding.
    """
    place, m, scale, done = block[0], block[1], block[2], block[3]
    place[:] = -1.0
    for k in range(hi - lo):
        place[room[listed + k] - lo] = k
    differ = False
    for k in range(hi - lo):
        m[k], scale[k] = cells[2 * (lo + k)], exponents[2 * (lo + k) + 1]
        differ |= scale[k] != scale[0]
    if differ:
        _hand_on(place, m, scale, done)
    else:
        _hand_on_alike(place, m, done)
    for k in range(hi - lo):
        big = done[k] >= LARGE
        cells[2 * (lo + k)] = done[k] * SMALL if big else done[k]
        exponents[2 * (lo + k) + 1] += int(big)


@kernel
def _hand_on_alike(place: Floats, m: Floats, done: Floats) -> None:
    for k in range(BLOCK):
        at, mine = place[k], m[k]
        done[k] = mine
        # From a round number on: sums of events that are done are not looked at any more.
        for other in range(k & -8, BLOCK):
            m[other] += mine if place[other] > at else 0.0


@kernel
def _hand_on(place: Floats, m: Floats, scale: Floats, done: Floats) -> None:
    for k in range(BLOCK):
        at, mine, e = place[k], m[k], scale[k]
        done[k] = mine
        less, more = mine * SMALL, mine * LARGE
        for other in range(k & -8, BLOCK):
            beside = less if scale[other] == e + 1.0 else 0.0
            beside = mine if scale[other] == e else beside
            beside = more if scale[other] < e else beside
            m[other] += beside if place[other] > at else 0.0


@kernel
def _plus(m: float, e: int, xm: float, xe: int) -> tuple[float, int]:
    """(m, e) + (xm, xe), both nothing or positive, in these radixes."""
    if xe > e:
        m *= BESIDE[min(xe - e, 2)]
        e = xe
    m += xm * BESIDE[min(e - xe, 2)]
    if m >= LARGE:
        return m * SMALL, e + 1
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
