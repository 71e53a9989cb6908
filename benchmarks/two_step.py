"""Building every trend takes exponential time; counting them without building does not notice.

The naive way (`baselines/two_step.py`) is compiled too and keeps only the trend at hand, so it is
faster than any system that stores the trends between the two steps.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import charts
from benchmarks.baselines.two_step import count_trends
from benchmarks.counting import by_engine, plan_for
from benchmarks.events import A, B, as_batch
from benchmarks.harness import Figure, Samples, Size, at_most, one_core, take_turns

if TYPE_CHECKING:
    from collections.abc import Callable

    import altair as alt

EVENTS = {Size.FULL: range(10, 26), Size.QUICK: range(10, 26), Size.TINY: range(10, 13)}
NAIVE, ENGINE = "two-step", "engine"


def run(size: Size) -> list[Figure]:
    plan = plan_for("skip-till-any-match")
    contenders: dict[tuple[str, int], Callable[[], object]] = {}
    trends: dict[int, int] = {}
    different = 0
    for events in EVENTS[size]:
        masks = np.where(np.arange(1, events + 1) % 4, A, B).astype(np.uint8)
        times = np.arange(events)
        trends[events] = count_trends(masks, times)
        batch = as_batch(masks, times)
        different += trends[events] != by_engine(plan, [batch])["trends"]
        contenders[NAIVE, events] = partial(count_trends, masks, times)
        contenders[ENGINE, events] = partial(by_engine, plan, [batch])
    with one_core():
        # Most of them take a millisecond or less, so many turns are needed and cost little.
        # The engine's stand together, behind one that does not count: a long enumeration leaves
        # the caches cold, and whoever follows it would pay for that.
        unheeded = {("", 0): contenders[ENGINE, EVENTS[size][0]]}
        costs = take_turns(unheeded | dict(sorted(contenders.items())), size.turns * 5)
        del costs["", 0]
    points = tuple(
        {"what": name, "events": events, "ms": cost.median * 1e3, "trends": trends[events]}
        for (name, events), cost in costs.items()
    )
    first, last = EVENTS[size][0], EVENTS[size][-1]
    growth = {name: costs[name, last] / costs[name, first] for name in (NAIVE, ENGINE)}
    span = f"from {first} to {last} events"
    return [
        Figure("counts that differ", Samples((float(different),)), "", at_most(0), points=points),
        Figure(f"engine: growth {span}", growth[ENGINE], "×", at_most(2)),
        Figure(f"two-step: growth {span}", growth[NAIVE], "×"),
        *(Figure(f"{last} events: {n}", costs[n, last] * 1e3, "ms") for n in (NAIVE, ENGINE)),
    ]


def draw(figures: list[Figure]) -> alt.LayerChart:
    points = [point for figure in figures for point in figure.points]
    return charts.lines(
        points,
        x="events",
        y="ms",
        series="what",
        title="Counting trends with and without building them",
        subtitle="(SEQ(A+, B))+ over A A A B A A A B …, any-match, both compiled, one core",
        x_title="events",
        y_title="milliseconds, logarithmic",
        log=True,
    )
