"""Logic with three values: when a condition is not true, is null, and conditions as values."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from trendloom.acel import conditions as on

if TYPE_CHECKING:
    from collections.abc import Sequence


def untrue(condition: on.Condition, than: bool = True) -> on.Condition:
    """The condition is not true (or: not false): the other value, or null."""
    match condition:
        case on.Comparison(left=left, right=right) | on.Like(left, right):
            other: on.Condition = on.Not(condition) if than else condition
            terms = [term for term in (left, right) if not _is_known(term)]
            unknown = [on.IsNull(term) for term in terms]
            return reduce(on.Any, unknown, other)
        case on.IsNull():
            return on.Not(condition) if than else condition
        case on.Not(inner):
            return untrue(inner, not than)
        case on.All(one, two) | on.Any(one, two):
            joins_all = isinstance(condition, on.All) is not than
            kind: type[on.All | on.Any] = on.All if joins_all else on.Any
            return kind(untrue(one, than), untrue(two, than))


def is_true(condition: on.Condition) -> on.Condition:
    """It is true; never null."""
    return on.Not(untrue(condition))


def is_null(condition: on.Condition) -> on.Condition:
    return on.All(untrue(condition), untrue(condition, than=False))


def first_known(conditions: Sequence[on.Condition]) -> on.Condition:
    """COALESCE of truth values."""
    *before, made = conditions
    for one in reversed(before):
        made = on.Any(is_true(one), on.All(is_null(one), made))
    return made


def compared(comparator: on.Comparator, left: on.Condition, right: on.Condition) -> on.Condition:
    """Two truth values, of which false is less than true; null if either is."""
    match comparator:
        case "=":
            return on.Any(on.All(left, right), on.All(on.Not(left), on.Not(right)))
        case "!=":
            return on.Not(compared("=", left, right))
        case "<":
            # What both is and is not is null or false.
            nulls = on.Any(on.All(left, on.Not(left)), on.All(right, on.Not(right)))
            return on.Any(on.All(on.Not(left), right), nulls)
        case ">":
            return compared("<", right, left)
        case "<=":
            return on.Not(compared("<", right, left))
        case ">=":
            return on.Not(compared("<", left, right))


def _is_known(term: on.Term) -> bool:
    return isinstance(term, on.Literally) and term.value is not None
