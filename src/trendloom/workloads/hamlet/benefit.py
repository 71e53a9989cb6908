"""HAMLET's benefit model as the paper states it, and modes of sharing.

The executor decides with the same quantities and constants measured on the machine
(`kernels/burst_choice.py`, `calibration.py`); here are the definitions, to check and to explain.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Mode(Enum):
    """Who shares a burst that could be shared."""

    DYNAMIC = "dynamic"
    """Whom the benefit model names, burst by burst."""
    ALWAYS = "always"
    """Every query that can: a static plan."""
    NEVER = "never"
    """Nobody: each query on its own."""


@dataclass(frozen=True, slots=True)
class BurstFacts:
    """The stream statistics of Definition 4.2."""

    b: int
    """Events of the burst,"""
    n: int
    """of the window so far,"""
    g: int
    """and of the graphlet."""
    t: int
    """Types per query."""


def shared(facts: BurstFacts, *, k: int, s_c: int, s_p: int) -> int:
    """Equation 7: the cost of k queries that share a burst."""
    return facts.b * facts.n * s_p + s_c * k * facts.g * facts.t


def non_shared(facts: BurstFacts, *, k: int) -> int:
    """Equation 7: the cost of k queries, each on its own."""
    return k * facts.b * facts.n


def benefit(facts: BurstFacts, *, k: int, s_c: int, s_p: int) -> int:
    """Positive: share (Definition 4.2)."""
    return non_shared(facts, k=k) - shared(facts, k=k, s_c=s_c, s_p=s_p)


@dataclass(frozen=True, slots=True)
class Choice:
    """A plan of Figure 7, and how many plans were looked at to find it."""

    sharing: frozenset[int]
    alone: frozenset[int]
    considered: int


def choose_queries(
    queries: Iterable[int],
    snapshots: Callable[[int], int],
    cost_shared: Callable[[frozenset[int]], float],
    cost_alone: Callable[[frozenset[int]], float],
) -> Choice:
    """A plan from few of the search space (§4.3); `snapshots` that only this query introduces.

    Queries that introduce no snapshots share (Theorem 4.3). Every other one shares if that is no
    dearer than to leave it out (Theorem 4.5), those with most snapshots first: under Equation 7 a
    query with many snapshots makes sharing dear for all, so that by level 2 alone, against the plan
    that shares everything, others would leave too although they gain by sharing with the rest.
    """
    every = sharing = frozenset(queries)
    candidates = sorted((q for q in every if snapshots(q) > 0), key=lambda q: (-snapshots(q), q))
    for q in candidates:
        rest = sharing - {q}
        if cost_shared(sharing) > cost_shared(rest) + cost_alone(frozenset({q})):
            sharing = rest
    return Choice(sharing, every - sharing, 1 + len(candidates))
