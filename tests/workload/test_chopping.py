"""Chop-connect: which sub-patterns are chopped out, how their cells lie, and what queries count."""

from __future__ import annotations

import json
import random

import pytest

import trendloom as tl
from trendloom.language import parse
from trendloom.testing import naive, same_rows, stream
from trendloom.workloads.chopping import chop
from trendloom.workloads.family import member_of
from trendloom.workloads.merging import Merged, merge
from trendloom.workloads.moves import CodeMoves, Step
from trendloom.workloads.scan import SharedScan

READ = {"time": "time", "type": "type"}
THREE = [f"SEQ({p}, A, B, C, D, {s})" for p, s in zip("XYZ", "UVW", strict=True)]


def merged(*patterns: str, semantics: str = "any") -> tuple[Merged, list[str]]:
    """And the types of its letters."""
    texts = [f"RETURN COUNT(*) PATTERN {pattern} SEMANTICS {semantics}" for pattern in patterns]
    plans = {f"q{n}": tl.query(text).plan for n, text in enumerate(texts)}
    shared = SharedScan.of(plans)
    members = [member_of(plan, shared) for plan in plans.values()]
    found = merge(members, next(iter(plans.values())).semantics)
    return found, [letter.type for letter in shared.scan.letters]


def chops(*patterns: str, semantics: str = "any") -> list[tuple[str, int]]:
    found, types = merged(*patterns, semantics=semantics)
    return [("".join(types[k] for k in c.letters), len(c.copies)) for c in chop(found)[1]]


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (THREE, [("ABCD", 3)]),
        (("SEQ(A, B)", "SEQ(C, B)"), []),  # one type is no infix
        (("SEQ(A, B, C)", "SEQ(A, B, D)"), []),  # a prefix is shared by merging
        (("SEQ(A, B)", "SEQ(C, A, B)"), [("AB", 2)]),
        # The longest for two, or the shorter one for three: what saves more steps.
        (("SEQ(X, A, B, C)", "SEQ(Y, A, B, C)", "SEQ(Z, A, B)"), [("AB", 3)]),
        (
            ("SEQ(X, A, B, C, D)", "SEQ(Y, A, B, C, D)", "SEQ(Z, C, D, E)", "SEQ(D, E)"),
            [("ABCD", 2), ("DE", 2)],
        ),
        (("SEQ(X, A, B, C, D)", "SEQ(Y, A, B, C, D)", "SEQ(Z, A, B)"), [("AB", 3), ("CD", 2)]),
        # Several parts of one query: A-Seq's multi-connect.
        (("SEQ(X, A, B, C, D)", "SEQ(Y, A, B)", "SEQ(Z, C, D)"), [("AB", 2), ("CD", 2)]),
        (("SEQ(X, A+, B)", "SEQ(Y, A+, B)"), [("AB", 2)]),
        (("SEQ(X, A, NOT N, B)", "SEQ(Y, A, NOT N, B)"), [("AB", 2)]),
    ],
)
def test_what_is_chopped_out(patterns: tuple[str, ...], expected: list[tuple[str, int]]) -> None:
    assert chops(*patterns) == expected


def test_copies_are_neighbours_and_move_as_one() -> None:
    found, types = merged(*THREE)
    laid, (one,) = chop(found)
    for column in zip(*one.copies, strict=True):
        assert list(column) == list(range(column[0], column[0] + 3))
    # Each of A, B, C, D is one move of three cells: A's connects three beginnings.
    for name in "ABCD":
        steps = [
            Step(arrow.target, (arrow.source,))
            for arrow in laid.folding.arrows
            if types[laid.variables[arrow.variable][0]] == name
        ]
        moves = CodeMoves(steps)
        assert moves.direct
        assert [n for *_, n in moves.add] == [3]


def test_what_is_read_is_not_written_before() -> None:
    assert CodeMoves([Step(1, (0,)), Step(2, (1,))]).direct is False
    assert CodeMoves([Step(1, (0, 1))]).direct is False
    loops = CodeMoves([Step(2, (0, 2)), Step(3, (1, 3))])
    assert loops.add == [(2, 0, 0, 2), (2, 0, 2, 2)]
    assert CodeMoves([Step(1, (0,))], eaten=[0, 1, 4]).eat == [(0, 2), (4, 1)]


def test_explain_tells_the_sharing_plan() -> None:
    workload = tl.workload([f"RETURN COUNT(*) PATTERN {p}" for p in THREE])
    assert (
        "A, B, C, D chopped out of q1, q2, q3, connected to 3 beginnings, moved as one"
        in workload.explain()
    )
    (group,) = json.loads(workload.explain("json"))["groups"]
    (family,) = group["families"]
    assert family["chopped"] == [
        {"infix": list("ABCD"), "queries": ["q1", "q2", "q3"], "connections": 3}
    ]
    assert family["cost"] < family["cost_alone"]


def test_conditions_that_differ_are_not_chopped() -> None:
    """A[x > 1] is another letter than A[x > 2]; what is behind them is the same."""
    queries = [
        f"RETURN COUNT(*) PATTERN SEQ({p}, A, B, C) WHERE A.x > {n}"
        for n, p in enumerate("XY", start=1)
    ]
    (group,) = json.loads(tl.workload(queries).explain("json", mode="always"))["groups"]
    assert [one["infix"] for one in group["families"][0]["chopped"]] == [["B", "C"]]


@pytest.mark.parametrize("semantics", ["any", "next", "contiguous"])
@pytest.mark.parametrize(
    "returned",
    ["COUNT(*) AS n", "SUM(A.x) AS n, MIN(B.x) AS m", "AVG(B.x) AS n, COUNT(U) AS m"],
)
@pytest.mark.parametrize(
    "window", ["", "WITHIN 9 s SLIDE 9 s", "WITHIN 9 s SLIDE 3 s", "WITHIN 9 s"]
)
def test_every_query_counts_what_it_counts_alone(
    semantics: str, returned: str, window: str
) -> None:
    """With loops and negation around and inside of the common part, and simultaneous events."""
    patterns = (
        "SEQ(X, A, NOT N, B, U)", "SEQ(Y+, A, NOT N, B, U)", "SEQ(A, NOT N, B, U+)",
        "SEQ(X, Y, A, NOT N, B, U)",
    )  # fmt: skip
    queries = {
        f"q{n}": f"RETURN {returned} PATTERN {p} SEMANTICS {semantics} {window}"
        for n, p in enumerate(patterns)
    }
    workload = tl.workload(queries)
    draw = random.Random(f"{semantics} {returned} {window}")
    families = [f for g in workload._sharing("always").groups for f in g.families]
    assert any(family.chops for family in families)
    for _ in range(4):
        at, words = 0, []
        for _ in range(18):
            at += draw.choice((0, 1, 1))
            words.append(f"{draw.choice('XXYAAABBBUUN')}{at}:x={draw.choice((1, 2, 5))}")
        events = stream(" ".join(words))
        results = workload.run(events, **READ, mode="always", threads=1)
        for name, text in queries.items():
            expected = naive(parse(text), events, **READ)
            wrong = same_rows(expected, results[name].rows())
            assert wrong is None, f"{text}: {wrong}\n{words}"


def test_numbers_past_every_double() -> None:
    """Loops double their counts: past 2^256 single steps go on, with exponents."""
    queries = {p: f"RETURN COUNT(*) AS n PATTERN SEQ({p}, A+, B, U)" for p in "XY"}
    events = stream("x0 y0 " + " ".join(f"a{n}" for n in range(1, 1200)) + " b1200 u1201")
    workload = tl.workload(queries)
    results = workload.run(events, **READ, mode="always", threads=1)
    assert workload._sharing("always").groups[0].families[0].chops
    for name, text in queries.items():
        assert results[name].rows() == tl.run(text, events, **READ).rows()


def test_integers_that_do_not_fit_are_run_alone() -> None:
    queries = {p: f"RETURN SUM(A.x) AS n PATTERN SEQ({p}, A, B, U)" for p in "XY"}
    events = [{"time": n, "type": name, "x": 2**62} for n, name in enumerate("XABU")]
    found = tl.workload(queries).run(events, **READ, mode="always")
    assert [row["n"] for row in found["X"].rows()] == [2**62]
    events += [{"time": 4 + n, "type": name, "x": 2**62} for n, name in enumerate("AABU")]
    with pytest.raises(tl.TrendloomError, match="1 of 2 queries failed"):
        tl.workload(queries).run(events, **READ, mode="always")
