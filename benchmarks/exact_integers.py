"""Exact counts of any size: right to the last digit, and soon enough.

`numbers="exact"` for `(SEQ(A+, B))+` in one window, on one core. The count of 100,000 events has
some 24,000 digits. Beside it the same recurrence with Python's integers, written by hand for this
one pattern, which is also what every digit is compared with.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from benchmarks import charts
from benchmarks.counting import plan_for
from benchmarks.events import A, as_batch, columns
from benchmarks.harness import Figure, Samples, Size, at_most, one_core, take_turns
from trendloom.bigint import as_integers
from trendloom.engine.layout import Numbers
from trendloom.engine.run import Run
from trendloom.engine.setting import Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    import altair as alt
    import pyarrow as pa

EVENTS = {
    Size.FULL: (10_000, 30_000, 100_000),
    Size.QUICK: (10_000, 30_000),
    Size.TINY: (100, 300),
}
TURNS = {Size.FULL: 3, Size.QUICK: 3, Size.TINY: 1}
LIMIT = 60.0
ENGINE, PYTHON = "Trendloom", "Python's integers, by hand"


def run(size: Size) -> list[Figure]:
    figures: list[Figure] = []
    points = []
    different = 0
    with one_core():
        for events in EVENTS[size]:
            masks, times = columns(events, ties=0.0)
            contenders = {
                ENGINE: partial(by_engine, as_batch(masks, times)),
                PYTHON: partial(by_python, masks.tolist()),
            }
            different += len({contender() for contender in contenders.values()}) - 1
            seconds = take_turns(contenders, TURNS[size], warm_up=0)
            bar = at_most(LIMIT) if events == EVENTS[size][-1] else None
            figures += [
                Figure(f"{events:,} events: {ENGINE}", seconds[ENGINE], "s", bar),
                Figure(f"{events:,} events: {PYTHON}", seconds[PYTHON], "s"),
            ]
            points += [
                {"what": who, "events": events, "s": taken.median} for who, taken in seconds.items()
            ]
    wrong = Figure(
        "counts that differ in any digit",
        Samples((float(different),)), "", at_most(0), points=tuple(points),
    )  # fmt: skip
    return [wrong, *figures]


def by_engine(batch: pa.RecordBatch) -> int:
    plan = plan_for("skip-till-any-match")
    run = Run(Setting(plan, [], [], nanoseconds=1, numbers=Numbers.EXACT))
    run.push(batch)
    (count,) = as_integers(run.finish()["trends"])
    assert count is not None
    return count


def by_python(masks: Sequence[int]) -> int:
    """COGRA's Algorithm 1."""
    a = b = 0
    for mask in masks:
        if mask == A:
            a += 1 + a + b
        else:
            b += a
    return b


def draw(figures: list[Figure]) -> alt.LayerChart:
    points = [point for figure in figures for point in figure.points]
    return charts.lines(
        points,
        x="events",
        y="s",
        series="what",
        title="Exact counts of any size",
        subtitle="(SEQ(A+, B))+, any-match, one window, one core",
        x_title="events",
        y_title="seconds, logarithmic",
        log=True,
    )
