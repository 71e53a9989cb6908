"""Where a batch plan's events come from: a DataFrame's partitions, or row groups that workers read.

Both end in chunks of scan columns inside a Python worker; what happens to them is `stages`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from trendloom.hosts.spark.arrive import Arrival, arrive
from trendloom.hosts.spark.rowgroups import PIECE_ROWS, RowGroups, in_pieces, read
from trendloom.hosts.spark.stages import CHUNK_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

    from trendloom.hosts.scan.project import Projector
    from trendloom.hosts.spark.stages import Batches, Read

KEPT = 8
_projectors: dict[str, Projector] = {}
"""Those of the last few queries of this process."""


@dataclass(frozen=True)
class Source:
    """A DataFrame whose partitions are tasks, and what turns a task's batches into chunks."""

    frame: DataFrame
    read: Read
    ordered: bool = False
    """Whether tasks are known to follow one another in time."""
    read_parts: Read | None = None
    """The same, of events with a column `WIDTH`."""


@dataclass(frozen=True, slots=True)
class Reach:
    """From when to when the events of a chunk are."""

    rows: int = 0
    low: int = 0
    high: int = 0
    widest: int = 0
    """The longest that one of its batches lasts."""

    @classmethod
    def of(cls, batch: pa.RecordBatch) -> Reach:
        ends = pc.min_max(batch.column("time"))
        low, high = ends["min"].as_py(), ends["max"].as_py()
        return cls(batch.num_rows, low, high, high - low)

    def is_far_from(self, batch: Reach) -> bool:
        """Whether the batch is of another time, as the next file of a task often is.

        Other tasks may have what is between, and a chunk that reached over it would be tangled
        with theirs. To cut too often only costs more maps.
        """
        gap = max(batch.low - self.high, self.low - batch.high)
        return self.rows > 0 and gap > max(self.widest, batch.widest) // 2

    def with_(self, batch: Reach) -> Reach:
        if not self.rows:
            return batch
        return Reach(
            self.rows + batch.rows,
            min(self.low, batch.low),
            max(self.high, batch.high),
            max(self.widest, batch.widest),
        )


def read_batches(arrival: Arrival, *also: str, drop: bool = False) -> Read:
    """Batches of a DataFrame with the scan's expressions, gathered into chunks.

    Other columns come along if they are named; then no row may lack its place in the order.
    """

    def chunks(batches: Batches) -> Iterator[pa.Table]:
        held: list[pa.RecordBatch] = []
        reach = Reach()
        for batch in batches:
            arrived = arrive(batch, arrival, drop=drop).batch
            if not arrived.num_rows:
                continue
            own = Reach.of(arrived)
            for name in also:
                arrived = arrived.append_column(name, batch.column(name))
            if reach.rows >= CHUNK_ROWS or reach.is_far_from(own):
                yield pa.Table.from_batches(held)
                held, reach = [], Reach()
            held.append(arrived)
            reach = reach.with_(own)
        if held:
            yield pa.Table.from_batches(held)

    return chunks


def read_row_groups(
    projector: Projector, tasks: list[tuple[RowGroups, ...]], *, in_turn: bool = False
) -> Read:
    """Task numbers → the rows of their row groups, read here and now.

    All rows of a task at once, or, `in_turn`, piece by piece in order of time.
    """
    keep = _wanted_types(projector)
    column = projector.reading.type
    types = [] if keep is None or column is None else [column]
    name = uuid4().hex

    def chunks(batches: Batches) -> Iterator[pa.Table]:
        project = _kept(name, projector)
        for batch in batches:
            for number in batch.column("id").to_pylist():
                pieces = [tasks[number]]
                if in_turn:
                    ranges = [in_pieces(group, PIECE_ROWS) for group in tasks[number]]
                    pieces = [(piece,) for pieces in ranges for piece in pieces]
                for piece in pieces:
                    parts = [read(group, project.needed, keep, types) for group in piece]
                    events = project(pa.concat_tables(parts).unify_dictionaries()).table
                    if events.num_rows:
                        yield events

    return chunks


def _kept(name: str, projector: Projector) -> Projector:
    """The query's projector in this process.

    Spark sends one along with every task, and each would bind its expressions anew.
    """
    kept = _projectors.setdefault(name, projector)
    while len(_projectors) > KEPT:
        _projectors.pop(next(iter(_projectors)))
    return kept


def task_numbers(spark: SparkSession, count: int) -> DataFrame:
    """One partition per task, and in it nothing but the task's number."""
    return spark.range(0, count, 1, numPartitions=max(1, count))


def _wanted_types(projector: Projector) -> ds.Expression | None:
    """What the reader can leave out by itself: rows, or whole row groups, of other types."""
    scan, column = projector.scan, projector.reading.type
    if scan.keep_unmatched or column is None or projector.reading.event_type is not None:
        return None
    kind = projector.schema.field(column).type
    names = {letter.type for letter in scan.letters}
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return ds.field(column).isin(sorted(names))
    return None
