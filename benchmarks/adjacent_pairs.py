"""Conditions that no single order of values tells: how many pairs of neighbours per second.

`A+` with a condition on A and NEXT(A) in one window, on one core. The events double from one line
to the next: time fourfold means every pair is looked at, time a little more than twofold that pairs
are told by halves of time. Pairs are all that there are, looked at or not.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from benchmarks import charts
from benchmarks.events import A
from benchmarks.harness import Figure, Samples, Size, one_core, take_turns
from benchmarks.lookups import every_pair
from trendloom import query
from trendloom.engine.run import Run
from trendloom.engine.setting import Setting

if TYPE_CHECKING:
    import altair as alt

    from trendloom.plan.plan import Plan

SCANNED = {Size.FULL: (10_000, 20_000), Size.QUICK: (5_000, 10_000), Size.TINY: (50, 100)}
HALVED = {Size.FULL: (100_000, 200_000), Size.QUICK: (50_000, 100_000), Size.TINY: (50, 100)}
SCAN = "expression"
HALVES = "two comparisons"
CONDITIONS = {
    HALVES: ("A.x < NEXT(A).x AND A.y > NEXT(A).y", HALVED),
    SCAN: ("A.x * 2 < NEXT(A).x + 1 OR A.x = NEXT(A).x", SCANNED),
}


def run(size: Size) -> list[Figure]:
    figures = []
    with one_core():
        for name, (condition, events) in CONDITIONS.items():
            few, many = events[size]
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
            if name == HALVES:
                figures += _against_pairs(plan, size, seconds[few])
    return figures


def _against_pairs(plan: Plan, size: Size, halves: Samples) -> list[Figure]:
    """Every pair is looked at in fewer events; the time for all of them grows with the square."""
    scanned, halved = SCANNED[size][0], HALVED[size][0]
    batch = _events(plan, scanned)
    contenders = {"pairs": partial(_scan, plan, batch), "halves": partial(_count, plan, batch)}
    seconds = take_turns(contenders, size.turns)
    faster = seconds["pairs"] / seconds["halves"]
    slow = seconds["pairs"].median * (halved / scanned) ** 2
    return [
        Figure(f"{HALVES}: {scanned:,} events, × faster than every pair", faster, "×"),
        Figure(
            f"{HALVES}: {halved:,} events, × faster than every pair, put up by the square",
            Samples(tuple(slow / value for value in halves.values)),
            "×",
        ),
    ]


def _events(plan: Plan, events: int) -> pa.RecordBatch:
    """A column per operand, each of its own."""
    rng = np.random.default_rng(3)
    fields = {"time": pa.array(np.arange(events)), "mask": pa.array(np.full(events, A, np.uint8))}
    fields |= {f"x{k}": pa.array(rng.random(events)) for k in range(len(plan.scan.operands))}
    return pa.RecordBatch.from_pydict(fields)


def _scan(plan: Plan, batch: pa.RecordBatch) -> None:
    with every_pair():
        _count(plan, batch)


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
