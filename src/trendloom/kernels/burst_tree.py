"""Earlier events by value: sums of many columns over all that a later one may follow.

A Fenwick tree over places in the order of values. Node p has `stride` numbers from `p * stride` on,
of which the first `columns` are in use; the loops over them are what the compiler makes wide.
"""

from __future__ import annotations

import numpy as np

from trendloom.kernels.burst_net import Floats, Ints
from trendloom.kernels.compiled import kernel


@kernel
def place_events(events: Ints, left: Floats, right: Floats, strict: bool) -> tuple[Ints, Ints]:
    """Per event its place by left value, from 1 (0: none), and how many places it looks back at."""
    count = events.shape[0]
    keys, rows = np.empty(count), np.empty(count, np.int64)
    known = 0
    for i in range(count):
        if not np.isnan(left[events[i]]):
            keys[known], rows[known] = left[events[i]], i
            known += 1
    by_value = np.argsort(keys[:known])
    in_order = keys[:known][by_value]
    place, reach = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for at in range(known):
        place[rows[by_value[at]]] = at + 1
    for i in range(count):
        value = right[events[i]]
        if np.isnan(value):
            continue
        lo, hi = 0, known
        while lo < hi:
            middle = (lo + hi) >> 1
            if in_order[middle] < value or (not strict and in_order[middle] == value):
                lo = middle + 1
            else:
                hi = middle
        reach[i] = lo
    return place, reach


@kernel
def look_back(tree: Floats, stride: int, columns: int, place: int, c: Floats, at: int) -> None:
    """c[at : at + columns] = the sum of all events in places up to `place`."""
    for k in range(columns):
        c[at + k] = 0.0
    while place > 0:
        base = place * stride
        for k in range(columns):
            c[at + k] += tree[base + k]
        place &= place - 1


@kernel
def enter(
    tree: Floats, stride: int, columns: int, places: int, place: int, c: Floats, at: int
) -> None:
    while 0 < place <= places:
        base = place * stride
        for k in range(columns):
            tree[base + k] += c[at + k]
        place += place & -place
