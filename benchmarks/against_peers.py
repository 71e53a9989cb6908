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
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import charts
from benchmarks.baselines.limits import Stopped
from benchmarks.harness import Figure, Samples, Size
from benchmarks.peers.contests import CONTESTS
from trendloom import run as run_query

if TYPE_CHECKING:
    from collections.abc import Callable

    import altair as alt

    from benchmarks.peers.contests import Contest

LIMIT = {Size.FULL: 120.0, Size.QUICK: 60.0, Size.TINY: 60.0}
"""Seconds of a peer's process, its start included."""
TURNS = {Size.FULL: 3, Size.QUICK: 1, Size.TINY: 1}
ENGINE = "Trendloom"
LOGARITHM = "RETURN LOG2(COUNT(*)) AS n PATTERN SEQ(A+, B) SEMANTICS skip-till-any-match"
ALONE = {Size.FULL: 1_000_000, Size.QUICK: 1_000_000, Size.TINY: 1_000}
"""Events at which the engine counts alone under any-match."""

CAUSES = {
    "next-match": "a query over ten events takes a quarter of that time too: DuckDB is opened, the"
    " query planned, the file read",
}


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
        points.append(_point(contest, ENGINE, events, engine.median))
        points.append(_point(contest, contest.peer, events, peer.median))
        at = f"{contest.name}, {events:,} events"
        figures += [
            Figure(f"{at}: {contest.peer}", peer, "s"),
            Figure(f"{at}: {ENGINE}", engine, "s"),
            Figure(f"{at}: × faster than {contest.peer}", peer / engine, "×"),
        ]
    if not figures:
        raise RuntimeError(
            f"{contest.name}: {contest.peer} does not end within {LIMIT[size]:.0f} s even at"
            f" {contest.events[size][0]:,} events; raise LIMIT or leave the machine alone."
        )
    # The bar is on the most events; the points travel with it.
    last = figures.pop()
    return [
        *figures,
        Figure(last.claim, last.measured, last.unit, contest.bar, points=tuple(points)),
    ]


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
