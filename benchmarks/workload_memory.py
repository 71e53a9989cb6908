"""A workload of fifty queries needs little more memory than one of them, however long the stream.

Peaks of fresh processes over Parquet in order of time: the largest of three single queries, all
fifty in one pass, and all fifty live, the events pushed by 50,000. Ridesharing, bursts of about 120
events, `SEQ(X, Travel T+, Y)` in windows of half a minute, half of the queries with a condition
between consecutive T, so that events of open windows are kept. A peak has the libraries in it, and
all result rows. Snapshots are within the workload's peak, and not taken off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks import charts, events
from benchmarks.fresh import peak_of
from benchmarks.harness import Figure, Samples, Size, at_most
from benchmarks.workload_bursts import FREE, INSIDE, QUERIES, ride

if TYPE_CHECKING:
    from pathlib import Path

    import altair as alt

EVENTS = {
    Size.FULL: (2_000_000, 6_000_000),
    Size.QUICK: (1_000_000, 3_000_000),
    Size.TINY: (1_000, 2_000),
}
"""A scan's batches are of a million rows: below that, a longer stream is a larger batch."""
PUSHED = 50_000
SINGLE, WORKLOAD, LIVE = "largest single query", "fifty queries", "fifty queries, live"
SINGLES = (0, 1, 3)
"""With AVG; with a condition; without both."""


def texts() -> list[str]:
    return [ride(INSIDE if k % 2 else FREE, k) for k in range(QUERIES)]


def single(path: str, number: int) -> None:
    import trendloom as tl

    tl.run(texts()[number], path, time="ts", type="type")


def workload(path: str) -> None:
    import trendloom as tl

    tl.workload(texts()).run(path, time="ts", type="type")


def live(path: str) -> None:
    import pyarrow.parquet as pq

    import trendloom as tl

    going = tl.workload(texts()).live(time="ts", type="type", watermark="1 second")
    for batch in pq.ParquetFile(path).iter_batches(PUSHED):
        going.push(batch)
    going.finish()


def run(size: Size) -> list[Figure]:
    sizes = EVENTS[size]
    peaks: dict[tuple[str, int], list[float]] = {}
    for _ in range(min(2, size.turns)):
        for count in sizes:
            path = str(_parquet(count))
            singles = [peak_of(single, path, number) for number in SINGLES]
            peaks.setdefault((SINGLE, count), []).append(max(singles))
            for name, function in ((WORKLOAD, workload), (LIVE, live)):
                peaks.setdefault((name, count), []).append(peak_of(function, path))
    found = {key: Samples(tuple(values)) for key, values in peaks.items()}
    first, last = sizes
    points = tuple(
        {"what": name, "events": count, "MB": samples.median / 1e6}
        for (name, count), samples in found.items()
    )
    both = (WORKLOAD, LIVE)
    figures = [
        Figure(
            f"{n}: peak to that of the {SINGLE}",
            found[n, last] / found[SINGLE, last],
            "×",
            at_most(1.5),
            points=points if n == WORKLOAD else (),
        )
        for n in both
    ]
    figures += [
        Figure(
            f"{n}: peak of {last:,} to {first:,} events",
            found[n, last] / found[n, first],
            "×",
            at_most(1.2),
        )
        for n in both
    ]
    return figures + [
        Figure(f"{name}, {count:,} events: peak", samples / 1e6, "MB")
        for (name, count), samples in found.items()
    ]


def _parquet(count: int) -> Path:
    import pyarrow.parquet as pq

    from trendloom.generators import generate

    events.CACHE.mkdir(exist_ok=True, parents=True)
    path = events.CACHE / f"rides-{count}.parquet"
    if not path.exists():
        table = generate("ridesharing", count, burst=120.0, travel=0.6, keys=1)
        pq.write_table(table, path, row_group_size=100_000)
    return path


def draw(figures: list[Figure]) -> alt.LayerChart:
    points = [point for figure in figures for point in figure.points]
    return charts.lines(
        points,
        x="events",
        y="MB",
        series="what",
        title="Memory of a workload by number of events",
        subtitle="Peak of a fresh process; fifty queries that share bursts",
        x_title="events",
        y_title="peak memory, MB",
    )
