"""Charts of a result with altair: lines over windows, heat maps of many groups, bars per group.

1. Pick the value to draw and its scale: log where it spans more than three decades.
2. Turn rows into plain records; times go as UTC, so that a chart reads the same everywhere.
3. Numbers beyond every double have no place on an axis: they stand at its end as triangles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import altair as alt
from altair.utils.schemapi import debug_mode

from trendloom.errors import InputError, did_you_mean
from trendloom.view.cells import WINDOW, cell, is_number, label
from trendloom.view.scale import Scale, has_windows, pick_value, scale_of, to_float

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

KINDS = ("auto", "line", "area", "bar", "heat")
COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#7A5195",
    "#555555",
)
"""Okabe and Ito's, which the colour-blind can tell apart, dark enough for a thin line."""
MOST_LINES = len(COLOURS)
MOST_BARS = 30
"""Groups that are readable, by kind of chart; the largest are kept, and the chart says so."""
MOST_ROWS = 40
"""Of a heat map."""
MOST_MARKED = 60
"""Windows per group up to which each one gets its dot."""
MOST_TICKS = 8
BEYOND = "beyond 1.8e308"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class _Drawing:
    """What all kinds of chart need to know."""

    records: list[dict[str, Any]]
    value: str
    groups: str
    """Title of the legend: the group columns."""
    count: int
    """Number of groups."""
    temporal: bool
    scale: Scale

    @property
    def data(self) -> alt.InlineData:
        return inline(self.records)


def chart(
    table: pa.Table,
    group_columns: Sequence[str],
    value_columns: Sequence[str],
    *,
    value: str | None = None,
    kind: str = "auto",
    title: str | None = None,
    width: int = 640,
    height: int = 360,
) -> alt.TopLevelMixin:
    """The chart of one value column."""
    if kind not in KINDS:
        raise InputError(f"Unknown kind of chart '{kind}'.", remedy=did_you_mean(kind, KINDS))
    name = pick_value(table, value_columns, value)
    groups = [column for column in group_columns if column in table.column_names]
    drawing = _drawing(table, groups, name)
    if kind == "auto":
        over_time = has_windows(table)
        kind = ("line" if drawing.count <= MOST_LINES else "heat") if over_time else "bar"
    notes: list[str] = []
    drawn: Any
    if kind == "heat":
        drawing, notes = _largest(drawing, MOST_ROWS)
        drawn = _heat(drawing, width)
    elif kind == "bar":
        drawing, notes = _largest(drawing, MOST_BARS)
        drawn = _bars(drawing, width)
    else:
        drawing, notes = _largest(drawing, MOST_LINES)
        drawn = _lines(drawing, kind).properties(width=width, height=height)
    if drawing.scale.infinite:
        mark = "darkest" if kind == "heat" else "▲"
        notes.append(f"{mark}: {BEYOND}; LOG2(COUNT(*)) shows how far")
    words = label(title or name)
    heading = alt.Title(words, subtitle=notes) if notes else alt.Title(words)
    return themed(drawn.properties(title=heading))


def inline(records: list[dict[str, Any]]) -> alt.InlineData:
    """Records as data of a chart, their texts as labels."""
    plain = [
        {name: label(value) if isinstance(value, str) else value for name, value in record.items()}
        for record in records
    ]
    # They are plain by construction; checking each against the schema takes seconds.
    with debug_mode(False):
        return alt.InlineData(values=plain)


def _drawing(table: pa.Table, groups: list[str], name: str) -> _Drawing:
    names = [
        column for column in dict.fromkeys((*WINDOW, *groups, name)) if column in table.schema.names
    ]
    rows = table.select(names).to_pylist()
    numbers = [to_float(row[name]) for row in rows]
    scale = scale_of(numbers)
    top = scale.high * (10 if scale.log else 1.05) or 1.0
    edges = _edges(rows)
    records = []
    for row, number in zip(rows, numbers, strict=True):
        infinite = number is not None and not math.isfinite(number)
        records.append(
            {
                "start": axis_value(row.get(WINDOW[0])),
                "end": axis_value(row.get(WINDOW[1])),
                "edge": axis_value(edges.get(row.get(WINDOW[0]))),
                "group": " · ".join(cell(row[column]) for column in groups) or "all",
                "value": min(top, 1.7e308) if infinite else number,
                "shown": BEYOND if infinite else cell(row[name]),
                "infinite": infinite,
            }
        )
    start = table.schema.field(WINDOW[0]).type if WINDOW[0] in table.schema.names else None
    return _Drawing(
        records,
        label(name),
        label(" · ".join(groups)),
        len({record["group"] for record in records}),
        start is not None and not is_number(start),
        scale,
    )


def _edges(rows: list[dict[str, Any]]) -> dict[Any, Any]:
    """Where the picture of each window ends: overlapping windows must not cover each other."""
    ends: dict[Any, Any] = {row.get(WINDOW[0]): row.get(WINDOW[1]) for row in rows}
    ends.pop(None, None)
    starts = sorted(ends)
    step = min((b - a for a, b in pairwise(starts)), default=None)
    return ends if step is None else {start: min(ends[start], start + step) for start in starts}


def axis_value(moment: Any) -> Any:
    """A time as UTC, so that a chart reads the same everywhere; a number as it is."""
    if isinstance(moment, datetime):
        return moment.replace(tzinfo=None).isoformat() + "Z"
    return f"{moment.isoformat()}T00:00:00Z" if isinstance(moment, date) else moment


def _largest(drawing: _Drawing, most: int) -> tuple[_Drawing, list[str]]:
    """Leave out what would not be readable, and say so."""
    if drawing.count <= most:
        return drawing, []
    peaks: dict[str, float] = {}
    for record in drawing.records:
        height = math.inf if record["infinite"] else record["value"] or 0.0
        peaks[record["group"]] = max(peaks.get(record["group"], -math.inf), height)
    kept = set(sorted(peaks, key=lambda group: -peaks[group])[:most])
    records = [record for record in drawing.records if record["group"] in kept]
    smaller = _Drawing(
        records,
        drawing.value,
        drawing.groups,
        most,
        drawing.temporal,
        scale_of(math.inf if r["infinite"] else r["value"] for r in records),
    )
    return smaller, [f"the {most} largest of {drawing.count:,} groups"]


# ── the kinds ────────────────────────────────────────────────────────────────────────────────


def _lines(drawing: _Drawing, kind: str) -> Any:
    per_group = len(drawing.records) / max(1, drawing.count)
    base = alt.Chart(drawing.data).encode(x=_time(drawing), y=_height(drawing, alt.Y))
    base = base.encode(tooltip=_tooltip(drawing))
    if drawing.count > 1:
        base = base.encode(color=_colour(drawing))
    plain: Any = {} if drawing.count > 1 else {"color": COLOURS[0]}
    if kind == "area":
        layers = [base.mark_area(opacity=0.35, line={"strokeWidth": 1.5}, **plain)]
        layers[0] = layers[0].encode(y=_height(drawing, alt.Y, stack=None))
    else:
        layers = [base.mark_line(strokeWidth=1.5, **plain)]
    if per_group <= MOST_MARKED:
        layers.append(base.mark_point(size=28, filled=True, opacity=1, **plain))
    if drawing.scale.infinite:
        beyond = base.transform_filter("datum.infinite")
        layers.append(beyond.mark_point(shape="triangle-up", size=90, filled=True, **plain))
    return alt.layer(*layers)


def _bars(drawing: _Drawing, width: int) -> Any:
    base = alt.Chart(drawing.data).encode(
        y=alt.Y("group:N", sort="-x", title=drawing.groups or None, axis=alt.Axis(labelLimit=260)),
        x=_height(drawing, alt.X, stack=None),
        tooltip=_tooltip(drawing),
    )
    if drawing.scale.log:
        # A bar on a log axis has no zero to stand on; it starts at the left edge.
        base = base.encode(x2=alt.datum(_floor(drawing.scale)))
    bars = base.mark_bar(color=COLOURS[0], cornerRadiusEnd=2, height={"band": 0.75})
    texts = base.encode(text="shown:N").mark_text(align="left", dx=5, color="#333333")
    return alt.layer(bars, texts).properties(width=width, height=alt.Step(24))


def _heat(drawing: _Drawing, width: int) -> Any:
    ticks: dict[str, Any] = {}
    if drawing.scale.log:
        values, labels = _decades(drawing.scale)
        ticks = {"values": values, "labelExpr": labels}
    rows = min(20, max(9, 520 // max(1, drawing.count)))
    start = _time(drawing)
    start = start.title(None) if drawing.temporal else start
    return (
        alt.Chart(drawing.data)
        .mark_rect()
        .encode(
            x=start,
            x2="edge",
            y=alt.Y(
                "group:N",
                title=drawing.groups or None,
                sort=alt.EncodingSortField(field="value", op="sum", order="descending"),
                axis=alt.Axis(grid=False, ticks=False, domain=False, labelLimit=200),
            ),
            color=alt.Color(
                "value:Q",
                title=drawing.value,
                scale=alt.Scale(type=_curve(drawing.scale), scheme="yelloworangered"),
                legend=alt.Legend(gradientLength=min(240, rows * drawing.count), **ticks),
            ),
            tooltip=_tooltip(drawing),
        )
        .properties(width=width, height=alt.Step(rows))
    )


# ── the channels ─────────────────────────────────────────────────────────────────────────────


def _time(drawing: _Drawing) -> alt.X:
    if drawing.temporal:
        return alt.X("start:T", title="window start (UTC)", scale=alt.Scale(type="utc"))
    return alt.X("start:Q", title="window start", scale=alt.Scale(zero=False, nice=False))


def _height(drawing: _Drawing, channel: Any, **more: Any) -> Any:
    if not drawing.scale.log:
        axis = alt.Axis(format="~s") if drawing.scale.high >= 1e4 else alt.Axis()
        zero = channel is alt.X or drawing.scale.low <= drawing.scale.high / 2
        return channel(
            "value:Q", title=drawing.value, axis=axis, scale=alt.Scale(zero=zero), **more
        )
    values, labels = _decades(drawing.scale)
    low = 0.0 if drawing.scale.has_zero else _floor(drawing.scale)
    scale = alt.Scale(type=_curve(drawing.scale), domainMin=low, nice=False, zero=False)
    return channel(
        "value:Q",
        title=f"{drawing.value} (log scale)",
        axis=alt.Axis(values=values, labelExpr=labels),
        scale=scale,
        **more,
    )


def _curve(scale: Scale) -> Literal["linear", "log", "symlog"]:
    if not scale.log:
        return "linear"
    return "symlog" if scale.has_zero else "log"


def _floor(scale: Scale) -> float:
    """The decade below the smallest value, so that it is not lost on the axis."""
    if scale.has_zero:
        return 0.0
    exponent = math.log10(scale.smallest)
    return float(10.0 ** (math.ceil(exponent) - 1 if exponent % 1 == 0 else math.floor(exponent)))


def _decades(scale: Scale) -> tuple[list[float], str]:
    """Powers of ten as ticks, and the expression that writes them."""
    first, last = math.floor(math.log10(scale.smallest)), math.ceil(math.log10(scale.high or 1))
    if scale.infinite:
        last = min(308, last + 1)
    step = max(1, math.ceil((last - first) / MOST_TICKS))
    exponents = list(range(first, last + 1, step))
    labels = ", ".join(f"'{_power(exponent)}'" for exponent in exponents)
    place = f"round((log(datum.value) / LN10 - ({first})) / {step})"
    zero = [0.0] if scale.has_zero else []
    values = zero + [10.0**exponent for exponent in exponents]
    return values, f"datum.value <= 0 ? '0' : [{labels}][{place}]"


def _power(exponent: int) -> str:
    if 0 <= exponent <= 4:
        return f"{10**exponent:,}"
    return "10" + str(exponent).translate(SUPERSCRIPTS)


def _colour(drawing: _Drawing) -> alt.Color:
    return alt.Color(
        "group:N",
        title=drawing.groups,
        scale=alt.Scale(range=list(COLOURS)),
        legend=alt.Legend(symbolStrokeWidth=3, symbolType="stroke"),
    )


def _tooltip(drawing: _Drawing) -> list[alt.Tooltip]:
    window = [
        alt.Tooltip("start:T" if drawing.temporal else "start:Q", title="from"),
        alt.Tooltip("end:T" if drawing.temporal else "end:Q", title="to"),
    ]
    has_window = any(record["start"] is not None for record in drawing.records)
    group = [alt.Tooltip("group:N", title=drawing.groups)] if drawing.groups else []
    return [*(window if has_window else []), *group, alt.Tooltip("shown:N", title=drawing.value)]


def themed(drawn: Any) -> alt.TopLevelMixin:
    """As all charts look."""
    made: alt.TopLevelMixin = (
        drawn.configure(font="Helvetica Neue, Arial, sans-serif", background="white", padding=16)
        .configure_view(stroke=None)
        .configure_axis(
            gridColor="#e8e8e8",
            domainColor="#999999",
            tickColor="#999999",
            labelColor="#333333",
            titleColor="#333333",
            labelFontSize=11,
            titleFontSize=12,
            titleFontWeight="normal",
            titlePadding=8,
        )
        .configure_legend(labelFontSize=11, titleFontSize=12, titleFontWeight="normal")
        .configure_title(
            anchor="start", fontSize=16, subtitleColor="#666666", subtitleFontSize=12, offset=12
        )
    )
    return made
