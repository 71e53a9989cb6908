"""Earlier events by value: sums of many columns over all that a later one may follow.

A Fenwick tree over places in the order of values, for each group of events that equalities tell
apart: node p of the group that begins at `base` has `stride` numbers from `(base + p) * stride` on,
of which the first `columns` are in use; the loops over them are what the compiler makes wide. For
`<>` a second tree has the places from the other end: what is less and what is greater is added, and
nothing is ever subtracted (it would cancel).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trendloom.kernels.burst_net import Floats, Ints
from trendloom.kernels.compiled import kernel


class Keys(NamedTuple):
    """What is compared: an earlier event's values must be less than a later one's."""

    left: Floats
    right: Floats
    left_group: Ints
    """Earlier and later ones must be equal here; -1 equals nothing."""
    right_group: Ints
    strict: bool
    unequal: bool
    """`<>` instead of `<`."""


class Places(NamedTuple):
    """Per event: where it is entered, and where and how far it looks back."""

    base: Ints
    size: Ints
    place: Ints
    """From 1; 0 is nowhere."""
    looked: Ints
    reach: Ints
    beyond: Ints
    """How far from the other end, for `<>`."""


@kernel
def place_events(events: Ints, keys: Keys) -> Places:
    count = events.shape[0]
    values, groups = np.empty(count), np.empty(count, np.int64)
    rows = np.empty(count, np.int64)
    known = 0
    for i in range(count):
        event = events[i]
        if not np.isnan(keys.left[event]) and keys.left_group[event] >= 0:
            values[known], groups[known] = keys.left[event], keys.left_group[event]
            rows[known] = i
            known += 1
    by_value = np.argsort(values[:known], kind="mergesort")
    by_value = by_value[np.argsort(groups[:known][by_value], kind="mergesort")]
    in_order, grouped = values[:known][by_value], groups[:known][by_value]
    found = Places(
        np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count, np.int64),
        np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count, np.int64),
    )  # fmt: skip
    first = 0
    while first < known:
        last = first
        while last < known and grouped[last] == grouped[first]:
            last += 1
        for at in range(first, last):
            i = rows[by_value[at]]
            found.base[i], found.size[i], found.place[i] = first, last - first, at - first + 1
        first = last
    for i in range(count):
        value, group = keys.right[events[i]], keys.right_group[events[i]]
        if np.isnan(value) or group < 0:
            continue
        lo = np.searchsorted(grouped, group)
        hi = np.searchsorted(grouped, group, side="right")
        mine = in_order[lo:hi]
        found.looked[i] = lo
        if keys.unequal:
            found.reach[i] = np.searchsorted(mine, value)
            found.beyond[i] = mine.shape[0] - np.searchsorted(mine, value, side="right")
        elif keys.strict:
            found.reach[i] = np.searchsorted(mine, value)
        else:
            found.reach[i] = np.searchsorted(mine, value, side="right")
    return found


@kernel
def look_back(
    tree: Floats, stride: int, columns: int, base: int, place: int, c: Floats, at: int
) -> None:
    """Adds to c[at : at + columns] all events in places up to `place`."""
    while place > 0:
        node = (base + place) * stride
        for k in range(columns):
            c[at + k] += tree[node + k]
        place &= place - 1


@kernel
def enter(
    tree: Floats, stride: int, columns: int, base: int, size: int, place: int, c: Floats, at: int
) -> None:
    while 0 < place <= size:
        node = (base + place) * stride
        for k in range(columns):
            tree[node + k] += c[at + k]
        place += place & -place
