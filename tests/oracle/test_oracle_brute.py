"""The oracle against an enumeration of all subsets that shares no code with it."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle_brute import Brute

from trendloom.language import Semantics
from trendloom.testing import stream, trends
from trendloom.testing.strategies import patterns, streams


def subsets(text, accept):
    """How many sub-sequences with increasing times spell an accepted string of types."""
    events = stream(text)
    return sum(
        accept("".join(event["type"] for event in chosen))
        for size in range(1, len(events) + 1)
        for chosen in combinations(events, size)
        if all(one["time"] < two["time"] for one, two in pairwise(chosen))
    )


@pytest.mark.parametrize("text", ["a1 b2 a3 a4 b5", "a1 a1 b2 b2 a3 b4 a4", "b1 a2 a3 c3 b4 b5"])
def test_simple_patterns_against_subsets(text):
    assert len(trends("A+", text)) == subsets(text, lambda word: set(word) == {"A"})
    assert len(trends("SEQ(A+, B)", text)) == subsets(
        text, lambda word: word.endswith("B") and set(word[:-1]) == {"A"}
    )
    assert len(trends("(A OR B)+", text)) == subsets(text, lambda word: "C" not in word)
    assert len(trends("(SEQ(A, B))+", text)) == subsets(
        text, lambda word: word == "AB" * (len(word) // 2)
    )


@pytest.mark.parametrize("semantics", list(Semantics))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_generated_patterns_against_regular_expressions(semantics, data):
    pattern = data.draw(patterns(max_events=3))
    events = data.draw(streams(types=("A", "B", "C"), max_size=6))
    found = [trend.elements for trend in trends(pattern, events, semantics=semantics)]
    plain = [(index, event["time"], event["type"]) for index, event in enumerate(events)]
    assert len(found) == len(set(found))
    assert set(found) == Brute(pattern).trends(plain, semantics)
