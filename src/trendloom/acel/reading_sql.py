"""SQL expressions of the trend language as conditions of the logic, where the logic has them."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from sqlglot import exp

from trendloom.acel import conditions as on
from trendloom.acel import truth
from trendloom.errors import QueryMeaningError
from trendloom.language.expressions import to_sql
from trendloom.language.moments import from_text

if TYPE_CHECKING:
    from collections.abc import Callable

    Named = Callable[[exp.Column], on.Attribute]

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
        case exp.Is():
            return _is(tree, named)
        case exp.Like():
            return on.Like(term_from(tree.this, named), term_from(tree.expression, named))
        case exp.Between():
            low = _compared(">=", tree.this, tree.args["low"], named)
            return on.All(low, _compared("<=", tree.this, tree.args["high"], named))
        case exp.In() if tree.expressions and not tree.args.get("query"):
            each = [_compared("=", tree.this, one, named) for one in tree.expressions]
            return reduce(on.Any, each)
        case exp.Coalesce() if _is_condition(tree):
            every = (tree.this, *tree.expressions)
            return truth.first_known([condition_from(one, named) for one in every])
    if type(tree) in _COMPARE:
        return _compared(_COMPARE[type(tree)], tree.this, tree.expression, named)
    return on.Comparison("=", term_from(tree, named), on.Literally(value=True))


def _is(tree: exp.Is, named: Named) -> on.Condition:
    """Never null: IS TRUE of null is false."""
    subject, value = tree.this, tree.expression
    if not _is_condition(subject):
        term = term_from(subject, named)
        if isinstance(value, exp.Null):
            return on.IsNull(term)
        return on.All(on.Not(on.IsNull(term)), on.Comparison("=", term, term_from(value, named)))
    condition = condition_from(subject, named)
    if isinstance(value, exp.Null):
        return truth.is_null(condition)
    return truth.is_true(condition if value.this else on.Not(condition))


def _compared(
    comparator: on.Comparator, left: exp.Expr, right: exp.Expr, named: Named
) -> on.Condition:
    if _is_condition(left) or _is_condition(right):
        one, other = condition_from(left, named), condition_from(right, named)
        if isinstance(right, exp.Boolean) and comparator in ("=", "!="):
            return one if bool(right.this) is (comparator == "=") else on.Not(one)
        return truth.compared(comparator, one, other)
    return on.Comparison(comparator, term_from(left, named), term_from(right, named))


def _is_condition(tree: exp.Expr) -> bool:
    """Whether it is a condition that stands where a value does."""
    match tree:
        case exp.Paren():
            return _is_condition(tree.this)
        case exp.Coalesce():
            return any(map(_is_condition, (tree.this, *tree.expressions)))
        case exp.And() | exp.Or() | exp.Not() | exp.Is() | exp.Like() | exp.Between() | exp.In():
            return True
    return type(tree) in _COMPARE


def term_from(tree: exp.Expr, named: Named) -> on.Term:
    """The same for what conditions compare."""
    match tree:
        case exp.Paren():
            return term_from(tree.this, named)
        case exp.Column():
            return named(tree)
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
            word = "DATE" if tree.is_type(exp.DataType.Type.DATE) else "TIMESTAMP"
            return on.Literally(from_text(word, str(tree.this.this)))
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
    raise QueryMeaningError(
        "The logic has no words for this",
        text=to_sql(tree),
        remedy="Values are attributes, literals, arithmetic and functions of them; conditions are "
        "compared with truth values only.",
    )
