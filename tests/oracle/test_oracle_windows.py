"""Windows by hand."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from trendloom.errors import InputError
from trendloom.testing import naive, stream


def rows(query, events, **options):
    found = naive(f"RETURN COUNT(*) AS n {query}", events, **options)
    return [(row["window_start"], row["window_end"], row["n"]) for row in found]


def test_sliding_and_tumbling_windows_are_aligned_to_zero():
    assert rows("PATTERN A+ WITHIN 2s SLIDE 1s", "a1 a2 a3") == [
        (0, 2, 1),
        (1, 3, 3),
        (2, 4, 3),
        (3, 5, 1),
    ]
    assert rows("PATTERN A+ WITHIN 3s SLIDE 3s", "a-1 a0 a2 a3") == [
        (-3, 0, 1),
        (0, 3, 3),
        (3, 6, 1),
    ]


def test_a_window_without_a_trend_has_no_row():
    assert rows("PATTERN SEQ(A, B) WITHIN 2s SLIDE 2s", "a1 b2 a4 b5") == [(4, 6, 1)]


def test_ticks():
    assert rows("PATTERN A WITHIN 1 min SLIDE 1 min", "a1 a59 a60") == [(0, 60, 2), (60, 120, 1)]
    assert rows("PATTERN A WITHIN 1s SLIDE 1s", "a1 a999 a1000", tick="ms") == [
        (0, 1000, 2),
        (1000, 2000, 1),
    ]
    with pytest.raises(InputError):
        rows("PATTERN A WITHIN 500 ms SLIDE 500 ms", "a1")


@pytest.mark.parametrize("zone", [None, UTC])
def test_timestamps(zone):
    def at(second):
        return datetime(2024, 1, 1, 0, 0, second, tzinfo=zone)

    events = [{"type": "A", "time": at(1)}, {"type": "A", "time": at(12)}]
    assert rows("PATTERN A+ WITHIN 10s SLIDE 10s", events) == [
        (at(0), at(10), 1),
        (at(10), at(20), 1),
    ]


def test_count_windows_count_every_event_of_the_partition():
    assert rows("PATTERN A+ WITHIN 2 EVENTS SLIDE 2 EVENTS", "a1 b2 a3 a4") == [
        (0, 2, 1),
        (2, 4, 3),
    ]
    assert rows("PATTERN A+ WITHIN 2 EVENTS SLIDE 1 EVENTS", "a1 b2 a3 a4") == [
        (0, 2, 1),
        (1, 3, 1),
        (2, 4, 3),
        (3, 5, 1),
    ]
    # Partitions of one group share the numbers of their windows.
    partitioned = "PATTERN A+ WHERE [k] WITHIN 2 EVENTS SLIDE 2 EVENTS"
    assert rows(partitioned, "a1:k=u a2:k=v a3:k=u a4:k=u") == [(0, 2, 4), (2, 4, 1)]


def test_count_windows_part_simultaneous_events_by_tiebreak_and_input():
    events = stream("a1:rank=2 b1:rank=1 a1:rank=1")
    query = "PATTERN A WITHIN 2 EVENTS SLIDE 2 EVENTS"
    assert rows(query, events) == [(0, 2, 1), (2, 4, 1)]
    assert rows(query, events, tiebreak="rank") == [(0, 2, 1), (2, 4, 1)]
    assert rows(query, stream("a1 a1 b1")) == [(0, 2, 2)]


def test_aseq_example_3():
    """A-Seq §3.2, window 7s: 2 when d1 arrives, 0 when a1 expires, 1 when d2 arrives.

    The text leaves the times of a3 and d2 open; 9 and 10 lie before a2 expires at 11.
    """
    events = "a1 b2 c3 a4 c5 b6 d7 c8 a9 d10"
    assert rows("PATTERN SEQ(A, B, C, D) WITHIN 7s", events) == [
        (0, 7, 2),
        (1, 8, 0),
        (3, 10, 1),
        (4, 11, 0),
    ]


def test_on_change_speaks_of_values():
    # At 3 a1 expires and a3 comes: the count stays, so nothing is said.
    assert rows("PATTERN A WITHIN 2s", "a1 a3") == [(-1, 1, 1), (3, 5, 0)]


def test_on_change_falls_back_to_zero_and_nulls():
    query = "RETURN COUNT(*) AS n, SUM(A.x) AS s, LOG2(COUNT(*)) AS l PATTERN A WITHIN 2s"
    first, last = naive(query, "a1:x=4")
    assert first == {"window_start": -1, "window_end": 1, "n": 1, "s": 4, "l": 0.0}
    assert last == {"window_start": 1, "window_end": 3, "n": 0, "s": None, "l": None}


def test_on_change_per_group_and_having():
    query = "RETURN g, COUNT(*) AS n PATTERN A GROUP-BY g WITHIN 5s HAVING n > 0"
    assert [
        (row["window_end"], row["g"], row["n"]) for row in naive(query, "a1:g=1 a2:g=2 a3:g=1")
    ] == [
        (1, 1, 1),
        (2, 2, 1),
        (3, 1, 2),
        (6, 1, 1),
    ]


def test_on_change_guards_see_the_valid_interval():
    # c1 leaves the interval at 4, and the trend over a3 comes to be.
    assert rows("PATTERN SEQ(NOT C, A) WITHIN 3s", "c1 a3") == [(1, 4, 1), (3, 6, 0)]


def test_bad_input():
    with pytest.raises(InputError):
        rows("PATTERN A", [{"type": "A", "time": None}])
    with pytest.raises(InputError):
        rows("PATTERN A", [{"type": "A", "time": 1}, {"type": "A", "time": datetime(2024, 1, 1)}])


def test_a_slide_beyond_the_window_leaves_gaps():
    assert rows("PATTERN A WITHIN 1s SLIDE 2s", "a1 a2") == [(2, 3, 1)]
