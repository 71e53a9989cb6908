"""Sequences built and then counted: by each query as SASE, or with the common part built once.

The second is E-Cube's sharing (A-Seq §6.3): matches of the common part are constructed once for all
queries, which then go on from each of them. Events of a window are kept by type, as on stacks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True)
def stacks_of(codes: Any, lo: int, hi: int, types: int) -> Any:
    """Where each type's places begin, and the places, type by type."""
    start = np.zeros(types + 1, np.int64)
    for at in range(lo, hi):
        start[codes[at] + 1] += 1
    start = np.cumsum(start)
    place = np.empty(hi - lo, np.int64)
    filled = start.copy()
    for at in range(lo, hi):
        place[filled[codes[at]]] = at
        filled[codes[at]] += 1
    return start, place


@njit(cache=True)
def _behind(start: Any, place: Any, kind: int, at: int) -> int:
    """The first of a type behind a place."""
    first, end = start[kind], start[kind + 1]
    while first < end:
        middle = (first + end) // 2
        if place[middle] <= at:
            first = middle + 1
        else:
            end = middle
    return first


@njit(cache=True)
def build_each(codes: Any, bounds: Any, patterns: Any, types: int) -> Any:
    """Matches of every pattern, constructed one by one, per window."""
    queries, length = patterns.shape
    counts = np.zeros((queries, len(bounds) - 1), np.int64)
    chosen = np.empty(length, np.int64)
    for window in range(len(bounds) - 1):
        start, place = stacks_of(codes, bounds[window], bounds[window + 1], types)
        for query in range(queries):
            pattern = patterns[query]
            depth = 0
            chosen[0] = start[pattern[0]]
            while depth >= 0:
                if chosen[depth] == start[pattern[depth] + 1]:
                    depth -= 1
                    if depth >= 0:
                        chosen[depth] += 1
                elif depth == length - 1:
                    counts[query, window] += 1
                    chosen[depth] += 1
                else:
                    at = place[chosen[depth]]
                    depth += 1
                    chosen[depth] = _behind(start, place, pattern[depth], at)
    return counts


@njit(cache=True)
def build_shared(codes: Any, bounds: Any, patterns: Any, types: int) -> Any:
    """The same, where patterns differ in their first and last types only."""
    queries, length = patterns.shape
    counts = np.zeros((queries, len(bounds) - 1), np.int64)
    infix = patterns[0, 1 : length - 1]
    chosen = np.empty(length, np.int64)
    for window in range(len(bounds) - 1):
        start, place = stacks_of(codes, bounds[window], bounds[window + 1], types)
        depth = 0
        chosen[0] = start[infix[0]]
        while depth >= 0:
            if chosen[depth] == start[infix[depth] + 1]:
                depth -= 1
                if depth >= 0:
                    chosen[depth] += 1
            elif depth == length - 3:
                first, last = place[chosen[0]], place[chosen[depth]]
                for query in range(queries):
                    kind, end = patterns[query, 0], patterns[query, length - 1]
                    rest = _behind(start, place, end, last)
                    for before in range(start[kind], start[kind + 1]):
                        if place[before] > first:
                            break
                        for _ in range(rest, start[end + 1]):
                            counts[query, window] += 1
                chosen[depth] += 1
            else:
                at = place[chosen[depth]]
                depth += 1
                chosen[depth] = _behind(start, place, infix[depth], at)
    return counts
