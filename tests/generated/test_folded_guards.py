"""Guards on the fast path: their events clear sums. Compared with the oracle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from against_oracle import EACH, compare, compare_in_batches, examples, folded_guards, is_folded
from trendloom.api import query
from trendloom.engine.searching import Search
from trendloom.testing.strategies import Case, cases, queries

if TYPE_CHECKING:
    from trendloom.language import Semantics
    from trendloom.language.nodes import Query


def guarded(semantics: Semantics, **knobs: Any) -> st.SearchStrategy[Query]:
    asked = queries(
        semantics=(semantics,),
        pattern=folded_guards(semantics),
        allow_adjacent=False,
        allow_anchored=False,
        allow_distinct=False,
        allow_conjunction=False,
        **knobs,
    )
    return asked.filter(is_folded)


@EACH
def test_every_window(semantics: Semantics, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("routed")

    monkeypatch.setattr(Search, "_route", never)

    @examples(150, several=1 / 6)
    @given(cases(query=guarded(semantics)))
    def check(case: Case) -> None:
        compare(case)

    check()


@EACH
def test_vectors_wait_between_batches(semantics: Semantics) -> None:
    asked = guarded(semantics, window_kinds=("none", "time"))

    @examples(80, several=1 / 6)
    @given(cases(query=asked), st.lists(st.integers(1, 3), min_size=1, max_size=3))
    def check(case: Case, sizes: list[int]) -> None:
        compare_in_batches(case, sizes)

    check()


FOLDED = [
    ("SEQ(A, NOT C, B)", "any next contiguous"),
    ("SEQ(A+, NOT C, B)", "any contiguous"),
    ("SEQ(A, NOT (C OR D), B+)", "any next contiguous"),
    ("(SEQ(A, NOT C+, B))+", "any next contiguous"),
    ("SEQ(A, B, NOT C)", "any"),
    ("SEQ(NOT C, A, B)", "any next contiguous"),
    ("(SEQ(NOT C, A+, B))+", "any next contiguous"),
    ("SEQ(NOT SEQ(C, D), A, B)", ""),
    ("SEQ(A, NOT SEQ(C, D), B)", "contiguous"),
]


@pytest.mark.parametrize(("pattern", "folded"), FOLDED, ids=[pattern for pattern, _ in FOLDED])
def test_which_guards_fold(pattern: str, folded: str) -> None:
    names = {"any": "skip-till-any-match", "next": "skip-till-next-match"}
    for word in ("any", "next", "contiguous"):
        asked = query(f"RETURN COUNT(*) PATTERN {pattern} SEMANTICS {names.get(word, word)}")
        (part,) = asked.plan.parts
        assert (asked.plan.folding(part) is not None) == (word in folded.split()), word


def test_what_stays_finished_is_left_to_the_router() -> None:
    """`WITHIN` alone tells when trends are gained and lost; a trailing guard takes them back."""
    asked = query("RETURN COUNT(*) PATTERN SEQ(A, B, NOT C) WITHIN 1 min")
    (part,) = asked.plan.parts
    assert asked.plan.folding(part) is None
