"""A plan as flat arrays: all that the router reads of a query."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

ANY, NEXT, CONTIGUOUS = 0, 1, 2
ANCHOR, GROUP = 0, 1

NEVER = np.iinfo(np.int64).min + 1
"""The order of "no match yet": before every event."""
NO_STATE = -1
"""A source: the empty trend. A target: the step is taken, the trend is lost."""


class Program(NamedTuple):
    """Letters are numbered by their bit in the mask: positive variables first, then negated ones.

    Bands are the thresholds of guards: band 0 is the past, every position of a negated pattern
    has one (see `route`).
    """

    semantics: int
    states: int
    bands: int
    entry_row: Ints
    """Per state: -1 at type grain; else the row of its entries, kept per event for a predicate."""

    arrow_start: Ints
    """Arrows of positive variable v: `arrow_start[v] : arrow_start[v + 1]`, sorted by target."""
    source: Ints
    target: Ints
    care: Ints
    want: Ints
    predicate: Ints
    unbound: Ints
    """Per arrow: bit b is set if its source has not yet met bound variable b."""

    final: Ints
    """Per state: its class of ends, or -1."""
    final_start: Ints
    final_care: Ints
    final_want: Ints
    final_bound: Ints

    watch_start: Ints
    """Steps of guards on negated letter k: `watch_start[k] : watch_start[k + 1]`."""
    watch_source: Ints
    watch_target: Ints
    guard_start: Ints
    """Guard g has matched since the largest threshold of `guard_band[guard_start[g] : …]`."""
    guard_band: Ints

    bind_kind: Ints
    bind_variable: Ints
    check_start: Ints
    """Anchored predicates of binding b: `check_start[b] : check_start[b + 1]`."""
    check_variable: Ints
    check_predicate: Ints


class Work(NamedTuple):
    """The runs to make: events `lo : hi`, where results go, and the values of bound variables."""

    lo: Ints
    hi: Ints
    slot: Ints
    bound: Ints
