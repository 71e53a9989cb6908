"""Contiguous trends with conditions between neighbours, where the rows alone decide them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from against_oracle import compare, examples, plan_of
from trendloom.api import run
from trendloom.engine.evaluate import Evaluator
from trendloom.language import Semantics
from trendloom.testing import naive
from trendloom.testing.strategies import Case, cases, queries

if TYPE_CHECKING:
    from trendloom.language.nodes import Query


def is_stepping(asked: Query) -> bool:
    plan = plan_of(asked)
    return plan is not None and all(plan.stepping(part) is not None for part in plan.all_parts)


STEPPING = queries(
    semantics=(Semantics.CONTIGUOUS,),
    allow_anchored=False,
    allow_distinct=False,
    need_adjacent=True,
    composed=True,
).filter(is_stepping)


def test_without_ties(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("searched")

    monkeypatch.setattr(Evaluator, "search", never)

    @examples(200)
    @given(cases(query=STEPPING))
    def check(case: Case) -> None:
        events = [event | {"time": 2 * k} for k, event in enumerate(case.events)]
        expected = naive(case.query, events, time="time", type="type", tiebreak=case.tiebreak)
        compare(replace(case, events=events, expected=expected))

    check()


def test_with_ties() -> None:
    @examples(150)
    @given(cases(query=STEPPING))
    def check(case: Case) -> None:
        compare(case)

    check()


@pytest.mark.parametrize("condition", ["A.x < NEXT(A).x", "(A.x + NEXT(A).x > 3 OR A.x = 1)"])
def test_partitions_with_and_without_ties(condition: str) -> None:
    """Rows come in the order of partitions, whichever way each of them takes."""
    events = [
        {"time": t, "k": k, "x": (t * 7 + k) % 5, "type": "A"}
        for k in range(6)
        for t in ([0, 1, 1, 2, 3] if k % 3 == 1 else [0, 1, 2, 3, 4])
    ]
    text = f"""
        RETURN k, COUNT(*) AS n, SUM(A.x) AS s, MAX(A.x) AS h PATTERN A+ SEMANTICS contiguous
        WHERE [k] AND {condition} GROUP-BY k
    """
    assert run(text, events, time="time", type="type").rows() == naive(
        text, events, time="time", type="type"
    )
