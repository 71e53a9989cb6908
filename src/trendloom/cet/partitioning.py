"""Where to cut: the plan of least work whose kept paths fit (CET §6).

A plan is a set of cuts between atomic graphlets. More cuts, less memory (Theorem 2), and more paths
to stitch together.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trendloom.cet.costs import Cut, Prices

MOST_PLANS = 20_000
"""Steps of branch and bound before it settles for the best plan so far."""


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
    """CET Alg. 2: the plan of least work that fits, from the first graphlet to the last.

    Work and memory are sums over graphlets, so what a plan has cut so far and what it may still
    come to can be told apart. A plan so far is dropped if it is

    1. *infeasible*: with the least memory that the rest may take it does not fit;
    2. *inefficient*: with the least work that the rest may be it is no better than the best known,
       at first the greedy one;
    3. *dominated*: another one has cut at the same place with no more memory and no more work.

    The paper instead looks at nearly balanced plans only, and drops all refinements of one that
    fits, as they only add work. Here keeping paths is work too: neither rule would keep the best.
    """
    best = greedy(prices, limit)
    if best is None:
        return None
    atoms, least = prices.atoms, prices.work(best)
    memory_left, work_left = _least(prices, prices.memory), _least(prices, prices.work)
    reached: list[list[tuple[float, float, Cut]]] = [[] for _ in range(atoms)]
    reached[0].append((0.0, 0.0, (0,)))
    looked_at = 0
    for place in range(atoms):
        for memory, work, plan in _undominated(reached[place]):
            for end in range(place + 1, atoms + 1):
                held = memory + prices.memory((place, end))
                if held > limit:
                    break
                done = work + prices.work((place, end))
                if held + memory_left[end] > limit or done + work_left[end] >= least:
                    continue
                looked_at += 1
                if looked_at > MOST_PLANS:
                    return best
                if end == atoms:
                    best, least = (*plan, end), done
                else:
                    reached[end].append((held, done, (*plan, end)))
        reached[place] = []
    return best


def _least(prices: Prices, cost: Callable[[Cut], float]) -> list[float]:
    """Per place, the least that the graphlets behind it can cost."""
    least = [0.0] * (prices.atoms + 1)
    for place in range(prices.atoms - 1, -1, -1):
        ends = range(place + 1, prices.atoms + 1)
        least[place] = min(cost((place, end)) + least[end] for end in ends)
    return least


def _undominated(
    plans: list[tuple[float, float, Cut]],
) -> Iterator[tuple[float, float, Cut]]:
    least = np.inf
    for memory, work, plan in sorted(plans):
        if work < least:
            least = work
            yield memory, work, plan


def first_level(prices: Prices, limit: float) -> int:
    """Level search: by bisection, the fewest graphlets of which the balanced plan fits."""
    if prices.memory((0, prices.atoms)) <= limit:
        return 1  # the price of one graphlet is soon known, those of a thousand are not
    low, high, level = 2, prices.atoms, prices.atoms
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
