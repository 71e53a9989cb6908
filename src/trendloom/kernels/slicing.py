"""The graph of a window where every event may begin a trend, and end one: a slice of the stretch's.

`restricting` for patterns such as A+: no node of the window can be out of reach or lead nowhere, so
nodes keep their order and their number, less the window's first.
"""

from __future__ import annotations

import numpy as np

from trendloom.kernels.compiled import kernel
from trendloom.kernels.steps import Flags, Ints


@kernel
def sliced(pred_start: Ints, pred: Ints, first: int, last: int) -> tuple[Flags, Flags, Ints, Ints]:
    """Where trends of nodes `first : last` begin and end, and the edges among these nodes."""
    size = last - first
    begins, ends = np.ones(size, np.uint8), np.ones(size, np.uint8)
    start = np.empty(size + 1, np.int64)
    kept = np.empty(pred_start[last] - pred_start[first], np.int64)
    edges = 0
    start[0] = 0
    for node in range(size):
        before = edges
        for k in range(pred_start[first + node], pred_start[first + node + 1]):
            if pred[k] >= first:
                kept[edges] = pred[k] - first
                ends[kept[edges]] = 0
                edges += 1
        if edges > before:
            begins[node] = 0
        start[node + 1] = edges
    return begins, ends, start, kept[:edges]
