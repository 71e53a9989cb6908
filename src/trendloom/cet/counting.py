"""How many trends there are, before any is built: sums over the graph (CET Theorem 1 bounds them).

Numbers are exact up to 2^53 and within rounding beyond; they do not overflow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trendloom.errors import LimitError

if TYPE_CHECKING:
    from trendloom.cet.graph import Graph

MOST = 1_000_000_000
"""Trends that are listed without a limit: minutes of work, not years."""


@dataclass(frozen=True, slots=True)
class Count:
    """mantissa · 2^exponent trends."""

    mantissa: float = 0.0
    exponent: int = 0

    def __add__(self, other: Count) -> Count:
        top = max(self.exponent, other.exponent)
        total = sum(
            float(np.ldexp(c.mantissa, max(c.exponent - top, -2_000))) for c in (self, other)
        )
        if total >= 2.0**512:
            return Count(float(np.ldexp(total, -512)), top + 512)
        return Count(total, top)

    @property
    def log2(self) -> float:
        return float(np.log2(self.mantissa)) + self.exponent if self.mantissa else float("-inf")

    @property
    def number(self) -> float:
        """As a double; infinity where that has no room for it."""
        return float(np.ldexp(self.mantissa, self.exponent)) if self.exponent < 512 else np.inf

    def __str__(self) -> str:
        if self.number < 1e15:
            return f"{int(self.number):,}"
        return f"2^{self.log2:,.1f}"


def count_trends(graph: Graph) -> Count:
    """The trends of one graph."""
    m, e = graph.paths_to
    total = Count()
    at = graph.last
    if not len(at):
        return total
    if not e.any():
        # Most graphs: every number is a double, and scaling thousands of ends would be most of it.
        return total + Count(float(m[at].sum()))
    top = int(e[at].max())
    share = np.ldexp(m[at], np.maximum(e[at] - top, -2_000))
    return total + Count(float(share.sum()), top)


def check_most(total: Count, most: int | None) -> None:
    """Refuses more than the caller wants to see."""
    if most is not None and total.number > most:
        raise LimitError(
            f"There are {total} trends to list; max_results is {most:,}.",
            remedy="Raise it, add limit=… (--limit), or ask for the longest or for a sample.",
        )


def check_number(total: Count) -> None:
    """Refuses to begin what would not end."""
    if total.number > MOST:
        raise LimitError(
            f"There are {total} trends to list, in the windows seen so far.",
            remedy=f"Without a limit at most {MOST:,} are listed. Add limit=… (--limit), ask for "
            "the longest or for a sample, or count them: RETURN COUNT(*).",
        )
