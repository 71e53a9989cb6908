"""Trends by hand: the worked numbers of the definition, ties, labels, predicates."""

from __future__ import annotations

from itertools import combinations

import pytest

from trendloom.errors import LimitError, QueryMeaningError
from trendloom.language import Semantics
from trendloom.testing import naive, stream, trends

ANY, NEXT, CONTIGUOUS = Semantics.ANY, Semantics.NEXT, Semantics.CONTIGUOUS
WORKED = "a1 b2 a3 a4 c5 b6 a7 b8"


def count(pattern, events, semantics=ANY, **options):
    return len(trends(pattern, events, semantics=semantics, **options))


def words(pattern, events, semantics=ANY):
    """The trends as text: `a1 a3` of A's is "A@1 A@3"."""
    rows = stream(events)
    return sorted(
        " ".join(f"{variable}@{rows[index]['time']}" for index, variable in trend.elements)
        for trend in trends(pattern, rows, semantics=semantics)
    )


@pytest.mark.parametrize(("semantics", "expected"), [(ANY, 43), (NEXT, 8), (CONTIGUOUS, 2)])
def test_worked_example(semantics, expected):
    assert count("(SEQ(A+, B))+", WORKED, semantics) == expected


def test_worked_example_with_a_refused_step():
    events = "a1:x=0 b2:x=0 a3:x=0 a4:x=0 c5 b6:x=9 a7:x=9 b8:x=0"
    query = "RETURN COUNT(*) AS n PATTERN (SEQ(A+, B))+ WHERE B.x < 5 OR NEXT(A).x < 5"
    assert naive(query, events) == [{"window_start": None, "window_end": None, "n": 33}]


def test_every_start_has_its_own_next_match():
    assert words("SEQ(A, B)", "a1 a2 b3", NEXT) == ["A@1 B@3", "A@2 B@3"]


def test_next_match_under_an_adjacent_predicate():
    query = "PATTERN A+ WHERE A.p > NEXT(A).p"
    events = "a1:p=10 a2:p=12 a3:p=11 a4:p=5"
    assert words(query, events, NEXT) == sorted(
        ["A@1", "A@1 A@4", "A@2", "A@2 A@3", "A@2 A@3 A@4", "A@3", "A@3 A@4", "A@4"]
    )


def test_a_trend_counts_once_however_it_is_derived():
    for pattern in ("A+", "(A+)+", "(A*)+", "(A?){1,3}", "A{1,3}"):
        assert count(pattern, "a1 a2 a3") == 7
    assert count("A A1 OR (A A1)+", "a1 a2 a3") == 7


def test_labels_tell_trends_apart():
    assert words("SEQ(A+, A+)", "a1 a2 a3") == sorted(
        ["A1@1 A2@2", "A1@1 A2@3", "A1@2 A2@3", "A1@1 A1@2 A2@3", "A1@1 A2@2 A2@3"]
    )
    assert count("A A1 OR A A2", "a1 a2") == 4


def test_optional_parts_and_counts():
    assert words("SEQ(A?, B)", "a1 b2") == ["A@1 B@2", "B@2"]
    assert words("A{2,3}", "a1 a2 a3 a4") == sorted(
        " ".join(f"A@{time}" for time in times)
        for size in (2, 3)
        for times in combinations((1, 2, 3, 4), size)
    )
    assert words("A*", "b1") == []


# ── simultaneous events ──────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("semantics", list(Semantics))
def test_simultaneous_events_do_not_follow_each_other(semantics):
    assert count("A+", "a1 a1 a2", semantics) == 5
    assert count("SEQ(A, B)", "a1 b1", semantics) == 0


def test_all_earliest_successors_are_taken():
    assert words("A+", "a1 a2 a2", NEXT) == ["A@1", "A@1 A@2", "A@1 A@2", "A@2", "A@2"]


def test_a_tiebreak_orders_simultaneous_events():
    events = stream("a1:rank=2 a1:rank=1 a2:rank=0")
    assert count("A+", events, tiebreak="rank") == 7
    assert count("A+", events, NEXT, tiebreak="rank") == 6
    assert trends("SEQ(A, A)", events[:2], tiebreak="rank")[0].elements == ((1, "A1"), (0, "A2"))


# ── contiguity ───────────────────────────────────────────────────────────────────────────────


def test_any_event_of_the_partition_breaks_contiguity():
    assert count("SEQ(A, B)", "a1 c2 b3", CONTIGUOUS) == 0
    assert count("SEQ(A, B)", "a1 c1 c3 b3", CONTIGUOUS) == 1
    query = "PATTERN SEQ(A, B) WHERE [k]"
    assert count(query, "a1:k=u c2:k=v b3:k=u", CONTIGUOUS) == 1
    assert count(query, "a1:k=u c2:k= b3:k=u", CONTIGUOUS) == 1


def test_an_event_that_fails_a_local_predicate_breaks_contiguity():
    query = "PATTERN A+ WHERE A.x > 0"
    assert count(query, "a1:x=1 a2:x=0 a3:x=1", CONTIGUOUS) == 2


# ── predicates ───────────────────────────────────────────────────────────────────────────────


def test_null_and_nan_satisfy_nothing():
    for condition in ("A.x > 0", "NOT A.x > 0", "A.x <> 1", "A.x NOT IN (1)"):
        assert count(f"PATTERN A WHERE {condition}", "a1:x= a2:x=nan") == 0
    assert count("PATTERN A WHERE A.x IS NULL", "a1:x= a2:x=nan") == 2


def test_adjacent_predicates_bind_exactly_their_variables():
    query = "PATTERN SEQ(A+, B) WHERE A.x < NEXT(B).x"
    assert words(query, "a1:x=5 a2:x=1 b3:x=2") == ["A@1 A@2 B@3", "A@2 B@3"]


def test_anchored_predicates_bind_every_event():
    query = "PATTERN SEQ(A, B+) WHERE B.x > A.x"
    assert words(query, "a1:x=1 b2:x=2 b3:x=0 b4:x=3") == ["A@1 B@2", "A@1 B@2 B@4", "A@1 B@4"]
    skipping = "PATTERN SEQ(A, B+) WHERE A.x < B.x"
    assert words(skipping, "a1:x=1 b2:x=0 b3:x=2", NEXT) == ["A@1 B@3"]


def test_two_variables_without_an_anchor_have_no_meaning():
    with pytest.raises(QueryMeaningError):
        trends("PATTERN SEQ(A+, B) WHERE A.x < B.x", "a1 b2")


def test_length_is_a_condition_on_the_finished_trend():
    assert count("PATTERN A+ WHERE LENGTH(*) BETWEEN 2 AND 3", "a1 a2 a3 a4") == 10
    # The step to a2 is taken although it makes the trend too long.
    query = "PATTERN SEQ(A, B?, C) WHERE LENGTH(*) = 2"
    assert words(query, "a1 b2 c3", NEXT) == []
    assert words(query, "a1 b2 c3") == ["A@1 C@3"]


# ── complete trends ──────────────────────────────────────────────────────────────────────────


def test_complete_trends_are_part_of_no_other():
    (one,) = trends("A+", "a1 a2 a3", complete=True)
    assert [index for index, _ in one.elements] == [0, 1, 2]
    assert len(trends("A+", "a1 a2 a2", complete=True)) == 2


def test_the_limit_stops_the_enumeration():
    assert len(trends("A+", "a1 a2 a3", limit=7)) == 7
    with pytest.raises(LimitError):
        trends("A+", "a1 a2 a3", limit=6)
