"""The trends of a plan over a host's sorted batches, as record batches while they are found."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trendloom.cet.baseline import complete_trends
from trendloom.cet.best import best_paths
from trendloom.cet.choosing import paths_of
from trendloom.cet.counting import Count, check_number, count_trends
from trendloom.cet.detection import MOST_NODES, Paths
from trendloom.cet.feed import Feed
from trendloom.cet.graphs import graphs_of
from trendloom.cet.rows import Sheet, schema_of
from trendloom.cet.sample import sample_paths
from trendloom.engine.columns import as_doubles
from trendloom.engine.windows import Windows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from trendloom.cet.graph import Graph
    from trendloom.cet.wanted import Wanted
    from trendloom.engine.chunk import Chunk
    from trendloom.engine.windows import Runs
    from trendloom.plan.plan import Plan


@dataclass
class Listing:
    """Give it the batches of a scan with row numbers; take the batches of trends."""

    plan: Plan
    wanted: Wanted
    partition_types: Sequence[pa.DataType]
    nanoseconds: int
    """Per tick of the time column."""
    schema: pa.Schema = field(init=False)
    found: Count = field(init=False, default_factory=Count)
    """How many trends the graphs seen so far hold, listed or not."""
    listed: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.schema = schema_of(self.plan.scan.partition, self.partition_types)

    def over(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Ends early once `limit` trends have been given."""
        windows = Windows.of(self.plan, self.nanoseconds)
        feed = Feed(windows, len(self.plan.scan.partition))
        for batch in batches:
            ready = feed.push(batch)
            if ready is not None:
                yield from self._chunk(windows, *ready)
            if self.listed == self.wanted.limit:
                return
        ready = feed.finish()
        if ready is not None:
            yield from self._chunk(windows, *ready)

    def _chunk(self, windows: Windows, chunk: Chunk, runs: Runs) -> Iterator[pa.RecordBatch]:
        part = self.plan.parts[0]
        sheet = Sheet(
            self.schema, windows, part.automaton.variables, chunk, runs, self.listed,
            min(MOST_NODES, self.wanted.memory // 64),
        )  # fmt: skip
        for graph in self._graphs(chunk, runs):
            for paths in self._paths(graph, chunk):
                room = None if self.wanted.limit is None else self.wanted.limit - self.listed
                if room == 0:
                    break
                some = paths if room is None else _first(paths, room)
                sheet.add(graph, some)
                self.listed += len(some.offset) - 1
                if sheet.is_full:
                    yield sheet.take()
            if self.listed == self.wanted.limit:
                break
        if sheet.trends:
            yield sheet.take()

    def _graphs(self, chunk: Chunk, runs: Runs) -> Iterator[Graph]:
        wanted = self.wanted
        # The baseline finds out by itself what is complete.
        complete = not wanted.every and wanted.algorithm != "baseline"
        yield from graphs_of(
            self.plan.parts[0], self.plan.semantics, chunk, runs,
            complete=complete, memory=wanted.memory,
        )  # fmt: skip

    def _paths(self, graph: Graph, chunk: Chunk) -> Iterator[Paths]:
        if self.wanted.algorithm == "baseline" and not self.wanted.every:
            yield from _as_paths(graph)
            return
        if self.wanted.best is not None:
            yield best_paths(graph, self._weight(graph, chunk), self.wanted.best)
            return
        if self.wanted.sample is not None:
            yield sample_paths(graph, self.wanted.sample, self._random)
            return
        self.found += count_trends(graph)
        if self.wanted.limit is None:
            check_number(self.found)
        yield from paths_of(graph, self.wanted)

    @cached_property
    def _random(self) -> np.random.Generator:
        return np.random.default_rng(self.wanted.seed)

    def _weight(self, graph: Graph, chunk: Chunk) -> NDArray[np.float64]:
        """What each node adds to its trends; nulls add nothing."""
        if self.wanted.by is None:
            return np.ones(len(graph))
        variable, _ = self.wanted.by
        number = self.plan.parts[0].automaton.variables.index(variable)
        operand = chunk.operand(len(self.plan.scan.operands) - 1)
        values = np.nan_to_num(as_doubles(operand, 0.0), nan=0.0)[graph.event]
        return np.where(graph.variable == number, values, 0.0)


def _first(paths: Paths, count: int) -> Paths:
    kept = paths.offset[: count + 1]
    return Paths(kept, paths.node[: kept[-1]])


def _as_paths(graph: Graph) -> Iterator[Paths]:
    """The baseline's trends, as nodes again; any node of the same event and variable will do."""
    number = {
        (int(event), int(variable)): node
        for node, (event, variable) in enumerate(zip(graph.event, graph.variable, strict=True))
    }
    trends = complete_trends(graph)
    if trends:
        offset = np.cumsum([0, *(len(trend) for trend in trends)]).astype(np.int32)
        nodes = [number[element] for trend in trends for element in trend]
        yield Paths(offset, np.array(nodes, np.int32))
