"""Where stretches of events meet, if a condition between neighbours tells what may follow what.

Whether the first event of a stretch goes on with the last one before it is not known where the
stretch is reduced. So its map is that of the events behind the first, and its first and last event
travel beside the map as they are. Where stretches meet, the maps of the first events are made, with
the conditions that the last event before each of them meets (`neighbours`).

`tied` says whether a stretch has simultaneous events. Which of them came before the next one is for
the router, so such groups must go the other way.

`a<column>`, `z<column>`    the scan's columns of the first and of the last event
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from trendloom.engine.arrow import from_numpy, read_only, to_numpy
from trendloom.engine.chunk import Chunk
from trendloom.engine.mapping import Mapper
from trendloom.engine.neighbours import without_ties

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trendloom.engine.evaluate import Evaluator
    from trendloom.engine.mapping import Maps
    from trendloom.engine.windows import Runs

TIED = "tied"
ENDS = "az"


def end_fields(event: pa.Schema) -> list[pa.Field]:
    """`event` has the scan's columns without the partition's and the time's."""
    fields = [pa.field(f"{end}{one.name}", one.type) for end in ENDS for one in event]
    return [pa.field(TIED, pa.bool_()), *fields]


def end_columns(event: pa.Schema, chunk: Chunk, runs: Runs) -> list[pa.Array]:
    """The columns of `end_fields` for each run."""
    columns = [from_numpy(~without_ties(chunk, runs))]
    for rows in (runs.lo, runs.hi - 1):
        at = from_numpy(rows)
        taken = (chunk.batch.column(one.name).take(at) for one in event)
        columns += [column.cast(one.type) for column, one in zip(taken, event, strict=True)]
    return columns


def meeting(event: pa.Schema, ends: pa.Table) -> Chunk:
    """Rows of `end_columns` in order, as a chunk of the first and last event of each in turn."""
    rows = ends.num_rows
    halves = [
        ends.select([f"{end}{name}" for name in event.names]).rename_columns(event.names)
        for end in ENDS
    ]
    in_turn = from_numpy(np.arange(2 * rows).reshape(2, rows).T.ravel())
    table = pa.concat_tables(halves).take(in_turn).combine_chunks()
    batch = table.to_batches()[0] if rows else pa.RecordBatch.from_pylist([], event)
    order = read_only(np.arange(2 * rows))
    mask = read_only(to_numpy(batch.column("mask")))
    return Chunk(batch, 0, order, order, mask, np.array([0, 2 * rows], np.int64))


def first_maps(evaluator: Evaluator, chunk: Chunk) -> Maps:
    """Of the first events in such a chunk, as what comes before them tells."""
    first = np.arange(0, len(chunk), 2)
    return Mapper.of(evaluator, chunk).maps(first, first + 1)


def in_turn(first: NDArray[Any], rest: NDArray[Any]) -> NDArray[Any]:
    """Rows of both, each first one before its rest."""
    pairs = np.stack([first.reshape(rest.shape), rest], axis=1)
    return pairs.reshape(2 * len(rest), *rest.shape[1:])
