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
TOP_BIT = np.uint64(1 << 63)


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


def differences(column: pa.Array, middle: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """Values less a middle, or each less its own, rounded once; NaN for null.

    Integers beyond 2**53 that are close to one another would be the same double. So they are
    subtracted modulo 2**64, which is right wherever the difference is less than 2**63; elsewhere
    it is so large that the rounded values will do.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        rough = as_doubles(column, np.nan) - middle
    if not pa.types.is_integer(column.type):
        return rough
    whole = np.floor(middle)
    high = np.floor(whole / 2.0**32)
    words = high.astype(np.int64).astype(np.uint64) << np.uint64(32)
    words += (whole - high * 2.0**32).astype(np.uint64)
    wrapped = (filled(column, 0).astype(np.int64).view(np.uint64) - words).view(np.int64)
    return np.where(np.abs(rough) < 2.0**62, wrapped - (middle - whole), rough)


def pair_columns(part: Part, chunk: Chunk) -> NDArray[np.float64]:
    """The columns that a part compares with each other, as doubles that compare as they do.

    NaN stands for null, and for columns of conditions that are more than a comparison.
    """
    columns = np.empty((len(part.columns), len(chunk)))
    done: set[int] = set()
    for number, column in enumerate(part.columns):
        if number in done:
            continue
        if column.partner is None:
            columns[number] = np.nan
            continue
        left = chunk.operand(column.operand)
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
    for one in (left, right):
        if pa.types.is_nested(one.type) or pa.types.is_interval(one.type):
            raise _incomparable(left.type, right.type)
    if len(left) in (left.null_count, right.null_count):
        # Of a column without values nobody may have known the type.
        return np.full(len(left), np.nan), np.full(len(left), np.nan)
    if left.type != right.type:
        if _is_moment(left.type) and _is_moment(right.type):
            values = _rank_of_moments(left, right)
            return values[: len(left)], values[len(left) :]
        left, right = _common(left, right)
    values = rank_of(pa.concat_arrays([left, right]))
    return values[: len(left)], values[len(left) :]


def rank_of(column: pa.Array) -> NDArray[np.float64]:
    """The place of every value among the different ones; NaN for null."""
    encoded = column.dictionary_encode()
    rank = np.empty(len(encoded.dictionary) + 1)
    rank[to_numpy(pc.sort_indices(encoded.dictionary))] = np.arange(len(encoded.dictionary))
    rank[-1] = np.nan
    ranks: NDArray[np.float64] = rank[filled(encoded.indices, -1)]
    return ranks


def _rank_of_moments(*columns: pa.Array) -> NDArray[np.float64]:
    """The places of dates and timestamps of any unit in their order; nothing is rounded."""
    seconds, parts, known = [], [], np.concatenate([valid(column) for column in columns])
    for column in columns:
        if pa.types.is_date(column.type):
            days = filled(column.cast(pa.date32()).cast(pa.int32()), 0).astype(np.int64)
            seconds.append(days * 86_400)
            parts.append(np.zeros(len(days), np.int64))
            continue
        per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[column.type.unit]
        whole, rest = np.divmod(filled(column.cast(pa.int64()), 0), per_second)
        seconds.append(whole)
        parts.append(rest * (10**9 // per_second))
    both = np.concatenate(seconds), np.concatenate(parts)
    order = np.lexsort(both[::-1])
    changes = np.zeros(len(order), np.bool_)
    for one in both:
        changes[1:] |= one[order][1:] != one[order][:-1]
    ranks = np.empty(len(order))
    ranks[order] = np.cumsum(changes)
    return np.where(known, ranks, np.nan)


def _is_moment(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind))


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
    kinds = (left.type, right.type)
    if not all(map(_is_numeric, kinds)):
        if {"string", "large_string"} == {str(kind) for kind in kinds}:
            return left.cast(pa.large_string()), right.cast(pa.large_string())
        raise _incomparable(*kinds)
    if any(map(pa.types.is_floating, kinds)):
        return left.cast(pa.float64(), safe=False), right.cast(pa.float64(), safe=False)
    scale = max(kind.scale if pa.types.is_decimal(kind) else 0 for kind in kinds)
    common = pa.decimal256(76, scale)
    try:
        return left.cast(common), right.cast(common)
    except pa.ArrowInvalid:
        raise _incomparable(*kinds) from None


def _is_numeric(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def _incomparable(left: pa.DataType, right: pa.DataType) -> InputError:
    return InputError(
        f"A condition compares {left} with {right}.",
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
    return as_integers(as_whole(column)), valid(column)


def _is_signed(kind: pa.DataType) -> bool:
    whole = pa.types.is_integer(kind) and kind != pa.uint64()
    return bool(whole or pa.types.is_boolean(kind))


def order_keys(column: pa.Array, *, largest: bool) -> NDArray[np.int64]:
    """64-bit keys that order as the values do (reversed, for the largest); ABSENT for null."""
    if pa.types.is_float64(column.type):
        bits = as_doubles(column, 0.0).view(np.int64)
        keys = np.where(bits < 0, bits ^ ABSENT, bits)
    else:
        keys = as_integers(as_whole(column)).copy()
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


def as_whole(column: pa.Array) -> pa.Array:
    """64-bit integers that order as integers, times, dates and booleans do."""
    if pa.types.is_uint64(column.type):
        bits = filled(column, 0) ^ TOP_BIT
        return from_numpy(bits.view(np.int64), ~valid(column))
    if pa.types.is_boolean(column.type) or pa.types.is_date32(column.type):
        return column.cast(pa.int32()).cast(pa.int64())
    return column.cast(pa.int64())


def from_whole(
    values: NDArray[np.int64], missing: NDArray[np.bool_], kind: pa.DataType
) -> pa.Array:
    """What `as_whole` took."""
    if pa.types.is_uint64(kind):
        return from_numpy(values.view(np.uint64) ^ TOP_BIT, missing)
    whole = from_numpy(values, missing)
    if pa.types.is_boolean(kind):
        return whole.cast(pa.bool_())
    if pa.types.is_date32(kind):
        return whole.cast(pa.int32()).cast(kind)
    return whole.cast(kind)
