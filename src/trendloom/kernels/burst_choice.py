"""Who shares a burst: the benefit model (HAMLET Def. 4.2) and the choice of queries (§4.3).

Queries with the same condition on the burst's type always go together: a *class*, known by its
letter. Few of the plans in Figure 7 are looked at, one for each class that brings snapshots:

1. classes that bring no snapshots of their own are shared (Theorem 4.3);
2. each other class, those with most snapshots first, is shared if that costs no more than the rest
   without it (Theorem 4.5, against who is left: a class with many snapshots makes sharing dear for
   all, and by the theorem's letter would take others with it that are better off sharing);
3. what is left is shared if it costs less than each query on its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.bitset import lowest
from trendloom.kernels.burst_net import Floats, Ints, Words
from trendloom.kernels.compiled import kernel


class Costs(NamedTuple):
    """Nanoseconds, as measured on the machine."""

    event: float
    """Per event of a shared burst (b),"""
    column: float
    """and per event and snapshot in its expressions (b · s_p)."""
    snapshot: float
    """Per snapshot and query (s_c · k)."""
    query: float
    """Per query that a shared burst is given to."""
    alone: float
    """Per event and query that is not shared (k · b)."""


@kernel
def shared_cost(costs: Costs, b: float, s_p: float, s_c: float, k: float) -> float:
    return b * (costs.event + costs.column * s_p) + s_c * k * costs.snapshot + k * costs.query


@kernel
def alone_cost(costs: Costs, b: float, k: float) -> float:
    return k * b * costs.alone


@kernel
def choose(
    costs: Costs,
    b: float,
    s_p: float,
    sharing: np.uint64,
    every: float,
    weight: Floats,
    differ: np.uint64,
    snapshots: float,
    unique: NDArray[np.int32],
) -> np.uint64:
    """The letters whose queries share the burst.

    `weight` has the number of queries per letter, `every` their sum.
    """
    one = np.uint64(1)
    grown = s_p + snapshots if costs.column > 0 else s_p
    whole = shared_cost(costs, b, grown, snapshots, every)
    kept = sharing
    left = every
    rest = snapshots
    todo = differ
    while todo != 0:
        bit = lowest(todo)
        others = todo & (todo - one)
        while others != 0:
            other = lowest(others)
            others &= others - one
            if unique[other] > unique[bit]:
                bit = other
        todo &= ~(one << np.uint64(bit))
        # Snapshots that several classes bring go with the last of them.
        fewer = 0.0 if kept & differ == one << np.uint64(bit) else rest - unique[bit]
        grown = s_p + fewer if costs.column > 0 else s_p
        without = shared_cost(costs, b, grown, fewer, left - weight[bit])
        if whole > without + alone_cost(costs, b, weight[bit]):
            kept &= ~(one << np.uint64(bit))
            left -= weight[bit]
            rest, whole = fewer, without
    grown = s_p + rest if costs.column > 0 else s_p
    if left < 2 or shared_cost(costs, b, grown, rest, left) >= alone_cost(costs, b, left):
        return np.uint64(0)
    return kept


@kernel
def choose_all(
    costs: Costs,
    lo: Ints,
    hi: Ints,
    kind: Ints,
    differ: Words,
    snapshots: Ints,
    row: Ints,
    unique: NDArray[np.int32],
    sharing: Words,
    every: Floats,
    weight: Floats,
) -> Words:
    """The choice for every piece; no letters for pieces that cannot be shared.

    Where no event tells queries apart all of them share or nobody does, by the number of events
    alone: from which on is computed once per type.
    """
    chosen = np.zeros(lo.shape[0], np.uint64)
    nobody = np.zeros(64, np.int32)
    from_on = np.full(sharing.shape[0], np.inf)
    for one in range(sharing.shape[0]):
        gain = alone_cost(costs, 1.0, every[one]) - shared_cost(costs, 1.0, 1.0, 0.0, 0.0)
        if sharing[one] != 0 and every[one] >= 2 and gain > 0:
            from_on[one] = every[one] * costs.query / gain
    for piece in range(lo.shape[0]):
        what = kind[piece]
        if what < 0:
            continue
        b = float(hi[piece] - lo[piece])
        if differ[piece] == 0 and snapshots[piece] == 0:
            if b > from_on[what]:
                chosen[piece] = sharing[what]
        elif sharing[what] != 0:
            chosen[piece] = choose(
                costs, b, 1.0, sharing[what], every[what], weight, differ[piece],
                float(snapshots[piece]), nobody if row[piece] < 0 else unique[row[piece]],
            )  # fmt: skip
    return chosen


@kernel
def choose_windows(
    costs: Costs,
    events: Ints,
    graphlets: Ints,
    snapshots: Ints,
    unique: NDArray[np.int32],
    sharing: np.uint64,
    every: float,
    weight: Floats,
) -> Words:
    """The same for whole windows of one E+ with a comparison inside.

    Every event looks back in the logarithm of the events, and its expression has a coefficient per
    snapshot of the window so far.
    """
    chosen = np.zeros(events.shape[0], np.uint64)
    for window in range(events.shape[0]):
        differ = np.uint64(0)
        for bit in range(64):
            if (sharing >> np.uint64(bit)) & np.uint64(1) and unique[window, bit] > 0:
                differ |= np.uint64(1) << np.uint64(bit)
        if snapshots[window] > 0 and differ == 0:
            differ = sharing
        chosen[window] = choose(
            costs,
            events[window] * np.log2(2.0 + events[window]),
            float(graphlets[window]),
            sharing,
            every,
            weight,
            differ,
            float(snapshots[window]),
            unique[window],
        )
    return chosen
