"""A host's batch as the kernels want it: columns of numbers, partitions, time points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trendloom.engine.arrow import filled, from_numpy, read_only, to_numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Chunk:
    """Whole time points of sorted events. `order` tells which of two events is earlier.

    Times, order and masks are read-only.
    """

    batch: pa.RecordBatch
    keys: int
    """How many partition columns there are."""
    time: NDArray[np.int64]
    order: NDArray[np.int64]
    mask: NDArray[Any]
    bounds: NDArray[np.int64]
    """First rows of the partitions, and the number of rows."""

    def __len__(self) -> int:
        return int(self.batch.num_rows)

    def head(self, rows: int) -> Chunk:
        """The first rows."""
        return self.slice(0, rows)

    def slice(self, lo: int, hi: int) -> Chunk:
        """Rows `lo : hi`, which are not copied."""
        inner = self.bounds[(self.bounds > lo) & (self.bounds < hi)] - lo
        return Chunk(
            self.batch.slice(lo, hi - lo),
            self.keys,
            self.time[lo:hi],
            self.order[lo:hi],
            self.mask[lo:hi],
            np.concatenate([[0], inner, [hi - lo]]).astype(np.int64),
        )

    def operand(self, number: int) -> pa.Array:
        return self.batch.column(f"x{number}")

    def key_rows(self, rows: NDArray[np.int64], columns: int) -> pa.RecordBatch:
        """The leading partition attributes at some rows."""
        return self.batch.select([f"p{k}" for k in range(columns)]).take(from_numpy(rows))


def make_chunk(batch: pa.RecordBatch, keys: int) -> Chunk:
    rows = batch.num_rows
    time = to_numpy(batch.column("time"))
    starts = np.zeros(rows, np.bool_)
    starts[:1] = True
    for key in range(keys):
        mark_changes(batch.column(f"p{key}"), starts)
    order = time
    if "tie" in batch.schema.names:
        points = starts.copy()
        points[1:] |= time[1:] != time[:-1]
        mark_changes(batch.column("tie"), points)
        order = np.cumsum(points)
    bounds = np.append(np.flatnonzero(starts), rows).astype(np.int64)
    mask = to_numpy(batch.column("mask"))
    return Chunk(batch, keys, read_only(time), read_only(order), read_only(mask), bounds)


def tied_events(chunk: Chunk, rows: int | None = None, since: int | None = None) -> int:
    """How many events share their place in the order with another one of their partition.

    Of the first `rows`, and of those not earlier than `since`; both must cut at time points.
    """
    order = chunk.order[:rows]
    same = order[1:] == order[:-1]
    if not same.any():
        return 0
    ends = chunk.bounds[1:-1]
    same[ends[ends < len(order)] - 1] = False
    if since is not None:
        same &= chunk.time[1 : len(order)] >= since
    # A pair has two events, and an event in the middle is in two pairs.
    return 2 * int(np.count_nonzero(same)) - int(np.count_nonzero(same[1:] & same[:-1]))


def mark_changes(column: pa.Array, changes: NDArray[np.bool_]) -> None:
    """Sets `changes[i]` where row i differs from the row before."""
    if len(column) < 2:
        return
    if isinstance(column, pa.DictionaryArray):
        column = column.indices
    if pa.types.is_integer(column.type) and column.null_count == 0:
        values = to_numpy(column)
        changes[1:] |= values[1:] != values[:-1]
        return
    # A null is like another null, and unlike everything else.
    differs = filled(pc.not_equal(column[1:], column[:-1]), True)
    null = to_numpy(column.is_null())
    changes[1:] |= differs & ~(null[1:] & null[:-1])


def join_batches(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """One batch of many; dictionaries are made one."""
    if len(batches) == 1:
        return batches[0]
    table = pa.Table.from_batches(batches).unify_dictionaries().combine_chunks()
    return table.to_batches()[0] if table.num_rows else batches[0].slice(0, 0)


def same_partition(left: pa.RecordBatch, row: int, right: pa.RecordBatch, keys: int) -> bool:
    """Whether row `row` of `left` and the first row of `right` are in one partition."""
    return all(
        left.column(f"p{key}")[row].as_py() == right.column(f"p{key}")[0].as_py()
        for key in range(keys)
    )
