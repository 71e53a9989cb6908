"""A graph of trends cut into graphlets, and beside it what other ways of cutting hold and do.

Nodes stand at their time point, simultaneous ones above each other. A cut is a vertical line; over
each graphlet stands how many paths are kept inside. Edges across a cut are stitched.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import altair as alt

from trendloom.cet.memory import in_words
from trendloom.cet.sketch import edges_of
from trendloom.view.cells import label
from trendloom.view.chart import COLOURS, inline, themed

if TYPE_CHECKING:
    from trendloom.cet.sketch import Sketch, Way

INSIDE, ACROSS, CUT = "#8a8a8a", "#D55E00", "#D55E00"
SHADES = ("#f3f6fa", "#fdf6ec")
STEP, GAP = 46, 34
"""Pixels between time points, and between nodes of one."""
MOST_LABELS = 60
"""Nodes up to which each shows its row."""
Record = dict[str, Any]


def draw_sketch(sketch: Sketch, title: str | None = None) -> alt.TopLevelMixin:
    """The graph above, below it the bars: bytes that are kept, and time, by way of cutting."""
    points = list(dict.fromkeys(sketch.graph.point.tolist()))
    heights = _heights(sketch)
    tallest = max(abs(y) for y in heights)
    width = max(560, STEP * len(points))
    height = int(GAP * (2 * tallest + 3))
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-0.6, len(points) - 0.4], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[-tallest - 1, tallest + 2], nice=False))
    place = {point: k for k, point in enumerate(points)}
    at = [place[point] for point in sketch.graph.point.tolist()]
    drawn = [*_graphlets(sketch, at, tallest, x, y), *_edges(sketch, at, heights, x, y)]
    graph = alt.layer(*drawn, *_nodes(sketch, at, heights, x, y)).properties(
        width=width, height=height
    )
    half = width // 2 - 100
    bars = alt.hconcat(
        _bars(sketch, "bytes", "kept at once (logarithmic)", half),
        _bars(sketch, "work", "estimated work", half, labels=False),
        spacing=24,
    )
    words = (
        f"{len(sketch.graph)} nodes, {sketch.graph.edges} edges, {sketch.trends} trends. "
        f"Drawn: {sketch.drawn.name}; room for kept paths: {in_words(sketch.room)}."
    )
    legend = "Numbers are rows of the input; orange edges cross a cut and are stitched."
    heading = alt.Title(
        label(title or "A graph of trends and its graphlets"),
        subtitle=[label(words), label(legend)],
    )
    return themed(alt.vconcat(graph, bars, spacing=20).properties(title=heading))


def _heights(sketch: Sketch) -> list[float]:
    """Simultaneous nodes around the middle; where edges pass over time points, points are shifted
    up and down in turn, so that an edge does not run through the nodes between.
    """
    at_point: dict[int, list[int]] = {}
    for node, point in enumerate(sketch.graph.point.tolist()):
        at_point.setdefault(point, []).append(node)
    place = {node: k for k, nodes in enumerate(at_point.values()) for node in nodes}
    is_long = any(place[node] > place[before] + 1 for before, node in edges_of(sketch.graph))
    apart = 2.0 if is_long else 1.0
    heights = [0.0] * len(sketch.graph)
    for k, nodes in enumerate(at_point.values()):
        shift = 0.6 * (k % 3 - 1) if is_long else 0.0
        for number, node in enumerate(nodes):
            heights[node] = apart * ((len(nodes) - 1) / 2 - number) + shift
    return heights


def _graphlets(sketch: Sketch, at: list[int], tallest: float, x: alt.X, y: alt.Y) -> list[Any]:
    way = sketch.drawn
    if not way.bounds:
        return []
    last = max(at) + 1
    edges = [-0.6 if b == 0 else (last if b == len(at) else at[b]) - 0.5 for b in way.bounds]
    edges[-1] = last - 0.4
    stretches: list[Record] = [
        {
            "x": left, "x2": right, "middle": (left + right) / 2, "y": -tallest - 1,
            "y2": tallest + 2, "label": tallest + 1.4, "shade": SHADES[k % 2],
            "words": _kept_words(way, k),
        }
        for k, (left, right) in enumerate(pairwise(edges))
    ]  # fmt: skip
    shaded = alt.Chart(inline(stretches))
    cuts = alt.InlineData(
        values=[{"x": e, "y": -tallest - 1, "y2": tallest + 2} for e in edges[1:-1]]
    )
    return [
        shaded.mark_rect().encode(
            x, y, x2="x2:Q", y2="y2:Q", color=alt.Color("shade:N", scale=None)
        ),
        shaded.mark_text(fontSize=11, color="#333333").encode(
            alt.X("middle:Q", axis=None), alt.Y("label:Q", axis=None), text="words:N"
        ),
        alt.Chart(cuts).mark_rule(color=CUT, strokeDash=[6, 4], strokeWidth=2).encode(
            x, y, y2="y2:Q"
        ),
    ]  # fmt: skip


def _kept_words(way: Way, graphlet: int) -> str:
    kept = way.kept[graphlet]
    paths = f"{kept:,.0f} paths"
    return paths if len(way.kept) > 6 else f"graphlet {graphlet + 1}: {paths}"


def _edges(sketch: Sketch, at: list[int], heights: list[float], x: alt.X, y: alt.Y) -> list[Any]:
    inner = sketch.drawn.bounds[1:-1]
    records = []
    for before, node in edges_of(sketch.graph):
        crosses = bisect_right(inner, before) != bisect_right(inner, node)
        records.append({
            "x": at[before], "y": heights[before], "x2": at[node], "y2": heights[node],
            "colour": ACROSS if crosses else INSIDE, "width": 1.4 if crosses else 1.0,
        })  # fmt: skip
    data = inline(records)
    return [
        alt.Chart(data).mark_rule().encode(
            x, y, x2="x2:Q", y2="y2:Q", color=alt.Color("colour:N", scale=None),
            strokeWidth=alt.StrokeWidth("width:Q", scale=None),
        )
    ]  # fmt: skip


def _nodes(sketch: Sketch, at: list[int], heights: list[float], x: alt.X, y: alt.Y) -> list[Any]:
    """Filled by variable."""
    graph = sketch.graph
    few = len(graph) <= MOST_LABELS
    several = len(set(graph.variable.tolist())) > 1
    names, rows = sketch.variables, [str(int(row)) for row in sketch.row]
    records = [
        {
            "x": at[node], "y": heights[node], "row": rows[node],
            "variable": names[int(graph.variable[node])] + rows[node] * (few and several),
            "fill": COLOURS[int(graph.variable[node]) % len(COLOURS)],
        }
        for node in range(len(graph))
    ]  # fmt: skip
    base = alt.Chart(inline(records))
    marks = [
        base.mark_circle(size=420 if few else 90, opacity=1, stroke="white", strokeWidth=1.5)
        .encode(x, y, color=alt.Color("fill:N", scale=None))
        .encode(tooltip=["row:N", "variable:N"])
    ]
    if few:
        name = "variable" if several else "row"
        marks.append(base.mark_text(fontSize=9, color="white").encode(x, y, text=f"{name}:N"))
    return marks


def _bars(sketch: Sketch, value: str, title: str, width: int, *, labels: bool = True) -> Any:
    records = [
        {
            "way": way.name, value: getattr(way.estimate, value),
            "colour": COLOURS[1] if way is sketch.drawn else COLOURS[5],
            "words": in_words(way.estimate.bytes) if value == "bytes" else _time(way.estimate.work),
        }
        for way in sketch.ways
    ]  # fmt: skip
    # Where plans differ by little the logarithm hides it; memory differs by decades.
    scale = alt.Scale(type="log", nice=False, domainMin=1) if value == "bytes" else alt.Scale()
    base = alt.Chart(inline(records)).encode(
        alt.Y("way:N", sort=None, title=None,
              axis=alt.Axis(labelLimit=220) if labels else alt.Axis(labels=False, ticks=False)),
        alt.X(f"{value}:Q", title=title, scale=scale,
              axis=alt.Axis(labels=False, ticks=False, grid=False)),
    )  # fmt: skip
    return alt.layer(
        base.mark_bar(height=14).encode(
            color=alt.Color("colour:N", scale=None), x2=alt.datum(1 if value == "bytes" else 0)
        ),
        base.mark_text(align="left", dx=4, fontSize=11, color="#333333").encode(text="words:N"),
    ).properties(width=width, height=22 * len(records))


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"
