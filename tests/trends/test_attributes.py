"""Attributes of events that trends carry."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given

import trendloom as tl
from against_oracle import examples
from trendloom.cet import detection
from trendloom.errors import InputError, QueryMeaningError, TrendloomError
from trendloom.testing.listings import ListingCase, listings

NAMES = ["time", "type"]


@examples(60)
@given(case=listings())
def test_each_event_has_its_own(case: ListingCase) -> None:
    found = tl.trends(
        case.query, case.events, time="time", type="type", tiebreak=case.tiebreak, attributes=NAMES
    ).rows()
    assert case.found(found) == case.expected
    for row in found:
        events = [case.events[k] for k in row["events"]]
        assert row["attributes"] == [{name: event[name] for name in NAMES} for event in events]


def events() -> pa.Table:
    """Nine of three at a time, with values of every kind and nulls among them."""
    times = [datetime(2024, 1, 1, hour, tzinfo=UTC) for hour in range(9)]
    return pa.table(
        {
            "t": [n // 3 for n in range(9)],
            "text": pa.array([None if n == 4 else f"é{n % 2}" for n in range(9)]),
            "word": pa.array([f"w{n % 3}" for n in range(9)]).dictionary_encode(),
            "at": pa.array(times, pa.timestamp("us", "UTC")),
            "flag": [n % 2 == 0 for n in range(9)],
            "x": pa.array([None if n == 7 else n / 4 for n in range(9)]),
        }
    )


@pytest.mark.parametrize("options", [{}, {"algorithm": "t"}, {"longest": 5}, {"sample": 5}])
def test_kinds_of_values_in_many_batches(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detection, "MOST_TRENDS", 5)
    monkeypatch.setattr("trendloom.cet.rows.MOST_TRENDS", 5)
    table = events()
    rows = table.to_pylist()
    names = ["text", "word", "at", "flag", "x"]
    found = tl.trends(
        "PATTERN A+", table, time="t", event_type="A", attributes=names, **options
    ).rows()
    assert found
    for row in found:
        wanted = [{name: rows[k][name] for name in names} for k in row["events"]]
        assert row["attributes"] == wanted


def test_with_the_largest_sum_and_without_events() -> None:
    options: dict[str, Any] = {"time": "t", "event_type": "A", "attributes": "x"}
    best = tl.trends("PATTERN A+", events(), top=1, by="SUM(A.x)", **options).rows()
    assert [one["x"] for one in best[0]["attributes"]] == [0.5, 1.25, 2.0]
    assert (
        "attributes" not in tl.trends("PATTERN A+", events(), time="t", event_type="A").schema.names
    )
    empty = tl.trends("PATTERN A+", [], **options)
    assert empty.schema.names[-1] == "attributes"
    assert empty.rows() == []


@pytest.mark.parametrize(
    ("attributes", "kind", "message"),
    [
        (["x", "x"], TrendloomError, "name 'x' twice"),
        ([3], TrendloomError, "names of columns"),
        (["y"], InputError, "Unknown attribute 'y'"),
    ],
)
def test_refusals(attributes: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        tl.trends("PATTERN A+", events(), time="t", event_type="A", attributes=attributes)


def test_a_partition_by_that_name_is_refused() -> None:
    with pytest.raises(QueryMeaningError, match="'attributes' is a column of every listing"):
        tl.trends("PATTERN A+ WHERE [attributes]", events(), time="t", event_type="A")
