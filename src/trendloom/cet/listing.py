"""The trends of a plan over a host's sorted batches, as record batches while they are found."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trendloom.cet.attributes import BYTES, COLUMN, columns_of, struct_of
from trendloom.cet.baseline import complete_trends
from trendloom.cet.best import best_paths
from trendloom.cet.choosing import choose
from trendloom.cet.counting import Count, check_most, check_number, count_trends
from trendloom.cet.detection import MOST_NODES, Paths, depth_first, keep, stitched
from trendloom.cet.feed import Feed
from trendloom.cet.graphs import graphs_of
from trendloom.cet.happened import Happened
from trendloom.cet.rows import Sheet, schema_of
from trendloom.cet.sample import sample_paths
from trendloom.cet.sketch import most_trends, sketch
from trendloom.cet.stretches import Stretching
from trendloom.engine.columns import as_doubles
from trendloom.engine.windows import Windows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from trendloom.cet.graph import Graph
    from trendloom.cet.sketch import Sketch
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
    operand_types: Sequence[pa.DataType] = ()
    """Of the scan; only needed where trends carry attributes."""
    schema: pa.Schema = field(init=False)
    happened: Happened = field(init=False, default_factory=Happened)
    share: float = field(init=False, default=0.0)
    """How much of the windows that are complete so far has been listed."""
    _passed: int = field(init=False, default=0)
    """Trends that came by, listed or skipped: the number of the next one."""

    _stretching: Stretching = field(init=False)

    def __post_init__(self) -> None:
        self._stretching = Stretching(self.wanted.share)
        self.schema = schema_of(
            self.plan.scan.partition,
            self.partition_types,
            carried(self.plan, self.wanted, self.operand_types),
        )

    @property
    def _batch_memory(self) -> int:
        """What batches of bare trends may be sized by; carried attributes leave less of it."""
        more = BYTES * len(self.wanted.attributes)
        return self.wanted.memory * 64 // (64 + more)

    def _carried(self, chunk: Chunk) -> list[pa.Array]:
        if not self.wanted.attributes:
            return []
        first = first_carried(self.plan, self.wanted)
        return columns_of(chunk, first, self.schema.field(COLUMN).type.value_type)

    @property
    def _skip(self) -> int:
        """How many of the next trends are known already."""
        return 0 if self.wanted.after is None else max(self.wanted.after + 1 - self._passed, 0)

    @property
    def _is_over(self) -> bool:
        return self.happened.listed == self.wanted.limit

    def over(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Ends early once `limit` trends have been given."""
        for windows, chunk, runs in self._complete(batches):
            yield from self._chunk(windows, chunk, runs)
            self.share = 1.0
            if self._is_over:
                return

    def survey(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Builds every graph, counts its trends and chooses how to list them; lists none."""
        for _, chunk, runs in self._complete(batches):
            for graph in self._graphs(chunk, runs):
                count = count_trends(graph)
                self.happened.add_choice(graph, count, choose(graph, self.wanted, count))

    def refuse_more(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Counts every window before any is listed; refuses more than `most`."""
        if self.wanted.counts_first:
            check_most(self.count(batches), self.wanted.most)

    def count(self, batches: Iterable[pa.RecordBatch]) -> Count:
        """The trends of all windows; lists none."""
        total = Count()
        for _, chunk, runs in self._complete(batches):
            for graph in self._graphs(chunk, runs):
                total += count_trends(graph)
        return total

    def sketch(self, batches: Iterable[pa.RecordBatch], graphlets: int | None) -> Sketch:
        """Of the graph with the most trends that can be drawn; lists none."""
        graphs = (
            (graph, chunk)
            for _, chunk, runs in self._complete(batches)
            for graph in self._graphs(chunk, runs)
        )
        graph, count, row = most_trends(graphs)
        variables = self.plan.parts[0].automaton.variables
        return sketch(graph, count, row, variables, self.wanted, graphlets)

    def _complete(self, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[Windows, Chunk, Runs]]:
        windows = Windows.of(self.plan, self.nanoseconds)
        feed = Feed(windows, len(self.plan.scan.partition), self.wanted.memory)
        for batch in batches:
            ready = feed.push(batch)
            if ready is not None:
                yield windows, *ready
        ready = feed.finish()
        if ready is not None:
            yield windows, *ready

    def _chunk(self, windows: Windows, chunk: Chunk, runs: Runs) -> Iterator[pa.RecordBatch]:
        part = self.plan.parts[0]
        sheet = Sheet(
            self.schema, windows, part.automaton.variables, chunk, runs, self._passed,
            min(MOST_NODES, self._batch_memory // 64), self._carried(chunk),
        )  # fmt: skip
        for graph in self._graphs(chunk, runs):
            self.share = max(self.share, graph.run / len(runs))
            for paths in self._paths(graph, chunk, 1 / len(runs)):
                if self.wanted.limit is not None:
                    paths = _first(paths, self.wanted.limit - self.happened.listed)
                if not sheet.trends:
                    sheet.number = self._passed
                sheet.add(graph, paths)
                self._passed += len(paths.offset) - 1
                self.happened.listed += len(paths.offset) - 1
                if sheet.is_full:
                    yield sheet.take()
                if self._is_over:
                    break
            if self._is_over:
                break
        if sheet.trends:
            yield sheet.take()

    def _graphs(self, chunk: Chunk, runs: Runs) -> Iterator[Graph]:
        wanted = self.wanted
        # The baseline finds out by itself what is complete.
        complete = not wanted.every and wanted.algorithm != "baseline"
        for graph in graphs_of(
            self.plan.parts[0], self.plan.semantics, chunk, runs,
            complete=complete, memory=wanted.memory, stretching=self._stretching,
        ):  # fmt: skip
            self.happened.add_graph(graph)
            yield graph

    def _paths(self, graph: Graph, chunk: Chunk, part: float) -> Iterator[Paths]:
        """Those that are not known already; the graph is `part` of what is complete so far."""
        if self.wanted.algorithm == "baseline" and not self.wanted.every:
            few = _as_paths(graph)
        elif self.wanted.best is not None:
            few = best_paths(graph, self._weight(graph, chunk), self.wanted.best)
        elif self.wanted.sample is not None:
            few = sample_paths(graph, self.wanted.sample, self._random)
        else:
            yield from self._all_paths(graph, part)
            return
        skip = min(self._skip, len(few.offset) - 1)
        self._passed += skip
        if skip + 1 < len(few.offset):
            yield Paths(few.offset[skip:] - few.offset[skip], few.node[few.offset[skip] :])

    def _all_paths(self, graph: Graph, part: float) -> Iterator[Paths]:
        count = count_trends(graph)
        if self._skip >= count.number:
            self._passed += int(count.number)
            self.happened.trends += count
            return
        choice = choose(graph, self.wanted, count)
        told = self.happened.add_choice(graph, count, choice)
        if self.wanted.limit is None:
            check_number(self.happened.trends)
        before, skip = self.share, self._skip
        self._passed += skip
        started = time.perf_counter()
        if choice.bounds is None:
            found = depth_first(graph, self._batch_memory, skip)
        else:
            kept = keep(graph, choice.bounds)
            told.kept(kept)
            found = stitched(graph, kept, self._batch_memory, skip)
        for paths in found:
            told.seconds += time.perf_counter() - started
            told.listed += len(paths.offset) - 1
            self.share = before + part * (skip + told.listed) / count.number
            yield paths
            started = time.perf_counter()

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


def first_carried(plan: Plan, wanted: Wanted) -> int:
    """The first operand that is an attribute to carry; behind them all is what `top` sums."""
    summed = int(wanted.by is not None)
    return len(plan.scan.operands) - len(wanted.attributes) - summed


def carried(
    plan: Plan, wanted: Wanted, operand_types: Sequence[pa.DataType]
) -> pa.StructType | None:
    """The type of an event's carried attributes."""
    if not wanted.attributes:
        return None
    first = first_carried(plan, wanted)
    types = operand_types[first : first + len(wanted.attributes)]
    return struct_of(wanted.attributes, types)


def _first(paths: Paths, count: int) -> Paths:
    kept = paths.offset[: count + 1]
    return Paths(kept, paths.node[: kept[-1]])


def _as_paths(graph: Graph) -> Paths:
    """The baseline's trends, as nodes again; any node of the same event and variable will do."""
    number = {
        (int(event), int(variable)): node
        for node, (event, variable) in enumerate(zip(graph.event, graph.variable, strict=True))
    }
    trends = complete_trends(graph)
    offset = np.cumsum([0, *(len(trend) for trend in trends)]).astype(np.int32)
    nodes = [number[element] for trend in trends for element in trend]
    return Paths(offset, np.array(nodes, np.int32))
