"""Formulas as trend queries: the aggregation engine counts the definition's complex events."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trendloom as tl
from acel.formulas import SCHEMA
from against_oracle import count_found, examples
from trendloom.acel import Formula, denote, nodes, parse, stream, to_text
from trendloom.acel import conditions as on
from trendloom.acel.check import check
from trendloom.acel.to_trends import to_query
from trendloom.errors import InputError, QueryMeaningError
from trendloom.language import to_text as query_text


@st.composite
def fragment(draw: st.DrawFn, variables: list[str], depth: int, *, contiguous: bool) -> Formula:
    """A formula whose complex events are trends; its leaves take the variables in turn."""
    kinds = ["seq", "+", "or", "ordered", "neighbours", "leaf"]
    kind = draw(st.sampled_from(kinds)) if depth else "leaf"
    if kind in ("seq", "or"):
        one = draw(fragment(variables, depth - 1, contiguous=contiguous))
        other = draw(fragment(variables, depth - 1, contiguous=contiguous))
        node = nodes.Contiguous if contiguous else nodes.Sequence
        return nodes.Or(one, other) if kind == "or" else node(one, other)
    again = nodes.ContiguousIteration if contiguous else nodes.Iteration
    if kind == "+":
        return again(draw(fragment(variables, depth - 1, contiguous=contiguous)))
    name = variables.pop()
    leaf: Formula = nodes.As(nodes.OneEvent(draw(st.sampled_from("AB"))), name)
    if draw(st.booleans()):
        least = on.Comparison(">", on.Attribute("x"), on.Literally(draw(st.integers(0, 2))))
        leaf = nodes.Filter(leaf, name, least)
    if kind == "ordered":
        shape = draw(st.sampled_from(["increasing", "decreasing"]))
        return nodes.Filter(again(leaf), name, on.BagCondition(shape, "x"))
    if kind == "neighbours":
        return nodes.PairFilter(again(leaf), name, name, draw(between(name, name, True)), True)
    return leaf


@st.composite
def between(draw: st.DrawFn, one: str, other: str, last: bool) -> on.Condition:
    left: on.Term = on.Attribute("x", variable=one, last=last)
    right: on.Term = on.Attribute("x", variable=other)
    if draw(st.booleans()):
        left = on.Arithmetic("+", left, on.Literally(draw(st.sampled_from([1, 0.5]))))
    sign = draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]))
    made: on.Condition = on.Comparison(sign, left, right)
    return on.Any(made, on.IsNull(right)) if draw(st.booleans()) else made


@st.composite
def compared(draw: st.DrawFn) -> Formula:
    """The same, sometimes with a filter of two variables around it."""
    contiguous = draw(st.booleans())
    formula = draw(fragment([f"v{k}" for k in range(20)], 3, contiguous=contiguous))
    names = sorted(name for name in check(formula) if name.startswith("v"))
    if len(names) > 1 and draw(st.booleans()):
        one, other = draw(st.permutations(names))[:2]
        last = draw(st.booleans())
        formula = nodes.PairFilter(formula, one, other, draw(between(one, other, last)), last)
    return formula


formulas = compared()
REFUSALS = (
    "follow one another elsewhere",
    "need not be right before it",
    "occurs exactly once in every trend",
    "never directly follows",
    "not clear which events the condition compares",
)
events = st.lists(
    st.tuples(st.sampled_from("AAABBBC"), st.sampled_from((2, 1, 3, 2, 0, 3, None))),
    min_size=6,
    max_size=8,
)


@examples(150)
@given(formulas, events)
def test_the_engine_counts_complex_events(
    formula: Formula, drawn: list[tuple[str, int | None]]
) -> None:
    rows = [{"type": word, "x": x} for word, x in drawn]
    over = stream(rows, {word: {"x": SCHEMA[word]["x"]} for word in SCHEMA})
    timed = [{**row, "time": time} for time, row in enumerate(rows)]
    try:
        found = tl.aggregate_matches(to_text(formula), "COUNT(*) AS n", timed, time="time").rows()
    except QueryMeaningError as error:
        assert any(told in error.cause for told in REFUSALS)  # noqa: PT017
        return
    expected = len(denote(formula, over))
    count_found(expected)
    assert sum(row["n"] for row in found) == expected


@pytest.mark.parametrize(
    ("formula", "where"),
    [
        ("A+ FILTER LAST(A), A[LAST(A).x * 2 <= A.x]", "(A.x * 2) <= NEXT(A).x"),
        ("(A+ ; B) FILTER LAST(A), B[LAST(A).x != B.x]", "A.x <> NEXT(B).x"),
        ("PROJECT[X, B]((A AS X ; B+) FILTER X, B[X.x < B.x])", "X.x < B.x"),
    ],
)
def test_filters_of_two_variables(formula: str, where: str) -> None:
    query = to_query(parse(formula), formula, "COUNT(*)")
    assert query_text(query).splitlines()[-1] == f"WHERE {where}"


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("(A ; B+) FILTER LAST(A), B[LAST(A).x = B.x]", "The last 'A' before a 'B' need not be"),
        ("(A ; B) FILTER A, B[A.type < B.type]", "Trend queries do not compare these"),
        ("((B ; A) FILTER LAST(A), B[LAST(A).x = B.x])+", "Trend queries do not compare these"),
        (
            "(A AS X AS a ; B AS X AS b ; C) FILTER X, C[X.x = C.x]",
            "Trend queries do not compare these",
        ),
        ("(A+ ; B+) FILTER A, B[A.x = B.x]", "Neither 'A' nor 'B' occurs exactly once"),
    ],
)
def test_filters_that_trend_queries_do_not_have(formula: str, message: str) -> None:
    rows = [{"type": "A", "time": 0, "x": 1}]
    with pytest.raises(QueryMeaningError) as caught:
        tl.aggregate_matches(formula, "COUNT(*)", rows, time="time")
    assert caught.value.cause.startswith(message)
    assert caught.value.remedy


def test_the_query_that_is_run() -> None:
    text = "PROJECT[X, Y](((A AS X)+ FILTER X[increasing(x)] ; B AS Y) FILTER Y[x > 1])"
    query = to_query(parse(text), text, "COUNT(*), SUM(X.x)", partition_by=["k"])
    assert query_text(query).splitlines() == [
        "RETURN k, COUNT(*), SUM(X.x)",
        "PATTERN SEQ(A X+, B Y)",
        "WHERE X.x < NEXT(X).x AND Y.x > 1",
        "GROUP-BY k",
    ]


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("PROJECT[A](A ; B)", "PROJECT leaves no variable to 'B'"),
        ("A ; B : C", "';' and ':' are mixed"),
        ("A ; A", "Two different events are both held by 'A' only"),
        ("(A AS X) ; (X AS A)", "The same variables hold 'X' and another event"),
        ("NEXT(A)", "Next has no counterpart"),
        ("AGG[Y(n = COUNT(A.x))](A)", "Aggregation has no counterpart"),
        ("(A ; B) AS X FILTER X[same(x)]", "This speaks of events that need not follow"),
        ("((A+ FILTER A[increasing(x)])+)", "Several events of 'A' follow one another elsewhere"),
    ],
)
def test_what_trends_cannot_say(formula: str, message: str) -> None:
    with pytest.raises(QueryMeaningError) as caught:
        to_query(parse(formula), formula, "COUNT(*)")
    assert caught.value.cause.startswith(message)
    assert caught.value.remedy


def test_a_window_needs_a_slide() -> None:
    with pytest.raises(QueryMeaningError, match="A window without a slide"):
        tl.aggregate_matches("A+", "COUNT(*)", [], time="time", within="3 s")


def test_simultaneous_events_are_refused() -> None:
    rows = [
        {"type": word, "time": time, "k": k, "n": n}
        for n, (word, time, k) in enumerate((("A", 1, "u"), ("A", 2, "u"), ("B", 2, "v")))
    ]
    more = [*rows, {"type": "B", "time": 2, "k": "u", "n": 9}, {"type": "C", "time": 1, "k": "u"}]

    def counted(events: list[dict[str, Any]], **options: Any) -> int:
        made = tl.aggregate_matches("A ; B", "COUNT(*) AS n", events, time="time", **options)
        return sum(row["n"] for row in made.rows())

    assert counted(rows, partition_by=["k"]) == 0
    with pytest.raises(InputError, match="Two events of one partition have the same time: 2"):
        counted(more, partition_by=["k"])
    with pytest.raises(InputError, match="the same time: 2"):
        counted(rows)
    assert counted(more[:4], tiebreak="n", partition_by=["k"]) == 2
    found = tl.matches("A ; B", more[:4], time="time", tiebreak="n", partition_by=["k"]).rows()
    assert len(found) == 2


def test_moments_are_counted_as_they_are_found() -> None:
    days = [date(2024, 1, 31), date(2024, 2, 1), None, date(2024, 1, 30), date(2024, 2, 2)]
    rows = [{"type": "A", "time": time, "d": day} for time, day in enumerate(days)]
    formula = "A+ FILTER A[increasing(d)] FILTER A[d > DATE '2024-01-30']"
    found = tl.matches(formula, rows, time="time").rows()
    (counted,) = tl.aggregate_matches(
        formula, "COUNT(*) AS n, MAX(A.d) AS d", rows, time="time"
    ).rows()
    assert (counted["n"], counted["d"]) == (len(found), date(2024, 2, 2)) == (7, date(2024, 2, 2))
