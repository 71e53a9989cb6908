"""Aggregates of many results at once, where arithmetic on columns is exact.

COUNT of anything, MIN and MAX of numbers and moments, SUM and AVG of whole numbers that stay within
64 bits. Everything else, and every aggregate of a user's own, is taken result by result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from trendloom.acel.aggregates import aggregate
from trendloom.engine.arrow import to_numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

SAFE = 2.0**62
"""Sums whose parts together are smaller do not leave 64 bits."""


def totals(name: str, column: pa.Array, held: NDArray[np.bool_], offset: Ints) -> list[Any]:
    """The aggregate of the values `offset[k] : offset[k + 1]` that are held, for every k."""
    there = held & ~to_numpy(column.is_null())
    before = np.concatenate([[0], np.cumsum(there)])
    low, high = before[offset[:-1]], before[offset[1:]]
    if name == "COUNT":
        counts: list[Any] = (high - low).tolist()
        return counts
    whole = pa.types.is_integer(column.type)
    if name in ("MIN", "MAX") and (whole or pa.types.is_floating(column.type)):
        values = to_numpy(column.filter(pa.array(there)))
        if not np.isnan(values).any():
            return _extremes(np.minimum if name == "MIN" else np.maximum, values, low, high)
    if name in ("MIN", "MAX") and pa.types.is_timestamp(column.type):
        ticks = to_numpy(column.filter(pa.array(there)).view(pa.int64()))
        found = _extremes(np.minimum if name == "MIN" else np.maximum, ticks, low, high)
        moments: list[Any] = pa.array(found, pa.int64()).view(column.type).to_pylist()
        return moments
    if name in ("SUM", "AVG") and whole:
        values = to_numpy(column.filter(pa.array(there))).astype(np.int64)
        if np.abs(values.astype(np.float64)).sum() < SAFE:
            sums = np.concatenate([[0], np.cumsum(values)])
            made: list[Any] = (sums[high] - sums[low]).tolist()
            if name == "SUM":
                return made
            # Division of whole numbers rounds once, as it should.
            counted = (high - low).tolist()
            return [s / n if n else None for s, n in zip(made, counted, strict=True)]
    known = column.filter(pa.array(there)).to_pylist()
    of = aggregate(name)
    return [of(known[a:b]) for a, b in zip(low.tolist(), high.tolist(), strict=True)]


def _extremes(choose: np.ufunc, values: NDArray[Any], low: Ints, high: Ints) -> list[Any]:
    found: list[Any] = [None] * len(low)
    some = np.flatnonzero(high > low)
    if len(some):
        # Between two stretches lie the values of none: one at a time, they are left out again.
        edges = np.stack([low[some], high[some]], axis=1).ravel()
        made = choose.reduceat(np.append(values, values[:1]), edges)[::2]
        for at, value in zip(some.tolist(), made.tolist(), strict=True):
            found[at] = value
    return found
