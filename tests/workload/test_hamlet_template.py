"""Templates in words and pictures."""

from __future__ import annotations

from hamlet_runs import planned

from trendloom import workload
from trendloom.workloads.hamlet.picture import describe, mermaid
from trendloom.workloads.hamlet.template import merge

QUERIES = [
    "RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 10 s SLIDE 5 s",
    'RETURN COUNT(*) PATTERN SEQ("<C>", B+) WHERE B.k > 1 WITHIN 15 s SLIDE 5 s',
    "RETURN COUNT(*) PATTERN B+ WHERE B.p > NEXT(B).p",
    "RETURN COUNT(*) PATTERN SEQ(A, B+) WHERE B.p > NEXT(B).p",
    "RETURN COUNT(DISTINCT B) PATTERN B+",
]


def test_the_words_tell_who_shares_what() -> None:
    assert describe(merge([planned(text) for text in QUERIES])).splitlines() == [
        "group 1: q1, q2, q3, q4",
        "  one pass, panes of 5 s",
        "  shares B+ among q1, q2",
        "    no condition: q1",
        '    "k" > 1: q2',
        '  shares B+ among q3, q4, each event and the next: "p" > NEXT "p"',
        "alone: q5 (DISTINCT, events of which are told apart)",
    ]


def test_the_picture_has_every_type_once() -> None:
    drawn = mermaid(merge([planned(text) for text in QUERIES]))
    assert drawn.startswith("flowchart LR")
    assert drawn.count('["B"]') == 1
    assert '-->|"q1, q2, q3, q4"|' in drawn
    assert "<C>" not in drawn


def test_sides_of_and_are_told_as_their_query() -> None:
    texts = [
        "RETURN COUNT(*) PATTERN SEQ(A, B B+) AND SEQ(C, B Y+) WHERE Y.k > 1 WITHIN 9 s SLIDE 9 s",
        "RETURN SUM(B.k) PATTERN SEQ(C, D?) AND B+ WITHIN 9 s SLIDE 9 s",
        "RETURN COUNT(*) PATTERN SEQ(A, E E+) AND SEQ(C, E Y+) WITHIN 9 s SLIDE 9 s",
        "RETURN COUNT(DISTINCT B) PATTERN A AND B+ WITHIN 9 s SLIDE 9 s",
    ]
    template = merge([planned(text) for text in texts])
    assert describe(template).splitlines() == [
        "group 1: q1, q2",
        "  one pass, panes of 9 s",
        "  shares B+ among q1, q2",
        "    no condition: q1, q2",
        '    "k" > 1: q1',
        "alone: q3 (no other query has its E+)",
        "alone: q4 (DISTINCT, events of which are told apart)",
    ]
    (group,) = template.groups
    assert group.sides == ((0, 1), (2, 3))
    assert '-->|"q1, q2"|' in mermaid(template)
    told = workload(texts).explain()
    assert "in bursts   q1, q2\n" in told
    assert "B+ shared by q1, q2\n" in told


def test_many_queries_are_counted() -> None:
    texts = [f"RETURN COUNT(*) PATTERN SEQ(A, B+) WHERE A.k > {k}" for k in range(9)]
    assert "q1, q2, q3, q4, … q9 (9 queries)" in describe(merge([planned(t) for t in texts]))
