"""The CET graph of one run: its paths from a beginning to an end are the trends (CET Def. 4)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trendloom.kernels.paths import count_paths, longest_paths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Flags = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes in the order of time; the predecessors of v are `pred[pred_start[v] : …[v + 1]]`."""

    run: int
    """Which of the chunk's runs it is of."""
    event: Ints
    """Per node: the row of the chunk."""
    variable: Ints
    point: Ints
    """Per node: the order of its event; nodes of one point are simultaneous."""
    begins: Flags
    """1 where a trend may begin."""
    ends: Flags
    """1 where a trend may end."""
    pred_start: Ints
    pred: Ints

    def __len__(self) -> int:
        return len(self.event)

    @property
    def edges(self) -> int:
        return len(self.pred)

    @property
    def bytes(self) -> int:
        """What the arrays take: three columns, two marks, an edge list."""
        return 34 * len(self) + 8 * self.edges + 8

    @cached_property
    def last(self) -> Ints:
        """The nodes that may end a trend."""
        return np.flatnonzero(self.ends)

    @cached_property
    def paths_to(self) -> tuple[NDArray[np.float64], Ints]:
        """Per node: how many paths lead to it from a beginning, as m · 2^e."""
        m, e = count_paths(self.begins, self.pred_start, self.pred)
        return m, e

    @cached_property
    def depth(self) -> int:
        """The number of events of the longest trend."""
        longest = longest_paths(self.begins, self.pred_start, self.pred)
        return int(longest[self.last].max(initial=0))
