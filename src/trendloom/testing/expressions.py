"""A naive three-valued evaluator for the SQL expressions of WHERE and HAVING.

Null is None. A comparison with null or NaN is null, so no negation can make it true; a condition
is satisfied only if it evaluates to true; NaN is null, wherever it comes from. Whole numbers and
decimals are exact (int, Fraction); what a float takes part in is a float, and so is every quotient.
A division (or remainder) by zero is null. ROUND goes half away from zero. Dates differ by days.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sqlglot import exp

from trendloom.errors import QueryMeaningError
from trendloom.testing.records import is_nan

# What a leaf that is not a literal stands for: a column, an aggregate, LENGTH(*). The second
# result says whether the leaf was understood.
Lookup = Callable[[exp.Expr], tuple[bool, Any]]

COMPARISONS: dict[type[exp.Expr], Callable[[Any, Any], bool]] = {
    exp.EQ: operator.eq,
    exp.NEQ: operator.ne,
    exp.LT: operator.lt,
    exp.LTE: operator.le,
    exp.GT: operator.gt,
    exp.GTE: operator.ge,
}
ARITHMETIC: dict[type[exp.Expr], Callable[[Any, Any], Any]] = {
    exp.Add: lambda a, b: _shifted(a, b, 1) if isinstance(a, date) else a + b,
    exp.Sub: lambda a, b: _shifted(a, b, -1) if isinstance(a, date) else a - b,
    exp.Mul: operator.mul,
    exp.Div: lambda a, b: None if b == 0 else float(a) / float(b),
    exp.IntDiv: lambda a, b: None if b == 0 else _towards_zero(a, b),
    exp.Mod: lambda a, b: None if b == 0 else _remainder(a, b),
}
FUNCTIONS: dict[type[exp.Expr], Callable[[Any], Any]] = {
    exp.Neg: operator.neg,
    exp.Abs: abs,
    exp.Upper: str.upper,
    exp.Lower: str.lower,
}


def satisfied(tree: exp.Expr, lookup: Lookup) -> bool:
    """Is the condition true, rather than false or null?"""
    value = evaluate(tree, lookup)
    return value is not None and bool(value)


def evaluate(tree: exp.Expr, lookup: Lookup) -> Any:
    """The value of the expression; None is null."""
    value = _evaluate(tree, lookup)
    if isinstance(value, Decimal):
        value = Fraction(value)
    if is_nan(value):
        return None
    # sqlglot keeps the NOT of NOT LIKE and its like on the node itself.
    return _not(value) if tree.args.get("negate") else value


def _evaluate(tree: exp.Expr, lookup: Lookup) -> Any:
    understood, value = lookup(tree)
    if understood:
        return value

    def of(part: str) -> Any:
        return evaluate(tree.args[part], lookup)

    kind = type(tree)
    if kind in COMPARISONS:
        return compare(COMPARISONS[kind], of("this"), of("expression"))
    if kind in ARITHMETIC:
        left, right = of("this"), of("expression")
        return None if left is None or right is None else ARITHMETIC[kind](left, right)
    if kind in FUNCTIONS:
        value = of("this")
        return None if value is None else FUNCTIONS[kind](value)
    match tree:
        case exp.Paren():
            return of("this")
        case exp.And():
            return _and(of("this"), of("expression"))
        case exp.Or():
            return _not(_and(_not(of("this")), _not(of("expression"))))
        case exp.Not():
            return _not(of("this"))
        case exp.Null():
            return None
        case exp.Boolean():
            return bool(tree.this)
        case exp.Literal():
            return str(tree.this) if tree.is_string else _number(str(tree.this))
        case exp.Is():
            left, right = of("this"), of("expression")
            return left is None if right is None else left is not None and left == right
        case exp.Between():
            value = of("this")
            return _and(
                compare(operator.ge, value, of("low")), compare(operator.le, value, of("high"))
            )
        case exp.In():
            return _in(of("this"), [evaluate(one, lookup) for one in tree.expressions])
        case exp.Like():
            return _like(of("this"), of("expression"), None)
        case exp.Escape() if isinstance(tree.this, exp.Like):
            like = tree.this
            value = _like(
                evaluate(like.this, lookup), evaluate(like.expression, lookup), of("expression")
            )
            return _not(value) if like.args.get("negate") else value
        case exp.Round():
            decimals = evaluate(tree.args["decimals"], lookup) if tree.args.get("decimals") else 0
            return _round(of("this"), decimals)
        case exp.Coalesce():
            values = (evaluate(one, lookup) for one in (tree.this, *tree.expressions))
            return next((value for value in values if value is not None), None)
        case exp.Cast():
            return _cast(of("this"), str(tree.to.this.name))
        case _:
            raise QueryMeaningError(f"The oracle does not know {tree.sql()!r}.", text=tree.sql())


def compare(operation: Callable[[Any, Any], bool], left: Any, right: Any) -> bool | None:
    """Compare as SQL does; null if a side is null or NaN."""
    if left is None or right is None:
        return None
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)
    if isinstance(left, date) and isinstance(right, str):
        right = datetime.fromisoformat(right)
    if isinstance(right, date) and isinstance(left, str):
        left = datetime.fromisoformat(left)
    if isinstance(left, datetime) != isinstance(right, datetime) and isinstance(left, date):
        left, right = _midnight(left), _midnight(right)
    return bool(operation(left, right))


def _midnight(day: Any) -> datetime:
    return day if isinstance(day, datetime) else datetime(day.year, day.month, day.day)


def _not(value: Any) -> bool | None:
    return None if value is None else not value


def _and(left: Any, right: Any) -> bool | None:
    # False wins over null.
    if (left is not None and not left) or (right is not None and not right):
        return False
    return None if left is None or right is None else True


def _in(value: Any, candidates: list[Any]) -> bool | None:
    answers = [compare(operator.eq, value, candidate) for candidate in candidates]
    if any(answers):
        return True
    return None if None in answers else False


def _like(value: Any, pattern: Any, escape: str | None) -> bool | None:
    if value is None or pattern is None:
        return None
    regex, letters = "", iter(pattern)
    for letter in letters:
        if escape is not None and letter == escape:
            regex += re.escape(next(letters, ""))
        else:
            regex += {"%": ".*", "_": "."}.get(letter, re.escape(letter))
    return re.fullmatch(regex, value, re.DOTALL) is not None


def _number(text: str) -> int | Fraction | float:
    if re.fullmatch(r"[0-9]+", text):
        return int(text)
    return float(text) if "e" in text.lower() else Fraction(text)


def _shifted(left: Any, right: Any, sign: int) -> Any:
    """A date and days, or the difference of two times: in days if both are dates."""
    if isinstance(right, int):
        return left + timedelta(days=sign * right)
    if isinstance(left, datetime) or isinstance(right, datetime):
        return _midnight(left) - _midnight(right)
    return (left - right).days


def _towards_zero(left: Any, right: Any) -> Any:
    return -(-left // right) if (left < 0) != (right < 0) else left // right


def _remainder(left: Any, right: Any) -> Any:
    # As in SQL the remainder has the sign of the dividend.
    if isinstance(left, float) or isinstance(right, float):
        return math.fmod(left, right)
    return left - right * _towards_zero(left, right)


def _round(value: Any, decimals: Any) -> Any:
    if value is None or decimals is None:
        return None
    if isinstance(value, float) and decimals != 0:
        scale = 10.0**decimals
        return math.copysign(math.floor(abs(value) * scale + 0.5) / scale, value)
    if isinstance(value, float) and math.isinf(value):
        return value
    unit = Fraction(10) ** -decimals
    away = math.floor(abs(Fraction(value)) / unit + Fraction(1, 2)) * unit
    rounded = away if value >= 0 else -away
    return type(value)(rounded)


def _cast(value: Any, target: str) -> Any:
    if value is None:
        return None
    if target == "DATE":
        return date.fromisoformat(value) if isinstance(value, str) else value
    if target.startswith("TIMESTAMP") or target == "DATETIME":
        return datetime.fromisoformat(value) if isinstance(value, str) else _midnight(value)
    raise QueryMeaningError(f"The oracle does not cast to {target}.", text=target)
