"""Single entries of many runs at once, kept by value while more arrive (`kernels/layers.py`)."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from trendloom.kernels.layers import Layer, Sums, look_up, new_sums, order_merged, sum_up

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


class Shelves:
    """A run's entries have groups of their own, one per index, from its shelf's number on."""

    def __init__(self, indexes: int, columns: int, lanes: int, extremes: int) -> None:
        self.indexes = indexes
        self.columns = columns
        self.lanes, self.extremes = lanes, extremes
        self.layers: list[Layer] = []
        """Each more than twice as long as the next."""
        self._next = 0
        self._shelves = np.zeros(0, np.int64)
        """Those that are in use."""

    def number(self, count: int) -> Ints:
        """New shelves."""
        self._next += count
        return np.arange(self._next - count, self._next)

    def look_up(self, group: Ints, key: Ints, which: Ints) -> Sums:
        """What precedes each row in its group; nothing for rows of no group."""
        found = new_sums(len(group), self.lanes, self.extremes)
        for layer in self.layers:
            look_up(layer, group, key, which, found)
        return found

    def add(self, group: Ints, key: Ints, own: Sums) -> None:
        """More entries, in any order."""
        if not len(group):
            return
        order = np.lexsort((*key.T[::-1], group))
        layer = _summed(group[order], key[order], _taken(own, order))
        while self.layers and len(self.layers[-1].group) <= 2 * len(layer.group):
            layer = _merged(self._used(self.layers.pop()), layer)
        self.layers.append(layer)

    def keep(self, shelves: Ints) -> None:
        """Forgets all others: at once if they are most, else when their layers are merged."""
        before, self._shelves = len(self._shelves), np.sort(shelves)
        if 2 * len(shelves) <= before:
            self.layers = [used for one in self.layers if len((used := self._used(one)).group)]

    def entries(self) -> tuple[Ints, Ints, Sums]:
        """All that are in use, sorted: however they came to lie in layers."""
        blank = new_sums(0, self.lanes, self.extremes)
        none = Layer(np.zeros(0, np.int64), np.zeros((0, self.columns), np.int64), blank, blank)
        one = reduce(_merged, [none, *map(self._used, self.layers)])
        return one.group, one.key, one.own

    def _used(self, layer: Layer) -> Layer:
        used = np.isin(layer.group // self.indexes, self._shelves)
        if used.all():
            return layer
        rows = np.flatnonzero(used)
        # Groups go as a whole, so the sums of the others stay as they are.
        own, upto = _taken(layer.own, rows), _taken(layer.upto, rows)
        return Layer(layer.group[rows], layer.key[rows], own, upto)


def _taken(sums: Sums, rows: Ints) -> Sums:
    return Sums(sums.m[rows], sums.e[rows], sums.k[rows])


def _summed(group: Ints, key: Ints, own: Sums) -> Layer:
    upto = Sums(np.empty_like(own.m), np.empty_like(own.e), np.empty_like(own.k))
    layer = Layer(group, key, own, upto)
    sum_up(layer)
    return layer


def _merged(first: Layer, second: Layer) -> Layer:
    order = order_merged(first, second)
    own = Sums(*(np.concatenate(both)[order] for both in zip(first.own, second.own, strict=True)))
    group, key = (
        np.concatenate(both)[order]
        for both in ((first.group, second.group), (first.key, second.key))
    )
    return _summed(group, key, own)
