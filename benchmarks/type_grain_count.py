"""Counting exponentially many trends costs little more than reading the events.

COUNT(*) of `(SEQ(A+, B))+` with events in memory, 9 bytes each, on one core. "Reading" is `np.sum`
over both columns, the least that any program can do with them. "Same table" is the kernel's own
algorithm in plain Python; "by hand" is what one would write for this pattern alone.
"""

from __future__ import annotations

import math
import os
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import charts
from benchmarks.counting import (
    by_engine,
    by_hand_in_python,
    by_kernel,
    by_table_in_python,
    plan_for,
)
from benchmarks.events import BATCH, as_batch, columns
from benchmarks.harness import Figure, Size, at_least, at_most, one_core, take_turns

if TYPE_CHECKING:
    import altair as alt
    from numpy.typing import NDArray

EVENTS = {Size.FULL: 100_000_000, Size.QUICK: 20_000_000, Size.TINY: 2_000}
PYTHON_EVENTS = {Size.FULL: 500_000, Size.QUICK: 200_000, Size.TINY: 500}
MOST = {"any-match": 4, "next-match": 15, "contiguous": 15}
"""Times the reading."""
SEMANTICS = {
    # Next-match without ties: every tie doubles the trends, and 64-bit counts soon overflow.
    "any-match": ("skip-till-any-match", 0.05),
    "next-match": ("skip-till-next-match", 0.0),
    "contiguous": ("contiguous", 0.05),
}

CAUSES = {
    "any-match: Python, by hand": "written for one pattern, it does a third of the table's work",
    "next-match: Python, same table": "clearing what was extended costs the kernel half as much"
    " again as any-match, and Python only a tenth",
    "contiguous: Python, same table": "clearing what was extended costs the kernel half as much"
    " again as any-match, and Python only a tenth",
}


def run(size: Size) -> list[Figure]:
    events = min(EVENTS[size], _room())
    print(f"  {events:,} events")
    figures = []
    with one_core():
        for name, (semantics, ties) in SEMANTICS.items():
            figures += _race(name, semantics, *columns(events, ties), size)
    return figures


def _room() -> int:
    """Events of which columns, and as much again for what numpy makes on the way, fit memory."""
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1_000, free // 20)


def _race(
    name: str, semantics: str, masks: NDArray[np.uint8], times: NDArray[np.int64], size: Size
) -> list[Figure]:
    plan = plan_for(semantics)
    events = len(masks)
    batches = [
        as_batch(masks[k : k + BATCH], times[k : k + BATCH]) for k in range(0, events, BATCH)
    ]
    contenders = {
        "reading": lambda: (np.sum(masks), np.sum(times)),
        "kernel": partial(by_kernel, plan, masks, times),
        "engine": partial(by_engine, plan, batches),
    }
    few = min(events, PYTHON_EVENTS[size])
    some_masks, some_times = masks[:few].tolist(), times[:few].tolist()
    slow = {"Python, same table": partial(by_table_in_python, plan, some_masks, some_times)}
    if name == "any-match":
        slow["Python, by hand"] = partial(by_hand_in_python, some_masks, some_times)
    _same(contenders["kernel"](), contenders["engine"]()["log2"])
    for count in slow.values():
        _same(by_kernel(plan, masks[:few], times[:few]), count())

    seconds = take_turns(contenders | slow, size.turns)
    per_event = {
        who: samples / (few if who in slow else events) for who, samples in seconds.items()
    }
    reading, kernel = per_event["reading"], per_event["kernel"]
    figures = [
        Figure(f"{name}: kernel to reading", kernel / reading, "×", at_most(MOST[name])),
        Figure(f"{name}: engine to reading", per_event["engine"] / reading, "×"),
        *(
            Figure(f"{name}: {who}, to kernel", per_event[who] / kernel, "×", at_least(100))
            for who in slow
        ),
    ]
    return figures + [
        Figure(f"{name}: {who}", cost * 1e9, "ns/event", label=f"{name}: {who}")
        for who, cost in per_event.items()
    ]


def _same(one: float, other: float) -> None:
    if not math.isclose(one, other, rel_tol=1e-9):
        raise AssertionError(f"Two roads to one count disagree: 2**{one} and 2**{other}")


def draw(figures: list[Figure]) -> alt.LayerChart:
    return charts.bars(
        figures,
        title="Counting all trends, one core",
        subtitle="(SEQ(A+, B))+, nanoseconds per event",
        axis="ns per event, logarithmic",
        log=True,
    )
