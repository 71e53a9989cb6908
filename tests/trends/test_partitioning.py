"""Where H-CET cuts: atomic graphlets, costs that are true, and the searches for a plan."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from graphs_drawn import graphs
from hypothesis import given
from hypothesis import strategies as st
from layers import layered

from against_oracle import examples
from trendloom.cet.costs import Prices, atomic_bounds, point_bounds, sizes
from trendloom.cet.counting import count_trends
from trendloom.cet.detection import depth_first, keep, stitched
from trendloom.cet.partitioning import (
    balanced,
    branch_and_bound,
    exhaustive,
    greedy,
)

if TYPE_CHECKING:
    from trendloom.cet.graph import Graph

MEMORY = 1 << 24


def paths(batches: object) -> list[tuple[int, ...]]:
    found = []
    for offset, node in batches:  # type: ignore[attr-defined]
        found += [tuple(node[a:b].tolist()) for a, b in pairwise(offset)]
    return sorted(found)


@examples(200)
@given(graphs(), st.data())
def test_every_cut_gives_the_same_trends(graph: Graph, data: st.DataObject) -> None:
    expected = paths(depth_first(graph, MEMORY))
    assert len(expected) == count_trends(graph).number
    assert len(set(expected)) == len(expected)
    places = data.draw(st.sets(st.integers(1, len(graph)), max_size=4)) - {len(graph)}
    bounds = np.array([0, *sorted(places), len(graph)])
    assert paths(stitched(graph, keep(graph, bounds), MEMORY)) == expected


@examples(100)
@given(graphs())
def test_cuts_of_atomic_graphlets(graph: Graph) -> None:
    """CET Def. 6, read word by word."""
    edges = [
        (int(u), v)
        for v in range(len(graph))
        for u in graph.pred[graph.pred_start[v] : graph.pred_start[v + 1]]
    ]
    allowed = []
    for place in point_bounds(graph)[1:-1]:
        crossing = [(u, v) for u, v in edges if u < place <= v]
        lasts = {u for u, v in edges if v < place}
        firsts = {v for u, v in edges if u >= place}
        if all(u not in lasts and v not in firsts for u, v in crossing):
            allowed.append(int(place))
    assert atomic_bounds(graph).tolist() == [0, *allowed, len(graph)]


@examples(100)
@given(graphs(), st.data())
def test_costs_are_those_of_what_is_kept(graph: Graph, data: st.DataObject) -> None:
    prices = Prices(graph, point_bounds(graph), np.inf)
    inner = data.draw(st.sets(st.integers(1, max(prices.atoms - 1, 1)), max_size=3))
    plan = tuple(sorted({0, *(place for place in inner if place < prices.atoms), prices.atoms}))
    bounds = prices.places(plan)
    kept, nodes = sizes(graph, np.repeat(bounds[:-1], np.diff(bounds)))
    assert prices.memory(plan) == 8 * kept + 4 * nodes


def test_more_cuts_need_less_memory() -> None:
    """CET Theorem 2."""
    graph = layered(*[3] * 8)
    prices = Prices(graph, atomic_bounds(graph), np.inf)
    plans = [balanced(prices, k) for k in (1, 2, 4, 8)]
    memory = [prices.memory(plan) for plan in plans]
    assert memory == sorted(memory, reverse=True)
    assert prices.atoms == 8


@examples(60)
@given(st.lists(st.integers(1, 4), min_size=2, max_size=8), st.integers(1, 40))
def test_searches_keep_to_the_limit(widths: list[int], share: int) -> None:
    graph = layered(*widths)
    prices = Prices(graph, atomic_bounds(graph), np.inf)
    limit = prices.memory((0, prices.atoms)) * share / 40
    best = exhaustive(prices, limit)
    for search in (greedy, branch_and_bound):
        plan = search(prices, limit)
        assert (plan is None) == (best is None)
        if plan is not None and best is not None:
            assert prices.memory(plan) <= limit
            assert prices.work(plan) >= prices.work(best)
    searched = branch_and_bound(prices, limit)
    if best is not None and searched is not None:
        assert prices.work(searched) == prices.work(best)
