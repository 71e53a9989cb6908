"""Overlapping windows cost an event once: against tumbling ones, and against a counter per START.

On one core. `WITHIN … SLIDE …` counts `(SEQ(A+, B))+` in windows that overlap 60 times, beside
tumbling windows of the same length and beside one vector per window. `WITHIN` without `SLIDE`
counts `SEQ(A, B)` after every event, beside A-Seq's Start Event Marking (`baselines/sem.py`), which
keeps a counter for each START event that is not too old. The engine's time includes result rows.

`A+` with `A.x < NEXT(A).x` in overlapping windows, which are lanes of one tree, is beside one
window after another and beside tumbling windows of the same length.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from benchmarks import charts, events
from benchmarks.baselines import sem
from benchmarks.harness import Figure, Samples, Size, at_least, at_most, one_core, take_turns
from trendloom import query
from trendloom.engine import searching
from trendloom.engine.run import Run
from trendloom.engine.setting import Setting
from trendloom.engine.sliding import Panes

if TYPE_CHECKING:
    from collections.abc import Iterator

    import altair as alt

    from trendloom.plan.plan import Plan

OVERLAP = 60
EVENTS = {Size.FULL: 4_000_000, Size.QUICK: 1_000_000, Size.TINY: 600}
SLIDE = {Size.FULL: 1_000, Size.QUICK: 1_000, Size.TINY: 1}
SEMANTICS = {
    "any-match": "skip-till-any-match",
    "next-match": "skip-till-next-match",
    "contiguous": "contiguous",
}
SLIDING = "RETURN COUNT(*) PATTERN (SEQ(A+, B))+ SEMANTICS {} WITHIN {} ms SLIDE {} ms"
CHANGES = "RETURN COUNT(*) AS trends PATTERN SEQ(A, B) WITHIN {} ms"
LIVE = (100, 1_000, 10_000)
"""START events in a window."""
COMPARED = "RETURN COUNT(*){} PATTERN A+ WHERE A.x < NEXT(A).x WITHIN {} ms SLIDE {} ms"
LANES = (12, 60)
"""Windows that overlap."""
COMPARED_WITHIN = {Size.FULL: 6_000, Size.QUICK: 1_200, Size.TINY: 60}
CHANGED = {Size.FULL: 200_000, Size.QUICK: 100_000, Size.TINY: 300}

CAUSES = {
    "WITHIN alone, 10,000 START events live, × faster": "met on an AMD EPYC (50 ×): there the "
    "counters took 23 µs per event and ours 0.47, on this Intel Xeon 21 and 0.57",
}


def run(size: Size) -> list[Figure]:
    with one_core():
        figures = [figure for name in SEMANTICS for figure in _sliding(name, size)]
        return [*figures, *_changes(size), *_compared(size)]


def _sliding(name: str, size: Size) -> list[Figure]:
    count, slide = EVENTS[size], SLIDE[size]
    # Simultaneous events are choices, and choices beside choices do not fit 64 bits.
    ties = 0.0 if name == "next-match" else 0.05
    batches = list(events.batches(count, ties))
    within = OVERLAP * slide
    plans = {
        kind: query(SLIDING.format(SEMANTICS[name], within, every)).plan
        for kind, every in (("overlapping", slide), ("tumbling", within))
    }
    seconds = take_turns(
        {kind: partial(_run, plan, batches) for kind, plan in plans.items()}, size.turns
    )
    with _vectors():
        slow = take_turns({"vectors": partial(_run, plans["overlapping"], batches)}, 1, warm_up=0)
    rates = {
        f"{name}, {kind}": Samples(tuple(count / value for value in samples.values))
        for kind, samples in (*seconds.items(), ("a vector per window", slow["vectors"]))
    }
    figures = [
        Figure(f"{label}: {count:,} events", rate, "events/s", label=label)
        for label, rate in rates.items()
    ]
    figures.append(
        Figure(
            f"{name}: {OVERLAP} overlapping windows, × the time of tumbling ones",
            seconds["overlapping"] / seconds["tumbling"],
            "×",
            at_most(3),
        )
    )
    return figures


def _changes(size: Size) -> list[Figure]:
    figures = []
    count = CHANGED[size]
    masks, times = events.columns(count, ties=0.0)
    batch = events.as_batch(masks, times)
    spent: dict[int, Samples] = {}
    for live in LIVE:
        # Every other event is a START.
        within = 2 * live
        plan = query(CHANGES.format(within)).plan
        seconds = take_turns(
            {
                "maps": partial(_run, plan, [batch]),
                "SEM": partial(sem.counts, plan, masks, times, within),
            },
            size.turns,
        )
        spent[live] = seconds["maps"] / (count * 1e-9)
        figures.append(
            Figure(f"WITHIN alone, {live:,} START events live, per event", spent[live], "ns")
        )
        figures.append(
            Figure(
                f"WITHIN alone, {live:,} START events live, × faster than a counter for each",
                seconds["SEM"] / seconds["maps"],
                "×",
                at_least(50) if live == LIVE[-1] else None,
            )
        )
    figures.append(
        Figure(
            f"WITHIN alone, {LIVE[-1]:,} START events live, × the time of {LIVE[0]:,}",
            spent[LIVE[-1]] / spent[LIVE[0]],
            "×",
            at_most(2),
        )
    )
    return figures


def _compared(size: Size) -> list[Figure]:
    figures = []
    within = COMPARED_WITHIN[size]
    count = 10 * within
    for what, also in (("counted", ""), ("counted and summed", ", SUM(A.x)")):
        for overlap in LANES:
            plans = {
                kind: query(COMPARED.format(also, within, every)).plan
                for kind, every in (("lanes", within // overlap), ("tumbling", within))
            }
            batch = _valued(plans["lanes"], count)
            seconds = take_turns(
                {
                    "lanes": partial(_run, plans["lanes"], [batch]),
                    "one by one": partial(_one_by_one, plans["lanes"], batch),
                    "tumbling": partial(_run, plans["tumbling"], [batch]),
                },
                size.turns,
            )
            name = f"comparison inside, {what}, {overlap} overlapping windows"
            figures += [
                Figure(
                    f"{name}, × faster than one by one",
                    seconds["one by one"] / seconds["lanes"],
                    "×",
                ),
                Figure(
                    f"{name}, × the time of tumbling ones",
                    seconds["lanes"] / seconds["tumbling"],
                    "×",
                ),
            ]
    return figures


def _valued(plan: Plan, count: int) -> pa.RecordBatch:
    """Events A, one after another, with values in no order."""
    random = np.random.default_rng(3)
    fields = {"time": np.arange(count), "mask": np.ones(count, np.uint8)}
    x = random.random(count)
    fields |= {f"x{k}": x for k in range(len(plan.scan.operands))}
    return pa.RecordBatch.from_pydict(fields)


def _one_by_one(plan: Plan, batch: pa.RecordBatch) -> pa.Table:
    """The engine with a tree for each window."""
    choose = searching.stretches_of
    searching.stretches_of = lambda *_: None  # type: ignore[assignment]
    try:
        return _run(plan, [batch])
    finally:
        searching.stretches_of = choose


@contextmanager
def _vectors() -> Iterator[None]:
    """The engine without maps of panes."""
    pay = Panes.pay
    Panes.pay = lambda *_: False  # type: ignore[method-assign]
    try:
        yield
    finally:
        Panes.pay = pay  # type: ignore[method-assign]


def _run(plan: Plan, batches: list[pa.RecordBatch]) -> pa.Table:
    types = [pa.float64()] * len(plan.scan.operands)
    run = Run(Setting(plan, types, [], nanoseconds=1_000_000))
    for batch in batches:
        run.push(batch)
    table = run.finish()
    assert table.num_rows > 0
    return table


def same_counts(count: int, within: int) -> bool:
    """Whether the engine's rows are where the reference changes, and what it changes to."""
    masks, times = events.columns(count, ties=0.0)
    plan = query(CHANGES.format(within)).plan
    table = _run(plan, [events.as_batch(masks, times)])
    rows = dict(zip(table["window_end"].to_pylist(), table["trends"].to_pylist(), strict=True))
    found = sem.counts(plan, masks, times, within)
    # Times are consecutive: whatever expires does so when another event arrives, but at the end.
    before = np.concatenate([[0], found[:-1]])
    told = {int(t): int(n) for t, n, old in zip(times, found, before, strict=True) if n != old}
    return {t: n for t, n in rows.items() if t <= times[-1]} == told


def draw(figures: list[Figure]) -> alt.LayerChart:
    return charts.bars(
        figures,
        title="Windows that overlap 60 times",
        subtitle="Events per second, one core",
        axis="million events per second",
        unit=1e6,
        log=True,
    )
