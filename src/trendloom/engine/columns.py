"""Operands as numbers: what the kernels add, compare and order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trendloom.engine.arrow import filled, from_numpy, to_numpy
from trendloom.errors import InputError, NumberError
from trendloom.kernels.extreme import ABSENT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.plan.plan import Part

EXACT_DOUBLE = 1 << 53


def valid(column: pa.Array) -> NDArray[np.bool_]:
    """Where the column has a value."""
    if column.null_count == 0:
        return np.ones(len(column), np.bool_)
    return to_numpy(column.is_valid())


def as_doubles(column: pa.Array, missing: float) -> NDArray[np.float64]:
    """Numbers and booleans as doubles, with `missing` for null."""
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    if not pa.types.is_float64(column.type):
        column = column.cast(pa.float64(), safe=False)
    return filled(column, missing)


def as_integers(column: pa.Array) -> NDArray[np.int64]:
    """Integers, with 0 for null."""
    return filled(column, 0)


def pair_columns(part: Part, chunk: Chunk) -> NDArray[np.float64]:
    """The columns of a part's two-event conditions; NaN for null."""
    columns = np.empty((len(part.columns), len(chunk)), np.float64)
    done: set[int] = set()
    for number, column in enumerate(part.columns):
        if number in done:
            continue
        left = chunk.operand(column.operand)
        if column.partner is None:
            columns[number] = as_doubles(left, np.nan)
            continue
        partner = next(
            k
            for k, other in enumerate(part.columns)
            if (other.operand, other.partner) == (column.partner, column.operand)
        )
        right = chunk.operand(column.partner)
        columns[number], columns[partner] = comparable(left, right)
        done.add(partner)
    return columns


def comparable(left: pa.Array, right: pa.Array) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two columns as doubles that compare as their values do. Equal columns may be one object."""
    if _plain(left) and _plain(right):
        return as_doubles(left, np.nan), as_doubles(right, np.nan)
    if isinstance(left, pa.DictionaryArray):
        left = left.dictionary_decode()
    if isinstance(right, pa.DictionaryArray):
        right = right.dictionary_decode()
    if left.type != right.type:
        left, right = _common(left, right)
    both = pa.concat_arrays([left, right]).dictionary_encode()
    rank = np.empty(len(both.dictionary) + 1)
    rank[to_numpy(pc.sort_indices(both.dictionary))] = np.arange(len(both.dictionary))
    rank[-1] = np.nan
    values = rank[filled(both.indices, -1)]
    return values[: len(left)], values[len(left) :]


def _plain(column: pa.Array) -> bool:
    """Whether the column's values are exact as doubles."""
    if pa.types.is_boolean(column.type) or pa.types.is_floating(column.type):
        return True
    if not pa.types.is_integer(column.type):
        return False
    extremes = pc.min_max(column)
    low, high = extremes["min"].as_py(), extremes["max"].as_py()
    return low is None or (low >= -EXACT_DOUBLE and high <= EXACT_DOUBLE)


def _common(left: pa.Array, right: pa.Array) -> tuple[pa.Array, pa.Array]:
    numeric = [
        pa.types.is_integer(c.type) or pa.types.is_floating(c.type) or pa.types.is_decimal(c.type)
        for c in (left, right)
    ]
    if all(numeric):
        return left.cast(pa.float64(), safe=False), right.cast(pa.float64(), safe=False)
    temporal = [pa.types.is_timestamp(c.type) or pa.types.is_date(c.type) for c in (left, right)]
    if all(temporal):
        common = pa.timestamp("us")
        return left.cast(common, safe=False), right.cast(common, safe=False)
    raise InputError(
        f"A condition compares {left.type} with {right.type}.",
        remedy="Compare attributes of one type; convert one of them before the query.",
    )


def has_lasting_keys(left: pa.DataType, right: pa.DataType) -> bool:
    """Whether values of these types, compared with each other, have numbers of their own.

    Text has none: it is numbered among the rows at hand.
    """
    return all(_is_signed(kind) or pa.types.is_floating(kind) for kind in (left, right)) or (
        left == right and (pa.types.is_timestamp(left) or pa.types.is_date32(left))
    )


def lasting_keys(
    column: pa.Array, other: pa.DataType
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """64-bit keys that compare as the values do with those of another column, in every batch.

    And where there are any: neither null nor NaN compares with anything.
    """
    if any(pa.types.is_floating(kind) for kind in (column.type, other)):
        # Zero has two signs.
        values = as_doubles(column, np.nan) + 0.0
        here = ~np.isnan(values)
        return order_keys(from_numpy(np.where(here, values, 0.0)), largest=False), here
    return as_integers(_as_int64(column)), valid(column)


def _is_signed(kind: pa.DataType) -> bool:
    whole = pa.types.is_integer(kind) and kind != pa.uint64()
    return bool(whole or pa.types.is_boolean(kind))


def order_keys(column: pa.Array, *, largest: bool) -> NDArray[np.int64]:
    """64-bit keys that order as the values do (reversed, for the largest); ABSENT for null."""
    if pa.types.is_float64(column.type):
        bits = as_doubles(column, 0.0).view(np.int64)
        keys = np.where(bits < 0, bits ^ ABSENT, bits)
    else:
        keys = as_integers(_as_int64(column)).copy()
    if largest:
        keys = ~keys
    here = valid(column)
    if bool(np.any(keys[here] == ABSENT)):
        raise NumberError(
            f"MIN and MAX cannot hold the value {np.iinfo(np.int64).min if largest else ABSENT}.",
            remedy="It is the end of the 64-bit range; convert the attribute to a double.",
        )
    keys[~here] = ABSENT
    return keys


def from_keys(keys: NDArray[np.int64], kind: pa.DataType, *, largest: bool) -> pa.Array:
    """The values of the keys, null where ABSENT."""
    absent = keys == ABSENT
    plain = np.where(absent, 0, ~keys if largest else keys)
    if pa.types.is_float64(kind):
        bits = np.where(plain < 0, plain ^ ABSENT, plain)
        return from_numpy(bits.view(np.float64), absent)
    whole = from_numpy(plain, absent)
    if pa.types.is_boolean(kind):
        return whole.cast(pa.bool_())
    if pa.types.is_date32(kind):
        return whole.cast(pa.int32()).cast(kind)
    return whole.cast(kind)


def _as_int64(column: pa.Array) -> pa.Array:
    if pa.types.is_boolean(column.type) or pa.types.is_date32(column.type):
        return column.cast(pa.int32()).cast(pa.int64())
    return column.cast(pa.int64())
