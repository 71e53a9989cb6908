"""GRETA: a graph of all matched events, each with the count of the trends that end in it.

Its edges are not stored, but each is gone along once: quadratic in the events of a group.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from benchmarks.baselines.limits import drive
from benchmarks.baselines.scaled import RADIX, SHRINK, log2_of
from benchmarks.events import A, B

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.baselines.streams import Stream


def any_match(stream: Stream, limit: float) -> NDArray[np.float64]:
    """The counts' logarithms."""
    finished = np.zeros(stream.groups)
    exponents = np.zeros(stream.groups, np.int64)
    nodes = np.empty(len(stream), np.uint8), np.empty(len(stream)), np.empty(len(stream))
    at, unit = np.zeros(3, np.int64), np.ones(1)
    drive(
        partial(
            _graph, stream.masks, stream.price, stream.shift, stream.bounds,
            *nodes, at, unit, finished, exponents,
        ),
        limit,
    )  # fmt: skip
    return log2_of(finished, exponents)


@njit(cache=True)
def _graph(
    masks: Any, price: Any, shift: float, bounds: Any,
    kind: Any, value: Any, count: Any, at: Any, unit: Any, finished: Any, exponents: Any,
    steps: int,
) -> bool:  # fmt: skip
    """`at`: the group, its next event, the nodes of its graph so far."""
    group, event, nodes = at
    every = shift == np.inf
    while group < len(finished):
        while event < bounds[group + 1]:
            mask, here = masks[event], price[event]
            event += 1
            if mask == 0:
                continue
            ends = unit[0] if mask == A else 0.0
            if mask == B:
                for node in range(nodes):
                    if kind[node] == A:
                        ends += count[node]
            elif every:
                for node in range(nodes):
                    ends += count[node]
            else:
                for node in range(nodes):
                    if kind[node] == A or value[node] + shift > here:
                        ends += count[node]
            kind[nodes], value[nodes], count[nodes] = mask, here, ends
            nodes += 1
            if mask == B:
                finished[group] += ends
            if ends >= RADIX:
                count[:nodes] *= SHRINK
                unit[0] *= SHRINK
                finished[group] *= SHRINK
                exponents[group] += 1
            steps -= nodes
            if steps < 0:
                at[0], at[1], at[2] = group, event, nodes
                return False
        group += 1
        nodes = 0
        unit[0] = 1.0
    return True
