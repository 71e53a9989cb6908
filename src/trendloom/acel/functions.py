"""Functions of values, as in the trend language: of null each is null, but COALESCE goes on."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from trendloom.acel.events import NUMBER, TEXT, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trendloom.acel.events import Value

TAKES = {"ABS": NUMBER, "ROUND": NUMBER, "UPPER": TEXT, "LOWER": TEXT}
"""The kind of values that a function takes and gives; COALESCE takes any, of one kind."""


def called(function: str, values: Sequence[Value]) -> Value:
    """What the function makes of the values; null of what it does not take."""
    first = values[0]
    if function == "COALESCE":
        return next((value for value in values if value is not None), None)
    if kind_of(first) != TAKES[function]:
        return None
    match first, function:
        case str(), "UPPER":
            return first.upper()
        case str(), "LOWER":
            return first.lower()
        case int() | float(), "ABS":
            return abs(first)
        case int() | float(), "ROUND":
            decimals = values[1] if len(values) > 1 else 0
            return rounded(first, decimals) if isinstance(decimals, int) else None
    raise AssertionError(f"{function} takes no {first!r}")


def rounded(value: float, decimals: int) -> float:
    """Halves go away from zero."""
    if isinstance(value, int):
        if decimals >= 0:
            return value
        unit: int = 10**-decimals
        return int(math.copysign(1, value)) * ((abs(value) + unit // 2) // unit * unit)
    try:
        scale = 10.0**decimals
        far = abs(value) * scale
        whole = math.floor(far)
    except OverflowError:
        # All decimals that it has lie before these.
        return value
    return math.copysign((whole + (far - whole >= 0.5)) / scale if scale else 0.0, value)


def remainder(left: float, right: float) -> float | None:
    """With the sign of the left side; null if the right one is zero."""
    if right == 0:
        return None
    if isinstance(left, int) and isinstance(right, int):
        return int(math.copysign(1, left)) * (abs(left) % abs(right))
    return math.fmod(left, right)


def like(value: Value, pattern: Value) -> bool | None:
    """Whether the text is as the pattern says; null if either is no text."""
    if not isinstance(value, str) or not isinstance(pattern, str):
        return None
    return _expression(pattern).fullmatch(value) is not None


@lru_cache(maxsize=1000)
def _expression(pattern: str) -> re.Pattern[str]:
    signs = {"%": ".*", "_": "."}
    return re.compile("".join(signs.get(sign, re.escape(sign)) for sign in pattern), re.DOTALL)
