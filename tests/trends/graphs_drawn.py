"""Graphs drawn by hypothesis."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from trendloom.cet.graph import Graph


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Any graph: edges from any earlier point, beginnings and ends anywhere."""
    point = np.sort(np.array(draw(st.lists(st.integers(0, 6), min_size=1, max_size=11))))
    preds: list[int] = []
    start = [0]
    for node in range(len(point)):
        earlier = [u for u in range(node) if point[u] < point[node]]
        preds += (
            draw(st.lists(st.sampled_from(earlier), unique=True, max_size=3)) if earlier else []
        )
        start.append(len(preds))
    begins = np.array([a == b for a, b in pairwise(start)])
    more = draw(st.lists(st.booleans(), min_size=len(point), max_size=len(point)))
    ends = np.isin(np.arange(len(point)), preds, invert=True)
    extra = draw(st.lists(st.booleans(), min_size=len(point), max_size=len(point)))
    return Graph(
        0, np.arange(len(point)), np.zeros(len(point), np.int64), point,
        (begins | np.array(more)).astype(np.uint8), (ends | np.array(extra)).astype(np.uint8),
        np.array(start, np.int64), np.array(preds, np.int64),
    )  # fmt: skip
