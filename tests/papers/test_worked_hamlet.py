"""HAMLET's tables 3 to 5, as far as each query goes alone.

Figure 4: graphlets A1 (two a's), C2 (one c), B3 (b3 to b6), A4 (two a's), C5 (three c's), B6.
The number of trends that end at an event is what it adds to COUNT(*).
"""

import pytest
from papers_answers import Answer, both, change, count

STARTS = "a1:k=0,m=9 a2 c2"
B3 = ["b3:k=0,m=9", "b4:k=1,m=9", "b5:k=0,m=1", "b6:k=0,m=9"]
LATER = "a7 a8 c7 c8 c9"
FIRST_OF_B6 = "b10:k=0,m=9"

Q1 = "PATTERN SEQ(A, B+)"
Q2 = "PATTERN SEQ(C, B+)"
# Example 3.12: the edge (b4, b5) does not hold for q2.
Q2_WITHOUT_EDGE = f"{Q2} WHERE B.k <> NEXT(B).m"


@both
@pytest.mark.parametrize(
    ("query", "counts"),
    [
        # Table 3: x, 2x, 4x, 8x; table 4: x = 2 for q1 and 1 for q2.
        (Q1, [2, 4, 8, 16]),
        (Q2, [1, 2, 4, 8]),
        # Table 5: z = count(b5) = 2; count(b6) = 4x + z.
        (Q2_WITHOUT_EDGE, [1, 2, 2, 6]),
    ],
    ids=["q1", "q2", "q2 without (b4, b5)"],
)
def test_counts_within_graphlet_b3(answer: Answer, query: str, counts: list[int]) -> None:
    for n, expected in enumerate(counts):
        assert change(answer, query, " ".join([STARTS, *B3[:n]]), B3[n]) == expected
    assert count(answer, query, " ".join([STARTS, *B3])) == sum(counts)


@both
@pytest.mark.parametrize(
    ("query", "y"),
    [(Q1, 34), (Q2, 19), (Q2_WITHOUT_EDGE, 15)],
    ids=["table 4, q1", "table 4, q2", "table 5, q2"],
)
def test_snapshot_y(answer: Answer, query: str, y: int) -> None:
    """y is what the first b of graphlet B6 gets from all that came before it."""
    assert change(answer, query, " ".join([STARTS, *B3, LATER]), FIRST_OF_B6) == y
