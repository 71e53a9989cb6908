"""Rows of numbers as Arrow binary values: a head that every row has, a tail that few need.

The head of a map is its numbers. The tail is what is nearly always zero: exponents of doubles, or
marks of integers that overflowed; extremes have none. A row whose tail is zero travels without it.
Little-endian.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from trendloom.engine.wire import damaged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Packing:
    """How many numbers of which kinds a row has."""

    head: np.dtype[Any]
    heads: int
    tail: np.dtype[Any]
    tails: int

    @property
    def short(self) -> int:
        """Bytes of a row without its tail."""
        return self.heads * self.head.itemsize

    @property
    def long(self) -> int:
        return self.short + self.tails * self.tail.itemsize

    def pack(self, head: NDArray[Any], tail: NDArray[Any]) -> pa.Array:
        rows = len(head)
        needed: NDArray[np.bool_] = np.logical_or.reduce(tail, axis=1)
        data = _bytes(head.astype(self.head, copy=False))
        if needed.any():
            whole = np.hstack([data, _bytes(tail.astype(self.tail, copy=False))])
            data = whole[self._present(needed)]
        offsets = np.zeros(rows + 1, np.int32)
        np.cumsum(np.where(needed, self.long, self.short), out=offsets[1:])
        return pa.Array.from_buffers(
            pa.binary(), rows, [None, pa.py_buffer(offsets), pa.py_buffer(data)]
        )

    def unpack(self, column: pa.Array) -> Packed:
        if not pa.types.is_binary(column.type):
            column = column.cast(pa.binary())
        rows, skipped = len(column), column.offset
        _, where, values = column.buffers()
        if rows == 0 or values is None:
            return self.nothing()
        offsets = np.frombuffer(where, np.int32)[skipped : skipped + rows + 1]
        data = np.frombuffer(values, np.uint8)[offsets[0] : offsets[-1]]
        size = np.diff(offsets)
        needed = size > self.short
        if not np.all(np.where(needed, size == self.long, size == self.short)):
            raise damaged("their maps are of another query")
        tail_at = np.full(rows, -1, np.int64)
        if not needed.any():
            return Packed(
                self, _numbers(data.reshape(rows, -1), self.head), tail_at, self._tails(0)
            )
        whole = np.zeros((rows, self.long), np.uint8)
        whole[self._present(needed)] = data
        tail_at[needed] = np.arange(np.count_nonzero(needed))
        return Packed(
            self,
            _numbers(whole[:, : self.short], self.head),
            tail_at,
            _numbers(whole[needed, self.short :], self.tail),
        )

    def nothing(self) -> Packed:
        head = np.zeros((0, self.heads), self.head)
        return Packed(self, head, np.zeros(0, np.int64), self._tails(0))

    def _tails(self, rows: int) -> NDArray[Any]:
        return np.zeros((rows, self.tails), self.tail)

    def _present(self, needed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """[row, byte]: which bytes of long rows travel."""
        present = np.ones((len(needed), self.long), np.bool_)
        present[~needed, self.short :] = False
        return present


@dataclass(frozen=True, slots=True)
class Packed:
    """Rows as numbers again; the few tails apart."""

    packing: Packing
    head: NDArray[Any]
    tail_at: NDArray[np.int64]
    """Per row: its tail's place, -1 if it is zero."""
    tails: NDArray[Any]

    def take(self, rows: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Heads and tails of some rows, fresh to be written to."""
        at = self.tail_at[rows]
        tail = np.zeros((len(rows), self.packing.tails), self.packing.tail)
        tail[at >= 0] = self.tails[at[at >= 0]]
        return self.head[rows], tail

    @staticmethod
    def join(parts: list[Packed]) -> Packed:
        if len(parts) == 1:
            return parts[0]
        before = np.cumsum([0] + [len(part.tails) for part in parts])
        return Packed(
            parts[0].packing,
            np.concatenate([part.head for part in parts]),
            np.concatenate(
                [
                    np.where(part.tail_at < 0, -1, part.tail_at + skipped)
                    for part, skipped in zip(parts, before, strict=False)
                ]
            ),
            np.concatenate([part.tails for part in parts]),
        )


def _bytes(numbers: NDArray[Any]) -> Bytes:
    rows = len(numbers)
    return np.ascontiguousarray(numbers).view(np.uint8).reshape(rows, -1)


def _numbers(data: Bytes, kind: np.dtype[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(data).view(kind)
