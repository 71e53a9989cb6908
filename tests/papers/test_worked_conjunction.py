"""AND: GRETA's formula for pairs, C₁·C₂ − D·(D+1)/2 with D the trends that match both sides."""

import pytest
from papers_answers import Answer, both, count


@both
@pytest.mark.parametrize(
    ("pattern", "events", "pairs"),
    [
        # No overlap: every trend of one side with every one of the other.
        ("A+ AND B+", "a1 a2 b3", 3 * 1),
        ("A+ AND B+", "a1 b2 a3 b4", 3 * 3),
        ("SEQ(A, B) AND C+", "a1 b2 b3 c4 c5 c6", 2 * 7),
        ("A+ AND B+", "a1 a2", 0),
        # Three sides that do not overlap: triples.
        ("A+ AND B+ AND C", "a1 a2 b3 b4 c5 c6", 3 * 3 * 2),
        # Both sides the same: unordered pairs of different trends, 7·7 − 7·8/2.
        ("A+ AND A+", "a1 a2 a3", 21),
        ("A AND A", "a1", 0),
        # One side within the other: 7 trends, 3 pairs of a's; 7·3 − 3·4/2.
        ("A+ AND A{2}", "a1 a2 a3", 15),
        # They share (a, b) only: 3 of the left, 3 of the right, 2 of both; 3·3 − 2·3/2.
        ("SEQ(A, B?) AND (SEQ(A, B) OR C)", "a1 b2 b3 c4", 6),
    ],
)
def test_pairs(answer: Answer, pattern: str, events: str, pairs: int) -> None:
    assert count(answer, f"PATTERN {pattern}", events) == pairs


@both
def test_a_predicate_can_take_the_overlap_away(answer: Answer) -> None:
    """The sides' trends are compared after their own predicates."""
    query = "PATTERN A x+ AND A y+ WHERE x.k = 1 AND y.k = 2"
    assert count(answer, query, "a1:k=1 a2:k=2 a3:k=1") == 3 * 1
    # k = 1 for a1 and a3: 3 trends; k < 3 for all: 7; 3 of both: 21 − 6.
    query = "PATTERN A x+ AND A y+ WHERE x.k = 1 AND y.k < 3"
    assert count(answer, query, "a1:k=1 a2:k=2 a3:k=1") == 15


@both
def test_pairs_carry_aggregates_where_sides_differ(answer: Answer) -> None:
    """Each event of a pair counts once per pair: a's in 3 trends × 1, the b in 3."""
    rows = answer(
        "RETURN COUNT(*) AS n, COUNT(A) AS a, COUNT(B) AS b, SUM(A.x) AS s, "
        "MAX(LENGTH(*)) AS longest PATTERN A+ AND B+",
        "a1:x=5 a2:x=7 b3",
    )
    assert [{k: row[k] for k in ("n", "a", "b", "s", "longest")} for row in rows] == [
        {"n": 3, "a": 4, "b": 3, "s": 24, "longest": 3}
    ]
