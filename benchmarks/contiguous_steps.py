"""A comparison with the very next event, beside merely reading the events.

COUNT(*) of contiguous `S+` with `S.price > NEXT(S).price`, in one window, events in memory, on one
core. "Reading" is `np.sum` over the three columns. numpy counts the same from the lengths of
falling runs, by hand for this one query, and its count is compared first.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from benchmarks import charts
from benchmarks.events import A
from benchmarks.harness import Figure, Size, at_most, one_core, take_turns
from trendloom import query
from trendloom.engine.run import Run
from trendloom.engine.setting import Setting

if TYPE_CHECKING:
    import altair as alt
    from numpy.typing import NDArray

    from trendloom.plan.plan import Plan

EVENTS = {
    Size.FULL: (1_000_000, 10_000_000),
    Size.QUICK: (100_000, 1_000_000),
    Size.TINY: (50, 100),
}
TEXT = "RETURN COUNT(*) AS n PATTERN S+ SEMANTICS contiguous WHERE S.price > NEXT(S).price"

CAUSES = {
    "engine to reading": "besides the fold, ties are looked for and the condition is told, each a"
    " pass over columns"
}


def run(size: Size) -> list[Figure]:
    plan = query(TEXT).plan
    figures: list[Figure] = []
    with one_core():
        for events in EVENTS[size]:
            price = np.random.default_rng(3).random(events)
            time, mask = np.arange(events), np.full(events, A, np.uint8)
            batch = pa.RecordBatch.from_arrays(
                [pa.array(time), pa.array(mask), pa.array(price)], names=["time", "mask", "x0"]
            )
            if by_engine(plan, batch) != by_numpy(price):
                raise AssertionError(f"{events:,} events: numpy counts other trends")
            contenders = {
                "reading": partial(_read, time, mask, price),
                "engine": partial(by_engine, plan, batch),
                "numpy, by hand": partial(by_numpy, price),
            }
            seconds = take_turns(contenders, size.turns)
            last = events == EVENTS[size][-1]
            figures.append(
                Figure(
                    f"engine to reading, {events:,} events",
                    seconds["engine"] / seconds["reading"],
                    "×",
                    at_most(10) if last else None,
                )
            )
            figures += [
                Figure(f"{who}, {events:,} events", taken / (events * 1e-9), "ns/event",
                       label=f"{who}, {events:,}")
                for who, taken in seconds.items()
            ]  # fmt: skip
    return figures


def _read(*columns: NDArray[np.generic]) -> list[object]:
    return [np.sum(column) for column in columns]


def by_engine(plan: Plan, batch: pa.RecordBatch) -> int:
    run = Run(Setting(plan, [pa.float64()], [], nanoseconds=1))
    run.push(batch)
    (row,) = run.finish().to_pylist()
    return int(row["n"])


def by_numpy(price: NDArray[np.float64]) -> int:
    """A falling run of k events holds k (k + 1) / 2 trends."""
    breaks = np.flatnonzero(price[:-1] <= price[1:]) + 1
    runs = np.diff(np.concatenate([[0], breaks, [len(price)]]))
    return int((runs * (runs + 1) // 2).sum())


def draw(figures: list[Figure]) -> alt.LayerChart:
    return charts.bars(
        figures,
        title="A comparison with the very next event",
        subtitle="S+ with S.price > NEXT(S).price, contiguous, one core",
        axis="ns per event, logarithmic",
        log=True,
    )
