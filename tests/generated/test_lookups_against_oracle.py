"""Conditions between consecutive events that are looked up by value, against the naive oracle."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from against_oracle import compare, examples
from looked_up import is_looked_up, looked_up
from trendloom.api import query
from trendloom.engine import one_order
from trendloom.engine.router import Router
from trendloom.language import Semantics
from trendloom.testing.predicates import condition
from trendloom.testing.strategies import Case, cases, queries

ORDERS = ("<", "<=", ">", ">=")

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
