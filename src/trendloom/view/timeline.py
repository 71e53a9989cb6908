"""Bursts over time, by type: who shared them.

Bursts that come one after another are drawn one by one. Where there are too many for that, or where
those of several partitions overlap, their events are counted per stretch of time.
"""

from __future__ import annotations

from datetime import date, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import altair as alt

from trendloom.errors import InputError
from trendloom.view.cells import label
from trendloom.view.chart import COLOURS, axis_value, inline, themed

if TYPE_CHECKING:
    import pyarrow as pa

ALL, SOME, NOBODY = "by all that could", "by some of them", "by nobody"
SHADES = {ALL: COLOURS[2], SOME: COLOURS[4], NOBODY: "#8a8a8a"}
MOST_BARS = 1_500
"""Bursts that are drawn one by one."""
STRETCHES = 120


def timeline(
    bursts: pa.Table, left_out: int = 0, *, title: str | None = None, width: int = 900
) -> alt.TopLevelMixin:
    """`bursts`: begin, end, type, events, queries (that could share), sharing (that did)."""
    rows = bursts.to_pylist()
    if not rows:
        raise InputError(
            "No burst of this run could be shared: there is no timeline.",
            remedy='explain() tells who could, and why others do not; mode="always" shares '
            "wherever that is possible, also where events of a type hardly come in a row.",
        )
    notes = [_summary(rows)]
    if left_out:
        notes.append(f"the first {len(rows):,} of {len(rows) + left_out:,} bursts")
    first = rows[0]["begin"]
    temporal = isinstance(first, datetime | date)
    one_by_one = len(rows) <= MOST_BARS and not _overlap(rows)
    drawn = _bars(rows, temporal, width) if one_by_one else _stretches(rows, temporal, width)
    heading = alt.Title(
        label(title or "Bursts, and how many of the queries shared them"),
        subtitle=list(map(label, notes)),
    )
    return themed(drawn.properties(title=heading))


def _how(row: dict[str, Any]) -> str:
    if row["sharing"] == 0:
        return NOBODY
    return ALL if row["sharing"] >= row["queries"] else SOME


def _summary(rows: list[dict[str, Any]]) -> str:
    counts = [(how, sum(_how(row) == how for row in rows)) for how in SHADES]
    told = ", ".join(f"{count:,} shared {how}" for how, count in counts if count)
    return f"{len(rows):,} bursts: {told}"


def _overlap(rows: list[dict[str, Any]]) -> bool:
    ordered = sorted(rows, key=lambda row: (row["type"], row["begin"]))
    return any(a["type"] == b["type"] and b["begin"] < a["end"] for a, b in pairwise(ordered))


def _x(temporal: bool) -> Any:
    if temporal:
        scale, axis = alt.Scale(type="utc"), alt.Axis(labelOverlap=True)
        return alt.X("begin:T", title="UTC", scale=scale, axis=axis)
    return alt.X("begin:Q", title="time", scale=alt.Scale(zero=False, nice=False))


def _colour() -> alt.Color:
    scale = alt.Scale(domain=list(SHADES), range=list(SHADES.values()))
    return alt.Color("how:N", title="shared", scale=scale, legend=alt.Legend(orient="top"))


def _bars(rows: list[dict[str, Any]], temporal: bool, width: int) -> Any:
    records = [
        row | {"begin": axis_value(row["begin"]), "end": axis_value(row["end"]), "how": _how(row)}
        for row in rows
    ]
    words = ("type:N", "events:Q", "queries:Q", "sharing:Q")
    # A burst of one event has no width: its border is seen.
    return (
        alt.Chart(inline(records))
        .mark_rect(strokeWidth=1.5)
        .encode(
            x=_x(temporal),
            x2="end",
            y=alt.Y(
                "type:N",
                title=None,
                scale=alt.Scale(paddingInner=0.3),
                axis=alt.Axis(grid=False, ticks=False, domain=False, labelPadding=8),
            ),
            color=_colour(),
            stroke=alt.Stroke(
                "how:N",
                legend=None,
                scale=alt.Scale(domain=list(SHADES), range=list(SHADES.values())),
            ),
            tooltip=[alt.Tooltip(name) for name in words],
        )
        .properties(width=width, height=alt.Step(46))
    )


def _stretches(rows: list[dict[str, Any]], temporal: bool, width: int) -> Any:
    """Events per stretch of time, type and who shared them; a burst counts where it begins."""
    start, stop = min(row["begin"] for row in rows), max(row["end"] for row in rows)
    size = (stop - start) / STRETCHES if stop > start else None
    counted: dict[tuple[str, int, str], int] = {}
    for row in rows:
        place = 0 if size is None else min(int((row["begin"] - start) / size), STRETCHES - 1)
        key = row["type"], place, _how(row)
        counted[key] = counted.get(key, 0) + row["events"]
    tops: dict[tuple[str, int], int] = {}
    records = []
    for name, place, how in sorted(counted, key=lambda key: list(SHADES).index(key[2])):
        events, below = counted[name, place, how], tops.get((name, place), 0)
        tops[name, place] = below + events
        begin, end = (start, stop) if size is None else (start + place * size, None)
        end = begin + size if size is not None else end
        records.append(
            {"type": name, "how": how, "events": events, "low": below, "high": below + events}
            | {"begin": axis_value(begin), "end": axis_value(end)}
        )
    return (
        alt.Chart(inline(records))
        .mark_rect()
        .encode(
            x=_x(temporal),
            x2="end",
            y=alt.Y("low:Q", title="events", axis=alt.Axis(tickCount=3)),
            y2="high",
            color=_colour(),
            row=alt.Row("type:N", title=None, header=alt.Header(labelAngle=0, labelAlign="left")),
            tooltip=[alt.Tooltip(name) for name in ("type:N", "how:N", "events:Q")],
        )
        .properties(width=width, height=90)
        .resolve_scale(y="independent")
    )
