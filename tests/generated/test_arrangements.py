"""Workloads and listings: the order in which events are read, and in which batches, is not seen."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trendloom as tl
from against_oracle import examples
from arranged import ARRANGED, SIMPLE
from trendloom.errors import LimitError, WorkloadError
from trendloom.hosts.local.order import Order
from trendloom.language import to_text
from trendloom.language.nodes import Equivalence
from trendloom.testing import naive, same_rows
from trendloom.testing.compare import group_columns
from trendloom.testing.listings import ListingCase, listings
from trendloom.testing.workloads import WorkloadCase, workloads
from trendloom.workloads.facts import gather

if TYPE_CHECKING:
    from trendloom.plan.explaining.local import OrderFacts

SIZES = st.lists(st.integers(1, 4), min_size=1, max_size=3)
ORDERS = st.sampled_from(list(ARRANGED))
READ = {"time": "time", "type": "type"}
FOLDED = {"allow_adjacent": False, "allow_anchored": False, "allow_distinct": False}
FOLDED |= {"allow_conjunction": False, "allow_equivalence": False, "allow_group_by": False}


def run(case: WorkloadCase, arranged: str, mode: str) -> set[str]:
    """Compares; returns how the events were brought into order."""
    try:
        workload = tl.workload(case.queries)
    except WorkloadError as error:
        if all(isinstance(one, LimitError) for one in error.errors.values()):
            return set()
        raise
    events = ARRANGED[arranged](case.events)
    results = workload.run(events, tiebreak=case.tiebreak, mode=mode, **READ)
    for name, query in case.queries.items():
        found = same_rows(case.expected[name], results[name].rows(), keys=group_columns(query))
        assert found is None, f"{mode}, {arranged}: {name}: {to_text(query)}\n{found}\n{events}"
    for group in gather(workload._sharing(mode)).groups:
        for name in group.queries:
            promised(group.order, arranged, results[name].order)
    return {results[name].order for name in case.queries}


def promised(told: OrderFacts, arranged: str, order: str) -> None:
    """What is explained beforehand is what is done."""
    if told.in_order_of_time is None:
        assert order != Order.BY_TIME.value
    elif arranged == "by time":
        assert order != Order.BY_DUCKDB.value


@pytest.mark.parametrize("mode", ["dynamic", "always", "never"])
def test_workloads(mode: str, cut: list[int]) -> None:
    orders: Counter[str] = Counter()

    @examples(30)
    @given(workloads(max_queries=4, common_windows=SIMPLE, window_kinds=SIMPLE), SIZES, ORDERS)
    def check(case: WorkloadCase, sizes: list[int], arranged: str) -> None:
        cut[:] = sizes
        orders.update(run(case, arranged, mode))

    check()
    assert min(orders[Order.AS_READ.value], orders[Order.BY_DUCKDB.value]) > 3


def test_workloads_of_partitions_side_by_side(cut: list[int]) -> None:
    """In order of time, each query's vectors wait for the next events of their partition."""
    orders: Counter[str] = Counter()
    kinds = ("none", "time")
    keyed = workloads(max_queries=2, common_windows=kinds, window_kinds=kinds, limit=100, **FOLDED)

    @examples(60)
    @given(keyed, SIZES)
    def check(case: WorkloadCase, sizes: list[int]) -> None:
        cut[:] = sizes
        own = {
            name: replace(query, where=(*query.where, Equivalence(("k",))))
            for name, query in case.queries.items()
        }
        words = {"tiebreak": case.tiebreak, **READ}
        rows = {name: naive(query, case.events, **words) for name, query in own.items()}
        orders.update(run(WorkloadCase(own, case.events, case.tiebreak, rows), "by time", "never"))

    check()
    assert orders[Order.BY_TIME.value] > 10


def test_workloads_of_few_rows() -> None:
    orders: set[str] = set()

    @examples(20)
    @given(workloads(max_queries=3, common_windows=SIMPLE, window_kinds=SIMPLE), ORDERS)
    def check(case: WorkloadCase, arranged: str) -> None:
        orders.update(run(case, arranged, "dynamic"))

    check()
    assert orders == {Order.AS_READ.value, Order.IN_MEMORY.value}


def list_all(case: ListingCase, arranged: str, **options: Any) -> str:
    """Compares; returns how the events were brought into order."""
    given_ = [dict(row) for row in case.events]
    events = ARRANGED[arranged](given_)
    place = {id(row): number for number, row in enumerate(given_)}
    found = tl.trends(case.query, events, tiebreak=case.tiebreak, **READ, **options)
    rows = found.rows()
    for row in rows:
        # Listings number the rows of the input; the oracle had them in another order.
        row["events"] = [place[id(events[number])] for number in row["events"]]
    assert case.found(rows) == case.expected, f"{arranged}: {to_text(case.query)}\n{events}"
    assert [row["trend"] for row in rows] == list(range(len(rows)))
    return found.order


@pytest.mark.parametrize("every", [False, True])
def test_listings(every: bool, cut: list[int]) -> None:
    orders: Counter[str] = Counter()

    @examples(60)
    @given(listings(complete=not every, window_kinds=SIMPLE[:2]), SIZES, ORDERS)
    def check(case: ListingCase, sizes: list[int], arranged: str) -> None:
        cut[:] = sizes
        orders[list_all(case, arranged, all=every)] += 1

    check()
    assert min(orders[Order.AS_READ.value], orders[Order.BY_DUCKDB.value]) > 5
    assert Order.IN_MEMORY.value not in orders


@examples(40)
@given(listings(window_kinds=SIMPLE[:2]), ORDERS)
def test_listings_of_few_rows(case: ListingCase, arranged: str) -> None:
    assert list_all(case, arranged) in (Order.AS_READ.value, Order.IN_MEMORY.value, "")
