"""The baseline (CET §3, Alg. 1): build every trend, then drop those that another one contains.

A reference for tests and comparisons; exponential in time and memory. It works on the graph of all
steps, so it shares nothing with what makes a graph's paths complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trendloom.errors import LimitError

if TYPE_CHECKING:
    from trendloom.cet.graph import Graph

MOST = 20_000

Element = tuple[int, int]


def complete_trends(graph: Graph) -> list[tuple[Element, ...]]:
    """Pairs (row, variable) per trend, of a graph that holds every trend.

    1. An event that follows a trend so far makes a longer one (cases 2 and 3: the trend itself
       stays, so every compatible prefix is there).
    2. One that may begin a trend does (case 1).
    3. What is left at the end and contained in another trend is incomplete.
    """
    ending: list[list[tuple[Element, ...]]] = []
    total = 0
    for node in range(len(graph)):
        here = (int(graph.event[node]), int(graph.variable[node]))
        found: list[tuple[Element, ...]] = [(here,)] if graph.begins[node] else []
        for before in graph.pred[graph.pred_start[node] : graph.pred_start[node + 1]]:
            found += [(*trend, here) for trend in ending[before]]
        ending.append(found)
        total += len(found)
        if total > MOST:
            raise LimitError(
                f"The baseline holds more than {MOST:,} trends.",
                remedy='Leave algorithm out, or use "m", "t" or "h".',
            )
    trends = [trend for node in graph.last for trend in ending[node]]
    as_sets = [frozenset(trend) for trend in trends]
    return [
        trend
        for trend, one in zip(trends, as_sets, strict=True)
        if not any(one < other for other in as_sets)
    ]
