"""A formula over the sorted batches of a host: complex events as they end, batch by batch.

1. The host has evaluated every condition on single events: a mask for each event.
2. An automaton that only marks runs in a kernel (`marking`), and so does one that compares only
   neighbours in a bag (`ordered`) or holds numbers (`computing`); any other in `runs`, which looks
   only at events that can move something.
3. Runs that have left all windows are dropped, and with them what only they needed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from trendloom.acel.computing import Computing
from trendloom.acel.folded import Folded
from trendloom.acel.marks import Marks
from trendloom.acel.plan import FIRST_COLUMNS, PLACES
from trendloom.acel.register_search import Registers
from trendloom.acel.sheet import Held, Sheet
from trendloom.engine.chunk import make_chunk, same_partition
from trendloom.engine.scanned import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from trendloom.acel.plan import MatchPlan
    from trendloom.acel.windows import Span
    from trendloom.engine.chunk import Chunk

    Ints = NDArray[np.int64]


def schema_of(plan: MatchPlan, partition_types: Sequence[pa.DataType]) -> pa.Schema:
    keys = [
        pa.field(name, plain(kind))
        for name, kind in zip(plan.scan.partition, partition_types, strict=True)
    ]
    ends = [pa.field(name, pa.int64()) for name in FIRST_COLUMNS]
    places = [pa.field(name, pa.int64()) for name in PLACES]
    return pa.schema(
        [*ends, *keys, *places, *(pa.field(one.variable, one.type) for one in plan.columns)]
    )


@dataclass
class Matching:
    """Give it the batches of a scan; take the batches of results."""

    plan: MatchPlan
    span: Span
    partition_types: Sequence[pa.DataType]
    event_type: str | None = None
    limit: int | None = None
    schema: pa.Schema = field(init=False)
    found: int = field(init=False, default=0)
    """Results so far."""

    def __post_init__(self) -> None:
        self.schema = schema_of(self.plan, self.partition_types)

    def over(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Ends early once `limit` results have been given."""
        plan = self.plan
        keys = len(plan.scan.partition)
        sheet = Sheet(self.schema, plan.columns, self.span, keys)
        held, position = Held(), _Positions(keys, self.span)
        search: Marks | Registers | Folded | Computing
        if plan.folding is not None:
            search = Folded(plan, plan.folding, self.event_type)
        elif plan.marks_only or plan.ordered is not None:
            search = Marks(plan)
        elif plan.computed is not None:
            search = Computing(plan, plan.computed, self.event_type)
        else:
            search = Registers(plan, self.event_type)
        for batch in batches:
            chunk = make_chunk(batch, keys)
            key, begins = position.of(chunk)
            base = position.base
            held.push(batch)
            bound = self.span.earliest(key)
            for some in search.push(chunk, key, bound, begins, base):
                found, lists = search.lists(some, held)  # type: ignore[arg-type]
                made = sheet.batch(found, key[found.end - base], lists, held)
                if self.limit is not None:
                    made = made.slice(0, self.limit - self.found)
                self.found += made.num_rows
                yield made
                if self.found == self.limit:
                    return
            position.base += len(chunk)
            held.forget(position.oldest(key, bound))


@dataclass
class _Positions:
    """Where events are: their numbers in the scan, and their keys in the partition."""

    keys: int
    span: Span
    base: int = 0
    _place: int = 0
    """Of the next event in its partition."""
    _last: pa.RecordBatch | None = None
    _began: int = 0
    """The number of the first event of the last partition."""

    def of(self, chunk: Chunk) -> tuple[Ints, NDArray[np.bool_]]:
        """The keys of events, and where partitions begin."""
        goes_on = self._last is not None and same_partition(self._last, 0, chunk.batch, self.keys)
        begins = np.zeros(len(chunk), np.bool_)
        begins[chunk.bounds[:-1]] = True
        begins[0] = not goes_on
        first = chunk.bounds[:-1]
        place = np.arange(len(chunk)) - np.repeat(first, np.diff(chunk.bounds))
        if goes_on:
            place[: chunk.bounds[1]] += self._place
        self._place = int(place[-1]) + 1
        self._last = chunk.batch.slice(len(chunk) - 1, 1)
        if begins[first[-1]]:
            self._began = self.base + int(first[-1])
        windowed = self.span.within is not None and not self.span.counted
        key = np.array(chunk.time) if windowed else place
        return key, begins

    def oldest(self, key: Ints, bound: Ints) -> int:
        """The first event that a later result can speak of; after the chunk was counted."""
        first = max(self._began, self.base - len(key))
        local = key[first - (self.base - len(key)) :]
        inside = int(np.searchsorted(local, bound[-1]))
        return self._began if first > self._began and inside == 0 else first + inside
