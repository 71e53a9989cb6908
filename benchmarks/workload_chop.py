"""Queries with a common infix pay for it once: A-Seq's chop-connect, and its Figures 15 and 16.

Counts of sequences in tumbling windows, one thread. "Apart" and "shared" are the same engine over
the same batches in memory, each query by itself or as the workload's plan has it. Figure 15: three
queries `SEQ(X, A, B, Y)` by the length of windows, against sequences that are built and then
counted, by each query (as SASE) or with the common part built once (as E-Cube); both are compiled.
Figure 16: prefixes (a, b) and infixes (c, d), by the number of queries and by their length. Memory:
peaks of fresh processes that aggregate batches generated on the way.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

import trendloom as tl
from benchmarks import charts
from benchmarks.baselines.sequences import build_each, build_shared
from benchmarks.fresh import peak_of
from benchmarks.harness import Figure, Samples, Size, at_least, at_most, take_turns
from benchmarks.workload_prefixes import aggregation, events_for, query_for, same_rows
from trendloom.engine.layout import Numbers
from trendloom.workloads.running import Columns, GroupRun
from trendloom.workloads.sharing import share

if TYPE_CHECKING:
    import altair as alt

EVENTS = {Size.FULL: 1_000_000, Size.QUICK: 300_000, Size.TINY: 2_000}
BUILT = {Size.FULL: 100_000, Size.QUICK: 50_000, Size.TINY: 1_000}
GENERATED = {
    Size.FULL: (4_000_000, 16_000_000),
    Size.QUICK: (2_000_000, 8_000_000),
    Size.TINY: (2_000, 4_000),
}
WINDOWS = (100, 200, 400, 800)
COUNTS = (2, 3, 4, 5, 6)
LETTERS = "ABCDEF"
BATCH = 1 << 17
Measured = tuple[dict[str, Any], Samples]
APART, SHARED = "each query (A-Seq)", "shared"
SASE, ECUBE = "built by each (SASE)", "built once (E-Cube)"


def run(size: Size) -> list[Figure]:
    return [*_bar(size), *_figure_15(size), *_figure_16(size), *_memory(size)]


def infixes(queries: int, length: int) -> list[str]:
    middle = ", ".join(LETTERS[:length])
    return [f"SEQ(P{k}, {middle}, S{k})" for k in range(queries)]


def prefixes(queries: int, length: int) -> list[str]:
    first = ", ".join(LETTERS[:length])
    return [f"SEQ({first}, S{k})" for k in range(queries)]


def _bar(size: Size) -> list[Figure]:
    name, patterns = "3 queries, infix of 6", infixes(3, 6)
    events, queries = events_for(EVENTS[size], patterns), [query_for(p) for p in patterns]
    workload, words = tl.workload(queries), {"time": "time", "type": "type", "threads": 1}
    contenders = {
        "one scan": partial(workload.run, events, mode="never", **words),
        "workload": partial(workload.run, events, **words),
    }
    same_rows([tl.run(query, events, **words) for query in queries], contenders["workload"]())
    seconds = take_turns(contenders | aggregation(queries, events), size.turns)
    faster = seconds["aggregation, apart"] / seconds["aggregation, shared"]
    whole = seconds["one scan"] / seconds["workload"]
    return [
        Figure(f"{name}: × faster by chop-connect, aggregation", faster, "×", at_least(1.5)),
        Figure(f"{name}: × faster than one scan", whole, "×"),
        *(Figure(f"{name}: {who}, per event", one / (len(events) * 1e-9), "ns")
          for who, one in seconds.items()),
    ]  # fmt: skip


def _figure_15(size: Size) -> list[Figure]:
    patterns = infixes(3, 2)
    events = events_for(BUILT[size], patterns)
    sequences = [pattern[4:-1].split(", ") for pattern in patterns]
    types = sorted({name for sequence in sequences for name in sequence})
    names = events.column("type").combine_chunks()
    codes = np.array([types.index(name) for name in names.to_pylist()])
    wanted = np.array([[types.index(name) for name in sequence] for sequence in sequences])
    points = []
    for window in WINDOWS[: _most(size)]:
        texts = [query_for(p, f"WITHIN {window} s SLIDE {window} s") for p in patterns]
        bounds = np.append(np.arange(0, len(codes), window), len(codes))
        built = {
            SASE: partial(build_each, codes, bounds, wanted, len(types)),
            ECUBE: partial(build_shared, codes, bounds, wanted, len(types)),
        }
        ours = aggregation(texts, events)
        contenders = {
            **built,
            APART: ours["aggregation, apart"],
            SHARED: ours["aggregation, shared"],
        }
        found = [int(built[who]().sum()) for who in built]
        words = {"time": "time", "type": "type", "threads": 1}
        rows = tl.workload(texts).run(events, **words).rows()
        assert found == [sum(row["COUNT(*)"] for row in rows)] * 2
        for who, seconds in take_turns(contenders, min(3, size.turns)).items():
            points.append(
                _point(
                    "15: 3 queries, infix of 2: events of a window",
                    who,
                    window,
                    seconds,
                    len(codes),
                )
            )
    return _told(points, "Figure {panel} {x}")


def _figure_16(size: Size) -> list[Figure]:
    points, counts = [], COUNTS[: _most(size)]
    for panel, make, queries, lengths in (
        ("16a: prefix of 3: queries", prefixes, counts, (3,)),
        ("16b: 3 queries: types of the prefix", prefixes, (3,), counts),
        ("16c: 3 queries: types of the infix", infixes, (3,), counts),
        ("16d: infix of 3: queries", infixes, counts, (3,)),
    ):
        for count in queries:
            for length in lengths:
                patterns = make(count, length)
                events = events_for(EVENTS[size] // 2, patterns)
                ours = aggregation([query_for(p) for p in patterns], events)
                turns = take_turns(ours, min(3, size.turns))
                x = length if len(queries) == 1 else count
                for who, name in ((APART, "apart"), (SHARED, "shared")):
                    seconds = turns[f"aggregation, {name}"]
                    points.append(_point(panel, who, x, seconds, len(events)))
    return _told(points, "Figure {panel} {x}")


def _most(size: Size) -> int:
    """Points of a panel."""
    return 2 if size is Size.TINY else 5


def _point(panel: str, who: str, x: int, seconds: Samples, events: int) -> Measured:
    spent = seconds / (events * 1e-9)
    return {"panel": panel, "what": who, "x": x, "y": spent.median, "stopped": False}, spent


def _told(measured: list[Measured], claim: str) -> list[Figure]:
    """At each x what is shared, and how many times as long the others take."""
    shared = {(p["panel"], p["x"]): spent for p, spent in measured if p["what"] == SHARED}
    figures = []
    for point, spent in measured:
        told = f"{claim.format(**point)}: {point['what']}"
        if point["what"] == SHARED:
            figures.append(Figure(f"{told}, per event", spent, "ns", points=(point,)))
        else:
            ratio = spent / shared[point["panel"], point["x"]]
            figures.append(Figure(f"{told}, × the time", ratio, "×", points=(point,)))
    return figures


def alone(events: int) -> None:
    _aggregate(1, events)


def together(events: int) -> None:
    _aggregate(3, events)


def _aggregate(queries: int, events: int) -> None:
    patterns = infixes(3, 6)[:queries]
    plans = {f"q{n}": tl.query(query_for(text)).plan for n, text in enumerate(patterns)}
    (group,) = share(plans, "dynamic").groups
    run = GroupRun(group, Columns([], [], 1_000_000_000, Numbers.AUTO, 1))
    letters, rng = len(group.shared.scan.letters), np.random.default_rng(5)
    for at in range(0, events, BATCH):
        mask = np.left_shift(1, rng.integers(0, letters, BATCH)).astype(np.uint16)
        run.push(pa.record_batch({"time": np.arange(at, at + BATCH), "mask": mask}))
    run.finish()


def _memory(size: Size) -> list[Figure]:
    """One result row per window and query is kept: windows of 1,000 s, rows of some 40 bytes."""
    few, many = GENERATED[size]
    turns = range(min(3, size.turns))
    peaks = {
        (name, events): Samples(tuple(float(peak_of(which, events)) for _ in turns))
        for name, which in (("one query", alone), ("3 queries", together))
        for events in (few, many)
    }
    growth = peaks["3 queries", many] / peaks["3 queries", few]
    return [
        Figure(
            "peak memory, 3 queries to the largest alone",
            peaks["3 queries", many] / peaks["one query", many], "×", at_most(1.5),
        ),
        Figure(f"peak memory, {many:,} to {few:,} events", growth, "×", at_most(1.1)),
        *(Figure(f"{name}, {events:,} events: peak", peak / 1e6, "MB")
          for (name, events), peak in peaks.items()),
    ]  # fmt: skip


def draw(figures: list[Figure]) -> alt.ConcatChart:
    points = [point for figure in figures for point in figure.points]
    names = list(dict.fromkeys(point["panel"] for point in points))
    return charts.panels(
        [
            charts.Panel(
                name.rpartition(": ")[0],
                name.rpartition(": ")[2],
                "ns per event",
                [point for point in points if point["panel"] == name],
                log_x=False,
            )
            for name in names
        ],
        title="Common prefixes and infixes, after A-Seq's Figures 15 and 16",
        subtitle="Nanoseconds per event for all queries of the workload, one thread",
    )
