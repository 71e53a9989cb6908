"""Graphs of layers: each event of a time point may follow every event of the point before."""

from __future__ import annotations

from typing import Any

import numpy as np

from trendloom.cet.graph import Graph


def layered(*widths: int) -> Graph:
    """`layered(3, 3, 3)` has 27 trends (CET Fig. 4)."""
    point = np.repeat(np.arange(len(widths)), widths)
    first = np.cumsum([0, *widths])
    preds: list[Any] = []
    start = [0]
    for layer, width in enumerate(widths):
        for _ in range(width):
            if layer:
                preds += range(first[layer - 1], first[layer])
            start.append(len(preds))
    nodes = len(point)
    return Graph(
        0,
        np.arange(nodes),
        np.zeros(nodes, np.int64),
        point,
        (point == 0).astype(np.uint8),
        (point == len(widths) - 1).astype(np.uint8),
        np.array(start, np.int64),
        np.array(preds, np.int64),
    )
