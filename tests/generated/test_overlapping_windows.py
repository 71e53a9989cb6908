"""Overlapping windows by maps of panes, against the naive oracle and a vector per window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from against_oracle import EACH, compare, compare_in_batches, examples, is_folded
from trendloom.engine import sliding
from trendloom.engine.sliding import Panes
from trendloom.testing.strategies import Case, cases, queries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trendloom.engine.evaluate import Evaluator
    from trendloom.language import Semantics
    from trendloom.language.nodes import Query

KINDS = pytest.mark.parametrize("kind", ["time", "change", "count"])
FOLD = {
    "allow_adjacent": False,
    "allow_anchored": False,
    "allow_distinct": False,
}


@pytest.fixture
def maps(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Maps for every window, whatever they cost."""
    seen: list[int] = []

    def always(panes: Panes, _: Evaluator) -> bool:
        seen.append(len(panes.cut) - 1)
        return True

    monkeypatch.setattr(Panes, "pay", always)
    monkeypatch.setattr(sliding, "LEAST_VISITS", -1)
    yield
    assert max(seen) > 1


def folded(semantics: Semantics, kind: str) -> st.SearchStrategy[Query]:
    asked = queries(semantics=(semantics,), window_kinds=(kind,), **FOLD)
    return asked.filter(is_folded)


def has_rows(case: Case) -> bool:
    return bool(case.expected)


@EACH
@KINDS
@pytest.mark.usefixtures("maps")
def test_maps_against_the_oracle(semantics: Semantics, kind: str) -> None:
    @examples(30)
    @given(cases(query=folded(semantics, kind)).filter(has_rows))
    def check(case: Case) -> None:
        compare(case)

    check()


@EACH
@pytest.mark.parametrize("kind", ["time", "change"])
@pytest.mark.usefixtures("maps")
def test_any_batching_gives_the_same_rows(semantics: Semantics, kind: str) -> None:
    @examples(25)
    @given(
        cases(query=folded(semantics, kind)).filter(has_rows),
        st.lists(st.integers(1, 5), min_size=1, max_size=3),
    )
    def check(case: Case, sizes: list[int]) -> None:
        compare_in_batches(case, sizes)

    check()
