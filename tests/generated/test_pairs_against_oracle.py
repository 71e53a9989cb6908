"""Two comparisons on one step, looked up by halves of time, against the naive oracle."""

from __future__ import annotations

import pytest
from hypothesis import given

from against_oracle import compare, examples
from looked_up import TWO, is_paired, looked_up
from trendloom.engine import dominance
from trendloom.engine.router import Router
from trendloom.language import Semantics
from trendloom.testing.strategies import Case, cases


@pytest.mark.parametrize("few", [1, 4])
@pytest.mark.parametrize("kind", ["none", "time", "change", "count"])
def test_two_comparisons(kind: str, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Down to single events, and to a few that are looked at pair by pair."""
    monkeypatch.setattr(Router, "make", no_scan)
    monkeypatch.setattr(dominance, "FEW", few)
    monkeypatch.setattr(dominance, "SCANNED", 0)

    @examples(60)
    @given(cases(query=looked_up(Semantics.ANY, TWO, window_kinds=(kind,)).filter(is_paired)))
    def check(case: Case) -> None:
        compare(case)

    check()


def no_scan(*_: object) -> None:
    raise AssertionError("a lookup was taken to the router")
