"""Trends that are listed, complete or all, by every algorithm, against the naive oracle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given

from against_oracle import EACH, examples
from trendloom.api import trends
from trendloom.language import to_text
from trendloom.testing.listings import ListingCase, listings

if TYPE_CHECKING:
    from trendloom.language import Semantics


def compare(case: ListingCase, **options: Any) -> None:
    rows = trends(
        case.query, case.events, time="time", type="type", tiebreak=case.tiebreak, **options
    ).rows()
    assert case.found(rows) == case.expected, f"{to_text(case.query)}\n{case.events}"
    assert [row["trend"] for row in rows] == list(range(len(rows)))
    assert all(row["length"] == len(row["events"]) for row in rows)


@pytest.mark.parametrize("algorithm", ["m", "t", "h", "baseline"])
@examples(150)
@given(case=listings())
def test_complete_trends(algorithm: str, case: ListingCase) -> None:
    compare(case, algorithm=algorithm)


@examples(250)
@given(case=listings(allow_local=False, allow_equivalence=False, window_kinds=("none",)))
def test_complete_trends_of_busy_windows(case: ListingCase) -> None:
    compare(case)


@EACH
def test_every_trend(semantics: Semantics) -> None:
    @examples(120)
    @given(listings(complete=False, semantics=(semantics,)))
    def check(case: ListingCase) -> None:
        compare(case, all=True)

    check()
