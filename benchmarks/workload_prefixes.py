"""Many queries cost little more than one: one scan for all, and what they begin with is shared.

Counts of sequences in tumbling windows of 1,000 s, events as an Arrow table in memory, one thread,
from the events to the rows. "One after another" is `run` for each query; "one scan" is the workload
with mode="never", which shares the scan and nothing else; "aggregation" is what comes after the
scan, over its batches in memory. Types inside of a sequence are four times as frequent as those
that queries differ in.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

import trendloom as tl
from benchmarks import charts
from benchmarks.harness import Figure, Samples, Size, at_least, at_most, take_turns
from trendloom.engine.layout import Numbers
from trendloom.hosts.local.beginning import begin_scan
from trendloom.hosts.local.sources import open_events
from trendloom.hosts.scan.reading import Reading
from trendloom.workloads.running import Columns, GroupRun
from trendloom.workloads.sharing import share

if TYPE_CHECKING:
    from collections.abc import Callable

    import altair as alt

    from trendloom.workloads.sharing import Group

EVENTS = {Size.FULL: 2_000_000, Size.QUICK: 500_000, Size.TINY: 2_000}
GROWTH = (5, 10, 25, 50, 100)
WINDOW = "WITHIN 1000 s SLIDE 1000 s"
OFTEN = 4
STARTS_ENDS = [f"SEQ(S{i}, A, B, C, E{j})" for i in range(5) for j in range(5)]
MANY = [f"SEQ(S{i}, A, B, C, E{j})" for j in range(10) for i in range(10)]
CAUSES = {
    "3 queries, prefix of 6: × faster than one": "a query alone takes events in order as they are"
    " read, a workload sorts them still; read as they are, it was 2.9 × in a trial",
}


def run(size: Size) -> list[Figure]:
    figures = _race(size, "3 queries, prefix of 6", [f"SEQ(A, B, C, D, E, F, {x})" for x in "XYZ"])
    figures += _race(size, "6 queries, prefix of 3", [f"SEQ(A, B, C, {x})" for x in "UVWXYZ"])
    figures += _race(size, "25 queries, 5 starts, 5 ends", STARTS_ENDS)
    return [*figures, *_growth(size)]


FASTER = "× faster than one after another"
SHARED = "× faster by shared prefixes, aggregation"
BARS = {
    "3 queries, prefix of 6": {FASTER: at_least(2.5), SHARED: at_least(2.5)},
    "6 queries, prefix of 3": {FASTER: at_least(2), SHARED: at_least(2)},
    "25 queries, 5 starts, 5 ends": {"all to one": at_most(3)},
}


def _race(size: Size, name: str, patterns: list[str]) -> list[Figure]:
    events, queries = events_for(EVENTS[size], patterns), [query_for(p) for p in patterns]
    workload = tl.workload(queries)
    options = {"time": "time", "type": "type", "threads": 1}
    contenders = {
        "one query": partial(tl.run, queries[0], events, **options),
        "one after another": lambda: [tl.run(query, events, **options) for query in queries],
        "one scan": partial(workload.run, events, mode="never", **options),
        "workload": partial(workload.run, events, **options),
    }
    same_rows(contenders["one after another"](), contenders["workload"](), contenders["one scan"]())
    contenders |= aggregation(queries, events)
    seconds = take_turns(contenders, size.turns)
    all_of_them = seconds["workload"]
    ratios = {
        FASTER: seconds["one after another"] / all_of_them,
        "all to one": all_of_them / seconds["one query"],
        "× faster than one scan": seconds["one scan"] / all_of_them,
        SHARED: seconds["aggregation, apart"] / seconds["aggregation, shared"],
    }
    return [
        Figure(f"{name}: {told}", ratio, "×", BARS[name].get(told))
        for told, ratio in ratios.items()
    ] + [
        Figure(f"{name}: {who}, per event", spent / (len(events) * 1e-9), "ns",
               label=f"{name}: {who}")
        for who, spent in seconds.items()
    ]  # fmt: skip


def aggregation(queries: list[str], events: pa.Table) -> dict[str, Callable[[], object]]:
    """What comes after the scan, with and without merged automata."""
    plans = {f"q{n}": tl.query(text).plan for n, text in enumerate(queries)}
    shared, apart = (share(plans, mode).groups[0] for mode in ("dynamic", "never"))
    with open_events(events) as source:
        begun = begin_scan(source, shared.shared.scan, Reading("time", "type"))
        assert begun is not None
        batches, axis = begun
        columns = Columns(
            batches.operand_types, batches.partition_types, axis.nanoseconds, Numbers.AUTO, 1
        )
        held = list(batches)

    def aggregate(group: Group) -> object:
        run = GroupRun(group, columns)
        for batch in held:
            run.push(batch)
        return run.finish()

    return {
        "aggregation, shared": partial(aggregate, shared),
        "aggregation, apart": partial(aggregate, apart),
    }


def _growth(size: Size) -> list[Figure]:
    """More queries, each cheaper."""
    events = events_for(EVENTS[size] // 2, MANY)
    options = {"time": "time", "type": "type", "threads": 1}
    workloads = {count: tl.workload([query_for(p) for p in MANY[:count]]) for count in GROWTH}
    contenders = {n: partial(one.run, events, **options) for n, one in workloads.items()}
    seconds = take_turns(contenders, size.turns)
    per_query = {count: spent / count for count, spent in seconds.items()}
    first, last = GROWTH[0], GROWTH[-1]
    falls = per_query[last] / per_query[first]
    claim = f"time per query, {last} queries to {first}"
    return [Figure(claim, falls, "×", at_most(1))] + [
        Figure(f"{count} queries: per query and event", _ns(spent, len(events)), "ns")
        for count, spent in per_query.items()
    ]


def _ns(seconds: Samples, events: int) -> Samples:
    return seconds / (events * 1e-9)


def query_for(pattern: str, window: str = WINDOW) -> str:
    return f"RETURN COUNT(*) PATTERN {pattern} {window}"


def events_for(count: int, patterns: list[str]) -> pa.Table:
    """Types in no order, one event per second."""
    sequences = [pattern[4:-1].split(", ") for pattern in patterns]
    types = sorted({name for sequence in sequences for name in sequence})
    common = set(sequences[0]).intersection(*sequences)
    weights = np.array([OFTEN if name in common else 1 for name in types], np.float64)
    drawn = np.random.default_rng(5).choice(len(types), count, p=weights / weights.sum())
    names = pa.array(types).take(pa.array(drawn))
    return pa.table({"time": np.arange(count), "type": names})


def same_rows(alone: list[tl.Result], *together: tl.Results) -> None:
    for results in together:
        for one, other in zip(alone, results.values(), strict=True):
            if not one.table.equals(other.table):
                raise AssertionError("A workload's rows are not those of its queries")


def draw(figures: list[Figure]) -> alt.LayerChart:
    return charts.bars(
        figures,
        title="Many queries in one pass",
        subtitle="Nanoseconds per event, from an Arrow table to the rows, one thread",
        axis="ns per event, logarithmic",
        log=True,
    )
