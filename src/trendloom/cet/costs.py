"""What H-CET holds and does for a way of cutting, from the graph's own path counts (CET Table 2).

The paper bounds the paths of a graphlet of n events by 3^(n/3); here they are counted. Both costs
are sums over graphlets, because the paths that a graphlet keeps depend on its own bounds only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from trendloom.kernels.graphlets import (
    NODE_BYTES,
    PATH_BYTES,
    cut_places,
    graphlet_sizes,
    paths_from,
    stretch_sizes,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trendloom.cet.graph import Graph

    Ints = NDArray[np.int64]

KEEP, TAKE, VISIT = 1.0, 36.0, 15.0
"""Nanoseconds, measured: to keep a node of a path, to take a kept path, to step in a walk."""

Cut = tuple[int, ...]
"""Numbers of bounds: the first is 0, the last the number of atomic graphlets."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a way of cutting is expected to keep, and how long it takes."""

    paths: float
    bytes: float
    work: float
    """Seconds, without the copies that leave."""


def sizes(graph: Graph, home: Ints) -> tuple[float, float]:
    """The paths that are kept, and the nodes they have."""
    paths, nodes = graphlet_sizes(graph.begins, graph.pred_start, graph.pred, home)
    return float(paths), float(nodes)


def atomic_bounds(graph: Graph) -> Ints:
    """The bounds of the atomic graphlets (CET Def. 6)."""
    bounds: Ints = cut_places(graph.point, graph.pred_start, graph.pred)
    return bounds


def point_bounds(graph: Graph) -> Ints:
    """A bound at every time point: stitching is right at any of them, only less is kept whole."""
    changes = np.flatnonzero(np.diff(graph.point)) + 1
    return np.concatenate([[0], changes, [len(graph)]]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Prices:
    """Memory in bytes and work in nanoseconds, of graphlets made of neighbouring atomic ones."""

    graph: Graph
    bounds: Ints
    room: float
    """Bytes; what a graphlet of more would cost nobody asks."""

    @property
    def atoms(self) -> int:
        return len(self.bounds) - 1

    @cached_property
    def _after(self) -> NDArray[np.float64]:
        graph = self.graph
        after: NDArray[np.float64] = paths_from(graph.ends, graph.pred_start, graph.pred)
        return after

    @cached_property
    def _rows(self) -> dict[int, list[list[float]]]:
        return {}

    def _row(self, first: int) -> list[list[float]]:
        if first not in self._rows:
            graph = self.graph
            sizes = stretch_sizes(
                graph.begins, graph.pred_start, graph.pred, self._after,
                self.bounds, first, self.room,
            )  # fmt: skip
            # Searches ask for single ones, again and again.
            self._rows[first] = sizes.tolist()
        return self._rows[first]

    def size(self, first: int, last: int) -> int:
        """Nodes of the graphlet that is atoms `first : last`."""
        return int(self.bounds[last] - self.bounds[first])

    def memory(self, cut: Cut) -> float:
        total = 0.0
        for first, last in pairwise(cut):
            paths, nodes, _ = self._row(first)[last - first - 1]
            total += PATH_BYTES * paths + NODE_BYTES * nodes
        return total

    def work(self, cut: Cut) -> float:
        total = 0.0
        for first, last in pairwise(cut):
            _, nodes, taken = self._row(first)[last - first - 1]
            total += KEEP * nodes + TAKE * taken
        return total

    def estimate(self, cut: Cut) -> Estimate:
        paths = sum(self._row(a)[b - a - 1][0] for a, b in pairwise(cut))
        return Estimate(paths, self.memory(cut), self.work(cut) / 1e9)

    @property
    def work_of_walk(self) -> float:
        """M-CET's: every way back from an end is stepped once."""
        return VISIT * float(self._after.sum())

    def places(self, cut: Cut) -> Ints:
        """The cut's bounds as nodes."""
        return self.bounds[list(cut)]
