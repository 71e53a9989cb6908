"""A-Seq's examples 2 to 4: prefix counts, expiry of start events, negation.

The figures are pictures; the streams below are the shortest ones that the examples' text fits.
"""

from typing import Any

import pytest
from papers_answers import Answer, both, count

# Example 2: before b arrives (A) = 3 and (A, B) = 2.
BEFORE_B = "a1 a2 b3 a4"


@both
def test_example_2_prefix_counts(answer: Answer) -> None:
    assert count(answer, "PATTERN A", BEFORE_B) == 3
    assert count(answer, "PATTERN SEQ(A, B)", BEFORE_B) == 2
    # (A) + (A, B) = 3 + 2; the other prefixes stay.
    assert count(answer, "PATTERN A", f"{BEFORE_B} b5") == 3
    assert count(answer, "PATTERN SEQ(A, B)", f"{BEFORE_B} b5") == 5


@both
def test_example_2_a_trigger_adds_the_longest_prefix(answer: Answer) -> None:
    """Lemma 1 at the arrival of a d: (A, B, C, D) grows by (A, B, C)."""
    events = f"{BEFORE_B} c5 d6 b7 c8"
    shorter = count(answer, "PATTERN SEQ(A, B, C)", events)
    before = count(answer, "PATTERN SEQ(A, B, C, D)", events)
    after = count(answer, "PATTERN SEQ(A, B, C, D)", f"{events} d9")
    assert (shorter, before, after) == (7, 2, 9)


EXAMPLE_3 = "a1 b2 c3 a4 c5 b6 d7 c8 a9 d10"


@both
def test_example_3_start_events_expire(answer: Answer) -> None:
    """WITHIN without SLIDE: a row whenever the count changes."""
    rows = answer("RETURN COUNT(*) AS n PATTERN SEQ(A, B, C, D) WITHIN 7 s", EXAMPLE_3)
    assert [(row["window_start"], row["window_end"], row["n"]) for row in rows] == [
        (0, 7, 2),  # d1: 2 of a1's, none of a2's
        (1, 8, 0),  # a1 expires at 8 s: "0 instead of 2"
        (3, 10, 1),  # d2: (a2, b2, c3, d2)
        (4, 11, 0),  # a2 expires after the last event
    ]


@both
@pytest.mark.parametrize(
    ("query", "events", "expected"),
    [
        # A second trend within the same count of one: no row, for nothing changed.
        ("RETURN MAX(A.x) AS n PATTERN A WITHIN 5 s", "a1:x=3 a2:x=3", [(1, 3), (7, None)]),
        # At 6 s the first expires and the second arrives.
        ("RETURN COUNT(*) AS n PATTERN A WITHIN 5 s", "a1 a6", [(1, 1), (11, 0)]),
        ("RETURN COUNT(*) AS n PATTERN A WITHIN 5 s", "a1 a7", [(1, 1), (6, 0), (7, 1), (12, 0)]),
        # Simultaneous events change the count once.
        ("RETURN COUNT(*) AS n PATTERN A WITHIN 5 s", "a1 a1 a2", [(1, 2), (2, 3), (6, 1), (7, 0)]),
        # HAVING looks at the rows afterwards.
        ("RETURN COUNT(*) AS n PATTERN A WITHIN 5 s HAVING n > 0", "a1 a7", [(1, 1), (7, 1)]),
    ],
)
def test_rows_on_change(
    answer: Answer, query: str, events: str, expected: list[tuple[int, Any]]
) -> None:
    assert [(row["window_end"], row["n"]) for row in answer(query, events)] == expected


@both
@pytest.mark.parametrize("spelling", ["!C", "NOT C"])
def test_example_4_negation(answer: Answer, spelling: str) -> None:
    events = "a1 b2 c3 a4 b5"
    pattern = f"PATTERN SEQ(A, B, {spelling}, D)"
    # The Recounting Rule: c1 clears (A, B), keeps (A); <a1, b1, d1> is not counted.
    assert count(answer, "PATTERN SEQ(A, B, NOT C)", "a1 b2 c3") == 0
    assert count(answer, "PATTERN A", events) == 2
    assert count(answer, pattern, f"{events} d6") == 2
    # Without c1 (a1, b1, d1) is the third.
    assert count(answer, pattern, "a1 b2 a4 b5 d6") == 3


@both
def test_lemma_6_keeps_what_is_finished(answer: Answer) -> None:
    """A negative event clears the prefix before it, not the sequences that are past it."""
    assert count(answer, "PATTERN SEQ(A, B, !C, D)", "a1 b2 d3 c4") == 1
    assert count(answer, "PATTERN SEQ(A, B, !C, D)", "a1 b2 d3 c4 d5") == 1
    assert count(answer, "PATTERN SEQ(A, B, !C, D)", "a1 b2 d3 c4 b5 d6") == 2
