"""Paths → record batches: window, partition, number, length, the events in order, their variables.

Every batch has a bounded number of trends and of events in them, and leaves as soon as it is full.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from trendloom.cet.attributes import COLUMN, structs
from trendloom.cet.detection import MOST_TRENDS
from trendloom.engine.arrow import from_numpy, to_numpy
from trendloom.engine.scanned import plain
from trendloom.kernels.gather import gather
from trendloom.plan.plan import WindowStrategy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trendloom.cet.detection import Paths
    from trendloom.cet.graph import Graph
    from trendloom.engine.chunk import Chunk
    from trendloom.engine.windows import Runs, Windows

EVENTS = pa.list_(pa.int64())
VARIABLES = pa.list_(pa.dictionary(pa.int8(), pa.string()))


def schema_of(
    partition: Sequence[str],
    types: Sequence[pa.DataType],
    attributes: pa.StructType | None = None,
) -> pa.Schema:
    """Window bounds as ticks; a host shows them as it shows time."""
    keys = [pa.field(name, plain(kind)) for name, kind in zip(partition, types, strict=True)]
    bounds = [pa.field("window_start", pa.int64()), pa.field("window_end", pa.int64())]
    numbers = [pa.field("trend", pa.int64()), pa.field("length", pa.int64())]
    lists = [pa.field("events", EVENTS), pa.field("variables", VARIABLES)]
    if attributes is not None:
        lists.append(pa.field(COLUMN, pa.list_(attributes)))
    return pa.schema([*bounds, *keys, *numbers, *lists])


@dataclass
class Sheet:
    """The trends of one chunk that have not left yet."""

    schema: pa.Schema
    windows: Windows
    variables: tuple[str, ...]
    chunk: Chunk
    runs: Runs
    number: int
    """Of the next trend."""
    most_nodes: int
    """How many events of trends a batch holds; with one buffer more it leaves."""
    attributes: Sequence[pa.Array] = ()
    """Columns of the chunk that trends carry."""
    _run: list[NDArray[np.int64]] = field(init=False, default_factory=list)
    _length: list[NDArray[np.int64]] = field(init=False, default_factory=list)
    _row: list[NDArray[np.int64]] = field(init=False, default_factory=list)
    _variable: list[NDArray[np.int8]] = field(init=False, default_factory=list)
    _event: list[NDArray[np.int64]] = field(init=False, default_factory=list)
    """Rows of the chunk; only where attributes are carried."""
    _graph: Graph | None = field(init=False, default=None)
    _of_node: tuple[NDArray[np.int64], NDArray[np.int8]] = field(init=False)
    """Row and variable of the nodes of the graph that was added last."""
    trends: int = field(init=False, default=0)
    nodes: int = field(init=False, default=0)

    def add(self, graph: Graph, paths: Paths) -> None:
        """Copies the paths, whose buffer is about to be overwritten."""
        if graph is not self._graph:
            rows = to_numpy(self.chunk.batch.column("row"))
            self._graph, self._of_node = (
                graph,
                (
                    np.ascontiguousarray(rows[graph.event], np.int64),
                    graph.variable.astype(np.int8),
                ),
            )
        length = np.diff(paths.offset).astype(np.int64)
        self._run.append(np.full(len(length), graph.run, np.int64))
        self._length.append(length)
        row, variable = gather(paths.node, *self._of_node)
        self._row.append(row)
        self._variable.append(variable)
        if self.attributes:
            self._event.append(graph.event[paths.node])
        self.trends += len(length)
        self.nodes += len(paths.node)

    @property
    def is_full(self) -> bool:
        # Half: a buffer of paths that is nearly full leaves alone, and need not be joined.
        return self.trends >= MOST_TRENDS // 2 or self.nodes >= self.most_nodes // 2

    def take(self) -> pa.RecordBatch:
        """All of them as a batch."""
        run, length, row, variable = (
            _joined(part) for part in (self._run, self._length, self._row, self._variable)
        )
        for part in (self._run, self._length, self._row, self._variable):
            part.clear()
        offset = np.zeros(len(length) + 1, np.int32)
        np.cumsum(length, out=offset[1:])
        codes = pa.Array.from_buffers(pa.int8(), len(variable), [None, pa.py_buffer(variable)])
        names = pa.DictionaryArray.from_arrays(codes, pa.array(self.variables, pa.string()))
        number = np.arange(self.number, self.number + len(length))
        columns = [
            *self._bounds(self.runs.window[run]),
            *self._keys(self.runs.partition[run]),
            from_numpy(number),
            from_numpy(length),
            _lists(EVENTS, offset, from_numpy(row)),
            _lists(VARIABLES, offset, names),
        ]
        if self.attributes:
            kind = self.schema.field(COLUMN).type
            columns.append(
                _lists(
                    kind, offset, structs(kind.value_type, self.attributes, _joined(self._event))
                )
            )
            self._event.clear()
        self.number += len(length)
        self.trends = self.nodes = 0
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _bounds(self, window: NDArray[np.int64]) -> list[pa.Array]:
        if self.windows.strategy is WindowStrategy.WHOLE:
            return [pa.nulls(len(window), pa.int64())] * 2
        return [from_numpy(self.windows.start(window)), from_numpy(self.windows.end(window))]

    def _keys(self, partition: NDArray[np.int64]) -> list[pa.Array]:
        keys = self.chunk.key_rows(self.chunk.bounds[partition], self.chunk.keys)
        return [
            column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column
            for column in keys.columns
        ]


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Without a copy where there is nothing to join."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _lists(kind: pa.DataType, offset: NDArray[np.int32], values: pa.Array) -> pa.Array:
    buffers = [None, pa.py_buffer(offset)]
    return pa.Array.from_buffers(kind, len(offset) - 1, buffers, children=[values])
