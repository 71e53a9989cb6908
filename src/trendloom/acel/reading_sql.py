"""SQL expressions of the trend language as conditions of the logic, where the logic has them."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from sqlglot import exp

from trendloom.acel import conditions as on
from trendloom.acel.moments import from_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    Named = Callable[[exp.Column], str]

_COMPARE: dict[type[exp.Expr], on.Comparator] = {
    exp.EQ: "=", exp.NEQ: "!=", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
}  # fmt: skip
_RECKON: dict[type[exp.Expr], on.Operator] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%",
}  # fmt: skip


_CALL: dict[type[exp.Expr], on.Function] = {
    exp.Abs: "ABS", exp.Round: "ROUND", exp.Upper: "UPPER", exp.Lower: "LOWER",
    exp.Coalesce: "COALESCE",
}  # fmt: skip


class NotSaid(Exception):
    """The logic has no words for a part of an expression."""


def condition_from(tree: exp.Expr, named: Named) -> on.Condition:
    """`named` tells which attribute a column is."""
    match tree:
        case exp.Paren():
            return condition_from(tree.this, named)
        case exp.And():
            return on.All(condition_from(tree.this, named), condition_from(tree.expression, named))
        case exp.Or():
            return on.Any(condition_from(tree.this, named), condition_from(tree.expression, named))
        case exp.Not():
            return on.Not(condition_from(tree.this, named))
        case exp.Is() if isinstance(tree.expression, exp.Null):
            return on.IsNull(term_from(tree.this, named))
        case exp.Like():
            return on.Like(term_from(tree.this, named), term_from(tree.expression, named))
        case exp.Column() | exp.Boolean() | exp.Null():
            return on.Comparison("=", term_from(tree, named), on.Literally(value=True))
        case exp.Is():
            # Never null: also of null it is false.
            value = term_from(tree.this, named)
            truth = on.Comparison("=", value, term_from(tree.expression, named))
            return on.All(on.Not(on.IsNull(value)), truth)
        case exp.Between():
            value = term_from(tree.this, named)
            low, high = term_from(tree.args["low"], named), term_from(tree.args["high"], named)
            return on.All(on.Comparison(">=", value, low), on.Comparison("<=", value, high))
        case exp.In() if tree.expressions and not tree.args.get("query"):
            value = term_from(tree.this, named)
            each: list[on.Condition] = [
                on.Comparison("=", value, term_from(one, named)) for one in tree.expressions
            ]
            return reduce(on.Any, each)
    if type(tree) in _COMPARE:
        return on.Comparison(
            _COMPARE[type(tree)], term_from(tree.this, named), term_from(tree.expression, named)
        )
    raise NotSaid(tree.sql())


def term_from(tree: exp.Expr, named: Named) -> on.Term:
    """The same for what conditions compare."""
    match tree:
        case exp.Paren():
            return term_from(tree.this, named)
        case exp.Column():
            return on.Attribute(named(tree))
        case exp.Boolean():
            return on.Literally(bool(tree.this))
        case exp.Null():
            return on.Literally(None)
        case exp.Literal() if tree.is_string:
            return on.Literally(str(tree.this))
        case exp.Literal():
            text = str(tree.this)
            return on.Literally(int(text) if text.isdecimal() else float(text))
        case exp.Cast():
            return on.Literally(_moment(tree))
        case exp.Neg():
            return on.Negative(term_from(tree.this, named))
    if type(tree) in _CALL:
        decimals = tree.args.get("decimals")
        others = [*tree.expressions, *([] if decimals is None else [decimals])]
        terms = tuple(term_from(one, named) for one in (tree.this, *others))
        return on.Call(_CALL[type(tree)], terms)
    if type(tree) in _RECKON:
        return on.Arithmetic(
            _RECKON[type(tree)], term_from(tree.this, named), term_from(tree.expression, named)
        )
    raise NotSaid(tree.sql())


def _moment(tree: exp.Cast) -> datetime:
    word = "DATE" if tree.is_type(exp.DataType.Type.DATE) else "TIMESTAMP"
    try:
        return from_text(word, str(tree.this.this))
    except ValueError:
        # DuckDB reads more, such as zones.
        raise NotSaid(f"{word} {tree.this.sql()}") from None
