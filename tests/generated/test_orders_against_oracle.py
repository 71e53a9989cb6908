"""The order in which events are read, and in which batches, changes no row."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from against_oracle import EACH, compare, examples
from arranged import ARRANGED, SIMPLE
from trendloom.hosts.local import running
from trendloom.hosts.local.order import Order
from trendloom.language.nodes import CountWindow, Equivalence
from trendloom.testing.strategies import Case, cases, queries

if TYPE_CHECKING:
    from trendloom.language import Semantics

SIZES = st.lists(st.integers(1, 4), min_size=1, max_size=3)
FOLDED = {"allow_adjacent": False, "allow_anchored": False, "allow_distinct": False}


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Counter[Order]:
    """How often each way was taken."""
    orders: Counter[Order] = Counter()

    def noted(*arguments: Any) -> Any:
        table, order = original(*arguments)
        orders[order] += 1
        return table, order

    original = running.run_batches
    monkeypatch.setattr("trendloom.hosts.local.host.run_batches", noted)
    return orders


@EACH
def test_any_order_in_any_batches(
    semantics: Semantics, cut: list[int], taken: Counter[Order]
) -> None:
    @examples(160)
    @given(
        cases(semantics=(semantics,), window_kinds=SIMPLE),
        SIZES,
        st.sampled_from(list(ARRANGED)),
    )
    def check(case: Case, sizes: list[int], arranged: str) -> None:
        cut[:] = sizes
        compare(replace(case, events=ARRANGED[arranged](case.events)))

    check()
    assert min(taken[Order.AS_READ], taken[Order.BY_DUCKDB]) > 10


@EACH
def test_partitions_side_by_side(
    semantics: Semantics, cut: list[int], taken: Counter[Order]
) -> None:
    """In order of time, each partition's vectors wait for its next events."""
    keyed = queries(
        semantics=(semantics,), window_kinds=("none", "time"), allow_equivalence=False, **FOLDED
    ).map(lambda query: replace(query, where=(*query.where, Equivalence(("k",)))))

    @examples(250)
    @given(cases(query=keyed), SIZES)
    def check(case: Case, sizes: list[int]) -> None:
        cut[:] = sizes
        compare(replace(case, events=ARRANGED["by time"](case.events)))

    check()
    assert taken[Order.BY_TIME] >= 10


@EACH
def test_few_rows_are_sorted_in_memory(semantics: Semantics, taken: Counter[Order]) -> None:
    @examples(40)
    @given(cases(semantics=(semantics,)), st.sampled_from(("by time", "nearly", "shuffled")))
    def check(case: Case, arranged: str) -> None:
        # Windows of events count ties as they come.
        counted = isinstance(case.query.window, CountWindow)
        events = case.events if counted else ARRANGED[arranged](case.events)
        compare(replace(case, events=events))

    check()
    assert set(taken) == {Order.AS_READ, Order.IN_MEMORY}


@EACH
def test_windows_of_events_count_ties_as_they_come(semantics: Semantics, cut: list[int]) -> None:
    @examples(30)
    @given(cases(semantics=(semantics,), window_kinds=("count",)), SIZES, st.booleans())
    def check(case: Case, sizes: list[int], by_time: bool) -> None:
        cut[:] = sizes
        # Sorted stably, ties stay as they are.
        events = sorted(case.events, key=lambda row: row["time"]) if by_time else case.events
        compare(replace(case, events=events))

    check()
