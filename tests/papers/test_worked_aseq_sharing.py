"""A-Seq's examples 5, 8 and 9: hashed prefix counters, snapshots, and several connections.

Example 8 has its stream in the text. Those of 5 and 9 are pictures; the streams below are short
ones that the examples' text fits.
"""

from typing import Any

import pytest
from papers_answers import Answer, both

import trendloom as tl
from trendloom.testing import naive, stream

READ = {"time": "time", "type": "type"}
MODES = pytest.mark.parametrize("mode", ["dynamic", "always", "never"])

# Example 5: ids 1, 2 and 3; a1 and a4 are of id 1.
EXAMPLE_5 = "a1:id=1 a2:id=2 a3:id=3 a4:id=1 b5:id=1 b6:id=2 c7:id=1 d8:id=1 c9:id=2 d10:id=2"


@both
def test_example_5_counters_by_id(answer: Answer) -> None:
    """b5 goes on from a1 and a4 and from nobody else; id 3 has no trend."""
    rows = answer("RETURN id, COUNT(*) AS n PATTERN SEQ(A, B, C, D) GROUP-BY id", EXAMPLE_5)
    assert [(row["id"], row["n"]) for row in rows] == [(1, 2), (2, 1)]
    # An equivalence predicate without GROUP-BY adds the partitions up.
    (row,) = answer("RETURN COUNT(*) AS n PATTERN SEQ(A, B, C, D) WHERE [id]", EXAMPLE_5)
    assert row["n"] == 3


# Example 8: its stream, the start events numbered. a1 expires at 10 s, so WITHIN is 9 s.
BEFORE_D1 = "a1:n=1 b2:n=0 c3:n=0 a4:n=2 b5:n=0"
BEFORE_D2 = f"{BEFORE_D1} d6:n=0 c7:n=0 a8:n=3"
EXAMPLE_8 = f"{BEFORE_D2} d9:n=0 e10:n=0"


@both
@pytest.mark.parametrize(
    ("events", "snapshot"), [(BEFORE_D1, {1: 1, 2: 0}), (BEFORE_D2, {1: 3, 2: 1, 3: 0})]
)
def test_example_8_snapshots(answer: Answer, events: str, snapshot: dict[int, int]) -> None:
    """(A, B, C) per start event, at d1 and at d2."""
    for start, expected in snapshot.items():
        query = f"RETURN COUNT(*) AS n PATTERN SEQ(A, B, C) WHERE A.n = {start}"
        assert sum(row["n"] for row in answer(query, events)) == expected


@both
def test_example_8_expired_rows_do_not_count(answer: Answer) -> None:
    """At e1: 1 × 0 of d1, and 1 × 0 + 1 × 1 of d2, for a1 has expired."""
    query = "RETURN COUNT(*) AS n PATTERN SEQ(A, B, C, D, E)"
    at_e1 = [
        row["n"] for row in answer(f"{query} WITHIN 9 s", EXAMPLE_8) if row["window_end"] == 10
    ]
    assert at_e1 == [1]
    # Without expiry a1 adds its 1 at d1 and its 3 at d2.
    assert [row["n"] for row in answer(query, EXAMPLE_8)] == [5]


def counts(results: tl.Results) -> dict[str, list[Any]]:
    return {name: [row["n"] for row in one.rows()] for name, one in results.items()}


@MODES
@pytest.mark.parametrize("window", ["", "WITHIN 9 s", "WITHIN 10 s SLIDE 10 s"])
def test_example_8_chopped(mode: str, window: str) -> None:
    """(D, E) is connected to (A, B, C) and to another beginning."""
    patterns = {"long": "SEQ(A, B, C, D, E)", "other": "SEQ(C, D, E)", "part": "SEQ(D, E)"}
    queries = {name: f"RETURN COUNT(*) AS n PATTERN {p} {window}" for name, p in patterns.items()}
    workload = tl.workload(queries)
    if mode == "always":
        assert "D, E chopped out of" in workload.explain(mode=mode)
    found = counts(workload.run(stream(EXAMPLE_8), **READ, mode=mode))
    expected = {
        name: [row["n"] for row in naive(text, EXAMPLE_8)] for name, text in queries.items()
    }
    assert found == expected


# Example 9: at f1 a2 has 1 with d1 and 2 with d2.
EXAMPLE_9 = "a1:n=1 b2 a3:n=2 b4 c5 d6 c7 d8 e9 f12 g13"


@both
@pytest.mark.parametrize(("before_f", "expected"), [("d6", 1), ("d8", 2), ("d6 c7 d8", 3)])
def test_example_9_counts_of_one_tag_are_added(
    answer: Answer, before_f: str, expected: int
) -> None:
    """(a2, B, C, D, E): 1 on d1's counter, 2 on d2's, 3 together."""
    kept = [w for w in EXAMPLE_9.split() if w[0] != "d" or w in before_f.split()]
    events = " ".join(word if ":" in word else f"{word}:n=0" for word in kept)
    query = "RETURN COUNT(*) AS n PATTERN SEQ(A, B, C, D, E) WHERE A.n = 2"
    assert [row["n"] for row in answer(query, events)] == [expected]


@MODES
@pytest.mark.parametrize("window", ["", "WITHIN 11 s", "WITHIN 20 s SLIDE 20 s"])
def test_example_9_several_connections(mode: str, window: str) -> None:
    """(A, B, C), (D, E) and (F, G), of which others share the second and the third."""
    patterns = {
        "all": "SEQ(A, B, C, D, E, F, G)",
        "second": "SEQ(B, D, E)",
        "third": "SEQ(C, F, G)",
    }
    queries = {name: f"RETURN COUNT(*) AS n PATTERN {p} {window}" for name, p in patterns.items()}
    events = EXAMPLE_9.replace(":n=1", "").replace(":n=2", "")
    workload = tl.workload(queries)
    if mode == "always":
        plan = workload.explain(mode=mode)
        assert "D, E chopped out of all, second" in plan
        assert "F, G chopped out of all, third" in plan
    found = counts(workload.run(stream(events), **READ, mode=mode))
    expected = {name: [row["n"] for row in naive(text, events)] for name, text in queries.items()}
    assert found == expected
