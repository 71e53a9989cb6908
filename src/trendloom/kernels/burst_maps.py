"""What a burst does, as a map that is made once and given to many queries.

Everything that a burst of E adds to a query is a multiple of what its first event takes up, the
snapshot x (HAMLET Table 3: x, 2x, 4x, 8x). The multiple, and the sums that go with it, is the
burst's map: made once, given to every query that shares, in every window that is open.

- E+, at its i-th time point m_i matching events with values of sum v_i: the added trends are
  `a·x` with a + 1 = Π (1 + m_i), and their sums `a·s + g·x` with g' = g·(1 + m_i) + (a + 1)·v_i.
- E taken once: `n·x` and `n·s + v·x`.

Where an event is matched by some of the sharing queries only, the map so far is given to all, the
event is applied query by query, and a new map begins: a snapshot at event level (Def. 3.11) that
takes the place of the former one.
"""

from __future__ import annotations

import numpy as np

from trendloom.kernels.burst_net import BIT, GROWS, LISTS, Floats, Ints, Words, give, take_up
from trendloom.kernels.compiled import kernel
from trendloom.kernels.scaled import plus, times


@kernel(inline="always")
def absorb(
    intakes: Ints,
    row: int,
    room: int,
    width: int,
    grown: Floats,
    flat: Floats,
    vector: int,
    m: Floats,
    e: Ints,
    sum_m: Floats,
    sum_e: Ints,
    all_m: Floats,
    all_e: Ints,
) -> None:
    """Gives a burst's map to one query. Number 0 of a map multiplies, 1 + f feeds input f."""
    grows = intakes[row, GROWS] != 0
    by = grown[0] if grows else flat[0]
    take_up(intakes, row, room, width, vector, m, e, sum_m, sum_e)
    for lane in range(width):
        all_m[lane], all_e[lane] = times(by, sum_m[lane], sum_e[lane])
        feed = intakes[row, LISTS + 2 * room + lane]
        if feed >= 0:
            tm, te = times(grown[1 + feed] if grows else flat[1 + feed], sum_m[0], sum_e[0])
            all_m[lane], all_e[lane] = plus(all_m[lane], all_e[lane], tm, te)
    give(intakes, row, room, width, all_m, all_e, vector, m, e)


@kernel
def compose(
    feeds: Ints,
    words: Words,
    shared: np.uint64,
    order: Ints,
    x: Floats,
    at: int,
    hi: int,
    grown: Floats,
    flat: Floats,
) -> int:
    """The map of events from `at` on, to the first point that the sharing queries see differently.

    Returns where that is.
    """
    grown[:] = 0.0
    flat[:] = 0.0
    a = 0.0
    while at < hi:
        last = at
        matching = 0
        while last < hi and order[last] == order[at]:
            word = words[last] & shared
            if word == shared:
                matching += 1
            elif word != 0:
                grown[0] = a
                return at
            last += 1
        if matching > 0:
            for row in feeds:
                value = 0.0
                for event in range(at, last):
                    if words[event] & shared == shared:
                        value += x[row, event]
                grown[1 + row] = grown[1 + row] * (1.0 + matching) + (a + 1.0) * value
                flat[1 + row] += value
            a += matching * (a + 1.0)
            flat[0] += matching
        at = last
    grown[0] = a
    return at


@kernel(inline="always")
def shares(intakes: Ints, row: int, shared: np.uint64) -> bool:
    """Whether a query is among those that share; -1 is the row of those that cannot."""
    return row >= 0 and (shared >> np.uint64(intakes[row, BIT])) & np.uint64(1) != 0
