"""Hypothesis strategies for conditions of two rows, from the whole expression language.

Terms are composed, not filled into templates: numbers, texts, dates, moments and truth values of
either row, arithmetic, functions and connectives of them. Beside the attributes of `predicates`
there are `i` (64 bits, near both ends), `d` (decimal), `b` (boolean), `e` (date) and `t` (moments
in nanoseconds). Whatever reads one row alone is the host's to compute and stays in its range; what
reads both may be anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st
from sqlglot import exp

from trendloom.language.nodes import Condition
from trendloom.testing.shapes import choice, one_in

if TYPE_CHECKING:
    from trendloom.language.nodes import Query

MOST_LEAVES = 9
_END = (1 << 63) - 1
_LONG_AGO = 1_700_000_000_000_000_000
VALUES: dict[str, tuple[Any, ...]] = {
    "i": (_END, _END - 1, -_END, -_END - 1, _LONG_AGO, _LONG_AGO + 1, _LONG_AGO + 100, 1, None),
    "d": (*map(Decimal, ("0.10", "0.20", "0.30", "1.25", "-0.50", "2.00")), None),
    "b": (True, True, False, False, None),
    "e": (*(date(2024, 2, day) for day in (27, 28, 29)), date(2024, 3, 1), None),
    "t": (*(np.datetime64(_LONG_AGO + k, "ns") for k in (0, 1, 2, 1000, 1001)), None),
}
"""Few values each, so that some are equal and some differ by the same."""


@dataclass(frozen=True, slots=True)
class Term:
    """A part of a condition, as text."""

    text: str
    rows: frozenset[str] = frozenset()
    """Which rows it reads: l, r."""
    leaves: int = 1
    kind: str = "exact"
    """exact, double, text, truth, date, span, moment."""
    is_long: bool = False
    """Whether 64 bits may be too few for what is computed from it."""
    is_decimal: bool = False
    is_and: bool = False
    """A conjunction, whose parts are conditions of their own where nothing stands around it."""


def attributes_of(*queries: Query) -> tuple[str, ...]:
    """The attributes of VALUES that the queries' conditions mention."""
    where = [one for query in queries for one in query.where]
    trees = [one.tree for one in where if isinstance(one, Condition)]
    named = {column.name for tree in trees for column in tree.find_all(exp.Column)}
    return tuple(name for name in VALUES if name in named)


def conditions(left: str, right: str) -> st.SearchStrategy[str]:
    """A condition that reads both rows and is no conjunction, as text; `A`, `NEXT(B)`."""

    def filled(text: str) -> str:
        return text.format(l=left, r=right)

    return _conditions().map(filled)


@st.composite
def _conditions(draw: st.DrawFn) -> str:
    term = draw(_truths(2, joined=("OR", "OR", "NOT", "COALESCE", "=")))
    if len(term.rows) < 2:
        form = draw(choice("{0} OR {1}", "COALESCE({0}, {1})", "NOT ({0} AND {1})", "{1} OR {0}"))
        return str(form.format(term.text, draw(choice(*_PLAIN))))
    return f"NOT {term.text}" if term.is_and else term.text


_PLAIN = ("{l}.x <= {r}.x", "({l}.x + {r}.x > 1)", "({l}.k = {r}.k)", "({r}.i <> {l}.i)")
_OPERATORS = ("<", "<=", "<=", ">", ">=", ">=", "=", "<>", "<>")
_LITERALS = ("0", "1", "1", "2", "100", "-1", "0.5", "0.30", "1.25")


def _both(form: str, kind: str, *parts: Term, **changed: Any) -> Term:
    """Several terms in one, unless it would be too large: then the first, if it is of the kind."""
    leaves = sum(part.leaves for part in parts)
    if leaves > MOST_LEAVES and parts[0].kind == kind:
        return parts[0]
    return Term(
        form.format(*(part.text for part in parts)),
        frozenset().union(*(part.rows for part in parts)),
        leaves,
        kind,
        any(part.is_long for part in parts),
        any(part.is_decimal for part in parts),
        **changed,
    )


def _leaf(row: str, attribute: str, kind: str) -> Term:
    text = "{" + row + "}." + attribute
    return Term(text, frozenset(row), 1, kind, attribute == "i", attribute == "d")


def _literal(text: str) -> Term:
    kind = "double" if "e" in text else "exact"
    return Term(text, kind=kind, is_long=len(text) > 9, is_decimal="." in text)


_rows = choice("l", "r")
_numeric = st.one_of(
    st.builds(_leaf, _rows, choice("x", "x", "i", "i", "d"), st.just("exact")),
    st.builds(_leaf, _rows, choice("x", "i", "d"), st.just("exact")),
    st.builds(_leaf, _rows, st.just("y"), st.just("double")),
    choice(*_LITERALS, "5e-1", str(_END)).map(_literal),
    st.just(Term("({r}.e - {l}.e)", frozenset("lr"), 2)),
)


@st.composite
def _numbers(draw: st.DrawFn, depth: int) -> Term:
    if depth == 0 or draw(one_in(3)):
        return draw(_numeric)
    form = draw(
        choice(
            "({0} + {1})", "({0} - {1})", "({0} - {1})", "({0} * {1})", "({0} / {1})",
            "-({0})", "ABS({0})", "ROUND({0})", "({0} % 3)", "COALESCE({0}, {1})",
        )
    )  # fmt: skip
    one = draw(_numbers(depth - 1))
    if "{1}" not in form:
        in_range = not one.is_long or len(one.rows) == 2 or form in ("ROUND({0})", "({0} % 3)")
        return _both(form, one.kind, one) if in_range else one
    two = draw(_numbers(depth - 1))
    if form.startswith("COALESCE"):
        return _both(form, one.kind, one, two) if one.kind == two.kind else one
    both = _both(form, "double" if "/" in form or one.kind != two.kind else one.kind, one, two)
    if both.is_long and (len(both.rows) < 2 or ("*" in form and one.is_long and two.is_long)):
        return one
    return one if _is_rounded_twice(both) else both


def _is_rounded_twice(term: Term) -> bool:
    """Long decimals become doubles in two steps, which may differ in the last digit."""
    return term.kind == "double" and term.is_long and term.is_decimal


@st.composite
def _comparisons(draw: st.DrawFn, depth: int) -> Term:
    one, two, three = (draw(_numbers(depth)) for _ in range(3))
    form = draw(
        choice(
            "({0} {op} {1})", "({0} {op} {1})", "({0} BETWEEN {1} AND {2})", "({0} IN ({1}, {2}))"
        )
    )
    terms = [one, two, three]
    if "{2}" not in form or len({term.kind for term in terms}) > 1:
        form, terms = "({0} {op} {1})", [one, two]
    if sum(term.leaves for term in terms) > MOST_LEAVES:
        form, terms = "({0} {op} {1})", [one, _literal("1")]
    if _is_rounded_twice(_both("", "double", *terms)) and len({t.kind for t in terms}) > 1:
        terms = [one, one]
    return _both(form.replace("{op}", draw(choice(*_OPERATORS))), "truth", *terms)


_texts = st.one_of(
    _rows.map(lambda row: _leaf(row, "k", "text")),
    choice("'u'", "'v'", "'w'").map(lambda text: Term(text, kind="text")),
    choice("COALESCE({l}.k, {r}.k)", "COALESCE({r}.k, {l}.k, 'v')").map(
        lambda text: Term(text, frozenset("lr"), 2, "text")
    ),
    _rows.map(lambda row: Term("UPPER({" + row + "}.k)", frozenset(row), 1, "text")),
)
_dates = st.one_of(
    _rows.map(lambda row: _leaf(row, "e", "date")),
    _rows.map(lambda row: Term("({" + row + "}.e + 1)", frozenset(row), 2, "date")),
    st.just(Term("DATE '2024-02-28'", kind="date")),
    st.just(Term("COALESCE({l}.e, {r}.e)", frozenset("lr"), 2, "date")),
    st.just(Term("(COALESCE({r}.e, {l}.e) - 1)", frozenset("lr"), 3, "date")),
)
_moments = st.one_of(
    _rows.map(lambda row: _leaf(row, "t", "moment")),
    st.just(Term("COALESCE({l}.t, {r}.t)", frozenset("lr"), 2, "moment")),
)
_spans = st.recursive(
    choice("({r}.t - {l}.t)", "({l}.t - {r}.t)").map(
        lambda text: Term(text, frozenset("lr"), 2, "span")
    ),
    lambda inner: st.one_of(
        st.builds(
            lambda form, one: _both(form, "span", one),
            choice("-({0})", "ABS({0})", "({0} * 2)"),
            inner,
        ),
        st.builds(
            lambda form, one, two: _both(form, "span", one, two),
            choice("({0} + {1})", "({0} - {1})", "COALESCE({0}, {1})"),
            inner,
            inner,
        ),
    ),
    max_leaves=2,
)


@st.composite
def _truths(draw: st.DrawFn, depth: int, joined: tuple[str, ...] = ()) -> Term:
    if depth > 0 and draw(choice(True, True, False)):
        form = draw(choice(*(joined or ("AND", "AND", "OR", "OR", "NOT", "COALESCE", "="))))
        one = draw(_truths(depth - 1))
        if form == "NOT":
            return _both("(NOT {0})", "truth", one)
        two = draw(_truths(depth - 1))
        words = "COALESCE({0}, {1})" if form == "COALESCE" else f"({{0}} {form} {{1}})"
        return _both(words, "truth", one, two, is_and=form == "AND")
    kind = draw(
        choice("number", "number", "number", "text", "date", "moment", "span", "bool", "null")
    )
    if kind == "number":
        return draw(_comparisons(2))
    if kind == "bool":
        return draw(_rows.map(lambda row: _leaf(row, "b", "truth")))
    if kind == "null":
        asked = draw(st.one_of(_numbers(1), _texts, _spans))
        return _both(draw(choice("({0} IS NULL)", "({0} IS NOT NULL)")), "truth", asked)
    values = {"text": _texts, "date": _dates, "moment": _moments, "span": _spans}[kind]
    form = draw(
        choice(*(f"({{0}} {operator} {{1}})" for operator in _OPERATORS), "({0} IN ({1}, {1}))")
    )
    return _both(form, "truth", draw(values), draw(values))
