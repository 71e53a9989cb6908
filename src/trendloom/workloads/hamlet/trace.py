"""Burst by burst: when it was, of which type, and how many queries shared it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

MOST = 100_000
"""Bursts of a run that are remembered; later ones are counted only."""


@cache
def _nothing() -> pa.Table:
    return table([], np.zeros((5, 0), np.int64))


def table(types: Sequence[str], columns: Ints) -> pa.Table:
    """Of begin, end, events, queries that could share, queries that did."""
    begin, end, events, queries, sharing = columns
    return pa.table(
        {
            "begin": pa.array(begin),
            "end": pa.array(end),
            "type": pa.array(types, pa.string()),
            "events": pa.array(events),
            "queries": pa.array(queries),
            "sharing": pa.array(sharing),
        }
    )


@dataclass(frozen=True, slots=True)
class Trace:
    """Bursts that several queries could share; with a comparison inside E+, windows."""

    bursts: pa.Table = field(default_factory=_nothing)
    left_out: int = 0

    def __add__(self, other: Trace) -> Trace:
        left_out = self.left_out + other.left_out
        if not len(self.bursts) or not len(other.bursts):
            return Trace(self.bursts if len(self.bursts) else other.bursts, left_out)
        kept = pa.concat_tables([self.bursts, other.bursts])
        return Trace(kept.slice(0, MOST), left_out + max(0, len(kept) - MOST))

    def timed(self, to_time: Callable[[pa.Array], pa.Array]) -> Trace:
        """With times as the caller has them instead of ticks."""
        bursts = self.bursts
        for place, name in enumerate(("begin", "end")):
            ticks = bursts.column(name).combine_chunks()
            bursts = bursts.set_column(place, name, to_time(ticks))
        return Trace(bursts, self.left_out)
