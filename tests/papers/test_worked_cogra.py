"""COGRA's running example: figure 2 and the tables that count it."""

import pytest
from papers_answers import Answer, both, change, count, running_counts

FIGURE_2 = "a1 b2 a3 a4 c5 b6 a7 b8"
PATTERN = "PATTERN (SEQ(A+, B))+"
ANY = "SEMANTICS skip-till-any-match"
NEXT = "SEMANTICS skip-till-next-match"
CONTIGUOUS = "SEMANTICS contiguous"

# Example 5.1: a7 may follow b2 (k = 1 < 5), not b6 (k = 5); every other step is free.
EXAMPLE_5_1 = "a1:k=9 b2:k=1 a3:k=9 a4:k=9 c5 b6:k=5 a7:k=5 b8:k=9"
RESTRICTED = f"{PATTERN} {ANY} WHERE B.k < NEXT(A).k"


@both
@pytest.mark.parametrize(("semantics", "trends"), [(ANY, 43), (NEXT, 8), (CONTIGUOUS, 2), ("", 43)])
def test_figure_2(answer: Answer, semantics: str, trends: int) -> None:
    assert count(answer, f"{PATTERN} {semantics}", FIGURE_2) == trends


@both
@pytest.mark.parametrize(
    ("query", "events", "final_counts"),
    [
        # Table 6, B.count; after c5 and after an a it stays what it was.
        (f"{PATTERN} {ANY}", FIGURE_2, [0, 1, 1, 1, 1, 11, 11, 43]),
        # Table 7, B.count.
        (RESTRICTED, EXAMPLE_5_1, [0, 1, 1, 1, 1, 11, 11, 33]),
        # Table 8, final count.
        (f"{PATTERN} {NEXT}", FIGURE_2, [0, 1, 1, 1, 1, 4, 4, 8]),
        # Example 6.2: c5 cannot be ignored, so b6 finishes nothing.
        (f"{PATTERN} {CONTIGUOUS}", FIGURE_2, [0, 1, 1, 1, 1, 1, 1, 2]),
    ],
    ids=["table 6", "table 7", "table 8", "example 6.2"],
)
def test_final_counts_after_each_event(
    answer: Answer, query: str, events: str, final_counts: list[int]
) -> None:
    assert list(running_counts(answer, query, events).values()) == final_counts


@both
@pytest.mark.parametrize(
    ("semantics", "counts"),
    [
        # Table 6, column a.count: the partial trends that end at each a.
        (ANY, {"a1": 1, "a3": 3, "a4": 6, "a7": 22}),
        # Table 8, column a.count.
        (NEXT, {"a1": 1, "a3": 2, "a4": 3, "a7": 4}),
    ],
)
def test_intermediate_counts(answer: Answer, semantics: str, counts: dict[str, int]) -> None:
    """An optional B makes the partial trends finished ones."""
    partial = f"PATTERN (SEQ(A+, B?))+ {semantics}"
    words = FIGURE_2.split()
    for word, expected in counts.items():
        before = " ".join(words[: words.index(word)])
        assert change(answer, partial, before, word) == expected


@both
@pytest.mark.parametrize(
    ("query", "events", "trends"),
    [
        # Definition 2.6 lets both a1 and a2 go on to b3; Algorithm 3 would find 1.
        ("PATTERN SEQ(A, B)", "a1 a2 b3", 2),
        # Definition 2.6, with predecessors that differ by event; Algorithm 3 would find 7.
        ("PATTERN A+ WHERE A.p > NEXT(A).p", "a1:p=10 a2:p=12 a3:p=11 a4:p=5", 8),
    ],
)
def test_where_the_definition_wins(answer: Answer, query: str, events: str, trends: int) -> None:
    assert count(answer, f"{query} {NEXT}", events) == trends


@both
def test_a_trend_counts_once_however_it_is_derived(answer: Answer) -> None:
    """(A+)+ counts what A+ counts; two variables of one type are two labels (§3)."""
    assert count(answer, "PATTERN A+", "a1 a2 a3") == 7
    assert count(answer, "PATTERN (A+)+", "a1 a2 a3") == 7
    assert count(answer, "PATTERN SEQ(A x+, A y+)", "a1 a2 a3") == 5
