"""Groups, pairs and aggregates by hand."""

from __future__ import annotations

import math
from datetime import date
from fractions import Fraction

import pytest

from trendloom.errors import InputError, QueryMeaningError
from trendloom.testing import naive


def values(returns, rest, events, **options):
    """The RETURN values of the rows, without windows."""
    found = naive(f"RETURN {returns} {rest}", events, **options)
    return [tuple(row.values())[2:] for row in found]


# ── groups ───────────────────────────────────────────────────────────────────────────────────


def test_groups_and_partitions():
    events = "a1:g=1,k=u a2:g=1,k=v a3:g=2,k=u a4:g=,k=u a5:g=1,k=u"
    assert values("g, COUNT(*)", "PATTERN A+ GROUP-BY g", events) == [(1, 7), (2, 1)]
    # Partitions u (a1, a5) and v (a2) of group 1 are summed.
    assert values("g, COUNT(*)", "PATTERN A+ WHERE [k] GROUP-BY g", events) == [(1, 4), (2, 1)]


def test_grouping_by_a_variable():
    events = "a1 b2:g=1 b3:g=2 b4:g=1 b5:g="
    # Group 1: a1 with {b2}, {b4}, {b2 b4}; group 2: a1 b3; b5 is no B; a1 alone has no B.
    assert values("B.g, COUNT(*)", "PATTERN SEQ(A, B*) GROUP-BY B.g", events) == [
        (1, 3),
        (2, 1),
        (None, 1),
    ]


def test_agreement_decides_what_can_extend_a_trend():
    query = "PATTERN A+ SEMANTICS skip-till-next-match GROUP-BY A.g"
    # 1: a1, a3, a1 a3; 2: a2.
    assert values("A.g, COUNT(*)", query, "a1:g=1 a2:g=2 a3:g=1") == [(1, 3), (2, 1)]


# ── pairs ────────────────────────────────────────────────────────────────────────────────────


def test_and_counts_pairs():
    assert values("COUNT(*)", "PATTERN A+ AND B", "a1 a2 b1 b2") == [(6,)]
    returns = "COUNT(A), COUNT(B), SUM(B.x), MAX(LENGTH(*)), COUNT(DISTINCT B)"
    # 3 trends of A's with 4 A's in them, 2 of B's.
    events = "a1 a2 b1:x=1 b2:x=10"
    assert values(returns, "PATTERN A+ AND B", events) == [(8, 6, 33, 3, 2)]
    assert values("COUNT(*)", "PATTERN A AND B AND C", "a1 a2 b1 b2 c1") == [(4,)]
    assert values("COUNT(*)", "PATTERN A AND B", "a1 a2") == []


def test_partitions_of_a_group_mix_in_pairs():
    events = "a1:k=u,g=1 b2:k=v,g=1 b3:k=v,g=2"
    assert values("COUNT(*)", "PATTERN A AND B WHERE [k]", events) == [(2,)]
    assert values("g, COUNT(*)", "PATTERN A AND B GROUP-BY g", events) == [(1, 1)]


def test_overlapping_parts_pair_different_trends():
    # C1 = 7, C2 = 3, D = 3: 21 - 6.
    assert values("COUNT(*)", "PATTERN A+ AND SEQ(A, A)", "a1 a2 a3") == [(15,)]
    assert values("COUNT(*)", "PATTERN A AND A", "a1 a2 a3") == [(3,)]
    assert values("COUNT(*)", "PATTERN A AND A", "a1") == []


@pytest.mark.parametrize(
    "query",
    [
        "RETURN COUNT(A1) PATTERN A AND A",
        "RETURN COUNT(*) PATTERN A AND A AND A",
        "RETURN COUNT(*) PATTERN A AND A SEMANTICS skip-till-next-match",
        "RETURN COUNT(*) PATTERN A+ AND SEQ(A+, A+)",
    ],
)
def test_what_overlapping_parts_cannot_say(query):
    with pytest.raises(QueryMeaningError):
        naive(query, "a1 a2")


# ── aggregates ───────────────────────────────────────────────────────────────────────────────


def test_an_event_counts_once_per_trend():
    returns = "COUNT(*), COUNT(A), SUM(A.x), MIN(A.x), MAX(A.x), AVG(A.x)"
    assert values(returns, "PATTERN A+", "a1:x=1 a2:x=2 a3:x=6") == [
        (7, 12, 36, 1, 6, Fraction(3)),
    ]
    lengths = "MIN(LENGTH(*)), MAX(LENGTH(*)), AVG(LENGTH(*))"
    assert values(lengths, "PATTERN A+", "a1 a2 a3") == [(1, 3, Fraction(12, 7))]


def test_distinct_counts_each_event_once():
    returns = "COUNT(DISTINCT A), SUM(DISTINCT A.x), COUNT(DISTINCT A.x), AVG(DISTINCT A.x)"
    assert values(returns, "PATTERN A+", "a1:x=2 a2:x=2 a3:x=") == [(3, 4, 2, Fraction(2))]


def test_nulls_and_nan_do_not_contribute():
    returns = "COUNT(*), COUNT(A), COUNT(A.y), SUM(A.y), AVG(A.y), MIN(A.y)"
    assert values(returns, "PATTERN A", "a1:y= a2:y=nan a3:y=0.5") == [
        (3, 3, 1, Fraction(1, 2), Fraction(1, 2), 0.5),
    ]
    assert values(returns, "PATTERN A", "a1:y=") == [(1, 1, 0, None, None, None)]


def test_variance_is_that_of_the_sample():
    returns = "VARIANCE(A.x), STDDEV(A.x), VARIANCE(DISTINCT A.x)"
    # Contributions of the trends a1, a2, a1 a2: 1 4 1 4.
    assert values(returns, "PATTERN A+", "a1:x=1 a2:x=4") == [
        (Fraction(3), math.sqrt(3), Fraction(9, 2)),
    ]
    assert values("VARIANCE(A.x), STDDEV(A.x)", "PATTERN A", "a1:x=1") == [(None, None)]


def test_log2():
    assert values("LOG2(COUNT(*)), LOG2(COUNT(A))", "PATTERN A+", "a1 a2") == [
        (math.log2(3), 2.0),
    ]
    assert values("LOG2(COUNT(A))", "PATTERN SEQ(A?, B)", "b1") == [(None,)]


def test_min_and_max_take_dates_and_booleans_but_no_strings():
    days = [{"type": "A", "time": n, "d": date(2024, 1, n), "b": n > 1, "k": "u"} for n in (1, 2)]
    assert values("MIN(A.d), MAX(A.b)", "PATTERN A", days) == [(date(2024, 1, 1), True)]
    for wrong in ("MIN(A.k)", "SUM(A.k)", "SUM(A.b)"):
        with pytest.raises(InputError):
            values(wrong, "PATTERN A", days)


def test_having():
    rest = "PATTERN A GROUP-BY g HAVING"
    events = "a1:g=1,x=1 a2:g=1,x=2 a3:g=2,x=9"
    assert values("g", f"{rest} COUNT(*) > 1", events) == [(1,)]
    assert values("g, SUM(A.x) AS s", f"{rest} s > 3", events) == [(2, 9)]
    assert values("g", f"{rest} g = 2 OR MIN(A.x) = 1", events) == [(1,), (2,)]


def test_one_event_type_without_a_column():
    events = [{"at": 1}, {"at": 2}]
    found = naive("RETURN COUNT(*) AS n PATTERN Stock+", events, time="at", event_type="Stock")
    assert found[0]["n"] == 3
    with pytest.raises(InputError):
        naive("RETURN COUNT(*) PATTERN A", events, time="at", type="type", event_type="A")
