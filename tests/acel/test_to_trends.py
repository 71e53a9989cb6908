"""Formulas as trend queries: the aggregation engine counts the definition's complex events."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trendloom as tl
from acel.formulas import SCHEMA
from against_oracle import examples
from trendloom.acel import Formula, denote, nodes, parse, stream, to_text
from trendloom.acel import conditions as on
from trendloom.acel.to_trends import to_query
from trendloom.errors import InputError, QueryMeaningError
from trendloom.language import to_text as query_text


@st.composite
def fragment(draw: st.DrawFn, variables: list[str], depth: int, *, contiguous: bool) -> Formula:
    """A formula whose complex events are trends; its leaves take the variables in turn."""
    kind = draw(st.sampled_from(["seq", "+", "or", "ordered", "leaf"])) if depth else "leaf"
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
    return leaf


formulas = st.booleans().flatmap(
    lambda contiguous: fragment([f"v{k}" for k in range(20)], 3, contiguous=contiguous)
)
events = st.lists(
    st.tuples(st.sampled_from("AABC"), st.one_of(st.none(), st.integers(0, 3))),
    min_size=1,
    max_size=7,
)


@given(formulas, events)
@examples(150)
def test_the_engine_counts_complex_events(
    formula: Formula, drawn: list[tuple[str, int | None]]
) -> None:
    rows = [{"type": word, "x": x} for word, x in drawn]
    over = stream(rows, {word: {"x": SCHEMA[word]["x"]} for word in SCHEMA})
    timed = [{**row, "time": time} for time, row in enumerate(rows)]
    try:
        found = tl.aggregate_matches(to_text(formula), "COUNT(*) AS n", timed, time="time").rows()
    except QueryMeaningError as error:
        assert "follow one another elsewhere" in error.cause  # noqa: PT017
        return
    assert sum(row["n"] for row in found) == len(denote(formula, over))


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
