"""Events in the order of the scan, sorted here where the host delivers them as they come.

1. Every column of the order becomes codes: 64-bit integers that are equal where the values are.
   For `time` and `tie` they also order as the values do.
2. Columns at the end by which the rows are already in order need no sorting. If that is all of
   them, the events stay as they are.
3. The codes, less their minimum, are cut into digits and sorted (`kernels/sort.py`). A column of
   one value has no digits.
4. All columns follow in one `take`.

2.5 M rows of (int64 key, time, uint8 mask, double), one thread on a shared 2-core AMD EPYC at a
load of about 1.2, best of 7, in rows per second; 1,000 and 100,000 keys: time in order 31 M and
35 M, time in random order (32 bits of it) 22 M and 18 M. With both cores overbooked several times
the same runs took five times as long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trendloom.engine.arrow import from_numpy, to_numpy
from trendloom.errors import InputError
from trendloom.kernels.sort import descend, lay, radix, strip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Column: TypeAlias = pa.Array | pa.ChunkedArray

SIGN = np.int64(np.iinfo(np.int64).min)
LARGE = (1 << 31) - 1
"""Bytes from which on a column of text needs 64-bit offsets."""


def sort_events(table: pa.Table, keys: int, *, ordered: bool = False) -> pa.RecordBatch:
    """The rows sorted by (p0, p1, …, time, tie), equal rows in input order.

    Equal partition values are neighbours; in the order of values only if `ordered`. Nulls are alike
    and come last. Dictionaries of text leave as dictionary<int32> with one dictionary of distinct
    values; other dictionaries are decoded, and views of text become large_string.
    """
    batch = one_batch(table)
    names = [f"p{k}" for k in range(keys)]
    coded = _with_dictionaries(batch, names)
    fields = [field for name in names for field in codes(coded.column(name), ordered=ordered)]
    fields += codes(coded.column("time"))
    if "tie" in coded.schema.names:
        fields += codes(coded.column("tie"), ordered=True)
    order = _order(fields, coded.num_rows)
    return batch if order is None else _as_before(take(coded, order), batch.schema)


def orders(batch: pa.RecordBatch, names: Sequence[str]) -> list[bool]:
    """Whether the rows are in order of `names[k:]`, for every k."""
    descends = np.zeros(batch.num_rows, np.bool_)
    held = []
    for name in reversed(names):
        for field in reversed(codes(batch.column(name), ordered=True)):
            count = descend(_frozen(field), descends)
        held.append(count == 0)
    return held[::-1]


def key_codes(
    columns: Sequence[Column], rows: int | None = None, *, ordered: bool = False
) -> tuple[Ints, int]:
    """A number below the returned bound for each row, equal where all columns are; nulls are alike.

    `rows` must be told if there are no columns. If `ordered`, numbers compare as the rows do.
    """
    rows = count_rows(columns, rows)
    numbers, bound = np.zeros(rows, np.int64), min(rows, 1)
    for column in columns:
        for field in codes(one_array(column), ordered=ordered):
            values, number = np.unique(field, return_inverse=True)
            found, numbers = np.unique(numbers * len(values) + number, return_inverse=True)
            bound = len(found)
    return numbers.astype(np.int64), bound


def count_rows(columns: Sequence[Column], rows: int | None) -> int:
    assert columns or rows is not None, "without columns, say how many rows there are"
    return len(columns[0]) if rows is None else rows


def one_batch(table: pa.Table) -> pa.RecordBatch:
    """The table's rows side by side; `one_array` says what becomes of the types."""
    arrays = [one_array(column) for column in table.columns]
    fields = [f.with_type(a.type) for f, a in zip(table.schema, arrays, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields, table.schema.metadata))


def one_array(column: Column) -> pa.Array:
    """The values side by side, in a type that can be sorted and taken."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _one_dictionary(column)
    if pa.types.is_string_view(kind) or (pa.types.is_string(kind) and column.nbytes > LARGE):
        column = column.cast(pa.large_string())
    elif pa.types.is_binary_view(kind) or (pa.types.is_binary(kind) and column.nbytes > LARGE):
        column = column.cast(pa.large_binary())
    return _joined(column)


def _one_dictionary(column: Column) -> pa.Array:
    """Text keeps a dictionary, of distinct values, so that equal numbers mean equal text."""
    values = column.type.value_type
    if not (pa.types.is_string(values) or pa.types.is_large_string(values)):
        return one_array(column.cast(values))
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    if any(chunk.dictionary.null_count for chunk in chunks):
        return one_array(column.cast(values)).dictionary_encode()
    # Narrow numbers might not count the values of all dictionaries.
    whole = _joined(column.cast(pa.dictionary(pa.int32(), values)))
    if len(whole.dictionary.unique()) < len(whole.dictionary):
        return whole.dictionary_decode().dictionary_encode()
    return whole


def _joined(column: Column) -> pa.Array:
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _with_dictionaries(batch: pa.RecordBatch, names: list[str]) -> pa.RecordBatch:
    """Text as dictionaries, so that numbers are moved instead of letters."""
    for name in names:
        if pa.types.is_string(kind := batch.column(name).type) or pa.types.is_large_string(kind):
            at = batch.schema.get_field_index(name)
            batch = batch.set_column(at, name, batch.column(name).dictionary_encode())
    return batch


def _as_before(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = zip(batch.columns, schema.types, strict=True)
    return pa.RecordBatch.from_arrays(
        [c if c.type == kind else c.dictionary_decode() for c, kind in columns], schema=schema
    )


def take(batch: pa.RecordBatch, order: Ints) -> pa.RecordBatch:
    return pc.take(batch, from_numpy(order), boundscheck=False)


def codes(column: pa.Array, *, ordered: bool = False) -> list[Ints]:
    """Integers that are equal where the values are, the most significant first.

    They compare as the values do, or, unless `ordered`, in any total order. 0.0 and -0.0 are equal,
    and so are all NaNs, after everything else.
    """
    fields = _codes(column, ordered)
    if column.null_count:
        missing = to_numpy(column.is_null())
        fields = [np.where(missing, 0, field) for field in fields]
        fields.insert(0, missing.astype(np.int64))
    return fields


def _codes(column: pa.Array, ordered: bool) -> list[Ints]:
    kind = column.type
    if pa.types.is_null(kind):
        return [np.zeros(len(column), np.int64)]
    if pa.types.is_decimal(kind):
        words = decimal_words(column)
        # Only the highest word has a sign.
        return [words[-1], *(word ^ SIGN for word in words[-2::-1])]
    if pa.types.is_uint64(kind):
        return [integers(column) ^ SIGN]
    if is_number(kind):
        return [integers(column)]
    return [_text_codes(column, ordered)]


def is_number(kind: pa.DataType) -> bool:
    """Whether `integers` takes it."""
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    return numeric or (pa.types.is_temporal(kind) and not pa.types.is_interval(kind))


def integers(column: pa.Array) -> Ints:
    """Values of up to 64 bits as integers that order as they do; any for null.

    uint64 by its bits: large values are negative.
    """
    kind = column.type
    plain = pa.Array.from_buffers(
        kind, len(column), [None, column.buffers()[1]], offset=column.offset
    )
    if pa.types.is_floating(kind):
        values = to_numpy(plain.cast(pa.float64())) + 0.0  # -0.0 + 0.0 is 0.0
        bits = np.where(np.isnan(values), np.nan, values).view(np.int64)
        return bits ^ ((bits >> 63) & ~SIGN)
    if pa.types.is_temporal(kind):
        plain = plain.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    elif pa.types.is_uint64(kind):
        plain = plain.view(pa.int64())
    return to_numpy(plain).astype(np.int64, copy=False)


def decimal_words(column: pa.Array) -> list[Ints]:
    """The unscaled value in two's complement, 64 bits each, the lowest first; any for null."""
    kind = column.type
    if kind.bit_width < 128:
        column = column.cast(pa.decimal128(kind.precision, kind.scale))
    count = column.type.bit_width // 64
    values = column.buffers()[1]
    if values is None or len(column) == 0:
        return [np.zeros(0, np.int64)] * count
    skipped = column.offset * count * 8
    words = np.frombuffer(values, np.int64, count=len(column) * count, offset=skipped)
    return [np.ascontiguousarray(words[k::count]) for k in range(count)]


def _text_codes(column: pa.Array, ordered: bool) -> Ints:
    try:
        if not isinstance(column, pa.DictionaryArray):
            column = column.dictionary_encode()
        numbers = column.indices
        if numbers.null_count:
            numbers = numbers.fill_null(0)
        places: Ints = to_numpy(numbers).astype(np.int64)
        if not ordered or not len(column.dictionary):
            return places
        rank = np.empty(len(column.dictionary), np.int64)
        rank[to_numpy(pc.sort_indices(column.dictionary))] = np.arange(len(rank))
        return rank[places]
    except pa.ArrowNotImplementedError:
        raise InputError(
            f"Events cannot be grouped or ordered by values of type {column.type}.",
            remedy="Use numbers, text, dates, times or booleans: take single fields out of "
            "structures before the query.",
        ) from None


def _order(fields: list[Ints], rows: int) -> Ints | None:
    """Row numbers in sorted order; None if the rows are in order as they come."""
    descends = np.zeros(rows, np.bool_)
    unsorted = len(fields)
    for k in range(len(fields) - 1, -1, -1):
        if descend(_frozen(fields[k]), descends) == 0:
            unsorted = k
    if unsorted == 0:
        return None
    # Stable: what the rows are already sorted by stays so underneath.
    index_bits = (rows - 1).bit_length()
    words, used = np.arange(rows, dtype=np.uint64), index_bits
    for field in reversed(fields[:unsorted]):
        low = int(field.min())
        bits, done = (int(field.max()) - low).bit_length(), 0
        while done < bits:
            width = min(bits - done, 64 - used)
            with np.errstate(over="ignore"):  # For kernels run uncompiled: differences may wrap.
                lay(words, _frozen(field), low, done, width, used, index_bits)
            done, used = done + width, used + width
            if used == 64:
                words, used = radix(words, index_bits, used - index_bits), index_bits
                strip(words, index_bits)
    if used > index_bits:
        words = radix(words, index_bits, used - index_bits)
        strip(words, index_bits)
    return words.view(np.int64)


def _frozen(values: Ints) -> Ints:
    """Read-only, as Arrow's own arrays are: the kernels are compiled for one kind."""
    values = np.ascontiguousarray(values).view()
    values.flags.writeable = False
    return values
