"""Which group a partition belongs to, over chunks: groups are neighbours in the scan's order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from trendloom.engine.arrow import from_numpy
from trendloom.engine.chunk import Chunk, join_batches, mark_changes, same_partition

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Partitions:
    """The partitions of one chunk."""

    continues: bool
    """Whether the first is the one that the chunk before ended in."""
    group_before: int
    """The group that the chunk before ended in."""
    group: Ints
    number: Ints


@dataclass
class Groups:
    """Numbers partitions and groups as they come, and remembers the groups' attributes."""

    plain: int
    """How many leading partition attributes are grouping attributes."""
    types: list[pa.DataType]
    group: int = -1
    partition: int = -1
    last: pa.RecordBatch | None = None
    """The attributes of the partition that the last chunk ended in."""
    heads: list[pa.RecordBatch] = field(default_factory=list)

    def number(self, chunk: Chunk) -> Partitions:
        keys = chunk.key_rows(chunk.bounds[:-1], chunk.keys)
        count = keys.num_rows
        before = self.group
        begins = np.zeros(count, np.bool_)
        for k in range(self.plain):
            mark_changes(keys.column(f"p{k}"), begins)
        continues = self.last is not None and same_partition(self.last, 0, keys, chunk.keys)
        begins[0] = self.last is None or not same_partition(self.last, 0, keys, self.plain)
        group = (self.group + np.cumsum(begins)).astype(np.int64)
        if self.plain and begins.any():
            names = [f"p{k}" for k in range(self.plain)]
            self.heads.append(keys.select(names).take(from_numpy(np.flatnonzero(begins))))
        number = self.partition + np.arange(count) + (0 if continues else 1)
        self.group, self.partition = int(group[-1]), int(number[-1])
        self.last = keys.slice(count - 1)
        return Partitions(continues, before, group, number.astype(np.int64))

    def column(self, k: int, groups: Ints) -> pa.Array:
        """Grouping attribute k of each of the groups."""
        if not self.heads:
            return pa.nulls(0, self.types[k])
        values = join_batches(self.heads).column(f"p{k}")
        if isinstance(values, pa.DictionaryArray):
            values = values.dictionary_decode()
        return values.take(from_numpy(groups))
