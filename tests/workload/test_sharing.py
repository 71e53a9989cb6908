"""Who shares what: A-Seq's prefix tree, its generalisation, and what is left alone and why."""

from __future__ import annotations

import json

import pytest

import trendloom as tl
from trendloom.language import Semantics
from trendloom.testing import stream
from trendloom.workloads.family import member_of
from trendloom.workloads.merging import Merged, merge
from trendloom.workloads.scan import SharedScan

EXAMPLE_6 = {
    "Q1": "SEQ(VKindle, BKindle, VCase, BCase)",
    "Q2": "SEQ(VKindle, BKindle, VKindleFire)",
    "Q3": "SEQ(VKindle, BKindle, VCase, BCase, VeBook, BeBook)",
    "Q4": "SEQ(VKindle, BKindle, VCase, BCase, VLight, BLight)",
    "Q5": "SEQ(ViPad, VKindleFire, VKindle, BKindle)",
}


def merged(*patterns: str, semantics: str = "any") -> Merged:
    texts = [f"RETURN COUNT(*) PATTERN {pattern} SEMANTICS {semantics}" for pattern in patterns]
    plans = {f"q{n}": tl.query(text).plan for n, text in enumerate(texts)}
    shared = SharedScan.of(plans)
    members = [member_of(plan, shared) for plan in plans.values()]
    return merge(members, next(iter(plans.values())).semantics)


def test_example_7_the_prefix_tree() -> None:
    """Q1 to Q4 are 19 cells by themselves; the tree of figure 9 has 9 nodes."""
    found = merged(*[EXAMPLE_6[f"Q{n}"] for n in (1, 2, 3, 4)])
    assert found.folding.cells == 9
    assert found.sharers == (
        (0, 1, 2, 3), (0, 1, 2, 3), (0, 2, 3), (0, 2, 3), (1,), (2,), (2,), (3,), (3,)
    )  # fmt: skip
    # The result of Q1 is pipelined into Q3 and Q4: it ends in a cell that they go through.
    assert found.ends[0] == (3,)


@pytest.mark.parametrize("mode", ["dynamic", "always", "never"])
def test_example_6_counts(mode: str) -> None:
    types = [
        "VKindle", "BKindle", "ViPad", "VKindleFire", "VCase", "VKindle", "BCase", "BKindle",
        "VeBook", "VLight", "BLight", "VKindleFire", "BeBook", "VKindle", "BKindle",
    ]  # fmt: skip
    events = [{"time": n, "type": name} for n, name in enumerate(types)]
    queries = {name: f"RETURN COUNT(*) AS n PATTERN {p}" for name, p in EXAMPLE_6.items()}
    results = tl.workload(queries).run(events, time="time", type="type", mode=mode)
    counts = {name: [row["n"] for row in result.rows()] for name, result in results.items()}
    assert counts == {"Q1": [1], "Q2": [4], "Q3": [1], "Q4": [1], "Q5": [4]}


@pytest.mark.parametrize(
    ("patterns", "cells"),
    [
        (("SEQ(A+, B)", "SEQ(A+, C)"), 3),
        (("SEQ(A+, B)", "SEQ(A, B)"), 4),  # a loop is not a single event
        (("(SEQ(A+, B))+", "(SEQ(A+, B))+"), 2),
        (("SEQ(A?, B, C)", "SEQ(A?, B, D)"), 4),
        (("SEQ(A, A, B)", "SEQ(A, A, C)"), 4),
        (("SEQ(A, NOT X, B)", "SEQ(A, NOT X, C)"), 3),
        (("SEQ(A, NOT X, B)", "SEQ(A, C)"), 4),  # an X clears the one and not the other
        (("A{2,3}", "A{3,3}"), 3),
        (("SEQ(A, B)", "SEQ(C, B)"), 4),
    ],
)
def test_forward_equal_cells_are_one(patterns: tuple[str, ...], cells: int) -> None:
    assert merged(*patterns).folding.cells == cells


def test_next_match_keeps_cells_apart_that_go_on_differently() -> None:
    """An A that B consumes stays for C. Each end has a cell for what is finished."""
    apart = merged("SEQ(A, B)", "SEQ(A, C)", semantics=Semantics.NEXT.value)
    assert apart.folding.cells == 4 + 2
    alike = merged("SEQ(A, B, C)", "SEQ(A, B, D)", semantics=Semantics.NEXT.value)
    assert alike.folding.cells == 5 + 2
    # Where nothing goes on, nothing is consumed: the ends of the shorter are those of the longer.
    chain = merged("SEQ(A, B)", "SEQ(A, B, C)", "SEQ(A, B, C, D)", semantics=Semantics.NEXT.value)
    assert chain.folding.cells == 4 + 3
    close = merged("SEQ(A, B)", "SEQ(A, C)", semantics=Semantics.CONTIGUOUS.value)
    assert close.folding.cells == 3 + 2


@pytest.mark.parametrize("mode", ["always", "never"])
def test_an_end_that_another_query_goes_on_from_is_still_consumed(mode: str) -> None:
    """The B of the first query ends there; the D's of the second take it once only."""
    queries = [
        f"RETURN COUNT(*) AS n PATTERN {p} SEMANTICS next" for p in ("SEQ(A, B)", "SEQ(A, B, D)")
    ]
    results = tl.workload(queries).run(stream("a1 b2 d3 d4"), time="time", type="type", mode=mode)
    assert [one.rows()[0]["n"] for one in results.values()] == [1, 1]


def alone(*queries: str) -> dict[str, str]:
    facts = json.loads(tl.workload(list(queries)).explain("json"))
    return {one["query"]: one["because"] for group in facts["groups"] for one in group["alone"]}


def test_what_is_left_alone_and_why() -> None:
    reasons = alone(
        "RETURN COUNT(*) PATTERN SEQ(A, B)",
        "RETURN COUNT(*) PATTERN SEQ(C, B)",
        "RETURN COUNT(*) PATTERN SEQ(A, B) AND C",
        "RETURN COUNT(*) PATTERN SEQ(A+, B) WHERE A.x < NEXT(A).x",
        "RETURN COUNT(DISTINCT A) PATTERN SEQ(A, B)",
        "RETURN B.x, COUNT(*) PATTERN SEQ(A+, B) GROUP-BY B.x",
        "RETURN COUNT(*) PATTERN SEQ(NOT C, A, B)",
        "RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 5 s SLIDE 5 s",
    )
    assert reasons == {
        "q1": "it has no prefix, and no two types in a row, in common with another query",
        "q2": "it has no prefix, and no two types in a row, in common with another query",
        "q3": "AND joins two patterns",
        "q4": "a condition compares consecutive events",
        "q5": "DISTINCT keeps single events",
        "q6": "it is run once per value of a variable",
        "q7": "its NOT is before the first event",
        "q8": "no other query here has its window, semantics, grouping and numbers",
    }


def test_sharing_that_costs_more_is_left_to_always() -> None:
    """The second's many sums would be kept for the first, too."""
    sums = ", ".join(f"SUM(A.x{n}), AVG(B.x{n})" for n in range(8))
    workload = tl.workload(
        [
            "RETURN COUNT(*) PATTERN SEQ(A, A, A, A, A, B, B, B)",
            f"RETURN {sums} PATTERN SEQ(A, B)",
        ]
    )
    (dynamic,) = json.loads(workload.explain("json"))["groups"]
    assert dynamic["families"] == []
    assert "sharing would cost more" in dynamic["alone"][0]["because"]
    (always,) = json.loads(workload.explain("json", mode="always"))["groups"]
    assert [family["queries"] for family in always["families"]] == [["q1", "q2"]]


def test_a_workload_that_shares_nothing_says_so() -> None:
    workload = tl.workload(["RETURN COUNT(*) PATTERN A", "RETURN k, COUNT(*) PATTERN B GROUP-BY k"])
    text = workload.explain()
    assert "no query shares its aggregation with another" in text
    assert "2 queries, 2 scans of the events" in text


def test_explain_in_words_and_as_a_picture() -> None:
    workload = tl.workload(
        {name: f"RETURN COUNT(*) PATTERN {p}" for name, p in EXAMPLE_6.items() if name != "Q5"}
    )
    text = workload.explain()
    assert "VKindle, BKindle shared by Q1, Q2, Q3, Q4" in text
    assert "VCase, BCase shared by Q1, Q3, Q4" in text
    assert "9 cells instead of 19" in text
    assert "9 evaluated once per row (19 if each query had its own scan)" in text
    picture = workload.explain("mermaid")
    assert picture.startswith('flowchart LR\n  p0start(["Q1, Q2, Q3, Q4"]):::start')
    assert 'p0s3((("BCase<br/>ends Q1"))):::kept' in picture


def test_attributes_and_conditions_are_scanned_once() -> None:
    plans = {
        f"q{n}": tl.query(
            f"RETURN SUM(A.x), MAX(A.x) PATTERN SEQ(A, B) WHERE A.x > 1 AND B.y = {n}"
        ).plan
        for n in range(3)
    }
    scan = SharedScan.of(plans).scan
    assert [letter.type for letter in scan.letters] == ["A", "B", "B", "B"]
    assert len(scan.operands) == 2
    assert scan.words == (4,)
