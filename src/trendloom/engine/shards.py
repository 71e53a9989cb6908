"""Which shard a partition belongs to: the same in every process, on every machine, in every run.

A stream's state rests by shard. So this hash is part of the state format: a change of any step
below sends partitions to shards that do not hold their state, and needs a new format version.

1. A value becomes one 64-bit word:
   - integers and booleans are themselves (two's complement), of whatever width;
   - floating-point numbers as doubles, -0.0 as 0.0 and all NaNs as one, by their bits; of negative
     numbers all bits but the sign are flipped;
   - dates are days; timestamps, times of day and durations are nanoseconds, modulo 2^64;
   - decimals are their unscaled integers; of more than 64 bits h := mix(h) ⊕ next word, the lowest
     word first, up to the last that does not only repeat the sign;
   - text (UTF-8) and binary values by FNV-1a, 64 bits;
   - null is the word NULL.
2. h := SEED, then for each column h := mix(h ⊕ word), where mix is SplitMix64's step and finalizer.
3. The shard is ⌊(h ÷ 2^32) · shards ÷ 2^32⌋.

Values of one kind that are equal meet in one shard, in whatever type they arrive; 5 and 5.0, or
decimals of different scale, need not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa

from trendloom.engine.arrow import to_numpy
from trendloom.engine.sort import count_rows, decimal_words, integers, is_number, one_batch, take
from trendloom.errors import InputError
from trendloom.kernels.hash import mix, mix_bytes, mix_wide, spread
from trendloom.kernels.sort import by_bucket

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Column: TypeAlias = pa.Array | pa.ChunkedArray
    Words = NDArray[np.uint64]

SEED = np.uint64(0x7472656E646C6F6F)
NULL = np.uint64(0x6E756C6C6E756C6C)
MOST = (1 << 31) - 1
BLOCK = 1 << 14
"""Rows hashed at once: their hashes stay in a near cache."""
_MILLISECONDS_PER_DAY = 86_400_000
_NANOSECONDS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}


def shard_numbers(
    columns: Sequence[Column], shards: int, rows: int | None = None
) -> NDArray[np.int32]:
    """A number below `shards` for each row; 0 if there are no columns, when `rows` must be told."""
    assert 1 <= shards <= MOST, shards
    rows = count_rows(columns, rows)
    if not columns:
        return np.zeros(rows, np.int32)
    result = np.empty(rows, np.int32)
    with np.errstate(over="ignore"):  # For kernels run uncompiled: products are meant to wrap.
        words = [_all_words(column) for column in columns]
        for start in range(0, rows, BLOCK):
            part = slice(start, start + BLOCK)
            hashes = np.full(min(BLOCK, rows - start), SEED)
            for column in words:
                mix(hashes, column[part])
            spread(hashes, shards, result[part])
    return result


def split(table: pa.Table, shard: NDArray[np.int32], shards: int) -> list[tuple[int, pa.Table]]:
    """The rows of every shard that has any, in input order. Types change as in `sort_events`."""
    assert len(shard) == table.num_rows
    if not len(shard):
        return []
    assert shard.min() >= 0
    assert shard.max() < shards
    order, bounds = by_bucket(shard, shards)
    batch = one_batch(table)
    if np.count_nonzero(np.diff(bounds)) > 1:
        batch = take(batch, order.view(np.int64))
    whole = pa.Table.from_batches([batch])
    return [
        (k, whole.slice(int(bounds[k]), int(bounds[k + 1] - bounds[k])))
        for k in np.flatnonzero(np.diff(bounds)).tolist()
    ]


def _all_words(column: Column) -> Words:
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    words = [_words(chunk) for chunk in chunks]
    # Read-only, as most are already: the kernels are compiled for one kind.
    whole = words[0].view() if len(words) == 1 else np.concatenate([np.zeros(0, np.uint64), *words])
    whole.flags.writeable = False
    return whole


def _words(column: pa.Array) -> Words:
    if isinstance(column, pa.DictionaryArray):
        words = np.append(_words(column.dictionary), NULL)
        places = column.indices
        if places.null_count:
            places = places.cast(pa.int64()).fill_null(len(column.dictionary))
        taken: Words = words[to_numpy(places)]
        return taken
    words = _value_words(column)
    if column.null_count:
        words = np.where(to_numpy(column.is_null()), NULL, words)
    return words


def _value_words(column: pa.Array) -> Words:
    """One word per value; any for null."""
    kind = column.type
    if pa.types.is_null(kind):
        return np.zeros(len(column), np.uint64)
    if pa.types.is_decimal(kind):
        return mix_wide(np.stack(decimal_words(column), axis=1))
    if is_number(kind):
        numbers = integers(column)
        if pa.types.is_date64(kind):
            numbers = numbers // _MILLISECONDS_PER_DAY
        elif pa.types.is_temporal(kind) and not pa.types.is_date32(kind):
            numbers = numbers * np.int64(_NANOSECONDS[kind.unit])
        return numbers.view(np.uint64)
    if pa.types.is_string_view(kind):
        column = column.cast(pa.large_string())
    elif pa.types.is_binary_view(kind):
        column = column.cast(pa.large_binary())
    return _byte_words(column)


def _byte_words(column: pa.Array) -> Words:
    kind, rows = column.type, len(column)
    if pa.types.is_fixed_size_binary(kind):
        offsets = (column.offset + np.arange(rows + 1)) * kind.byte_width
        data = column.buffers()[1]
    elif any(test(kind) for test in _BYTES):
        _, ends, data = column.buffers()
        width = np.dtype(np.int64 if kind in (pa.large_string(), pa.large_binary()) else np.int32)
        if not rows:
            return np.zeros(0, np.uint64)
        offsets = np.frombuffer(ends, width, count=rows + 1, offset=column.offset * width.itemsize)
    else:
        raise InputError(
            f"Events cannot be partitioned by values of type {kind}.",
            remedy="Use numbers, text, dates, times or booleans: take single fields out of "
            "structures before the query.",
        )
    letters = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    letters.flags.writeable = offsets.flags.writeable = False
    return mix_bytes(letters, offsets)


_BYTES = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_binary,
    pa.types.is_large_binary,
)
