"""What a baseline counts trends in: whole columns, the events of a group together and in order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.events import A, B

if TYPE_CHECKING:
    from numpy.typing import NDArray

EVERY = float("inf")
"""A shift with which every A may follow every B."""


@dataclass(frozen=True)
class Stream:
    """Events of groups 0, 1, …; of one group no two at the same time."""

    masks: NDArray[np.uint8]
    """A, B, or 0 for an event that the pattern does not name."""
    price: NDArray[np.float64]
    bounds: NDArray[np.int64]
    """Group k is `bounds[k]:bounds[k + 1]`."""
    shift: float = EVERY
    """An A may follow a B if `B.price + shift > NEXT(A).price`."""

    def __len__(self) -> int:
        return len(self.masks)

    @property
    def groups(self) -> int:
        return len(self.bounds) - 1

    @cached_property
    def times(self) -> NDArray[np.int64]:
        return np.arange(len(self.masks))


def draw_stream(
    events: int, groups: int = 1, *, others: float = 0.0, shift: float = EVERY
) -> Stream:
    """As many A as B in no order, `others` of all events neither, groups of nearly one size."""
    rng = np.random.default_rng(5)
    masks = rng.integers(A, B + 1, events, np.uint8)
    masks[rng.random(events) < others] = 0
    bounds = np.linspace(0, events, groups + 1).astype(np.int64)
    return Stream(masks, rng.random(events), bounds, shift)


def shift_for(selectivity: float) -> float:
    """The shift with which so large a share of pairs of uniform prices fulfils the condition."""
    if selectivity <= 0.5:
        return float(np.sqrt(2 * selectivity)) - 1
    return 1 - float(np.sqrt(2 * (1 - selectivity)))
