"""Where to cut: the plan of least work whose kept paths fit (CET §6).

A plan is a set of cuts between atomic graphlets. More cuts, less memory (Theorem 2), and more paths
to stitch together.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trendloom.cet.costs import Cut, Prices

MOST_PLANS = 2_000
"""Plans that branch and bound looks at before it settles for the best so far."""


def exhaustive(prices: Prices, limit: float) -> Cut | None:
    """The best of all 2^(atoms - 1) plans: the definition, for tests."""
    best: Cut | None = None
    inner = range(1, prices.atoms)
    for cuts in range(prices.atoms):
        for chosen in combinations(inner, cuts):
            plan = (0, *chosen, prices.atoms)
            if prices.memory(plan) <= limit and (
                best is None or prices.work(plan) < prices.work(best)
            ):
                best = plan
    return best


def greedy(prices: Prices, limit: float) -> Cut | None:
    """CET §6.2: one nearly balanced plan per level, from the first level that may fit."""
    graphlets = first_level(prices, limit)
    while True:
        plan = balanced(prices, graphlets)
        if prices.memory(plan) <= limit:
            return plan
        if graphlets == prices.atoms:
            return None
        # Among many levels the next one changes little.
        graphlets = min(graphlets + 1 + graphlets // 16, prices.atoms)


def branch_and_bound(prices: Prices, limit: float) -> Cut | None:
    """CET Alg. 2: the best of the nearly balanced plans from the first level that may fit.

    1. *Infeasible levels* are skipped: their balanced plan does not fit.
    2. *Unbalanced nodes* are never made.
    3. *Inefficient branches*: the paper drops all refinements of a plan that fits, as they only add
       work. Here keeping paths is work too, so a refinement may be cheaper; a plan is dropped when
       its work is not below that of the best, before its memory is looked at.
    """
    best = greedy(prices, limit)
    if best is None:
        return None
    least = prices.work(best)
    looked_at = 0
    for level in range(first_level(prices, limit), prices.atoms + 1):
        for plan in nearly_balanced(prices, level):
            looked_at += 1
            if looked_at > MOST_PLANS:
                return best
            work = prices.work(plan)
            if work < least and prices.memory(plan) <= limit:
                best, least = plan, work
    return best


def first_level(prices: Prices, limit: float) -> int:
    """Level search: by bisection, the fewest graphlets of which the balanced plan fits."""
    low, high, level = 1, prices.atoms, prices.atoms
    while low <= high:
        middle = (low + high) // 2
        if prices.memory(balanced(prices, middle)) <= limit:
            level, high = middle, middle - 1
        else:
            low = middle + 1
    return level


def balanced(prices: Prices, graphlets: int) -> Cut:
    """So many graphlets, each cut as near to its ideal place as atoms allow."""
    cuts = [0]
    nodes = prices.size(0, prices.atoms)
    for g in range(1, graphlets):
        ideal = g * nodes / graphlets
        place = int(np.searchsorted(prices.bounds, ideal))
        if place > 0 and ideal - prices.bounds[place - 1] <= prices.bounds[place] - ideal:
            place -= 1
        # Every graphlet has an atom, so room is left for those to come.
        cuts.append(min(max(place, cuts[-1] + 1), prices.atoms - (graphlets - g)))
    return (*cuts, prices.atoms)


def nearly_balanced(prices: Prices, graphlets: int) -> Iterator[Cut]:
    """CET Def. 8: a graphlet is longer than ideal by less than its first, and its last, atom."""
    ideal = -(-prices.size(0, prices.atoms) // graphlets)

    def fits(first: int, last: int) -> bool:
        size = prices.size(first, last)
        if size <= ideal:
            return True
        return (first == 0 or size < ideal + prices.size(first, first + 1)) and (
            last == prices.atoms or size < ideal + prices.size(last - 1, last)
        )

    def extend(plan: Cut) -> Iterator[Cut]:
        left = graphlets - len(plan) + 1
        if left == 1:
            if fits(plan[-1], prices.atoms):
                yield (*plan, prices.atoms)
            return
        # What is left must still be enough for the others, and not too much for them.
        for place in range(plan[-1] + 1, prices.atoms - left + 2):
            if fits(plan[-1], place):
                yield from extend((*plan, place))
            elif prices.size(plan[-1], place) > 2 * ideal:
                break

    yield from extend((0,))
