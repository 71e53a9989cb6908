"""A comparison between neighbours is looked up by value: against every pair, and against sorting.

`S+` with `S.price > NEXT(S).price` in one window, on one core. What every pair costs is measured on
fewer events and grows with their square; sorting is `np.argsort` of the same doubles.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from math import log
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from benchmarks import charts
from benchmarks.events import A
from benchmarks.harness import Figure, Samples, Size, at_least, at_most, one_core, take_turns
from trendloom import query
from trendloom.engine.evaluate import Evaluator
from trendloom.engine.run import Run
from trendloom.engine.setting import Setting

if TYPE_CHECKING:
    from collections.abc import Iterator

    import altair as alt

    from trendloom.plan.plan import Plan

EVENTS = {
    Size.FULL: (100_000, 1_000_000, 10_000_000),
    Size.QUICK: (100_000, 1_000_000),
    Size.TINY: (50, 100),
}
SCANNED = {Size.FULL: 100_000, Size.QUICK: 20_000, Size.TINY: 50}
TEXT = "RETURN LOG2(COUNT(*)) PATTERN S+ SEMANTICS {} WHERE S.price > NEXT(S).price"
SEMANTICS = {"any-match": "skip-till-any-match", "next-match": "skip-till-next-match"}

CAUSES = {
    "any-match: 1,000,000": "events are split, summed and told on fourteen levels of halves, and on"
    " the upper ones counts are fetched at random from beyond the second-level cache; ranking is an"
    " eighth of the time; numpy sorts with vector instructions",
    "any-match: growth": "seven more levels of halves from 10^5 to 10^7 events, the upper ones"
    " larger than the caches",
}


def run(size: Size) -> list[Figure]:
    figures = []
    counts = EVENTS[size]
    few, many = counts[0], counts[1]
    with one_core():
        for name, semantics in SEMANTICS.items():
            plan = query(TEXT.format(semantics)).plan
            price = {n: np.random.default_rng(3).random(n) for n in counts}
            contenders = {n: partial(_count, plan, _events(price[n])) for n in counts}
            seconds = take_turns(contenders, size.turns)
            sorting = take_turns(
                {
                    "lookups": contenders[many],
                    "argsort": partial(np.argsort, price[many]),
                },
                size.turns,
            )
            for n in counts:
                rate = Samples(tuple(n / value for value in seconds[n].values))
                figures.append(
                    Figure(f"{name}, {n:,} events", rate, "events/s", label=f"{name}, {n:,}")
                )
            figures.append(
                Figure(
                    f"{name}: {many:,} events, × the time of np.argsort",
                    sorting["lookups"] / sorting["argsort"],
                    "×",
                    at_most(2),
                )
            )
            last = counts[-1]
            powers = tuple(
                log(a / b) / log(last / few)
                for a, b in zip(seconds[last].values, seconds[few].values, strict=True)
            )
            figures.append(
                Figure(
                    f"{name}: growth, as a power of the events", Samples(powers), "", at_most(1.15)
                )
            )
            if name == "any-match":
                figures.append(_against_pairs(plan, size, seconds[few]))
    return figures


def _against_pairs(plan: Plan, size: Size, lookups: Samples) -> Figure:
    """Every pair at `scanned` events, put up to as many events as were looked up."""
    scanned, few = SCANNED[size], EVENTS[size][0]
    batch = _events(np.random.default_rng(3).random(scanned))
    with every_pair():
        pairs = take_turns({"pairs": partial(_count, plan, batch)}, 1, warm_up=0)["pairs"]
    slow = pairs.median * (few / scanned) ** 2
    faster = Samples(tuple(slow / value for value in lookups.values))
    return Figure(
        f"any-match: {few:,} events, × faster than every pair", faster, "×", at_least(1_000)
    )


@contextmanager
def every_pair() -> Iterator[None]:
    """The engine without lookups."""
    looked_up = Evaluator.ranks
    Evaluator.ranks = property(lambda _: False)  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        Evaluator.ranks = looked_up  # type: ignore[method-assign]


def _events(price: np.ndarray) -> pa.RecordBatch:
    count = len(price)
    mask = np.full(count, A, np.uint8)
    return pa.RecordBatch.from_arrays(
        [pa.array(np.arange(count)), pa.array(mask), pa.array(price)], names=["time", "mask", "x0"]
    )


def _count(plan: Plan, batch: pa.RecordBatch) -> None:
    run = Run(Setting(plan, [pa.float64()], [], nanoseconds=1))
    run.push(batch)
    assert run.finish().num_rows == 1


def draw(figures: list[Figure]) -> alt.LayerChart:
    return charts.bars(
        figures,
        title="Conditions looked up by value",
        subtitle="Events per second, one core",
        axis="million events per second",
        unit=1e6,
    )
