"""Two threads against one: many keys go to threads whole, one key is cut in time.

The engine alone, over sorted batches in memory, `(SEQ(A+, B))+` under skip-till-any-match unless
said otherwise. Keys (or windows) are shared out; the only run of one key is cut, and an event of
its second piece costs more in a map than one of its first does in a vector, which is why that
gains less. Counts of two states are left whole for two threads.
The first line is a control: what the machine gives to two threads that share nothing, at that time.
"""

from __future__ import annotations

import hashlib
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from benchmarks import charts, events
from benchmarks.harness import Figure, Size, at_least, take_turns
from trendloom import query
from trendloom.engine.machine import usable_cores
from trendloom.engine.run import Run
from trendloom.engine.setting import Setting
from trendloom.engine.threads import together

if TYPE_CHECKING:
    import altair as alt

    from trendloom.plan.plan import Plan

EVENTS = {Size.FULL: 8_000_000, Size.QUICK: 2_000_000, Size.TINY: 100_000}
KEYS = 1_000
TICK = 1_000_000
BOTH = "COUNT(*), SUM(A.value)"
BY_KEY = "WHERE [key] GROUP-BY key"
QUERIES = {
    f"{KEYS:,} keys, COUNT and SUM": (
        KEYS, f"RETURN {BOTH} PATTERN (SEQ(A+, B))+ {BY_KEY}", at_least(1.7), 1,
    ),
    f"{KEYS:,} keys, COUNT": (KEYS, f"RETURN COUNT(*) PATTERN (SEQ(A+, B))+ {BY_KEY}", None, 1),
    f"{KEYS:,} keys, A.value < NEXT(A).value": (
        KEYS,
        "RETURN COUNT(*) PATTERN SEQ(A+, B) WHERE [key] AND A.value < NEXT(A).value GROUP-BY key",
        None, 4,
    ),
    f"{KEYS:,} keys, NOT": (
        KEYS, f"RETURN COUNT(*) PATTERN SEQ(A, NOT B, A z) SEMANTICS next {BY_KEY}", None, 4,
    ),
    "one key, COUNT": (1, "RETURN COUNT(*) PATTERN (SEQ(A+, B))+", at_least(1.7), 1),
    "one key, COUNT and SUM": (1, f"RETURN {BOTH} PATTERN (SEQ(A+, B))+", None, 1),
    "one key, COUNT, contiguous": (
        1, "RETURN COUNT(*) PATTERN (SEQ(A+, B))+ SEMANTICS contiguous", None, 1,
    ),
    "one key, 60 overlapping windows": (
        1, f"RETURN {BOTH} PATTERN (SEQ(A+, B))+ WITHIN 60000 ms SLIDE 1000 ms", None, 1,
    ),
}  # fmt: skip
"""Keys, query, bar, and how much less work it gets."""

CAUSES = {
    "1,000 keys, COUNT and SUM": "the kernel takes a third of the time it once took, so that what "
    "one thread does for all, making chunks and rows, weighs more; the control gains 1.76 ×",
    "one key, COUNT:": "not cut for two threads: a batch of a million events is counted in a few "
    "milliseconds, and a second thread for half of them lost a fifth",
}


def run(size: Size) -> list[Figure]:
    print(f"  {usable_cores()} usable cores")
    figures = [_control(size)]
    for name, (keys, text, bar, less) in QUERIES.items():
        count = EVENTS[size] // less
        batches = _batches(count, keys)
        plan = query(text).plan
        contenders = {threads: partial(_run, plan, keys, batches, threads) for threads in (1, 2)}
        seconds = take_turns(contenders, size.turns)
        ratio = seconds[1] / seconds[2]
        figures.append(Figure(f"{name}: × faster on two threads", ratio, "×", bar, label=name))
        figures += [
            Figure(f"{name}: {threads} thread{'s'[: threads > 1]}, per event", spent, "ns")
            for threads, spent in ((t, s / (count * 1e-9)) for t, s in seconds.items())
        ]
    return figures


def _control(size: Size) -> Figure:
    """Hashing holds no lock either, and needs nothing but a core."""
    data = bytes(EVENTS[size])
    job = partial(hashlib.sha256, data)
    contenders = {1: lambda: (job(), job()), 2: lambda: together([job, job])}
    seconds = take_turns(contenders, size.turns)
    name = "control, hashing"
    return Figure(f"{name}: × faster on two threads", seconds[1] / seconds[2], "×", label=name)


def _batches(count: int, keys: int) -> list[pa.RecordBatch]:
    """Sorted by key and time."""
    rng = np.random.default_rng(3)
    masks, times = events.columns(count, ties=0.05)
    columns = {} if keys == 1 else {"p0": pa.array(np.arange(count) * keys // count)}
    columns |= {
        "time": pa.array(times),
        "mask": pa.array(masks),
        "x0": pa.array(rng.random(count)),
    }
    whole = pa.RecordBatch.from_pydict(columns)
    return [whole.slice(at, events.BATCH) for at in range(0, count, events.BATCH)]


def _run(plan: Plan, keys: int, batches: list[pa.RecordBatch], threads: int) -> pa.Table:
    operands = [pa.float64()] * len(plan.scan.operands)
    setting = Setting(plan, operands, [pa.int64()] * (keys > 1), TICK, threads=threads)
    running = Run(setting)
    for batch in batches:
        running.push(batch)
    table = running.finish()
    assert table.num_rows > 0
    return table


def draw(figures: list[Figure]) -> alt.LayerChart:
    return charts.bars(
        figures,
        title="Two threads against one",
        subtitle="The engine alone, events in memory",
        axis="× faster",
    )
