"""The search for a cut by atomic graphlets: a part of `complete_trends`."""

from __future__ import annotations

import time
import tracemalloc
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import charts
from benchmarks.harness import Figure, Samples, Size, at_least, at_most
from trendloom.cet.costs import Prices, atomic_bounds
from trendloom.cet.graph import Graph
from trendloom.cet.partitioning import branch_and_bound, exhaustive, greedy

if TYPE_CHECKING:
    from collections.abc import Callable

ATOMS = {Size.FULL: (8, 12, 16, 20), Size.QUICK: (8, 12, 16), Size.TINY: (4, 6)}
MEASURED = 12
"""Atomic graphlets up to which the exhaustive search's memory is measured, which takes longer."""


def _layers(widths: list[int]) -> Graph:
    """A graph of layers: each is an atomic graphlet."""
    point = np.repeat(np.arange(len(widths)), widths)
    first = np.cumsum([0, *widths])
    preds = [
        np.arange(first[k - 1], first[k]) if k else np.arange(0)
        for k in range(len(widths))
        for _ in range(widths[k])
    ]
    start = np.cumsum([0, *map(len, preds)])
    return Graph(
        0, np.arange(len(point)), np.zeros(len(point), np.int64), point,
        (point == 0).astype(np.uint8), (point == len(widths) - 1).astype(np.uint8),
        start.astype(np.int64), np.concatenate(preds).astype(np.int64),
    )  # fmt: skip


def _peak(search: Callable[[Prices, float], object], graph: Graph, room: float) -> float:
    """Kilobytes that a search holds at once, the prices it asked for included."""
    tracemalloc.start()
    try:
        search(Prices(graph, atomic_bounds(graph), room), room)
        return tracemalloc.get_traced_memory()[1] / 1e3
    finally:
        tracemalloc.stop()


def cut_figures(size: Size) -> list[Figure]:
    """Figures 15 to 17: the searches' time and memory, and their plans' work and memory."""
    random = np.random.default_rng(5)
    points, ratios, quality, same = [], {}, {}, {}
    searches = {"exhaustive": exhaustive, "branch and bound": branch_and_bound, "greedy": greedy}
    for atoms in ATOMS[size]:
        graph = _layers(random.integers(1, 4, atoms).tolist())
        plans, seconds = {}, {}
        whole = Prices(graph, atomic_bounds(graph), np.inf)
        every = whole.memory(tuple(range(whole.atoms + 1)))
        room = max(whole.memory((0, whole.atoms)) / 20, 1.5 * every)
        for who, search in searches.items():
            prices = Prices(graph, atomic_bounds(graph), room)
            started = time.process_time()
            plans[who] = search(prices, room)
            seconds[who] = time.process_time() - started
            points.append(charts.point("search", who, atoms, seconds[who] * 1e3))
            held = whole.memory(plans[who]) / whole.memory((0, whole.atoms))
            points.append(charts.point("plan: memory", who, atoms, held))
            if atoms <= MEASURED or search is not exhaustive:
                points.append(
                    charts.point("search: memory", who, atoms, _peak(search, graph, room))
                )
        best = whole.work(plans["exhaustive"])
        ratios[atoms] = seconds["exhaustive"] / seconds["branch and bound"]
        same[atoms] = float(whole.work(plans["branch and bound"]) / best)
        quality[atoms] = float(whole.work(plans["greedy"]) / best)
        points += [
            charts.point("plan", "branch and bound", atoms, same[atoms]),
            charts.point("plan", "greedy", atoms, quality[atoms]),
        ]
    most = max(ATOMS[size])
    return [
        Figure(
            f"{most} atomic graphlets: exhaustive search, × branch and bound's time",
            Samples((ratios[most],)), "×", at_least(50), points=tuple(points),
        ),
        Figure(
            "branch and bound's plan, × the best plan's work, at most",
            Samples((max(same.values()),)), "×", at_most(1),
        ),
        Figure(
            "greedy's plan, × the best plan's work, at most",
            Samples((max(quality.values()),)), "×", at_most(3),
        ),
    ]  # fmt: skip
