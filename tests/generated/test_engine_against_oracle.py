"""Every path of the engine against the naive oracle, on generated queries and events.

Each test aims the generator at one path. `make test` runs a fixed number of cases per path, `make
fuzz` (TRENDLOOM_FUZZ=1) many times more.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from against_oracle import EACH, compare, compare_in_batches, examples, is_bound, is_folded
from trendloom.engine import evaluate
from trendloom.engine.evaluate import Evaluator
from trendloom.engine.searching import Search
from trendloom.kernels.lattice import fold_extremes
from trendloom.language import Semantics
from trendloom.language.nodes import Function
from trendloom.testing.strategies import Case, cases, conjunctions, patterns, queries

ANY, NEXT, CONTIGUOUS = Semantics.ANY, Semantics.NEXT, Semantics.CONTIGUOUS
FOLD = {
    "allow_negation": False,
    "allow_adjacent": False,
    "allow_anchored": False,
    "allow_distinct": False,
    "allow_conjunction": False,
}


@EACH
def test_type_grain(semantics: Semantics) -> None:
    @examples(110)
    @given(cases(semantics=(semantics,), **FOLD))
    def check(case: Case) -> None:
        compare(case)

    check()


EXTREMES = (Function.MIN, Function.MAX)


@EACH
def test_extremes_at_type_grain(semantics: Semantics, monkeypatch: pytest.MonkeyPatch) -> None:
    """MIN, MAX and lengths are folded, not routed, whatever the window."""
    folded = []

    def noted(*arguments: Any) -> None:
        folded.append(True)
        fold_extremes(*arguments)

    def refused(*_: Any) -> None:
        pytest.fail("routed")

    monkeypatch.setattr(evaluate, "fold_extremes", noted)
    monkeypatch.setattr(Search, "_route", refused)
    asked = queries(semantics=(semantics,), functions=EXTREMES, **FOLD).filter(is_folded)

    @examples(150)
    @given(cases(query=asked))
    def check(case: Case) -> None:
        compare(case)

    check()
    assert len(folded) > 100


@EACH
def test_extremes_wait_between_batches(semantics: Semantics) -> None:
    asked = queries(
        semantics=(semantics,), functions=EXTREMES, window_kinds=("none", "time"), **FOLD
    ).filter(is_folded)

    @examples(80)
    @given(cases(query=asked), st.lists(st.integers(1, 3), min_size=1, max_size=3))
    def check(case: Case, sizes: list[int]) -> None:
        compare_in_batches(case, sizes)

    check()


@EACH
def test_type_grain_by_the_router(semantics: Semantics, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the fast path does, the router does too."""
    monkeypatch.setattr(Evaluator, "folds", property(lambda _: False))

    @examples(70)
    @given(cases(semantics=(semantics,), **FOLD))
    def check(case: Case) -> None:
        compare(case)

    check()


@EACH
def test_guards(semantics: Semantics) -> None:
    @examples(110)
    @given(
        cases(
            semantics=(semantics,),
            pattern=patterns(need_negation=True),
            allow_adjacent=False,
            allow_anchored=False,
        )
    )
    def check(case: Case) -> None:
        compare(case)

    check()


@EACH
def test_adjacent_predicates(semantics: Semantics) -> None:
    @examples(110)
    @given(cases(semantics=(semantics,), need_adjacent=True))
    def check(case: Case) -> None:
        compare(case)

    check()


@EACH
def test_bound_variables(semantics: Semantics) -> None:
    """Anchored predicates and GROUP-BY V.attr: one run per value."""

    @examples(80)
    @given(
        cases(
            query=queries(semantics=(semantics,), allow_adjacent=False, composed=True).filter(
                is_bound
            )
        )
    )
    def check(case: Case) -> None:
        compare(case)

    check()


@EACH
def test_everything_at_once(semantics: Semantics) -> None:
    @examples(110)
    @given(cases(semantics=(semantics,), timestamps=None))
    def check(case: Case) -> None:
        compare(case)

    check()


@EACH
def test_exact_integers(semantics: Semantics) -> None:
    @examples(80)
    @given(cases(semantics=(semantics,)))
    def check(case: Case) -> None:
        compare(case, numbers="exact")

    check()


@pytest.mark.parametrize("kind", ["none", "time", "change", "count"])
def test_windows(kind: str) -> None:
    @examples(80)
    @given(cases(window_kinds=(kind,)))
    def check(case: Case) -> None:
        compare(case)

    check()


@EACH
def test_conjunction(semantics: Semantics) -> None:
    @examples(50)
    @given(cases(semantics=(semantics,), pattern=conjunctions(), allow_anchored=False))
    def check(case: Case) -> None:
        compare(case)

    check()


@EACH
def test_any_batching_gives_the_same_rows(semantics: Semantics) -> None:
    @examples(80)
    @given(cases(semantics=(semantics,)), st.lists(st.integers(1, 4), min_size=1, max_size=3))
    def check(case: Case, sizes: list[int]) -> None:
        compare_in_batches(case, sizes)

    check()


@EACH
def test_vectors_wait_between_batches(semantics: Semantics) -> None:
    @examples(80)
    @given(
        cases(semantics=(semantics,), window_kinds=("none", "time"), **FOLD),
        st.lists(st.integers(1, 3), min_size=1, max_size=3),
    )
    def check(case: Case, sizes: list[int]) -> None:
        compare_in_batches(case, sizes)

    check()
