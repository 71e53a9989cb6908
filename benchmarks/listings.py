"""Sorted batches of a listing's scan, to list their trends again and again without the scan."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from trendloom.cet.choosing import choose
from trendloom.cet.detection import depth_first, keep, stitched
from trendloom.cet.feed import Feed
from trendloom.cet.graphs import graphs_of
from trendloom.cet.listing import Listing
from trendloom.cet.stretches import Stretching
from trendloom.cet.wanted import Wanted
from trendloom.engine.windows import Windows
from trendloom.hosts.local.beginning import begin_scan
from trendloom.hosts.local.sources import open_events
from trendloom.hosts.scan.reading import Reading
from trendloom.language import parse
from trendloom.plan.planner import plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from trendloom.cet.graph import Graph
    from trendloom.plan.plan import Plan


@dataclass(frozen=True)
class Scanned:
    """A plan and what its scan gave."""

    plan: Plan
    batches: tuple[pa.RecordBatch, ...]
    partition_types: tuple[pa.DataType, ...]
    nanoseconds: int

    @property
    def rows(self) -> int:
        return sum(batch.num_rows for batch in self.batches)

    def listed(self, *, algorithm: str, memory: int, share: bool = True) -> tuple[int, int]:
        """Trends, and events in them, as batches of Arrow."""
        wanted = Wanted(algorithm=algorithm, memory=memory, share=share)
        listing = Listing(self.plan, wanted, self.partition_types, self.nanoseconds)
        trends = emitted = 0
        for batch in listing.over(iter(self.batches)):
            trends += batch.num_rows
            emitted += len(batch.column("events").values)
        return trends, emitted

    def detected(self, *, algorithm: str, memory: int) -> int:
        """Events of trends, written into buffers and nowhere else."""
        wanted = Wanted(algorithm=algorithm, memory=memory)
        emitted = 0
        for graph in self.graphs(memory=memory):
            choice = choose(graph, wanted)
            if choice.bounds is None:
                found = depth_first(graph, memory)
            else:
                found = stitched(graph, keep(graph, choice.bounds), memory)
            emitted += sum(len(paths.node) for paths in found)
        return emitted

    def graphs(self, *, share: bool = True, memory: int = 1 << 32) -> Iterator[Graph]:
        windows = Windows.of(self.plan, self.nanoseconds)
        feed = Feed(windows, len(self.plan.scan.partition))
        given = [feed.push(batch) for batch in self.batches]
        stretching = Stretching(share)
        for chunk, runs in filter(None, [*given, feed.finish()]):
            yield from graphs_of(
                self.plan.parts[0], self.plan.semantics, chunk, runs,
                complete=True, memory=memory, stretching=stretching,
            )  # fmt: skip

    def keeping(self, *, memory: int) -> float:
        """Seconds of a core that H-CET takes to keep the paths of all graphlets."""
        spent = 0.0
        for graph in self.graphs(memory=memory):
            bounds = choose(graph, Wanted(algorithm="h", memory=memory)).bounds
            if bounds is not None:
                started = time.process_time()
                keep(graph, bounds)
                spent += time.process_time() - started
        return spent

    def searched(self, *, share: bool) -> tuple[int, int]:
        """Graphs, and steps in them."""
        sizes = [graph.edges for graph in self.graphs(share=share)]
        return len(sizes), sum(sizes)


def scanned(
    query: str,
    events: Any,
    *,
    time: str = "ts",
    type: str | None = None,  # noqa: A002
    **options: Any,
) -> Scanned:
    """The whole scan of a listing, in memory."""
    planned = plan(parse(query), listing=True)
    with open_events(events) as source:
        begun = begin_scan(source, planned.scan, Reading(time, type, **options))
        assert begun is not None, "no events"
        batches, axis = begun
        with batches:
            return Scanned(
                planned, tuple(batches), tuple(batches.partition_types), axis.nanoseconds
            )


def kept_bytes(events: Scanned, memory: int) -> dict[str, float]:
    """What each algorithm holds for the largest graph, paths and the graph itself."""
    largest = max(events.graphs(), key=len)
    held = {"M-CET": float(largest.bytes)}
    for algorithm in ("t", "h"):
        wanted = Wanted(algorithm=algorithm, memory=memory if algorithm == "h" else 1 << 60)
        kept = choose(largest, wanted).estimate.bytes
        if np.isfinite(kept):
            held[f"{algorithm.upper()}-CET"] = largest.bytes + kept
    return held
