"""Conditions on one event as SQL expressions over its columns, for hosts to evaluate on columns."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, cast

from sqlglot import exp

from trendloom.acel import conditions as on
from trendloom.acel.events import TYPE
from trendloom.acel.moments import words_of
from trendloom.language.expressions import column as of_query
from trendloom.language.moments import to_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trendloom.acel.demands import Letter
    from trendloom.language.expressions import Reference

_COMPARE = {
    "=": exp.EQ, "!=": exp.NEQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE,
}  # fmt: skip
_RECKON = {"+": exp.Add, "-": exp.Sub, "*": exp.Mul, "/": exp.Div, "%": exp.Mod}
_TYPED = {"DATE": exp.DataType.Type.DATE, "TIMESTAMP": exp.DataType.Type.TIMESTAMPNTZ}
_CALL = {"ABS": exp.Abs, "UPPER": exp.Upper, "LOWER": exp.Lower}


def condition_of(letter: Letter) -> exp.Expression | None:
    """All conditions of a letter; None if it has none."""
    trees = [_condition(condition, letter.type) for condition in letter.conditions]
    return cast("exp.Expression", exp.and_(*trees)) if trees else None


def condition_tree(condition: on.Condition, word: str) -> exp.Expression:
    """One condition on an event of this type."""
    return cast("exp.Expression", _condition(condition, word))


def condition_between(condition: on.Condition, names: Mapping[str, Reference]) -> exp.Expression:
    """One on two events, with what a query calls their attributes."""
    tree = cast("exp.Expression", _condition(condition, None))
    for mention in list(tree.find_all(exp.Column)):
        mention.replace(of_query(names[mention.name]))
    return tree


def column(name: str) -> exp.Expression:
    return exp.column(exp.to_identifier(name, quoted=True))


def text_column(name: str) -> exp.Expression:
    """The column as text, whatever it is."""
    return exp.cast(column(name), exp.DataType.Type.VARCHAR)


def _condition(condition: on.Condition, word: str | None) -> exp.Expr:
    match condition:
        case on.Comparison(comparator, left, right):
            kind = _COMPARE[comparator]
            return kind(this=_term(left, word), expression=_term(right, word))
        case on.IsNull(term):
            return exp.Is(this=_term(term, word), expression=exp.null())
        case on.Like(left, right):
            return exp.Like(this=_term(left, word), expression=_term(right, word))
        case on.Not(inner):
            return exp.Not(this=exp.paren(_condition(inner, word)))
        case on.All(first, second):
            return exp.paren(exp.and_(_condition(first, word), _condition(second, word)))
        case on.Any(first, second):
            return exp.paren(exp.or_(_condition(first, word), _condition(second, word)))


def _term(term: on.Term, word: str | None) -> exp.Expr:
    match term:
        case on.Attribute(""):
            return exp.null()
        case on.Attribute(name) if name == TYPE and word is not None:
            # Events of this letter have one type.
            return exp.Literal.string(word)
        case on.Attribute(key=key):
            return column(key)
        case on.Literally(None):
            return exp.null()
        case on.Literally(bool() as value):
            return exp.true() if value else exp.false()
        case on.Literally(str() as value):
            return exp.Literal.string(value)
        case on.Literally(float() as value):
            # As a decimal it would make a decimal of a column of integers.
            return exp.cast(exp.Literal.number(repr(value)), exp.DataType.Type.DOUBLE)
        case on.Literally(datetime() as moment):
            typed = words_of(moment)
            return exp.cast(exp.Literal.string(to_text(typed, moment)), _TYPED[typed])
        case on.Literally(value):
            return exp.Literal.number(value)
        case on.Negative(inner):
            return exp.Neg(this=exp.paren(_term(inner, word)))
        case on.Arithmetic(operator, left, right):
            kind = _RECKON[operator]
            return exp.paren(kind(this=_term(left, word), expression=_term(right, word)))
        case on.Call(function, terms):
            first, *others = (_term(one, word) for one in terms)
            if function == "COALESCE":
                return exp.Coalesce(this=first, expressions=others)
            if function == "ROUND":
                return exp.Round(this=first, decimals=others[0] if others else None)
            return _CALL[function](this=first)
