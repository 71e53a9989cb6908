from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from trendloom.errors import InputError
from trendloom.hosts.local.sources import open_events
from trendloom.hosts.scan.columns import check_time, check_type

from .scans import rows, scan

SECOND = 10**9
TIMES = {
    "int8": (pa.int8(), SECOND, pa.int64()),
    "uint64": (pa.uint64(), SECOND, pa.int64()),
    "s": (pa.timestamp("s"), SECOND, pa.timestamp("s")),
    "ms": (pa.timestamp("ms"), 10**6, pa.timestamp("ms")),
    "us": (pa.timestamp("us"), 10**3, pa.timestamp("us")),
    "ns": (pa.timestamp("ns"), 1, pa.timestamp("ns")),
    "zoned": (pa.timestamp("us", "Europe/Berlin"), 10**3, pa.timestamp("us", "UTC")),
    "zoned ns": (pa.timestamp("ns", "UTC"), 1, pa.timestamp("ns", "UTC")),
}


@pytest.mark.parametrize("kind", TIMES)
def test_ticks_go_there_and_back(kind: str) -> None:
    given, nanoseconds, delivered = TIMES[kind]
    table = pa.table({"t": pa.array([7, 5, 100], pa.int64()).cast(given), "type": ["A"] * 3})
    assert rows(table, scan("A")) == [(5, 1), (7, 1), (100, 1)]
    with open_events(table) as source:
        axis = check_time(source, "t")
    assert axis.nanoseconds == nanoseconds
    bounds = axis.to_arrow(np.array([5, 7]))
    assert bounds.type == delivered
    assert bounds.cast(pa.int64()).to_pylist() == [5, 7]


def test_dates_are_microseconds() -> None:
    table = pa.table({"t": [dt.date(1970, 1, 2)], "type": ["A"]})
    assert rows(table, scan("A")) == [(86_400_000_000, 1)]
    with open_events(table) as source:
        axis = check_time(source, "t")
    assert axis.to_arrow(pa.array([0])).to_pylist() == [dt.datetime(1970, 1, 1)]


@pytest.mark.parametrize(("tick", "size"), [("ms", 10**6), ("minutes", 60 * SECOND), ("ns", 1)])
def test_ticks_of_integers(tick: str, size: int) -> None:
    with open_events({"t": [1]}) as source:
        assert check_time(source, "t", tick=tick).nanoseconds == size
        with pytest.raises(InputError, match=r"Unknown tick 'minuts'.*\nDid you mean 'minute"):
            check_time(source, "t", tick="minuts")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["2020"], r"'t' is VARCHAR; it must be .*\n.*CAST\(t AS TIMESTAMP\)"),
        ([1.5], r"'t' is DOUBLE.*\n.*to_timestamp\(t\)"),
        ([True], r"'t' is BOOLEAN.*\nName another column"),
    ],
)
def test_times_that_are_none(values: list[Any], message: str) -> None:
    with open_events({"t": values}) as source, pytest.raises(InputError, match=message):
        check_time(source, "t")


def test_a_time_beyond_int64() -> None:
    table = pa.table({"t": pa.array([2**63], pa.uint64()), "type": ["A"]})
    with pytest.raises(InputError, match="out of range"):
        rows(table, scan("A"))


def test_the_type_column() -> None:
    with open_events({"t": [1], "kind": ["A"], "x": [1.5]}) as source:
        assert check_type(source, "kind", None) == ("kind", None)
        assert check_type(source, None, "Stock") == (None, "Stock")
        with pytest.raises(InputError, match=r"no column 'type'.*\n.*event_type="):
            check_type(source, None, None)
        with pytest.raises(InputError, match="not both"):
            check_type(source, "kind", "Stock")
        with pytest.raises(InputError, match=r"Unknown type column 'Kind'.\nDid you mean 'kind'"):
            check_type(source, "Kind", None)
        with pytest.raises(InputError, match="'x' is DOUBLE; it must be text or an integer"):
            check_type(source, "x", None)


def test_unknown_names() -> None:
    events = {"time": [1], "type": ["A"], "price": [1], "tags": [[1]], "s": [{"a": 1}]}
    with pytest.raises(InputError, match=r"Unknown time column 'tme'.\nDid you mean 'time'"):
        rows(events, scan("A"), time="tme")
    with pytest.raises(InputError, match=r"Unknown attribute 'prise'.\nDid you mean 'price'"):
        rows(events, scan("A: prise > 1"), time="time")
    with pytest.raises(InputError, match="Unknown tiebreak column 'n'"):
        rows(events, scan("A"), time="time", tiebreak="n")
    with pytest.raises(InputError, match=r"'s' is STRUCT.* has no order"):
        rows(events, scan("A"), time="time", tiebreak="s")
