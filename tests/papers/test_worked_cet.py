"""CET: Figure 2, Table 1 and Figure 4, and what makes a trend complete."""

from __future__ import annotations

from typing import Any

import pytest

from trendloom.api import trends
from trendloom.testing import stream

CHAINS = "PATTERN Check c+ WHERE c.destination = NEXT(c).source"
ALGORITHMS = pytest.mark.parametrize("algorithm", ["auto", "m", "t", "h", "baseline"])


def checks(*text: str) -> list[dict[str, Any]]:
    """`2BC`: a check at time 2 from bank B to bank C; `3A`: a withdrawal."""
    return [
        {
            "time": int(word[0]),
            "type": "Check" if len(word) == 3 else "Withdrawal",
            "source": word[1],
            "destination": word[2:] or None,
        }
        for word in text
    ]


def names(events: list[dict[str, Any]], query: str, **options: Any) -> set[tuple[int, ...]]:
    """The trends, by the times of their events."""
    rows = trends(query, events, time="time", type="type", **options).rows()
    found = [tuple(events[k]["time"] for k in row["events"]) for row in rows]
    assert len(found) == len(set(found))
    return set(found)


@ALGORITHMS
def test_figure_2(algorithm: str) -> None:
    events = checks("1AB", "2BC", "3A", "4BD", "5DE", "6DF", "7EA")
    expected = {(1, 2), (1, 4, 5, 7), (1, 4, 6)}
    assert names(events, CHAINS, algorithm=algorithm) == expected


@ALGORITHMS
@pytest.mark.parametrize(
    ("arrived", "expected"),
    [
        (1, {(1,)}),
        (2, {(1, 2)}),
        (3, {(1, 2), (1, 3)}),
        (4, {(1, 2), (1, 3, 4)}),
    ],
)
def test_table_1(arrived: int, expected: set[tuple[int, ...]], algorithm: str) -> None:
    events = checks("1AB", "2BC", "3BD", "4DE")[:arrived]
    assert names(events, CHAINS, algorithm=algorithm) == expected


@ALGORITHMS
def test_figure_4_has_the_most_trends_in_groups_of_three(algorithm: str) -> None:
    for size, expected in ((2, 64), (3, 81), (4, 64)):
        events = [{"time": n // size, "type": "A"} for n in range(12)]
        rows = trends("PATTERN A+", events, time="time", type="type", algorithm=algorithm).rows()
        assert len({tuple(row["events"]) for row in rows}) == len(rows) == expected


@ALGORITHMS
def test_more_than_one_event_may_have_to_be_inserted(algorithm: str) -> None:
    """In (SEQ(A, B))+ one event more never makes a trend; two do."""
    events = stream("a1 b2 a3 b4")
    assert names(events, "PATTERN (SEQ(A, B))+", algorithm=algorithm) == {(1, 2, 3, 4)}


@ALGORITHMS
def test_a_larger_trend_may_be_in_other_states(algorithm: str) -> None:
    """Of A{1,2} the last event alone is a path without a finer one, and yet not complete."""
    events = stream("a1 a2 a3")
    assert names(events, "PATTERN A{1,2}", algorithm=algorithm) == {(1, 2), (1, 3), (2, 3)}


@ALGORITHMS
def test_guards_and_anchors(algorithm: str) -> None:
    events = stream("a1:x=1 c2:x=0 b3:x=3 a4:x=2 b5:x=9 b6:x=3")
    guarded = "PATTERN SEQ(A, NOT C, B+)"
    assert names(events, guarded, algorithm=algorithm) == {(4, 5, 6)}
    anchored = "PATTERN SEQ(A, B+) WHERE A.x * 3 < B.x"
    assert names(events, anchored, algorithm=algorithm) == {(1, 5), (4, 5)}
