"""The order of the rows as the tiebreak: runs, listings, workloads and formulas against the oracle.

Events come in any order of time, so that the rows of one time are scattered over the input.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trendloom as tl
from against_oracle import examples
from trendloom.errors import LimitError
from trendloom.language import Semantics
from trendloom.language.nodes import events_of
from trendloom.testing import naive, same_rows, trends
from trendloom.testing.compare import group_columns
from trendloom.testing.strategies import queries

if TYPE_CHECKING:
    from trendloom.language import Query

READ = {"time": "time", "type": "type"}


def drawn(query: Query, seed: int) -> list[dict[str, Any]]:
    """Events of the query's types in any order, most of them simultaneous with others."""
    draw = random.Random(seed)
    types = [event.type for event in events_of(query.pattern)]
    return [
        {
            "time": draw.randrange(3),
            "type": draw.choice(types),
            "x": draw.randrange(4),
            "y": draw.choice([0.25, 1.0, 2.5]),
            "k": draw.choice("uuuv"),
            "g": draw.choice([1, 1, 1, 2]),
        }
        for _ in range(8)
    ]


@pytest.mark.parametrize("semantics", list(Semantics))
def test_runs_and_workloads(semantics: Semantics) -> None:
    differ = []

    @examples(120)
    @given(queries(semantics=(semantics,), allow_anchored=False), st.integers(0, 1 << 30))
    def check(query: Query, seed: int) -> None:
        events = drawn(query, seed)
        try:
            expected = naive(query, events, **READ, tiebreak="row", limit=4000)
        except LimitError:
            return
        differ.append(expected != naive(query, events, **READ))
        keys = group_columns(query)
        found = tl.run(query, events, **READ, tiebreak="row")
        assert same_rows(expected, found.rows(), keys=keys) is None
        both = tl.workload([query, query]).run(events, **READ, tiebreak="@row")
        assert same_rows(expected, both["q2"].rows(), keys=keys) is None

    check()
    assert sum(differ) >= len(differ) // 3, "the order of rows hardly matters"


def test_listings() -> None:
    sizes = []

    @examples(80)
    @given(
        queries(allow_anchored=False, allow_conjunction=False, window_kinds=("none",)),
        st.integers(0, 1 << 30),
    )
    def check(query: Query, seed: int) -> None:
        events = drawn(query, seed)
        query = replace(query, returns=(), group_by=(), having=None)
        try:
            expected = trends(query, events, **READ, tiebreak="row")
        except LimitError:
            return
        found = tl.trends(query, events, **READ, tiebreak="row", all=True).rows()
        listed = [tuple(zip(r["events"], r["variables"], strict=True)) for r in found]
        assert sorted(listed) == sorted(one.elements for one in expected)
        sizes.append(len(expected))

    check()
    assert sum(size > 0 for size in sizes) >= len(sizes) // 2


@pytest.mark.parametrize("formula", ["A ; B", "A+ ; B", "(A ; B) OR C"])
def test_formulas_follow_the_rows_anyway(formula: str) -> None:
    for seed in range(10):
        draw = random.Random(seed)
        events = [{"time": draw.randrange(4), "type": draw.choice("ABC")} for _ in range(8)]
        named = tl.matches(formula, events, **READ, tiebreak="row").rows()
        assert named == tl.matches(formula, events, **READ).rows()


def test_formulas_are_aggregated_where_rows_order_events_of_one_time() -> None:
    events = [{"time": t // 3, "type": "AB"[t % 2]} for t in range(9)]
    number = len(tl.matches("A ; B", events, **READ).rows())
    counted = tl.aggregate_matches("A ; B", "COUNT(*)", events, **READ, tiebreak="row").rows()
    assert counted[0]["COUNT(*)"] == number > 0
