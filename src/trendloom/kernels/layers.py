"""Entries by value that keep arriving: sorted layers, with sums, merged logarithmically.

In a known batch entries have places, and a tree over these adds them up (`forest`). On a stream
there are no places yet for the values to come. So the entries lie in layers, each sorted by group
and value, and each with the sums from the beginning of a group up to every entry. What precedes a
value is one binary search per layer; layers of about one size are merged (Bentley and Saxe), so
that there are O(log n) of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.extreme import ABSENT
from trendloom.kernels.program import Ints
from trendloom.kernels.ranks import LESS_OR_EQUAL
from trendloom.kernels.scaled import plus

Floats = NDArray[np.float64]


class Sums(NamedTuple):
    """[row, lane]: sums with their exponents, and least keys."""

    m: Floats
    e: Ints
    k: Ints


class Layer(NamedTuple):
    """Entries, sorted by group and by the columns of their key."""

    group: Ints
    key: Ints
    """[entry, column]: what is equal among those that are added up, then the value."""
    own: Sums
    upto: Sums
    """Of the entry and those before it that are equal in all but the last column."""


@kernel
def new_sums(rows: int, lanes: int, extremes: int) -> Sums:
    return Sums(
        np.zeros((rows, lanes)),
        np.zeros((rows, lanes), np.int64),
        np.full((rows, extremes), ABSENT, np.int64),
    )


@kernel
def look_up(layer: Layer, group: Ints, key: Ints, which: Ints, found: Sums) -> None:
    """Adds to each row what precedes it in its group; rows of no group are left alone."""
    # Views in local names: reading them off the tuples in the loop costs more than the loop.
    groups, keys, columns = layer.group, layer.key, layer.key.shape[1]
    upto_m, upto_e, upto_k = layer.upto.m, layer.upto.e, layer.upto.k
    found_m, found_e, found_k = found.m, found.e, found.k
    for row in range(group.shape[0]):
        if group[row] < 0:
            continue
        low, high = 0, groups.shape[0]
        while low < high:
            middle = (low + high) >> 1
            precedes = which[row] == LESS_OR_EQUAL
            if groups[middle] != group[row]:
                precedes = groups[middle] < group[row]
            else:
                for column in range(columns):
                    if keys[middle, column] != key[row, column]:
                        precedes = keys[middle, column] < key[row, column]
                        break
            if precedes:
                low = middle + 1
            else:
                high = middle
        last = low - 1
        alike = last >= 0 and groups[last] == group[row]
        for column in range(columns - 1):
            alike = alike and keys[last, column] == key[row, column]
        if alike:
            for lane in range(found_m.shape[1]):
                found_m[row, lane], found_e[row, lane] = plus(
                    found_m[row, lane], found_e[row, lane], upto_m[last, lane], upto_e[last, lane]
                )
            for lane in range(found_k.shape[1]):
                found_k[row, lane] = min(found_k[row, lane], upto_k[last, lane])


@kernel
def sum_up(layer: Layer) -> None:
    """Fills `upto`."""
    groups, keys, columns = layer.group, layer.key, layer.key.shape[1]
    own_m, own_e, own_k = layer.own.m, layer.own.e, layer.own.k
    upto_m, upto_e, upto_k = layer.upto.m, layer.upto.e, layer.upto.k
    for entry in range(groups.shape[0]):
        alike = entry > 0 and groups[entry] == groups[entry - 1]
        for column in range(columns - 1):
            alike = alike and keys[entry, column] == keys[entry - 1, column]
        for lane in range(own_m.shape[1]):
            m, e = own_m[entry, lane], own_e[entry, lane]
            if alike:
                m, e = plus(upto_m[entry - 1, lane], upto_e[entry - 1, lane], m, e)
            upto_m[entry, lane], upto_e[entry, lane] = m, e
        for lane in range(own_k.shape[1]):
            k = own_k[entry, lane]
            upto_k[entry, lane] = min(upto_k[entry - 1, lane], k) if alike else k


@kernel
def order_merged(first: Layer, second: Layer) -> Ints:
    """The entries of both in order: numbers of the first, then of the second; the first's first."""
    groups, keys, columns = first.group, first.key, first.key.shape[1]
    others, other_keys = second.group, second.key
    lefts, rights = groups.shape[0], others.shape[0]
    order = np.empty(lefts + rights, np.int64)
    left = right = 0
    for entry in range(lefts + rights):
        of_first = right == rights
        if left < lefts and right < rights:
            of_first = True
            if groups[left] != others[right]:
                of_first = groups[left] < others[right]
            else:
                for column in range(columns):
                    if keys[left, column] != other_keys[right, column]:
                        of_first = keys[left, column] < other_keys[right, column]
                        break
        if of_first:
            order[entry] = left
            left += 1
        else:
            order[entry] = lefts + right
            right += 1
    return order
