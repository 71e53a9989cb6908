"""Graph → paths: M-CET, T-CET and H-CET (CET §4). All give the same set, in different orders.

- M-CET walks depth first and holds one path.
- T-CET holds all paths to every node and passes every edge once.
- H-CET cuts the nodes into graphlets of consecutive time, is T-CET inside of each and M-CET across.

With one graphlet H-CET is T-CET; that is how T-CET is run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trendloom.cet.costs import sizes
from trendloom.kernels.paths import grow, stitch, walk
from trendloom.kernels.resuming import walk_after

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from trendloom.cet.graph import Graph

    Ints = NDArray[np.int64]

MOST_TRENDS = 1 << 16
MOST_NODES = 1 << 20
"""Of one buffer; a single longer trend gets a longer buffer."""


class Paths(NamedTuple):
    """Path k is `node[offset[k] : offset[k + 1]]`. Overwritten by the next ones."""

    offset: NDArray[np.int32]
    node: NDArray[np.int32]


def depth_first(graph: Graph, memory: int, skip: int = 0) -> Iterator[Paths]:
    """M-CET. Trends that are skipped are not walked: their number tells where to go on."""
    depth = graph.depth
    offset, out = _buffers(graph, memory)
    stack, cursor = np.empty(depth + 1, np.int64), np.empty(depth + 1, np.int64)
    where = np.zeros(3, np.int64)
    if skip:
        m, e = graph.paths_to
        walk_after(
            graph.begins, graph.pred_start, graph.pred, graph.last, np.where(e > 0, np.inf, m),
            skip, stack, cursor, where,
        )  # fmt: skip
    while True:
        written = walk(
            graph.begins, graph.pred_start, graph.pred, graph.last, stack, cursor, where,
            offset, out, len(offset) - 1,
        )  # fmt: skip
        if written == 0:
            return
        yield Paths(offset[: written + 1], out[: offset[written]])


@dataclass(frozen=True, eq=False)
class Kept:
    """All paths inside of graphlets: `grow`'s arrays."""

    home: Ints
    first: Ints
    start: Ints
    flat: NDArray[np.int32]
    graphlets: int

    @property
    def paths(self) -> int:
        return len(self.start) - 1

    @property
    def bytes(self) -> int:
        return self.start.nbytes + self.flat.nbytes


def keep(graph: Graph, bounds: Ints) -> Kept:
    """T-CET in every graphlet; graphlet g is nodes `bounds[g] : bounds[g + 1]`."""
    home = np.repeat(bounds[:-1], np.diff(bounds))
    paths, nodes = sizes(graph, home)
    first = np.empty(len(graph) + 1, np.int64)
    start = np.zeros(int(paths) + 1, np.int64)
    flat = np.empty(int(nodes), np.int32)
    grow(graph.begins, graph.pred_start, graph.pred, home, first, start, flat)
    return Kept(home, first, start, flat, len(bounds) - 1)


def stitched(graph: Graph, kept: Kept, memory: int, skip: int = 0) -> Iterator[Paths]:
    """H-CET: M-CET over the kept paths."""
    first = kept.first
    offset, out = _buffers(graph, memory)
    levels = min(kept.graphlets + 1, graph.depth) + 1
    stack, cursor = np.empty(levels, np.int64), np.zeros((levels + 1, 2), np.int64)
    cursor[0, 1] = first[graph.last[0]] if len(graph.last) else 0
    where = np.zeros(3, np.int64)
    while True:
        written = stitch(
            graph.begins, graph.pred_start, graph.pred, kept.home, first, kept.start, kept.flat,
            graph.last, stack, cursor, where, offset, out, len(offset) - 1,
        )  # fmt: skip
        if written == 0:
            return
        missed = min(skip, written)
        skip -= missed
        if missed < written:
            yield Paths(
                offset[missed : written + 1] - offset[missed], out[offset[missed] : offset[written]]
            )


def _buffers(graph: Graph, memory: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """As large as the trends at hand ask for, and a small part of the memory at most."""
    m, e = graph.paths_to
    at = graph.last
    few = float(m[at].sum()) if len(at) and not e[at].any() else np.inf
    trends = int(min(few, MOST_TRENDS, max(1, memory // 64))) + 1
    nodes = int(min(few * graph.depth, MOST_NODES, memory // 64))
    return np.empty(trends + 1, np.int32), np.empty(max(nodes, graph.depth), np.int32)
