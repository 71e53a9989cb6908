"""What plain doubles and 64-bit integers do differently, so that one loop can be compiled for both.

Integers wrap, and must notice it; doubles grow past the radix, and must be shrunk.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.extending import overload

from trendloom.kernels.checked import times_checked
from trendloom.kernels.scaled import RADIX


def wraps(a: Any, b: Any, total: Any) -> int:
    """Negative if the integers a + b wrapped to `total`; doubles never wrap."""
    return 0 if isinstance(total, float) else (a ^ total) & (b ^ total)


@overload(wraps)
def _overload_wraps(a: Any, b: Any, total: Any) -> Any:
    if total == types.float64:

        def never(a: Any, b: Any, total: Any) -> int:
            return 0

        return never

    def sign(a: Any, b: Any, total: Any) -> Any:
        return (a ^ total) & (b ^ total)

    return sign


def sign(total: Any) -> int:
    """Negative if integers that are not negative wrapped when they were added to `total`."""
    return 0 if isinstance(total, float) else total


@overload(sign)
def _overload_sign(total: Any) -> Any:
    if total == types.float64:

        def never(total: Any) -> int:
            return 0

        return never

    def whole(total: Any) -> Any:
        return total

    return whole


def is_full(total: Any) -> bool:
    """Whether a double grew past the radix; integers never do."""
    return isinstance(total, float) and abs(total) >= RADIX


@overload(is_full)
def _overload_is_full(total: Any) -> Any:
    if total == types.float64:

        def past(total: Any) -> bool:
            return abs(total) >= RADIX

        return past

    def never(total: Any) -> bool:
        return False

    return never


def weigh(x: Any, count: Any, flag: Any) -> Any:
    """x once per trend."""
    return x * count if isinstance(count, float) else times_checked(x, count, flag)


@overload(weigh)
def _overload_weigh(x: Any, count: Any, flag: Any) -> Any:
    if count == types.float64:

        def weigh_float(x: Any, count: Any, flag: Any) -> Any:
            return x * count

        return weigh_float

    def weigh_int(x: Any, count: Any, flag: Any) -> Any:
        return times_checked(x, count, flag)

    return weigh_int
