"""Integer times whose unit cannot be meant: told before windows are a thousand times too short."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import trendloom as tl
from trendloom.errors import TrendloomWarning
from trendloom.hosts.scan.times import time_axis

NOW = 1_716_200_000
COUNT = "RETURN COUNT(*) AS n PATTERN A+"


def events(factor: int) -> list[dict[str, Any]]:
    return [{"time": (NOW + n) * factor, "type": "A"} for n in range(3)]


@pytest.mark.parametrize(
    ("tick", "ticks", "remedy"),
    [
        ("s", NOW * 10**3, "tick='ms'"),
        ("s", NOW * 10**6, "tick='us'"),
        ("s", NOW * 10**9, "tick='ns'"),
        ("ms", NOW * 10**6, "tick='us'"),
        ("us", NOW * 10**9, "tick='ns'"),
        ("s", NOW, None),
        ("ms", NOW * 10**3, None),
        ("ns", NOW * 10**9, None),
        ("s", 40 * 10**9, None),
        ("s", -NOW * 10**3, None),
        ("s", 2**63 - 1, None),
        ("s", -(2**63), None),
        ("d", 20_000, None),
    ],
)
def test_a_tick_that_cannot_be_meant(tick: str, ticks: int, remedy: str | None) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        time_axis("t", "BIGINT", tick=tick).warn_of_ticks(ticks)
        time_axis("t", "TIMESTAMP", tick=tick).warn_of_ticks(ticks)
    expected = [] if remedy is None else [f"Say so with {remedy} (--tick {remedy[6:-1]})."]
    assert [str(one.message).splitlines()[-1] for one in told] == expected


def test_windows_of_milliseconds_taken_for_seconds() -> None:
    query = f"{COUNT} WITHIN 10 s SLIDE 10 s"
    message = r"in the year 56,\d{3}; as milliseconds they would be in 2024"
    with pytest.warns(TrendloomWarning, match=message):
        tl.run(query, events(1000), time="time")
    with pytest.warns(TrendloomWarning, match=message):
        tl.workload({"q": query}).run(events(1000), time="time")
    with pytest.warns(TrendloomWarning, match=message):
        tl.workload({"q": query}).live(time="time").push(events(1000))
    with pytest.warns(TrendloomWarning, match=message):
        tl.trends("PATTERN A+ WITHIN 10 s SLIDE 10 s", events(1000), time="time").close()
    with pytest.warns(TrendloomWarning, match=message):
        tl.matches("A ; A", events(1000), time="time", within="10 s").close()


def test_nothing_is_told_where_only_the_order_counts() -> None:
    assert tl.run(COUNT, events(1000), time="time").rows()[0]["n"] == 7
    assert tl.run(f"{COUNT} WITHIN 3 EVENTS SLIDE 3 EVENTS", events(1000), time="time").rows()
    assert tl.run(f"{COUNT} WITHIN 10 s", events(1000), time="time", tick="ms").rows()
