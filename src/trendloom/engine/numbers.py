"""Columns of results in the three number domains, and the little arithmetic they need.

- `Doubles`: m · 2**(256·e), beyond the range of a double where counts are exponential;
- `Integers`: 64 bits, every operation checked;
- `Exact`: Python's integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from trendloom.errors import NumberError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

RADIX_BITS = 256
FAR = 5_000
"""Exponents differ by more than this: the smaller number is nothing beside the larger."""
INT64_MAX = int(np.iinfo(np.int64).max)
CERTAIN = 2.0**62
"""Magnitudes that add up to less, even rounded, cannot wrap 64 bits."""


@dataclass(frozen=True, slots=True)
class Doubles:
    """m · 2**(256·e)."""

    m: NDArray[np.float64]
    e: NDArray[np.int64]

    def take(self, rows: NDArray[Any]) -> Doubles:
        return Doubles(self.m[rows], self.e[rows])

    def sum_runs(self, starts: NDArray[np.int64]) -> Doubles:
        """One sum per run of rows that begins at `starts`."""
        if len(starts) == len(self.m):
            return self
        lengths = np.diff(np.append(starts, len(self.m)))
        e = np.where(self.m == 0, np.iinfo(np.int64).min // 2, self.e)
        top = np.maximum.reduceat(e, starts)
        shift = np.maximum(e - np.repeat(top, lengths), -FAR)
        m = np.add.reduceat(np.ldexp(self.m, (shift * RADIX_BITS).astype(np.int32)), starts)
        return Doubles(m, np.where(m == 0, 0, top))

    def times(self, other: Doubles) -> Doubles:
        m, power = np.frexp(self.m)
        n, other_power = np.frexp(other.m)
        bits = power.astype(np.int64) + other_power
        return Doubles(
            np.ldexp(m * n, (bits % RADIX_BITS).astype(np.int32)),
            self.e + other.e + bits // RADIX_BITS,
        )

    def minus(self, other: Doubles) -> Doubles:
        pairs = Doubles(
            np.stack([self.m, -other.m], axis=1).ravel(),
            np.stack([self.e, other.e], axis=1).ravel(),
        )
        return pairs.sum_runs(np.arange(0, 2 * len(self.m), 2))

    def over(self, other: Doubles) -> NDArray[np.float64]:
        """The quotient, which is an ordinary double."""
        shift = np.clip(self.e - other.e, -FAR, FAR) * RADIX_BITS
        with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
            quotient: NDArray[np.float64] = np.ldexp(self.m / other.m, shift.astype(np.int32))
        return quotient

    def to_float(self) -> NDArray[np.float64]:
        """As a double, infinite where it does not fit."""
        shift = np.clip(self.e, -FAR, FAR) * RADIX_BITS
        with np.errstate(over="ignore", under="ignore"):
            values: NDArray[np.float64] = np.ldexp(self.m, shift.astype(np.int32))
        return values

    def log2(self) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            bits: NDArray[np.float64] = np.log2(self.m) + self.e * float(RADIX_BITS)
        return bits

    def to_doubles(self) -> Doubles:
        return self

    @property
    def nonzero(self) -> NDArray[np.bool_]:
        return np.not_equal(self.m, 0)


@dataclass(frozen=True, slots=True)
class Integers:
    """Integers of 64 bits; Python's, as objects, where a sum on the way needs more.

    Only what a query returns has to fit 64 bits (`fitting`): sums of large numbers of both signs
    fit again, and averages are no integers.
    """

    v: NDArray[Any]

    def take(self, rows: NDArray[Any]) -> Integers:
        return Integers(self.v[rows])

    def sum_runs(self, starts: NDArray[np.int64]) -> Integers:
        if len(starts) == len(self.v):
            return self
        if not self.is_wide:
            size = np.add.reduceat(np.abs(self.v.astype(np.float64)), starts)
            if size.max(initial=0.0) < CERTAIN:
                return Integers(np.add.reduceat(self.v, starts))
        return Integers(narrowed(np.add.reduceat(self.v.astype(np.object_), starts)))

    def times(self, other: Integers) -> Integers:
        if not (self.is_wide or other.is_wide):
            size = np.abs(self.v.astype(np.float64) * other.v.astype(np.float64))
            if size.max(initial=0.0) < CERTAIN:
                return Integers(self.v * other.v)
        return Integers(narrowed(self.v.astype(np.object_) * other.v.astype(np.object_)))

    def minus(self, other: Integers) -> Integers:
        """Of counts, neither of which is negative."""
        return Integers(narrowed(self.v - other.v))

    def over(self, other: Integers) -> NDArray[np.float64]:
        return self.to_doubles().over(other.to_doubles())

    def to_float(self) -> NDArray[np.float64]:
        return self.to_doubles().to_float()

    def log2(self) -> NDArray[np.float64]:
        return self.to_doubles().log2()

    def to_doubles(self) -> Doubles:
        if self.is_wide:
            return Exact(self.v).to_doubles()
        return Doubles(self.v.astype(np.float64), np.zeros(len(self.v), np.int64))

    @property
    def is_wide(self) -> bool:
        return self.v.dtype == np.object_

    @property
    def nonzero(self) -> NDArray[np.bool_]:
        return np.asarray(self.v != 0, np.bool_)


@dataclass(frozen=True, slots=True)
class Exact:
    """Integers of any size."""

    v: NDArray[np.object_]

    def take(self, rows: NDArray[Any]) -> Exact:
        return Exact(self.v[rows])

    def sum_runs(self, starts: NDArray[np.int64]) -> Exact:
        return Exact(np.add.reduceat(self.v, starts) if len(starts) else self.v[:0])

    def times(self, other: Exact) -> Exact:
        return Exact(self.v * other.v)

    def minus(self, other: Exact) -> Exact:
        return Exact(self.v - other.v)

    def over(self, other: Exact) -> NDArray[np.float64]:
        return self.to_doubles().over(other.to_doubles())

    def to_float(self) -> NDArray[np.float64]:
        return self.to_doubles().to_float()

    def log2(self) -> NDArray[np.float64]:
        return self.to_doubles().log2()

    def to_doubles(self) -> Doubles:
        """Rounded; the exponent is a multiple of 256 bits."""
        m, e = np.zeros(len(self.v)), np.zeros(len(self.v), np.int64)
        for row, value in enumerate(self.v):
            e[row] = max(0, abs(value).bit_length() // RADIX_BITS - 1)
            shift = int(e[row]) * RADIX_BITS
            m[row] = float(value >> shift if value >= 0 else -(-value >> shift))
        return Doubles(m, e)

    @property
    def nonzero(self) -> NDArray[np.bool_]:
        return self.v.astype(bool)


Column = Doubles | Integers | Exact


def joined(parts: Sequence[Column]) -> Column:
    """Columns of one domain, one after another."""
    match parts[0]:
        case Doubles():
            all_doubles = [part.to_doubles() for part in parts]
            return Doubles(
                np.concatenate([part.m for part in all_doubles]),
                np.concatenate([part.e for part in all_doubles]),
            )
        case Integers():
            return Integers(np.concatenate([p.v for p in parts if isinstance(p, Integers)]))
        case Exact():
            return Exact(np.concatenate([p.v for p in parts if isinstance(p, Exact)]))


def narrowed(values: NDArray[Any]) -> NDArray[Any]:
    """In 64 bits if all of them fit, else as they are."""
    if values.dtype != np.object_ or not all(fits(value) for value in values.flat):
        return values
    return values.astype(np.int64)


def fitting(values: NDArray[Any], missing: NDArray[np.bool_]) -> NDArray[np.int64]:
    """In 64 bits, 0 where missing; an error if one of the others does not fit."""
    if values.dtype != np.object_:
        return values
    if not all(fits(value) for value in values[~missing]):
        raise overflow()
    return np.where(missing, 0, values).astype(np.int64)


def fits(value: int) -> bool:
    return -INT64_MAX - 1 <= value <= INT64_MAX


def overflow() -> NumberError:
    return NumberError(
        "A COUNT or SUM does not fit a 64-bit integer.",
        remedy='Ask for exact integers of any size: numbers="exact" (--numbers exact).',
    )
