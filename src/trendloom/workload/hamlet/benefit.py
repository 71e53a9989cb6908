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
    introduces: Callable[[int], bool],
    cost_shared: Callable[[frozenset[int]], float],
    cost_alone: Callable[[frozenset[int]], float],
) -> Choice:
    """The plan of least cost, from levels 1 and 2 of the search space only (§4.3).

    Queries that introduce no snapshots share (Theorem 4.3). Every other one shares if the plan of
    level 1 is no dearer than that of level 2 which leaves it out (Theorem 4.5).
    """
    every = frozenset(queries)
    candidates = [q for q in sorted(every) if introduces(q)]
    whole = cost_shared(every)
    leaving = frozenset(
        q for q in candidates if whole > cost_shared(every - {q}) + cost_alone(frozenset({q}))
    )
    return Choice(every - leaving, leaving, 1 + len(candidates))
