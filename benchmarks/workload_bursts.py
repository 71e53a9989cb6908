"""Fifty queries that share a Kleene sub-pattern pay for a burst of events once, where that pays.

Ridesharing events with bursts of about 120, queries `SEQ(X, Travel T+, Y)` with seven X and twelve
Y, after HAMLET §5: the queries' first workload (Figures 8 to 10) with and without a condition
between consecutive T, and one whose conditions on T tell the queries apart in every other phase of
the stream (Figures 11 and 12). "never" evaluates each query on its own, event by event, in the same
compiled style; "always" lets all queries share all bursts. Scanning is not measured, for nobody.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from benchmarks import charts
from benchmarks.harness import Figure, Samples, Size, at_least, at_most, one_core, take_turns
from trendloom.api import query
from trendloom.engine.chunk import join_batches, make_chunk
from trendloom.engine.lanes import TRENDS
from trendloom.engine.run import Run
from trendloom.generators import generate
from trendloom.generators.ridesharing import TYPES
from trendloom.hosts.local.beginning import begin_scan
from trendloom.hosts.local.sources import open_events
from trendloom.hosts.scan.reading import Reading
from trendloom.workloads.hamlet.benefit import Mode
from trendloom.workloads.hamlet.execute import Sharing
from trendloom.workloads.hamlet.template import merge

if TYPE_CHECKING:
    from collections.abc import Callable

    import altair as alt

    from trendloom.engine.chunk import Chunk

QUERIES = 50
EVENTS = {Size.FULL: 200_000, Size.QUICK: 100_000, Size.TINY: 3_000}
FREE, INSIDE, PHASES = "no condition", "T.speed < NEXT(T).speed", "conditions by phase"
PHASE = 20_000
"""Events of a phase; in every other one all T are alike."""
ALONE = "engine, query by query"
CAUSES = {
    "no condition: share of time": "a decision takes about 36 ns, and a burst of 120 events no more"
    " than 7 µs for all fifty queries",
}


@dataclass(frozen=True)
class Contest:
    """One workload over one stream, in every mode."""

    name: str
    chunk: Chunk
    modes: dict[Mode, Sharing]

    def contenders(self) -> dict[tuple[str, str], Callable[[], object]]:
        found: dict[tuple[str, str], Callable[[], object]] = {
            (self.name, mode.value): partial(sharing.evaluate, self.chunk)
            for mode, sharing in self.modes.items()
        }
        return found | {(self.name, ALONE): self.by_engine}

    def by_engine(self) -> None:
        sharing = self.modes[Mode.DYNAMIC]
        for number in range(len(sharing.group.members)):
            run = Run(sharing.setting(number))
            run.push(sharing.joint.own_chunk(number, self.chunk).batch)
            run.finish()

    def different(self) -> int:
        """Queries whose counts are not the same in every mode."""
        found = [
            [slots.columns[TRENDS].log2() for slots in sharing.evaluate(self.chunk).slots]
            for sharing in self.modes.values()
        ]
        return sum(
            not all(np.allclose(one, first, rtol=1e-9) for one in rest)
            for first, *rest in zip(*found, strict=True)
        )


def run(size: Size) -> list[Figure]:
    contests = [_contest(name, EVENTS[size]) for name in (FREE, INSIDE, PHASES)]
    different = sum(contest.different() for contest in contests)
    with one_core():
        contenders = {k: v for contest in contests for k, v in contest.contenders().items()}
        cost = take_turns(contenders, size.turns)
        counted = {
            mode: contests[2].modes[mode].evaluate(contests[2].chunk).metrics for mode in Mode
        }
        shares = [
            contests[0].modes[Mode.DYNAMIC].evaluate(contests[0].chunk).metrics.decision_share
            for _ in range(size.turns)
        ]
    always, never = Mode.ALWAYS.value, Mode.NEVER.value
    figures = [
        Figure("queries whose counts differ", Samples((float(different),)), "", at_most(0)),
        _ratio(cost, INSIDE, never, 10),
        _ratio(cost, FREE, never, 3),
        _ratio(cost, PHASES, never, 1.2),
        _ratio(cost, PHASES, always, 1.2),
        Figure(
            f"{PHASES}: snapshots, dynamic / always",
            Samples((counted[Mode.DYNAMIC].snapshots / max(1, counted[Mode.ALWAYS].snapshots),)),
            "×",
            at_most(0.5),
        ),
        Figure(
            f"{FREE}: share of time for decisions", Samples(tuple(shares)) * 100, "%", at_most(0.5)
        ),
        _ratio(cost, FREE, ALONE),
        _ratio(cost, INSIDE, ALONE),
    ]
    for (name, who), seconds in cost.items():
        figures.append(Figure(f"{name}: {who}", seconds * 1e3, "ms", label=f"{name}: {who}"))
    return figures


def _ratio(
    cost: dict[tuple[str, str], Samples], name: str, slow: str, bar: float | None = None
) -> Figure:
    ratio = cost[name, slow] / cost[name, Mode.DYNAMIC.value]
    return Figure(f"{name}: {slow} / dynamic", ratio, "×", None if bar is None else at_least(bar))


def _contest(name: str, events: int) -> Contest:
    table = generate("ridesharing", events, burst=120.0, travel=0.6, keys=1)
    if name == PHASES:
        price = table.column("price").to_numpy().copy()
        price[np.arange(events) // PHASE % 2 == 0] = 1.0
        table = table.set_column(table.schema.get_field_index("price"), "price", pa.array(price))
    return contest(name, table, [ride(name, k) for k in range(QUERIES)])


def contest(name: str, table: object, texts: list[str]) -> Contest:
    """Events scanned once for all queries; time is `ts`."""
    (group,) = merge([query(text).plan for text in texts]).groups
    with open_events(table) as source:
        begun = begin_scan(source, group.joint.scan, Reading("ts", "type"))
        assert begun is not None, "there are events"
        batches, axis = begun
        with batches:
            chunk = make_chunk(join_batches(list(batches)), len(group.partition))
            modes = {
                mode: Sharing(group, batches.operand_types, axis.nanoseconds, mode) for mode in Mode
            }
    return Contest(name, chunk, modes)


def ride(name: str, k: int) -> str:
    others = [one for one in TYPES if one != "Travel"]
    start, end = others[k % 7], others[7 + k % 12]
    returns = "COUNT(*)" if k % 2 else "COUNT(*), AVG(T.duration)"
    where = ""
    if name == INSIDE:
        where = f"WHERE {INSIDE}"
    elif name == PHASES and k % 5 == 0:
        where = f"WHERE T.price < {50 + k // 5}"
    pattern = f"SEQ({start} X, Travel T+, {end} Y)"
    return f"RETURN {returns} PATTERN {pattern} {where} WITHIN 30 s SLIDE 30 s"


def draw(figures: list[Figure]) -> alt.LayerChart:
    return charts.bars(
        figures,
        title="Fifty queries that share a Kleene sub-pattern",
        subtitle="Ridesharing, bursts of about 120 events, one core",
        axis="milliseconds, logarithmic",
        log=True,
    )
