"""Several threads give the oracle's rows, and those of one thread, on generated cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from against_oracle import EACH, compare, compare_in_batches, examples
from trendloom.engine import evaluate, pieces, searching, shares
from trendloom.engine.pieces import Piece, Vectors
from trendloom.engine.shares import Portion
from trendloom.engine.sliding import Panes
from trendloom.testing.strategies import Case, cases

if TYPE_CHECKING:
    from trendloom.engine.chunk import Chunk
    from trendloom.engine.windows import Runs
    from trendloom.language import Semantics

THREADS = st.sampled_from((2, 3))
FOLD = {
    "allow_negation": False,
    "allow_adjacent": False,
    "allow_anchored": False,
    "allow_distinct": False,
}


@pytest.fixture(autouse=True)
def _no_case_is_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in (
        (pieces, "LEAST_EVENTS"),
        (evaluate, "LEAST_EVENTS"),
        (searching, "LEAST_SEARCHED"),
    ):
        monkeypatch.setattr(module, name, 1)


@pytest.fixture
def mapped(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Lengths of the pieces of runs that became maps, as long as if they were cheap."""
    monkeypatch.setattr(shares, "CLEARLY", 9.0)
    monkeypatch.setattr(Vectors, "_dearer", lambda _: 0.5)
    made: list[int] = []
    make = Vectors._map

    def noted(vectors: Vectors, run: int, lo: int, hi: int) -> Piece:
        made.append(hi - lo)
        return make(vectors, run, lo, hi)

    monkeypatch.setattr(Vectors, "_map", noted)
    return made


@pytest.fixture
def dealt(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many runs each share of several got."""
    sizes: list[int] = []
    deal = Portion.of

    def noted(chunk: Chunk, runs: Runs, first: int, end: int) -> Portion:
        sizes.append(end - first)
        return deal(chunk, runs, first, end)

    monkeypatch.setattr(Portion, "of", noted)
    return sizes


@EACH
def test_runs_in_pieces(semantics: Semantics, mapped: list[int]) -> None:
    """Without windows, with ties, sums and extremes: one run, or a few, are cut in time."""

    @examples(150)
    @given(cases(semantics=(semantics,), window_kinds=("none",), **FOLD), THREADS)
    def check(case: Case, threads: int) -> None:
        compare(case, threads=threads)

    check()
    assert len(mapped) > 20
    assert max(mapped) > 1


@EACH
def test_batches_in_pieces(semantics: Semantics, mapped: list[int]) -> None:
    """A vector that waited from the batch before goes through the maps of the next."""

    @examples(40)
    @given(
        cases(semantics=(semantics,), window_kinds=("none", "time"), **FOLD),
        st.lists(st.integers(2, 6), min_size=1, max_size=3),
    )
    def check(case: Case, sizes: list[int]) -> None:
        compare_in_batches(case, sizes, threads=2)

    check()
    assert mapped


@EACH
def test_windows_in_shares(
    semantics: Semantics, dealt: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By vectors or by maps of panes, as the case's number of threads would have it."""
    pay = Panes.pay

    @examples(60)
    @given(
        cases(semantics=(semantics,), window_kinds=("time", "change", "count"), **FOLD),
        THREADS,
        st.booleans(),
    )
    def check(case: Case, threads: int, maps: bool) -> None:
        monkeypatch.setattr(Panes, "pay", (lambda *_: True) if maps else pay)
        compare(case, threads=threads)

    check()
    assert len(dealt) > 20


@EACH
def test_everything_else_in_shares(semantics: Semantics, dealt: list[int]) -> None:
    """Guards, anchors, DISTINCT, conditions between events, grouping by a variable."""

    @examples(60)
    @given(cases(semantics=(semantics,)), THREADS)
    def check(case: Case, threads: int) -> None:
        compare(case, threads=threads)

    check()
    assert len(dealt) > 20


@EACH
def test_exact_integers_in_shares(semantics: Semantics, dealt: list[int]) -> None:
    @examples(50)
    @given(cases(semantics=(semantics,), window_kinds=("time", "change", "count")), THREADS)
    def check(case: Case, threads: int) -> None:
        compare(case, threads=threads, numbers="exact")

    check()
    assert len(dealt) > 20
