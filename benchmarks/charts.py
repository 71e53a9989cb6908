"""The kinds of chart that benchmarks draw, in one dress."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import altair as alt

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.harness import Figure, Samples

Chart = TypeVar("Chart", bound=alt.TopLevelMixin)

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
WIDTH, LINES_HEIGHT, BAR_HEIGHT = 560, 320, 26
PANEL_WIDTH, PANEL_HEIGHT, PANELS_ACROSS = 340, 220, 2


def bars(
    figures: list[Figure],
    *,
    title: str,
    subtitle: str,
    axis: str,
    unit: float = 1.0,
    log: bool = False,
    rule: float | None = None,
) -> alt.LayerChart:
    """One bar with its spread per figure that has a label, in units of `unit`."""
    rows = [_bar(figure.label, figure.measured / unit) for figure in figures if figure.label]
    top = max([row["high"] for row in rows] + ([] if rule is None else [rule]))
    # On a logarithmic axis a bar has no zero to begin at: the power of ten below the smallest.
    floor = 10.0 ** math.floor(math.log10(min(row["low"] for row in rows))) if log else 0.0
    scale = alt.Scale(type="log" if log else "linear", domain=[floor, top * (3 if log else 1.15)])
    rows = [row | {"floor": floor} for row in rows]
    base = alt.Chart(alt.Data(values=rows))
    y = alt.Y(
        "bar:N", sort=None, title=None, axis=alt.Axis(labelLimit=320, ticks=False, domain=False)
    )
    x = alt.X("value:Q", scale=scale, title=axis, axis=_value_axis(log=log))
    layers = [
        base.mark_bar(color=COLOURS[0], height={"band": 0.65}).encode(y=y, x=x, x2="floor:Q"),
        base.mark_rule(color="#222222", strokeWidth=1.5).encode(y=y, x=alt.X("low:Q"), x2="high:Q"),
        base.mark_text(align="left", dx=6, fontSize=11, color="#333333").encode(
            y=y, x=alt.X("high:Q"), text="shown:N"
        ),
    ]
    if rule is not None:
        at = alt.Chart(alt.Data(values=[{"at": rule}]))
        layers.append(at.mark_rule(color=COLOURS[1], strokeDash=[5, 4]).encode(x="at:Q"))
    drawn = alt.layer(*layers).properties(width=WIDTH, height=BAR_HEIGHT * len(rows))
    return _dressed(drawn, title, subtitle)


def lines(
    points: list[dict[str, Any]],
    *,
    x: str,
    y: str,
    series: str,
    title: str,
    subtitle: str,
    x_title: str,
    y_title: str,
    log: bool = False,
) -> alt.LayerChart:
    """One line per series, named at its end."""
    names = list(dict.fromkeys(point[series] for point in points))
    ends = [max((p for p in points if p[series] == n), key=lambda p: p[x]) for n in names]
    where = [point[x] for point in points]
    across = alt.X(
        f"{x}:Q",
        title=x_title,
        scale=alt.Scale(domain=[min(where), max(where)], nice=False),
        axis=alt.Axis(
            grid=False, format="~s" if max(where) > 1_000 else "d", tickCount=8, labelFlush=False
        ),
    )
    up = alt.Y(
        f"{y}:Q",
        title=y_title,
        scale=alt.Scale(type="log" if log else "linear", zero=not log),
        axis=_value_axis(log=log),
    )
    colour = alt.Color(f"{series}:N", scale=alt.Scale(domain=names, range=COLOURS), legend=None)
    curve = alt.Chart(alt.Data(values=points)).encode(x=across, y=up, color=colour)
    label = alt.Chart(alt.Data(values=ends)).encode(
        x=across, y=up, color=colour, text=f"{series}:N"
    )
    drawn = alt.layer(
        curve.mark_line(strokeWidth=2),
        curve.mark_circle(size=40, opacity=1),
        label.mark_text(align="left", dx=9, fontSize=12),
    ).properties(width=WIDTH, height=LINES_HEIGHT)
    return _dressed(drawn, title, subtitle)


@dataclass(frozen=True, slots=True)
class Panel:
    """A small chart among others: points with `x`, `y`, `what`, and `stopped` where one gave up."""

    title: str
    x_title: str
    y_title: str
    points: list[dict[str, Any]]
    log_x: bool = True


def point(panel: str, what: str, x: float, y: float, *, stopped: bool = False) -> dict[str, Any]:
    """Of a line of a panel."""
    return {"panel": panel, "what": what, "x": x, "y": y, "stopped": stopped}


def panels(those: list[Panel], *, title: str, subtitle: str) -> alt.ConcatChart:
    """All on logarithmic scales, with one colour for a name in all of them.

    Names that are more than the colours share them, if no panel has both, and every panel says its.
    """
    own = [list(dict.fromkeys(point["what"] for point in panel.points)) for panel in those]
    colours = _coloured(own)
    apart = len(colours) > len(COLOURS)
    drawn = []
    for panel, names in zip(those, own, strict=True):
        shown = names if apart else list(colours)
        scale = alt.Scale(domain=shown, range=[colours[name] for name in shown])
        legend = alt.Legend(columns=3 if apart else len(shown))
        drawn.append(_panel(panel, alt.Color("what:N", scale=scale, title=None, legend=legend)))
    chart = alt.concat(*drawn, columns=PANELS_ACROSS, spacing=28)
    if apart:
        chart = chart.resolve_scale(color="independent")
    return _dressed(chart, title, subtitle).configure_legend(
        orient="top", labelFontSize=11 if apart else 12, symbolSize=60 if apart else 120
    )


def _coloured(together: list[list[str]]) -> dict[str, str]:
    """One colour each; another one than any name that it is together with."""
    names = list(dict.fromkeys(name for some in together for name in some))
    if len(names) <= len(COLOURS):
        return dict(zip(names, COLOURS, strict=False))
    found: dict[str, str] = {}
    for name in names:
        beside = {found.get(other) for some in together if name in some for other in some}
        found[name] = next(colour for colour in COLOURS if colour not in beside)
    return found


def _panel(panel: Panel, colour: alt.Color) -> alt.LayerChart:
    points = panel.points
    where = [point["x"] for point in points]
    across = alt.X(
        "x:Q",
        title=panel.x_title,
        scale=alt.Scale(
            type="log" if panel.log_x else "linear", domain=[min(where), max(where)], nice=False
        ),
        axis=_value_axis(log=True, lines=False) if panel.log_x else _count_axis(where),
    )
    up = alt.Y("y:Q", title=panel.y_title, scale=alt.Scale(type="log"), axis=_value_axis(log=True))
    ended = alt.Chart(alt.Data(values=[p for p in points if not p["stopped"]]))
    stops = [p for p in points if p["stopped"]]
    ways = alt.Chart(alt.Data(values=[p for stop in stops for p in _way(stop, points)]))
    given_up = alt.Chart(alt.Data(values=stops))
    at = {"x": across, "y": up}
    layers = [
        ended.mark_line(strokeWidth=2).encode(**at, color=colour),
        ended.mark_circle(size=36, opacity=1).encode(**at, color=colour),
        ways.mark_line(strokeWidth=1.5, strokeDash=[3, 4]).encode(**at, color=colour),
        given_up.mark_point(shape="cross", angle=45, size=90, filled=True, opacity=1).encode(
            **at, color=colour
        ),
        given_up.mark_text(dy=-12, fontSize=10, color="#666666").encode(
            **at, text=alt.value("stopped")
        ),
    ]
    return alt.layer(*layers).properties(
        width=PANEL_WIDTH, height=PANEL_HEIGHT, title=alt.TitleParams(panel.title, fontSize=13)
    )


def _count_axis(where: list[float]) -> alt.Axis:
    """Whole numbers have no ticks between them."""
    whole = all(float(x).is_integer() for x in where)
    return alt.Axis(grid=False, tickMinStep=1, format="d") if whole else alt.Axis(grid=False)


def _way(stop: dict[str, Any], points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """From the last point at which it came to an end to where it was stopped."""
    ended = [p for p in points if p["what"] == stop["what"] and not p["stopped"]]
    return [ended[-1], stop] if ended else []


def _bar(label: str, measured: Samples) -> dict[str, Any]:
    return {
        "bar": label,
        "value": measured.median,
        "low": measured.low,
        "high": measured.high,
        "shown": number(measured.median),
    }


def _value_axis(*, log: bool, lines: bool = True) -> alt.Axis:
    if log:
        # Lines and labels at powers of ten only.
        decades = [10.0**k for k in range(-9, 13)]
        # 0.1 rather than 100m, and 10k rather than 10000.
        label = "format(datum.value, datum.value < 1 ? '~g' : '~s')"
        return alt.Axis(
            values=decades,
            labelExpr=label,
            tickSize=0,
            labelPadding=8,
            labelFlush=False,
            grid=lines,
        )
    return alt.Axis(format="~s", tickCount=6, labelPadding=6)


def number(value: float) -> str:
    """Three significant digits."""
    if value == 0 or math.isinf(value):
        return f"{value:.0f}"
    if abs(value) >= 1e12:
        return f"{value:.2e}"
    if abs(value) >= 100:
        return f"{round(value, 2 - math.floor(math.log10(abs(value)))):,.0f}"
    return f"{value:.3g}"


def save(chart: alt.TopLevelMixin, path: Path) -> None:
    """As SVG and PNG."""
    path.parent.mkdir(parents=True, exist_ok=True)
    chart.save(path.with_suffix(".svg"))
    chart.save(path.with_suffix(".png"), scale_factor=2)


def _dressed(drawn: Chart, title: str, subtitle: str) -> Chart:
    return (
        drawn.properties(title=alt.TitleParams(title, subtitle=subtitle))
        .configure(font="Helvetica Neue, Arial, sans-serif", background="white", padding=16)
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
        .configure_title(
            anchor="start", fontSize=16, subtitleColor="#666666", subtitleFontSize=12, offset=12
        )
    )
