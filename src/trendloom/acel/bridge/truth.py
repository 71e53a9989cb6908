"""What is known of conditions by their shape: when they are not true, how terms grow."""

from __future__ import annotations

from functools import reduce

from trendloom.acel import conditions as on
from trendloom.acel.demands import attributes_of


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


def _is_known(term: on.Term) -> bool:
    return isinstance(term, on.Literally) and term.value is not None


def growth(term: on.Term, prefix: str) -> int | None:
    """1 if the term grows with the attribute of this prefix in it, -1 if it falls, 0: it has none.

    None: not known, or there are several such attributes.
    """
    if not any(name.startswith(prefix) for name in attributes_of(term)):
        return 0
    match term:
        case on.Attribute():
            return 1
        case on.Negative(inner):
            return _times(growth(inner, prefix), -1)
        case on.Arithmetic("+" | "-" as operator, left, right):
            one, other = growth(left, prefix), growth(right, prefix)
            if one is None or other is None or (one and other):
                return None
            return one or (other if operator == "+" else -other)
        case on.Arithmetic("*", left, right):
            for factor, other_term in ((left, right), (right, left)):
                if (number := _number(factor)) is not None:
                    return _times(growth(other_term, prefix), -1 if number < 0 else 1)
        case on.Arithmetic("/", left, right):
            if (number := _number(right)) is not None:
                return _times(growth(left, prefix), -1 if number < 0 else 1)
        case on.Call("ROUND", (inner, *_)):
            return growth(inner, prefix)
    return None


def _times(one: int | None, sign: int) -> int | None:
    return None if one is None else one * sign


def _number(term: on.Term) -> float | None:
    match term:
        case on.Literally(int() | float() as value):
            return value
        case on.Negative(on.Literally(int() | float() as value)):
            return -value
    return None
