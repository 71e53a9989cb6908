"""Sums with a tag beside each: what maps are multiplied in, once for doubles and for integers.

A double's tag is its exponent, as in `scaled`. An integer's tag says whether it is lost, that is,
beyond 64 bits. What is added to a lost number is lost, but nothing times a lost number is nothing:
a sum that overflows harms only what it is part of.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.extending import overload

from trendloom.kernels.checked import LARGEST
from trendloom.kernels.compiled import kernel
from trendloom.kernels.maps import scaled_product
from trendloom.kernels.scaled import plus, times

LOST = 1
"""The tag of a lost integer, and its value: not 0, so that nobody takes it for nothing."""


@kernel
def _plus_whole(m: int, e: int, xm: int, xe: int) -> tuple[int, int]:
    total = m + xm
    if (e | xe) != 0 or ((m ^ total) & (xm ^ total)) < 0:
        return LOST, LOST
    return total, 0


@kernel
def _times_whole(m: int, e: int, count: int, ce: int) -> tuple[int, int]:
    """count >= 0. Asked before multiplying, as in `times_checked`."""
    if m == 0 or count == 0:
        return 0, 0
    if (e | ce) != 0:
        return LOST, LOST
    if count >= 1 << 31 or m >= 1 << 31 or m < -(1 << 31):
        size, room = (m, LARGEST) if m >= 0 else (-(m + 1), LARGEST - (count - 1))
        if count > 1 and size > room // count:
            return LOST, LOST
    return m * count, 0


def added(m: Any, e: Any, xm: Any, xe: Any) -> Any:
    """(m, e) + (xm, xe)."""
    return plus(m, e, xm, xe) if isinstance(m, float) else _plus_whole(m, e, xm, xe)


@overload(added, strict=False)
def _overload_added(m: Any, e: Any, xm: Any, xe: Any) -> Any:
    if m == types.float64:
        return lambda m, e, xm, xe: plus(m, e, xm, xe)
    return lambda m, e, xm, xe: _plus_whole(m, e, xm, xe)


def multiplied(m: Any, e: Any, count: Any, ce: Any) -> Any:
    """(m, e) · (count, ce), where the latter counts trends."""
    if isinstance(m, float):
        return scaled_product(m, e, count, ce)
    return _times_whole(m, e, count, ce)


@overload(multiplied, strict=False)
def _overload_multiplied(m: Any, e: Any, count: Any, ce: Any) -> Any:
    if m == types.float64:
        return lambda m, e, count, ce: scaled_product(m, e, count, ce)
    return lambda m, e, count, ce: _times_whole(m, e, count, ce)


def weighed(x: Any, count: Any, ce: Any) -> Any:
    """An event's x, whatever its size, once per trend."""
    return times(x, count, ce) if isinstance(x, float) else _times_whole(x, 0, count, ce)


@overload(weighed, strict=False)
def _overload_weighed(x: Any, count: Any, ce: Any) -> Any:
    if x == types.float64:
        return lambda x, count, ce: times(x, count, ce)
    return lambda x, count, ce: _times_whole(x, 0, count, ce)
