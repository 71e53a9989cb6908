"""Whole numbers of 128 bits, in two words: what conditions between two events compute exactly in.

Words are unsigned, the low one first, as Arrow stores its decimals; a negative number is its two's
complement. NULL is the one number that has no opposite, so no sum in range is mistaken for it.
Whoever compiles a program proves that no number in it leaves the range (`engine.pair_programs`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel

Words = NDArray[np.uint64]
Wide = tuple[np.uint64, np.uint64]

NULL_LOW, NULL_HIGH = np.uint64(0), np.uint64(1 << 63)
_SIGN = np.uint64(1 << 63)
_HALF = np.uint64(32)
_LOWER = np.uint64((1 << 32) - 1)
_NONE, _ONE, _LAST = np.uint64(0), np.uint64(1), np.uint64(63)


@kernel
def is_null(low: np.uint64, high: np.uint64) -> bool:
    return high == _SIGN and low == _NONE


@kernel
def negative(low: np.uint64, high: np.uint64) -> Wide:
    low = ~low + _ONE
    high = ~high
    return low, high + _ONE if low == _NONE else high


@kernel
def magnitude(low: np.uint64, high: np.uint64) -> Wide:
    return negative(low, high) if high >= _SIGN else (low, high)


@kernel
def plus(low: np.uint64, high: np.uint64, other_low: np.uint64, other_high: np.uint64) -> Wide:
    total = low + other_low
    high = high + other_high
    return total, high + _ONE if total < low else high


@kernel
def times(low: np.uint64, high: np.uint64, other_low: np.uint64, other_high: np.uint64) -> Wide:
    """Modulo 2 to the 128th, which is right for either sign."""
    a, b = low & _LOWER, low >> _HALF
    c, d = other_low & _LOWER, other_low >> _HALF
    first, middle, cross = a * c, b * c, a * d
    carry = (first >> _HALF) + (middle & _LOWER) + (cross & _LOWER)
    product = (first & _LOWER) | (carry << _HALF)
    above = b * d + (middle >> _HALF) + (cross >> _HALF) + (carry >> _HALF)
    return product, above + low * other_high + high * other_low


@kernel
def is_less(low: np.uint64, high: np.uint64, other_low: np.uint64, other_high: np.uint64) -> bool:
    if high != other_high:
        return bool((high ^ _SIGN) < (other_high ^ _SIGN))
    return bool(low < other_low)


@kernel
def divided(
    low: np.uint64, high: np.uint64, by_low: np.uint64, by_high: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Quotient and remainder of numbers that are not negative; bit by bit, if a word is too few."""
    if high == _NONE and by_high == _NONE:
        return low // by_low, _NONE, low % by_low, _NONE
    quotient_low, quotient_high, rest_low, rest_high = _NONE, _NONE, _NONE, _NONE
    for _ in range(128):
        rest_high = (rest_high << _ONE) | (rest_low >> _LAST)
        rest_low = (rest_low << _ONE) | (high >> _LAST)
        high = (high << _ONE) | (low >> _LAST)
        low = low << _ONE
        quotient_high = (quotient_high << _ONE) | (quotient_low >> _LAST)
        quotient_low = quotient_low << _ONE
        if rest_high > by_high or (rest_high == by_high and rest_low >= by_low):
            borrow = _ONE if rest_low < by_low else _NONE
            rest_low = rest_low - by_low
            rest_high = rest_high - by_high - borrow
            quotient_low = quotient_low | _ONE
    return quotient_low, quotient_high, rest_low, rest_high


@kernel
def remainder(low: np.uint64, high: np.uint64, by_low: np.uint64, by_high: np.uint64) -> Wide:
    """With the sign of the dividend, as in SQL; the divisor is not 0."""
    is_negative = high >= _SIGN
    low, high = magnitude(low, high)
    by_low, by_high = magnitude(by_low, by_high)
    _, _, rest_low, rest_high = divided(low, high, by_low, by_high)
    return negative(rest_low, rest_high) if is_negative else (rest_low, rest_high)


@kernel
def rounded(low: np.uint64, high: np.uint64, unit_low: np.uint64, unit_high: np.uint64) -> Wide:
    """How many units, halves away from zero."""
    is_negative = high >= _SIGN
    low, high = magnitude(low, high)
    low, high, rest_low, rest_high = divided(low, high, unit_low, unit_high)
    rest_low, rest_high = plus(rest_low, rest_high, rest_low, rest_high)
    if not is_less(rest_low, rest_high, unit_low, unit_high):
        low, high = plus(low, high, _ONE, _NONE)
    return negative(low, high) if is_negative else (low, high)


@kernel
def to_double(low: np.uint64, high: np.uint64) -> float:
    """The nearest double."""
    sign = 1.0
    if high >= _SIGN:
        sign = -1.0
        low, high = negative(low, high)
    scale = 1.0
    while high != _NONE:
        # The last bit says whether any bit that is cut off was set: ties are told by it.
        low = ((low >> _ONE) | (high << _LAST)) | (low & _ONE)
        high = high >> _ONE
        scale *= 2.0
    return sign * scale * np.float64(low)
