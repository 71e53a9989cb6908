"""COGRA's figures drawn anew: the engine among the algorithms of the literature.

After Figures 5 to 13 of its evaluation (§8.2, appendix D): time per window by events in it, under
three semantics; by groups; by the selectivity of a condition between events; and, which the paper
does not draw, by the number of windows that hold an event. `(SEQ(A+, B))+` over generated events in
memory, sorted by group and time as a scan delivers them, one core. All contenders are compiled
and count the same, which is checked at every point; the others (`baselines/`) are loops written for
this one pattern and for events of which no two are simultaneous. Who reaches the limit of time at a
point is stopped there, and not asked for more.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from benchmarks import charts
from benchmarks.baselines import flattened, greta, mixed_grain, pattern_grain, two_step, type_grain
from benchmarks.baselines.streams import draw_stream, shift_for
from benchmarks.curves import ENGINE, Curves
from benchmarks.harness import Figure, Size, one_core
from trendloom import query
from trendloom.engine.run import Run
from trendloom.engine.setting import Setting

if TYPE_CHECKING:
    import altair as alt

    from benchmarks.baselines.streams import Stream
    from benchmarks.curves import Counting

LIMIT = {Size.FULL: 10.0, Size.QUICK: 2.0, Size.TINY: 0.5}
"""Seconds."""
EVENTS = {
    Size.FULL: (10, 16, 22, 28, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000),
    Size.QUICK: (10, 16, 22, 28, 100, 1_000, 10_000, 100_000, 1_000_000),
    Size.TINY: (10, 40),
}
GROUPED = {Size.FULL: 50_000, Size.QUICK: 20_000, Size.TINY: 200}
GROUPS = {
    Size.FULL: (1, 10, 100, 1_000, 5_000),
    Size.QUICK: (1, 10, 100, 2_000),
    Size.TINY: (2, 20),
}
SELECTED = {Size.FULL: 20_000, Size.QUICK: 10_000, Size.TINY: 200}
SELECTIVITY = {Size.FULL: (10, 30, 50, 70, 90), Size.QUICK: (10, 50, 90), Size.TINY: (10, 90)}
"""Percent."""
OVERLAPPED = {Size.FULL: 1_000_000, Size.QUICK: 200_000, Size.TINY: 600}
OVERLAPS = {Size.FULL: (1, 10, 100, 1_000), Size.QUICK: (1, 10, 100), Size.TINY: (1, 3)}
OTHERS = 0.1
"""Of the events under contiguous semantics, those that break trends."""


def run(size: Size) -> list[Figure]:
    panels = (_any_match, _next_match, _contiguous, _groups, _selectivity, _overlap)
    with one_core():
        _compile()
        return [figure for panel in panels for figure in panel(size).figures()]


def _compile() -> None:
    """Every kernel once, so that nobody is stopped for being compiled."""
    stream = draw_stream(8)
    for any_match in (flattened, greta, mixed_grain, two_step, type_grain):
        any_match.any_match(stream, math.inf)
    for one_way in (two_step, pattern_grain):
        one_way.next_match(stream, math.inf)
    type_grain.sliding(stream, 8, 4)


def _any_match(size: Size) -> Curves:
    curves = Curves("any-match", "events", size)
    for events in EVENTS[size]:
        curves.measure(events, _online(draw_stream(events), LIMIT[size]))
    return curves


def _online(stream: Stream, limit: float) -> dict[str, Counting]:
    return {
        ENGINE: engine(stream, "skip-till-any-match"),
        "COGRA": partial(type_grain.any_match, stream),
        "GRETA": partial(greta.any_match, stream, limit),
        "A-Seq, flattened": partial(flattened.any_match, stream, limit),
        "two-step": partial(two_step.any_match, stream, limit),
    }


def _next_match(size: Size) -> Curves:
    curves = Curves("next-match", "events", size)
    for events in EVENTS[size]:
        stream = draw_stream(events)
        contenders: dict[str, Counting] = {
            ENGINE: engine(stream, "skip-till-next-match"),
            "COGRA": partial(pattern_grain.next_match, stream),
            "two-step": partial(two_step.next_match, stream, LIMIT[size]),
        }
        curves.measure(events, contenders)
    return curves


def _contiguous(size: Size) -> Curves:
    curves = Curves("contiguous", "events", size)
    for events in EVENTS[size]:
        stream = draw_stream(events, others=OTHERS)
        contenders: dict[str, Counting] = {
            ENGINE: engine(stream, "contiguous"),
            "COGRA": partial(pattern_grain.contiguous, stream),
            "two-step": partial(two_step.contiguous, stream, LIMIT[size]),
        }
        curves.measure(events, contenders)
    return curves


def _groups(size: Size) -> Curves:
    """From many groups to few: trends of few groups are longer, and then two-step is stopped."""
    curves = Curves("groups", "groups", size)
    for groups in reversed(GROUPS[size]):
        curves.measure(groups, _online(draw_stream(GROUPED[size], groups), LIMIT[size]))
    return curves


def _selectivity(size: Size) -> Curves:
    curves = Curves("selectivity", "%", size)
    for percent in SELECTIVITY[size]:
        stream = draw_stream(SELECTED[size], shift=shift_for(percent / 100))
        contenders: dict[str, Counting] = {
            ENGINE: engine(stream, "skip-till-any-match"),
            "COGRA": partial(mixed_grain.any_match, stream, LIMIT[size]),
            "GRETA": partial(greta.any_match, stream, LIMIT[size]),
            "two-step": partial(two_step.any_match, stream, LIMIT[size]),
        }
        curves.measure(percent, contenders)
    return curves


def _overlap(size: Size) -> Curves:
    curves = Curves("overlap", "windows per event", size)
    stream = draw_stream(OVERLAPPED[size])
    within = OVERLAPS[size][-1] * (10 if size is Size.TINY else 20)
    for overlap in OVERLAPS[size]:
        slide = within // overlap
        contenders: dict[str, Counting] = {
            ENGINE: engine(stream, "skip-till-any-match", f"WITHIN {within} s SLIDE {slide} s"),
            "COGRA": partial(_finished, stream, within, slide),
        }
        curves.measure(overlap, contenders)
    return curves


def _finished(stream: Stream, within: int, slide: int) -> np.ndarray:
    """A window without a trend has no row."""
    found = type_grain.sliding(stream, within, slide)
    return found[np.isfinite(found)]


def engine(stream: Stream, semantics: str, windows: str = "") -> Counting:
    """Counts per group, or per window; their logarithms where they are exponential."""
    any_match = semantics == "skip-till-any-match"
    wanted = "LOG2(COUNT(*))" if any_match else "COUNT(*)"
    condition = math.isfinite(stream.shift)
    grouped = stream.groups > 1
    text = f"RETURN {'g, ' if grouped else ''}{wanted} AS n PATTERN (SEQ(A+, B))+"
    text += f" SEMANTICS {semantics}"
    if condition:
        text += f" WHERE B.price + {stream.shift!r} > NEXT(A).price"
    plan = query(f"{text} {'GROUP-BY g' if grouped else ''} {windows}").plan
    fields = {"time": pa.array(stream.times), "mask": pa.array(stream.masks)}
    if grouped:
        sizes = np.diff(stream.bounds)
        fields["p0"] = pa.array(np.repeat(np.arange(stream.groups), sizes))
    operands = []
    for k, operand in enumerate(plan.scan.operands):
        shifted = "+" in operand.tree.sql() or "-" in operand.tree.sql()
        fields[f"x{k}"] = pa.array(stream.price + stream.shift if shifted else stream.price)
        operands.append(pa.float64())
    batch = pa.RecordBatch.from_pydict(fields)
    setting = Setting(plan, operands, [pa.int64()] * grouped, nanoseconds=1_000_000_000)

    def count() -> np.ndarray:
        run = Run(setting)
        run.push(batch)
        table = run.finish()
        if windows:
            return table["n"].to_numpy()
        # A group without a trend has no row.
        none = -math.inf if any_match else 0
        every = np.full(stream.groups, none, np.float64 if any_match else np.int64)
        every[table["g"].to_numpy() if grouped else slice(len(table))] = table["n"].to_numpy()
        return every

    return count


TITLES = {
    "any-match": ("skip-till-any-match (Figures 5, 8, 10)", "events per window"),
    "next-match": ("skip-till-next-match (Figures 6, 9)", "events per window"),
    "contiguous": ("contiguous (Figures 7, 11)", "events per window"),
    "groups": ("Groups, any-match (Figure 12)", "groups, of the same events"),
    "selectivity": ("A condition between B and A (Figure 13)", "selectivity, %"),
    "overlap": ("Overlapping windows, any-match", "windows that hold an event"),
}


def draw(figures: list[Figure]) -> alt.ConcatChart:
    points = [point for figure in figures for point in figure.points]
    those = [
        charts.Panel(
            title,
            x_title,
            "milliseconds",
            [point for point in points if point["panel"] == name],
            log_x=name != "selectivity",
        )
        for name, (title, x_title) in TITLES.items()
    ]
    return charts.panels(
        those,
        title="The engine among the algorithms of the literature",
        subtitle="(SEQ(A+, B))+, all compiled, one core; logarithmic scales",
    )
