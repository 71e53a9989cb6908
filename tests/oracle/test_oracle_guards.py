"""Guards by hand: where they reach, what they see, and which derivation may answer for a trend."""

from __future__ import annotations

import pytest

from trendloom.language import Semantics
from trendloom.testing import naive, trends

CASES = [
    # between two events
    ("SEQ(A, NOT C, B)", "a1 b2", 1),
    ("SEQ(A, NOT C, B)", "a1 c2 b3", 0),
    ("SEQ(A, NOT C, B)", "a1 c1 c3 b3", 1),
    ("SEQ(A+, NOT C, B)", "a1 c2 a3 b4", 2),
    # leading and trailing; simultaneous events are neither before nor after
    ("SEQ(NOT C, A)", "c1 a2", 0),
    ("SEQ(NOT C, A)", "a1 c2 a3", 1),
    ("SEQ(NOT C, A)", "c1 a1", 1),
    ("SEQ(A, NOT C)", "a1 c2 a3", 1),
    ("SEQ(A, NOT C)", "a1 c1", 1),
    # an absent optional neighbour passes the guard on
    ("SEQ(A?, NOT C, B)", "c1 b2", 0),
    ("SEQ(A?, NOT C, B)", "a1 c2 b3", 0),
    ("SEQ(A?, NOT C, B)", "c1 a2 b3", 1),
    ("SEQ(A, NOT C, B?, D)", "a1 c2 d3", 0),
    ("SEQ(A, NOT C, B?, D)", "a1 b2 c3 d4", 1),
    ("SEQ(A, NOT C, B?)", "a1 b2 c3", 1),
    # in a repeated SEQ a guard at the edge also guards the step between repetitions
    ("(SEQ(NOT C, A, B))+", "a1 b2 c3 a4 b5", 2),
    ("(SEQ(A, B, NOT C))+", "a1 b2 c3 a4 b5", 2),
    ("(SEQ(A, NOT C)){2}", "a1 c2 a3 a4", 1),
    # one derivation with unbroken guards is enough (choice 2)
    ("(SEQ(A+, NOT C))+", "a1 c2 a3", 2),
    ("(SEQ(A+, NOT C))+", "a1 c2", 0),
    ("SEQ(A, NOT C, B) OR SEQ(A A, NOT D, B B)", "a1 c2 b3", 1),
    ("SEQ(A, NOT C, B) OR SEQ(A A, NOT D, B B)", "a1 c2 d3 b4", 0),
    # two guards on one step
    ("SEQ(A, NOT C, NOT D, B)", "a1 d2 b3", 0),
    # a negated pattern of several events
    ("SEQ(A, NOT SEQ(C, D), B)", "a1 c2 b3", 1),
    ("SEQ(A, NOT SEQ(C, D), B)", "a1 c2 d3 b4", 0),
    ("SEQ(A, NOT SEQ(C, D), B)", "a1 d2 c3 b4", 1),
    ("SEQ(A, NOT SEQ(C, D), B)", "a1 c2 d2 b3", 1),
    ("SEQ(A, NOT C{2}, B)", "a1 c2 c3 b4", 0),
]


@pytest.mark.parametrize(("pattern", "events", "expected"), CASES)
def test_guards(pattern, events, expected):
    assert len(trends(named(pattern), events)) == expected


def named(pattern):
    # The branches of the OR share their variables, so both derive the same word.
    return pattern.replace("SEQ(A, NOT C, B) OR", "SEQ(A A, NOT C, B B) OR")


def test_local_predicates_of_negated_variables_apply():
    query = "PATTERN SEQ(A, NOT C, B) WHERE C.x > 1"
    assert len(trends(query, "a1 c2:x=1 b3")) == 1
    assert len(trends(query, "a1 c2:x= b3")) == 1
    assert len(trends(query, "a1 c2:x=2 b3")) == 0


def test_a_guard_decides_what_can_extend_a_trend():
    query = "PATTERN SEQ(A, NOT C, B)"
    assert len(trends(query, "a1 c2 b3 b4", semantics=Semantics.NEXT)) == 0
    # d3 cannot follow a1, so the step goes on to b4.
    either = "PATTERN SEQ(A, (SEQ(NOT C, D) OR B))"
    (one,) = trends(either, "a1 c2 d3 b4", semantics=Semantics.NEXT)
    assert one.elements == ((0, "A"), (3, "B"))


def test_contiguous_trends_have_outer_guards_only():
    assert len(trends("SEQ(A, NOT C, B)", "a1 b2 c3", semantics=Semantics.CONTIGUOUS)) == 1
    assert len(trends("SEQ(A, B, NOT C)", "a1 b2 c3", semantics=Semantics.CONTIGUOUS)) == 0


def test_outer_guards_see_their_window_and_partition():
    window = "RETURN COUNT(*) AS n PATTERN SEQ(NOT C, A) WITHIN 2s SLIDE 2s"
    assert [row["n"] for row in naive(window, "c1 a2")] == [1]
    partition = "RETURN COUNT(*) AS n PATTERN SEQ(NOT C, A) WHERE [k]"
    assert [row["n"] for row in naive(partition, "c1:k=u a2:k=v a3:k=u")] == [1]


def test_aseq_example_4():
    """A-Seq §3.3: c1 cuts a1 b1 off from d1; the two trends over the later B remain."""
    query = "RETURN COUNT(*) AS n PATTERN SEQ(A, B, NOT C, D)"
    assert naive(query, "a1 b2 c3 a4 b5 d6")[0]["n"] == 2
