"""A condition that is no lookup by value is checked pair by pair: how many pairs per second.

`A+` with a condition on A and NEXT(A) in one window, on one core. The events double from one line
to the next: time fourfold means every pair is looked at, time twofold means an index is at work.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from benchmarks import charts
from benchmarks.events import A
from benchmarks.harness import Figure, Samples, Size, one_core, take_turns
from trendloom import query
from trendloom.engine.run import Run
from trendloom.engine.setting import Setting

if TYPE_CHECKING:
    import altair as alt

    from trendloom.plan.plan import Plan

EVENTS = {Size.FULL: (10_000, 20_000), Size.QUICK: (5_000, 10_000), Size.TINY: (50, 100)}
CONDITIONS = {
    "two comparisons": "A.x < NEXT(A).x AND A.x + 0.5 > NEXT(A).x",
    "expression": "A.x * 2 < NEXT(A).x + 1 OR A.x = NEXT(A).x",
}


def run(size: Size) -> list[Figure]:
    figures = []
    few, many = EVENTS[size]
    with one_core():
        for name, condition in CONDITIONS.items():
            plan = query(f"RETURN LOG2(COUNT(*)) PATTERN A+ WHERE {condition}").plan
            contenders = {n: partial(_count, plan, _events(plan, n)) for n in (few, many)}
            seconds = take_turns(contenders, size.turns)
            for n in (few, many):
                per_pair = seconds[n] / (n * (n - 1) / 2)
                rate = Samples(tuple(1 / value for value in per_pair.values))
                who = f"{name}, {n:,} events"
                figures.append(Figure(who, rate, "pairs/s", label=who))
            growth = seconds[many] / seconds[few]
            figures.append(Figure(f"{name}: time for twice the events", growth, "×"))
    return figures


def _events(plan: Plan, events: int) -> pa.RecordBatch:
    x = np.random.default_rng(3).random(events)
    fields = {"time": pa.array(np.arange(events)), "mask": pa.array(np.full(events, A, np.uint8))}
    fields |= {f"x{k}": pa.array(x) for k in range(len(plan.scan.operands))}
    return pa.RecordBatch.from_pydict(fields)


def _count(plan: Plan, batch: pa.RecordBatch) -> None:
    run = Run(Setting(plan, [pa.float64()] * len(plan.scan.operands), [], nanoseconds=1))
    run.push(batch)
    assert run.finish().num_rows == 1


def draw(figures: list[Figure]) -> alt.LayerChart:
    return charts.bars(
        figures,
        title="Conditions between neighbours",
        subtitle="Pairs of events per second, one core",
        axis="million pairs per second",
        unit=1e6,
    )
