"""Partitions numbered in the order in which they appear, the same number in every batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trendloom.engine.arrow import from_numpy, read_only, to_numpy
from trendloom.engine.sort import integers, is_number
from trendloom.kernels.numbering import FREE, fill_buckets, number_dense, number_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

ROOM = 1 << 12
WIDEST = 1 << 20
"""So many codes from the least to the largest have a table of all that are between."""


def can_number(kinds: Sequence[pa.DataType]) -> bool:
    """Whether the columns' values are 64 bits, or text, that mean the same in every batch."""
    return all(is_number(kind) or _is_text(kind) for kind in kinds)


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


class Numbering:
    """Give it the partition columns of batches, which have no nulls."""

    def __init__(self, kinds: Sequence[pa.DataType]) -> None:
        self._texts: list[pa.Array | None] = [None] * len(kinds)
        """Per column of text: the values so far, whose places are their codes."""
        self._heads: list[pa.RecordBatch] = []
        self.count = 0
        # One code within a narrow range.
        self._low = 0
        self._places: NDArray[np.int32] | None = None
        if len(kinds) == 1:
            self._places = np.zeros(0, np.int32)
        # Any codes.
        self._kept = np.zeros((ROOM, len(kinds)), np.int64)
        self._buckets = np.full(2 * ROOM, FREE, np.int32)

    def number(self, keys: pa.RecordBatch) -> NDArray[np.int32]:
        """Each row's number."""
        numbers = np.empty(keys.num_rows, np.int32)
        if keys.num_rows == 0:
            return numbers
        fields = [self._codes(k, keys.column(k)) for k in range(keys.num_columns)]
        with np.errstate(over="ignore"):  # For kernels run uncompiled: products are meant to wrap.
            if self._places is not None and self._reach(fields[0]):
                new = self._dense(fields[0], numbers)
            else:
                new = self._hashed(np.stack(fields), numbers)
        if len(new):
            self._heads.append(keys.take(from_numpy(new)))
        return numbers

    def _dense(self, codes: Ints, numbers: NDArray[np.int32]) -> Ints:
        assert self._places is not None
        known, room = self.count, np.empty(len(self._places), np.int64)
        codes = read_only(codes)
        self.count = number_dense(codes, self._low, self._places, known, numbers, room)
        return room[: self.count - known]

    def _hashed(self, fields: Ints, numbers: NDArray[np.int32]) -> Ints:
        firsts: list[Ints] = []
        at = 0
        while at < len(numbers):
            known, room = self.count, np.empty(len(self._kept) - self.count, np.int64)
            at, self.count = number_rows(
                fields, at, self._buckets, self._kept, known, numbers, room
            )
            firsts.append(room[: self.count - known])
            if at < len(numbers):
                self._grow(2 * len(self._kept))
        return np.concatenate(firsts)

    def _reach(self, codes: Ints) -> bool:
        """Makes the places those of all codes so far; False, and none, if these are too many."""
        assert self._places is not None
        low, high = int(codes.min()), int(codes.max())
        if len(self._places):
            low, high = min(low, self._low), max(high, self._low + len(self._places) - 1)
        if high - low >= WIDEST:
            self._grow(max(ROOM, self.count))
            used = np.flatnonzero(self._places != FREE)
            self._kept[self._places[used], 0] = self._low + used
            fill_buckets(self._kept, self.count, self._buckets)
            self._places = None
            return False
        if high - low >= len(self._places):
            places = np.full(high - low + 1, FREE, np.int32)
            begin = self._low - low
            places[begin : begin + len(self._places)] = self._places
            self._low, self._places = low, places
        return True

    def heads(self, numbers: Ints) -> list[pa.Array]:
        """The partition columns at some numbers."""
        whole = pa.Table.from_batches(self._heads).unify_dictionaries()
        taken = whole.take(from_numpy(numbers)).combine_chunks()
        return [column.combine_chunks() for column in taken.columns]

    def _codes(self, k: int, column: pa.Array) -> Ints:
        if is_number(column.type):
            return integers(column)
        encoded = column if isinstance(column, pa.DictionaryArray) else column.dictionary_encode()
        values, known = encoded.dictionary, self._texts[k]
        if known is None:
            known = values.slice(0, 0)
        strange = values.filter(pc.invert(pc.is_in(values, known))).unique()
        known = pa.concat_arrays([known, strange])
        self._texts[k] = known
        places = to_numpy(pc.index_in(values, known)).astype(np.int64)
        codes: Ints = places[to_numpy(encoded.indices)]
        return codes

    def _grow(self, room: int) -> None:
        kept = np.zeros((room, self._kept.shape[1]), np.int64)
        kept[: min(room, len(self._kept))] = self._kept[:room]
        self._kept = kept
        self._buckets = np.full(1 << (2 * room - 1).bit_length(), FREE, np.int32)
        if self._places is None:
            fill_buckets(self._kept, self.count, self._buckets)
