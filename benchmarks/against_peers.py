"""Other systems at the same queries, on the same events, with the same counts.

Flink CEP finds every match of `SEQ(A+, B)`, which is then counted: contiguous by its strict mode,
next-match by the same after a filter (its relaxed mode means something else), any-match as long as
it ends within the limit. DuckDB counts rising prices by a recursive query, ClickHouse
`(SEQ(A+, B))+` by a fold over an array; both are written by hand for that one pattern. Peers run in
processes of their own on all cores. Their seconds begin when they have started, Flink's with the
events in memory, the databases' second time; the engine's are from Parquet to rows.
"""

from __future__ import annotations

import math
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import charts
from benchmarks.baselines.limits import Stopped
from benchmarks.harness import Bar, Figure, Samples, Size, at_least
from benchmarks.peers import data
from benchmarks.peers.processes import Answer, database, flink, version
from trendloom import run as run_query

if TYPE_CHECKING:
    from collections.abc import Callable

    import altair as alt

LIMIT = {Size.FULL: 90.0, Size.QUICK: 45.0, Size.TINY: 30.0}
"""Seconds of a peer's process, its start included."""
TURNS = {Size.FULL: 3, Size.QUICK: 1, Size.TINY: 1}
ENGINE = "Trendloom"
FLINK = f"Flink CEP {version('apache-flink-libraries')}"
DUCKDB = f"DuckDB {version('duckdb')}"
CLICKHOUSE = f"ClickHouse (chdb {version('chdb')})"
SEQUENCE = "RETURN key, COUNT(*) AS n PATTERN SEQ(A+, B) SEMANTICS {} WHERE [key] GROUP-BY key"
LOGARITHM = "RETURN LOG2(COUNT(*)) AS n PATTERN SEQ(A+, B) SEMANTICS skip-till-any-match"
RISING = "RETURN key, COUNT(*) AS n PATTERN S+ WHERE [key] AND S.price < NEXT(S).price GROUP-BY key"
NESTED = "RETURN key, COUNT(*) AS n PATTERN (SEQ(A+, B))+ WHERE [key] GROUP-BY key"
ALONE = {Size.FULL: 1_000_000, Size.QUICK: 1_000_000, Size.TINY: 1_000}
"""Events at which the engine counts alone under any-match."""


@dataclass(frozen=True)
class Contest:
    """A peer and a query, at growing numbers of events."""

    name: str
    title: str
    peer: str
    ask: Callable[[Path, float], Answer]
    text: str
    events: dict[Size, tuple[int, ...]]
    per_key: int | None = None
    """Events of a key; without it, keys as in `keys`."""
    keys: int = 100
    others: float = data.OTHERS
    typed: bool = True
    bar: Bar | None = None

    def write(self, directory: Path, events: int) -> Path:
        keys = self.keys if self.per_key is None else max(1, events // self.per_key)
        return data.write(directory, events, keys, self.others)


MANY = {Size.FULL: (10_000, 100_000, 1_000_000), Size.QUICK: (10_000, 100_000), Size.TINY: (200,)}
CONTESTS = (
    Contest(
        "contiguous",
        "SEQ(A+, B), contiguous, 100 keys",
        FLINK,
        partial(flink, "strict"),
        SEQUENCE.format("contiguous"),
        MANY,
        bar=at_least(50),
    ),
    Contest(
        "next-match",
        "SEQ(A+, B), next-match, 100 keys",
        FLINK,
        partial(flink, "filtered"),
        SEQUENCE.format("skip-till-next-match"),
        MANY,
        bar=at_least(50),
    ),
    Contest(
        "any-match",
        "SEQ(A+, B), any-match, one key",
        FLINK,
        partial(flink, "any"),
        SEQUENCE.format("skip-till-any-match"),
        {Size.FULL: (6, 8, 10, 12, 14, 16), Size.QUICK: (6, 8, 10, 12, 14), Size.TINY: (6,)},
        keys=1,
        others=0.0,
    ),
    Contest(
        "rising",
        "S+ with rising prices, any-match, 100 keys",
        DUCKDB,
        partial(database, "duckdb"),
        RISING,
        {
            Size.FULL: (5_000, 10_000, 20_000, 40_000),
            Size.QUICK: (5_000, 10_000),
            Size.TINY: (200,),
        },
        typed=False,
    ),
    Contest(
        "nested",
        "(SEQ(A+, B))+, any-match, 100 events a key",
        CLICKHOUSE,
        partial(database, "clickhouse"),
        NESTED,
        MANY,
        per_key=100,
    ),
)


def run(size: Size) -> list[Figure]:
    figures = []
    with tempfile.TemporaryDirectory(prefix="trendloom-peers-") as directory:
        for contest in CONTESTS:
            print(f"  {contest.name}: {contest.peer}", flush=True)
            figures += _contest(contest, size, Path(directory))
        figures.append(_alone(size, Path(directory)))
    return figures


def _contest(contest: Contest, size: Size, directory: Path) -> list[Figure]:
    points: list[dict[str, Any]] = []
    figures: list[Figure] = []
    for events in contest.events[size]:
        path = contest.write(directory, events)
        ours, wanted = _ours(contest, path)
        peers, mine = [], []
        try:
            for _ in range(TURNS[size]):
                answer = contest.ask(path, LIMIT[size])
                same(f"{contest.name}, {events:,} events", contest.peer, answer.counts, wanted)
                peers.append(answer.seconds)
                mine.append(ours())
        except Stopped:
            points.append(_point(contest, contest.peer, events, LIMIT[size], stopped=True))
            break
        peer, engine = Samples(tuple(peers)), Samples(tuple(mine))
        points.append(_point(contest, contest.peer, events, peer.median))
        points.append(_point(contest, ENGINE, events, engine.median))
        at = f"{contest.name}, {events:,} events"
        figures += [
            Figure(f"{at}: {contest.peer}", peer, "s"),
            Figure(f"{at}: {ENGINE}", engine, "s"),
            Figure(f"{at}: × faster than {contest.peer}", peer / engine, "×"),
        ]
    return [*figures[:-1], _judged(figures[-1], contest, tuple(points))]


def _judged(last: Figure, contest: Contest, points: tuple[dict[str, Any], ...]) -> Figure:
    """The bar is on the most events; the points travel with it."""
    return Figure(last.claim, last.measured, last.unit, contest.bar, points=points)


def _ours(contest: Contest, path: Path) -> tuple[Callable[[], float], dict[int, float]]:
    """Once for the counts, which also warms up; then for the time."""
    kind = {"type": "type"} if contest.typed else {"event_type": "S"}

    def ask() -> Any:
        return run_query(contest.text, path, time="ts", **kind)

    def timed() -> float:
        started = time.perf_counter()
        ask()
        return time.perf_counter() - started

    return timed, {row["key"]: row["n"] for row in ask().to_arrow().to_pylist()}


def _alone(size: Size, directory: Path) -> Figure:
    """The engine under any-match where no peer that builds trends can follow."""
    contest = next(contest for contest in CONTESTS if contest.name == "any-match")
    path = contest.write(directory, ALONE[size])
    seconds = []
    for _ in range(1 + TURNS[size]):
        started = time.perf_counter()
        (row,) = run_query(LOGARITHM, path, time="ts", type="type").to_arrow().to_pylist()
        seconds.append(time.perf_counter() - started)
    assert row["n"] > 0.4 * ALONE[size]
    samples = Samples(tuple(seconds[1:]))
    point = _point(contest, ENGINE, ALONE[size], samples.median)
    claim = f"any-match, {ALONE[size]:,} events: {ENGINE}"
    return Figure(claim, samples, "s", points=(point,))


def same(where: str, who: str, found: dict[int, int], wanted: dict[int, float]) -> None:
    """Exactly where the engine counts in integers, else to nine digits."""
    for key in sorted(found.keys() | wanted.keys()):
        theirs, ours = found.get(key, 0), wanted.get(key, 0)
        digits = 1e-9 if isinstance(ours, float) else 0.0
        if not math.isclose(theirs, ours, rel_tol=digits):
            raise AssertionError(
                f"{where}: of key {key} {who} counts {theirs} trends, {ENGINE} {ours}"
            )


def _point(
    contest: Contest, who: str, events: int, seconds: float, *, stopped: bool = False
) -> dict[str, Any]:
    return {"panel": contest.name, "what": who, "x": events, "y": seconds, "stopped": stopped}


def draw(figures: list[Figure]) -> alt.ConcatChart:
    points = [point for figure in figures for point in figure.points]
    those = [
        charts.Panel(
            contest.title,
            "events",
            "seconds",
            [point for point in points if point["panel"] == contest.name],
        )
        for contest in CONTESTS
    ]
    return charts.panels(
        those,
        title="The same counts by other systems",
        subtitle="All cores; peers without their start; logarithmic scales",
    )
