"""Trends that are listed, complete or all, by every algorithm, against the naive oracle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from against_oracle import EACH, examples
from trendloom.api import trends
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
