"""The best k of a graph, and samples, against all of its paths."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from graphs_drawn import graphs
from hypothesis import given
from hypothesis import strategies as st
from layers import layered

from against_oracle import examples
from trendloom.cet.best import best_paths
from trendloom.cet.detection import depth_first
from trendloom.cet.sample import sample_paths

if TYPE_CHECKING:
    from trendloom.cet.detection import Paths
    from trendloom.cet.graph import Graph


def tuples(paths: Paths) -> list[tuple[int, ...]]:
    return [tuple(paths.node[a:b].tolist()) for a, b in pairwise(paths.offset)]


def every_path(graph: Graph) -> list[tuple[int, ...]]:
    return [path for some in depth_first(graph, 1 << 24) for path in tuples(some)]


@examples(150)
@given(graphs(), st.integers(1, 6), st.integers(0, 1000))
def test_best(graph: Graph, k: int, seed: int) -> None:
    weight = np.random.default_rng(seed).integers(-3, 4, len(graph)).astype(np.float64)
    everything = every_path(graph)
    sums = sorted((float(weight[list(path)].sum()) for path in everything), reverse=True)
    found = tuples(best_paths(graph, weight, k))
    assert [float(weight[list(path)].sum()) for path in found] == sums[:k]
    assert len(set(found)) == len(found)
    assert set(found) <= set(everything)


@examples(100)
@given(graphs(), st.integers(0, 1000))
def test_samples_are_trends(graph: Graph, seed: int) -> None:
    found = tuples(sample_paths(graph, 20, np.random.default_rng(seed)))
    assert len(found) == 20
    assert set(found) <= set(every_path(graph))


def test_samples_are_uniform() -> None:
    """Every one of 36 trends comes about 1,000 times, give or take five deviations."""
    graph = layered(2, 3, 1, 6)
    drawn = Counter(tuples(sample_paths(graph, 36_000, np.random.default_rng(7))))
    assert len(drawn) == 36
    assert all(abs(times - 1_000) < 5 * 31.2 for times in drawn.values())


def test_counts_beyond_doubles_are_sampled_too() -> None:
    graph = layered(*[4] * 800)
    found = tuples(sample_paths(graph, 3, np.random.default_rng(1)))
    assert [len(path) for path in found] == [800] * 3
    assert len(set(found)) == 3
