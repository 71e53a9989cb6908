"""Compare result rows with the oracle's, number by number, with a reason when they differ."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import TYPE_CHECKING, Any

from trendloom.language.nodes import GroupKey

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from trendloom.language.nodes import Query

WINDOW = ("window_start", "window_end")
EXACT = 2**53


def same_rows(
    expected: Sequence[Mapping[str, Any]],
    actual: Sequence[Mapping[str, Any]],
    *,
    keys: Iterable[str] = (),
    scale: float = 1.0,
) -> str | None:
    """None if the rows agree, else the first difference in words.

    Rows are matched by window and by `keys` (the group columns), in any order. Integers up to 2^53
    agree exactly, whether the other side is an int or a float; other numbers within 1e-9 of their
    magnitude, or within 1e-12 of `scale`: the size of the summands, where sums cancel out.
    """
    names = (*WINDOW, *keys)
    wanted, given = _by_key(expected, names), _by_key(actual, names)
    for side, table in (("expected", wanted), ("actual", given)):
        for key, rows in table.items():
            if len(rows) > 1:
                return f"{_say(names, key)}: {len(rows)} {side} rows"
    for key, rows in wanted.items():
        if key not in given:
            return f"{_say(names, key)}: missing, expected {dict(rows[0])}"
    for key, rows in given.items():
        if key not in wanted:
            return f"{_say(names, key)}: unexpected {dict(rows[0])}"
    for key, rows in wanted.items():
        difference = _row_difference(rows[0], given[key][0], scale)
        if difference is not None:
            return f"{_say(names, key)}: {difference}"
    return None


def _row_difference(
    expected: Mapping[str, Any], actual: Mapping[str, Any], scale: float
) -> str | None:
    if set(expected) != set(actual):
        return f"columns {sorted(actual)}, expected {sorted(expected)}"
    for name, value in expected.items():
        if not same_value(value, actual[name], scale=scale):
            return f"{name} is {actual[name]!r}, expected {_show(value)}"
    return None


def same_value(expected: Any, actual: Any, *, scale: float = 1.0) -> bool:
    """Do the two agree, within the tolerance that their kind of number has?"""
    if expected is None or actual is None:
        return expected is None and actual is None
    if not isinstance(actual, bool | int) and isinstance(actual, Integral):
        actual = int(actual)  # numpy's integers
    if not _is_number(expected) or not _is_number(actual):
        alike = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
        return (
            alike
            and isinstance(expected, bool) == isinstance(actual, bool)
            and bool(expected == actual)
        )
    if isinstance(actual, float) and not math.isfinite(actual):
        return _beyond_doubles(expected, actual)
    if isinstance(expected, float) and not math.isfinite(expected):
        return False
    one, two = Fraction(expected), Fraction(actual)
    if isinstance(expected, int) and (abs(one) <= EXACT or isinstance(actual, int)):
        return one == two
    slack = max(Fraction(1, 10**9) * abs(one), Fraction(1, 10**12) * Fraction(scale))
    return abs(one - two) <= slack


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal | Fraction) and not isinstance(value, bool)


def _beyond_doubles(expected: Any, actual: float) -> bool:
    if isinstance(expected, float):
        return expected == actual
    # A count that no double holds is given as +inf.
    return math.isinf(actual) and abs(expected) >= 2**1024 and (expected > 0) == (actual > 0)


def _by_key(
    rows: Sequence[Mapping[str, Any]], names: tuple[str, ...]
) -> dict[tuple[Any, ...], list[Mapping[str, Any]]]:
    found: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault(tuple(row.get(name) for name in names), []).append(row)
    return found


def _say(names: tuple[str, ...], key: tuple[Any, ...]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in zip(names, key, strict=True))


def _show(value: Any) -> str:
    return f"{float(value)!r} ({value})" if isinstance(value, Fraction) else repr(value)


def group_columns(query: Query) -> tuple[str, ...]:
    """The result columns that name a row's group: `keys` of `same_rows`."""
    return tuple(item.name for item in query.returns if isinstance(item.value, GroupKey))
