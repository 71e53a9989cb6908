"""Memory does not grow with the number of events that are in order of time.

Type grain without a window, the longest a state can live. Peaks of fresh processes: the local host
over Parquet in order of time, which it streams, without keys and with 1,000; beside them DuckDB's
sort of the same rows by key and time with the batches thrown away, and the engine alone over
batches that are generated on the way. Less than a byte per event means that no column is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks import charts
from benchmarks.counting import by_engine, plan_for
from benchmarks.events import batches, parquet
from benchmarks.fresh import peak_of
from benchmarks.harness import Figure, Samples, Size, at_most

if TYPE_CHECKING:
    import altair as alt

EVENTS = {
    Size.FULL: (2_000_000, 10_000_000, 100_000_000),
    Size.QUICK: (2_000_000, 10_000_000),
    Size.TINY: (1_000, 2_000),
}
KEYS = 1_000
QUERY = """\
RETURN key, COUNT(*), SUM(A.value) PATTERN (SEQ(A+, B))+ SEMANTICS skip-till-any-match
WHERE [key] GROUP-BY key"""
ONE = """\
RETURN COUNT(*), SUM(A.value) PATTERN (SEQ(A+, B))+ SEMANTICS skip-till-any-match"""
HOST, ALONE, SORT = "local host, 1,000 keys", "local host, no keys", "a sort of its rows"
ENGINE = "engine alone"


def host(path: str) -> None:
    _run(QUERY, path)


def alone(path: str) -> None:
    _run(ONE, path)


def _run(query: str, path: str) -> None:
    from trendloom import run as run_query

    assert run_query(query, path, time="ts", type="type").order != "sorted by DuckDB"


def sort(path: str) -> None:
    """The host's scan, sorted, and nothing done with it."""
    from trendloom import query
    from trendloom.hosts.local.scan import scan_batches
    from trendloom.hosts.local.sources import open_events
    from trendloom.hosts.scan.reading import Reading

    plan = query(QUERY).plan
    reading = Reading("ts", "type")
    with (
        open_events(path) as source,
        scan_batches(source, plan.scan, reading.roles(source)) as scan,
    ):
        for _ in scan:
            pass


def engine(events: int) -> None:
    by_engine(plan_for("skip-till-any-match"), batches(events, ties=0.05))


def run(size: Size) -> list[Figure]:
    sizes = EVENTS[size]
    # Twice as many: a process needs three or four batches to reach its steady memory.
    pushed = tuple(2 * events for events in sizes)
    peaks: dict[tuple[str, int], list[float]] = {}
    for _ in range(min(3, size.turns)):
        for events in sizes:
            path = str(parquet(events, KEYS))
            for name, function in ((HOST, host), (ALONE, alone), (SORT, sort)):
                peaks.setdefault((name, events), []).append(peak_of(function, path))
        for events in pushed:
            peaks.setdefault((ENGINE, events), []).append(peak_of(engine, events))
    bytes_ = {key: Samples(tuple(values)) for key, values in peaks.items()}
    added = sizes[-1] - sizes[0]
    engines = [bytes_[ENGINE, events] for events in pushed]
    points = tuple(
        {"what": name, "events": events, "MB": samples.median / 1e6}
        for (name, events), samples in bytes_.items()
    )
    unit = "bytes/event"
    last, before = sizes[-1], sizes[-2]
    figures = [
        *[
            Figure(
                f"{name}: peak of {last:,} to {before:,} events",
                bytes_[name, last] / bytes_[name, before],
                "×",
                at_most(1.2),
            )
            for name in (ALONE, HOST)
        ],
        Figure(
            "engine alone, growth",
            (engines[-1] - engines[0]) / (2 * added),
            unit,
            at_most(1),
            points=points,
        ),
    ]
    return figures + [
        Figure(f"{name}, {events:,} events: peak", samples / 1e6, "MB")
        for (name, events), samples in bytes_.items()
    ]


def draw(figures: list[Figure]) -> alt.LayerChart:
    points = [point for figure in figures for point in figure.points]
    return charts.lines(
        points,
        x="events",
        y="MB",
        series="what",
        title="Memory by number of events",
        subtitle="Peak of a fresh process; type grain, no window, events in order of time",
        x_title="events",
        y_title="peak memory, MB",
    )
