"""Conditions between consecutive events that are looked up by value, against the naive oracle."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from against_oracle import compare, examples
from trendloom.api import query
from trendloom.engine import one_order
from trendloom.engine.router import Router
from trendloom.language import Semantics
from trendloom.plan.lookups import lookups
from trendloom.testing.predicates import condition, local
from trendloom.testing.strategies import Case, cases, patterns, queries
from trendloom.testing.words import followers

if TYPE_CHECKING:
    from trendloom.language.nodes import Query

SIDES = (
    ("{v}.x", "NEXT({w}).x"),
    ("{v}.y", "NEXT({w}).y"),
    ("{v}.x * 2", "NEXT({w}).x + 1"),
    ("{v}.x", "NEXT({w}).y"),
    ("{v}.k", "NEXT({w}).k"),
    ("UPPER({v}.k)", "UPPER(NEXT({w}).k)"),
)
ORDERS = ("<", "<=", ">", ">=")
OPERATORS = ("<", "<=", ">", ">=", "=", "<>")


@st.composite
def looked_up(draw: st.DrawFn, semantics: Semantics, **knobs: Any) -> Query:
    """One to three steps of the pattern, each with a comparison, an equality, or one of both."""
    pattern = draw(patterns(allow_negation=False).filter(followers))
    asked = draw(
        queries(
            pattern=st.just(pattern),
            semantics=(semantics,),
            allow_negation=False,
            allow_adjacent=False,
            allow_anchored=False,
            allow_distinct=False,
            **knobs,
        )
    )
    steps = draw(
        st.lists(st.sampled_from(sorted(followers(pattern))), unique=True, min_size=1, max_size=3)
    )
    texts = []
    for v, w in steps:
        kinds = draw(st.sampled_from((OPERATORS, OPERATORS, ("=",), None)))
        for operators in (OPERATORS, ("=",)) if kinds is None else (kinds,):
            left, right = draw(st.sampled_from(SIDES))
            op = draw(st.sampled_from(operators))
            texts.append(f"{left} {op} {right}".format(v=v, w=w))
    conditions = [condition(text) for text in texts]
    if draw(st.integers(0, 3)) == 3:
        conditions.append(draw(local(pattern)))
    return replace(asked, where=(*asked.where, *conditions))


def is_looked_up(asked: Query) -> bool:
    """Not bound by GROUP-BY V.attr, and a condition is left after LENGTH has cut steps off."""
    return all(lookups(part) is not None for part in query(asked).plan.parts)


SKIPPING = pytest.mark.parametrize(
    "semantics", [Semantics.ANY, Semantics.NEXT], ids=lambda s: s.value
)


@SKIPPING
@pytest.mark.parametrize("kind", ["none", "time", "change", "count"])
def test_lookups(semantics: Semantics, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Router, "make", no_scan)

    @examples(90)
    @given(cases(query=looked_up(semantics, window_kinds=(kind,)).filter(is_looked_up)))
    def check(case: Case) -> None:
        compare(case)

    check()


@pytest.mark.parametrize("kind", ["none", "time"])
@pytest.mark.parametrize(
    ("semantics", "kernel"),
    [(Semantics.ANY, "count_by_halves"), (Semantics.NEXT, "count_nearest")],
    ids=["halves", "nearest"],
)
def test_one_variable(
    semantics: Semantics, kernel: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts of `A+` are summed up by halves of time, or wait on a stack."""
    taken = []
    count = getattr(one_order, kernel)

    def noted(*arguments: Any) -> None:
        taken.append(len(arguments[0]))
        count(*arguments)

    monkeypatch.setattr(one_order, kernel, noted)
    pattern = query("RETURN COUNT(*) PATTERN A+").plan.query.pattern
    plain = queries(
        pattern=st.just(pattern),
        semantics=(semantics,),
        window_kinds=(kind,),
        allow_adjacent=False,
        allow_aggregates=False,
        allow_having=False,
        allow_length=False,
    )
    texts = st.builds(
        "A.{0} {1} NEXT(A).{0}".format, st.sampled_from("xy"), st.sampled_from(ORDERS)
    )

    @examples(100)
    @given(
        cases(
            query=st.builds(lambda q, t: replace(q, where=(*q.where, condition(t))), plain, texts)
        )
    )
    def check(case: Case) -> None:
        compare(case)

    check()
    assert len(taken) > 20


def no_scan(*_: object) -> None:
    raise AssertionError("a lookup was taken to the router")
