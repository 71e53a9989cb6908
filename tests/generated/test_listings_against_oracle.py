"""Trends that are listed, complete or all, by every algorithm, against the naive oracle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from against_oracle import EACH, examples
from trendloom.api import trends
from trendloom.cet import choosing
from trendloom.cet.choosing import cut_of
from trendloom.cet.costs import Prices
from trendloom.cet.listing import Listing
from trendloom.cet.wanted import Wanted
from trendloom.hosts.local.scan import scan_batches
from trendloom.hosts.local.sources import open_events
from trendloom.hosts.scan.reading import Reading
from trendloom.language import to_text
from trendloom.plan.planner import plan
from trendloom.testing.listings import ListingCase, listings

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

    from trendloom.cet.choosing import Choice
    from trendloom.cet.graph import Graph
    from trendloom.language import Semantics


def compare(case: ListingCase, **options: Any) -> None:
    rows = trends(
        case.query, case.events, time="time", type="type", tiebreak=case.tiebreak, **options
    ).rows()
    assert case.found(rows) == case.expected, f"{to_text(case.query)}\n{case.events}"
    assert [row["trend"] for row in rows] == list(range(len(rows)))
    assert all(row["length"] == len(row["events"]) for row in rows)


@examples(200)
@given(case=listings())
def test_complete_trends(case: ListingCase) -> None:
    for algorithm in ("m", "t", "h", "baseline"):
        compare(case, algorithm=algorithm)


def test_graphs_that_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """H-CET with room for a share of all paths: graphs as small as these are else never cut."""
    cuts = []
    share = 0.0

    def noted(*given: Any) -> Choice | None:
        found = cut_of(*given)
        cuts.append(0 if found is None else found.graphlets)
        return found

    def room(graph: Graph, _: Wanted) -> float:
        whole = Prices(graph, np.array([0, len(graph)]), np.inf)
        return share * whole.estimate((0, 1)).bytes

    monkeypatch.setattr(choosing, "NO_CUT", 0)
    monkeypatch.setattr(choosing, "cut_of", noted)
    monkeypatch.setattr(choosing, "room_for_paths", room)

    @examples(150)
    @given(listings(window_kinds=("none", "time")), st.sampled_from((0.4, 0.6, 0.8, 0.95)))
    def check(case: ListingCase, drawn: float) -> None:
        nonlocal share
        share = drawn
        compare(case, algorithm="h")

    check()
    assert sum(graphlets > 1 for graphlets in cuts) > len(cuts) / 4


@examples(150)
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


@examples(120)
@given(listings(), st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_any_batches_give_the_same_trends(case: ListingCase, sizes: list[int]) -> None:
    if not case.events:
        return
    planned = plan(case.query, listing=True)
    with open_events(case.events) as source:
        roles = Reading("time", "type", tiebreak=case.tiebreak).roles(source)
        axis = roles.axis
        scanned = scan_batches(source, planned.scan, roles)
        with scanned:
            listing = Listing(planned, Wanted(), scanned.partition_types, axis.nanoseconds)
            batches = list(listing.over(cut(scanned, sizes)))
    rows = pa.Table.from_batches(batches, listing.schema).to_pylist()
    assert case.found(rows) == case.expected, f"{to_text(case.query)}\n{case.events}\n{sizes}"


def cut(batches: Any, sizes: list[int]) -> Iterator[pa.RecordBatch]:
    """The rows in batches of the given sizes, in turn."""
    turn = 0
    for batch in batches:
        at = 0
        while at < batch.num_rows:
            size = sizes[turn % len(sizes)]
            yield batch.slice(at, size)
            at, turn = at + size, turn + 1
