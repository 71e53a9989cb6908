"""MIN and MAX of 64-bit values of which the first or the last there is occurs.

Kernels keep the least of 64-bit keys, and one key means "no value" (`kernels/extreme.py`). Where a
value's own key would be that one:

1. An integer that is no value of the chunk, nor of the vectors that go on, is a gap. Values above
   the highest gap are moved down by one, those below the lowest gap up by one. Their order is the
   same, and both ends are free.
2. The kernels see the moved values.
3. The keys that come out are moved back. Those of 65 bits are objects, and NO_VALUE is beyond them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from trendloom.engine.arrow import from_numpy
from trendloom.engine.columns import as_integers, as_whole, from_whole, valid
from trendloom.kernels.extreme import ABSENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.lanes import Extremum
    from trendloom.engine.slots import State

    Ints = NDArray[np.int64]

NO_VALUE = 1 << 63
"""ABSENT among keys that are objects."""
FIRST, LAST = -NO_VALUE, NO_VALUE - 1


# ── keys ─────────────────────────────────────────────────────────────────────────────────────


def widened(keys: NDArray[Any]) -> NDArray[np.object_]:
    """As objects."""
    if keys.dtype == np.object_:
        return keys
    wide = keys.astype(np.object_)
    wide[keys == ABSENT] = NO_VALUE
    return wide


def narrowed(keys: NDArray[Any]) -> NDArray[Any]:
    """In 64 bits, if no value has the key ABSENT."""
    if keys.dtype != np.object_ or (keys == ABSENT).any():
        return keys
    return np.where(keys == NO_VALUE, ABSENT, keys).astype(np.int64)


def joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """One after another."""
    if any(part.dtype == np.object_ for part in parts):
        parts = [widened(part) for part in parts]
    return np.concatenate(parts)


def without(keys: NDArray[Any], rows: NDArray[np.bool_]) -> NDArray[Any]:
    """Without a value in some rows."""
    return np.where(rows, NO_VALUE if keys.dtype == np.object_ else ABSENT, keys)


def is_absent(keys: NDArray[Any]) -> NDArray[np.bool_]:
    absent = NO_VALUE if keys.dtype == np.object_ else ABSENT
    return np.asarray(keys == absent, np.bool_)


def from_keys(keys: NDArray[Any], kind: pa.DataType, *, largest: bool) -> pa.Array:
    """The values of the keys, null where there is none."""
    absent = is_absent(keys)
    plain = np.where(absent, 0, -1 - keys if largest else keys).astype(np.int64)
    if pa.types.is_float64(kind):
        bits = np.where(plain < 0, plain ^ ABSENT, plain)
        return from_numpy(bits.view(np.float64), absent)
    return from_whole(plain, absent, kind)


# ── values ───────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class _Gaps:
    """Integers between which all values are as they are."""

    low: int
    high: int

    @classmethod
    def between(cls, values: Ints) -> _Gaps:
        there = np.unique(values)
        # How many follow one another at either end.
        begin = np.flatnonzero(np.append(np.diff(there) != 1, True))[0]
        end = np.flatnonzero(np.insert(np.diff(there) != 1, 0, True))[-1]
        low = int(there[begin]) + 1 if there[0] == FIRST else FIRST
        high = int(there[end]) - 1 if there[-1] == LAST else LAST
        return cls(low, high)

    def moved(self, values: Ints) -> Ints:
        return values - (values > self.high) + (values < self.low)

    def back(self, values: NDArray[np.object_]) -> NDArray[np.object_]:
        up, down = values >= self.high, values <= self.low
        back: NDArray[np.object_] = values + up.astype(np.int64) - down.astype(np.int64)
        return back


@dataclass(frozen=True)
class Moved:
    """A chunk whose values are moved away from the ends, by operand."""

    chunk: Chunk
    lanes: tuple[Extremum, ...]
    gaps: dict[int, _Gaps]

    @classmethod
    def of(
        cls, lanes: tuple[Extremum, ...], chunk: Chunk, keys: NDArray[Any] | None
    ) -> Moved | None:
        """None if no value is at an end. `keys`: those of vectors, [row, cell · (1 + lane)]."""
        wide = keys is not None and keys.dtype == np.object_
        gaps: dict[int, _Gaps] = {}
        batch = chunk.batch
        for operand in dict.fromkeys(lane.operand for lane in lanes):
            if operand is None or not _has_ends(chunk.operand(operand).type):
                continue
            column = chunk.operand(operand)
            whole = as_integers(as_whole(column))
            if not (wide or whole.min(initial=0) == FIRST or whole.max(initial=0) == LAST):
                continue
            there = [whole[valid(column)]]
            for k, lane in enumerate(lanes, 1):
                if lane.operand == operand and keys is not None:
                    own = keys[:, k :: 1 + len(lanes)]
                    there.append(_values(own[~is_absent(own)], lane).astype(np.int64))
            every = np.concatenate(there)
            if not len(every):
                continue
            gaps[operand] = _Gaps.between(every)
            moved = from_whole(gaps[operand].moved(whole), ~valid(column), column.type)
            place = batch.schema.get_field_index(f"x{operand}")
            batch = batch.set_column(place, f"x{operand}", moved)
        return cls(replace(chunk, batch=batch), lanes, gaps) if gaps else None

    def state(self, state: State) -> State:
        """The vectors, for the moved values."""
        if state.extremes is None:
            return state
        keys = widened(state.extremes).copy()
        for k, lane in enumerate(self.lanes, 1):
            if lane.operand in self.gaps:
                own = keys[:, k :: 1 + len(self.lanes)]
                here = ~is_absent(own)
                values = self.gaps[lane.operand].moved(_values(own[here], lane).astype(np.int64))
                own[here] = _values(values.astype(np.object_), lane)
        return replace(state, extremes=narrowed(keys))

    def back(self, state: State) -> State:
        """What became of them."""
        if state.extremes is None:
            return state
        keys = widened(state.extremes)
        for k, lane in enumerate(self.lanes, 1):
            own = slice(k, None, 1 + len(self.lanes))
            keys[:, own] = self.key(lane, keys[:, own])
        return replace(state, extremes=narrowed(keys))

    def key(self, lane: Extremum, keys: NDArray[Any]) -> NDArray[Any]:
        """Those of one lane."""
        if lane.operand not in self.gaps:
            return keys
        wide = widened(keys).copy()
        here = ~is_absent(wide)
        values = self.gaps[lane.operand].back(_values(wide[here], lane))
        wide[here] = _values(values, lane)
        return narrowed(wide) if keys.dtype != np.object_ else wide


def _values(keys: NDArray[Any], lane: Extremum) -> NDArray[Any]:
    """Keys as values, and back."""
    return -1 - keys if lane.largest else keys


def _has_ends(kind: pa.DataType) -> bool:
    """Whether 64 bits are not more than values need."""
    return bool(pa.types.is_int64(kind) or pa.types.is_uint64(kind) or pa.types.is_timestamp(kind))
