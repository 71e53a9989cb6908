"""Queries of the trend language as formulas: their complex events are the oracle's trends."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings

import trendloom as tl
from trendloom.acel import to_text
from trendloom.acel.from_trends import as_text, translate
from trendloom.errors import LimitError, QueryMeaningError
from trendloom.language import parse
from trendloom.language.nodes import CountWindow, Semantics, TimeWindow
from trendloom.testing.listings import ListingCase, listings


def amounts(window: TimeWindow | CountWindow | None) -> dict[str, str]:
    match window:
        case CountWindow(within=within, slide=slide):
            return {"within": f"{within} events", "slide": f"{slide} events"}
        case TimeWindow(within=within, slide=slide) if slide is not None:
            # In these tests all of them are seconds.
            return {"within": f"{within.amount} s", "slide": f"{slide.amount} s"}
    return {}


def has_ties(case: ListingCase) -> bool:
    times = [event["time"] for event in case.events]
    return len(set(times)) < len(times)


@given(listings(complete=False, semantics=tuple(Semantics), allow_negation=False))
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
)
def test_a_complex_event_for_every_trend(case: ListingCase) -> None:
    assume(case.events and not has_ties(case))
    try:
        made = translate(case.query)
    except (QueryMeaningError, LimitError) as error:
        assert error.remedy  # noqa: PT017
        return
    found = tl.matches(
        to_text(made.formula),
        case.events,
        time="time",
        partition_by=made.partition_by,
        **amounts(made.window),
    ).rows()
    names = sorted(made.partition_by)
    shown = sorted((elements(row, made.variables, names) for row in found), key=repr)
    assert shown == case.expected


def elements(row: dict[str, Any], variables: tuple[str, ...], names: list[str]) -> Any:
    pairs = sorted((event, variable) for variable in variables for event in row[variable])
    keys = [(name, row[name]) for name in names]
    return (row["window_start"], row["window_end"], *keys, tuple(pairs))


@pytest.mark.parametrize(
    ("query", "formula"),
    [
        ("PATTERN SEQ(A, B+, C?)", "PROJECT[A, B, C](A ; B+ ; C OR A ; B+)"),
        ("PATTERN A+ SEMANTICS contiguous", "PROJECT[A](A:+)"),
        ("PATTERN A X{2,3}", "PROJECT[X](A AS X ; (A AS X ; A AS X OR A AS X))"),
        (
            "PATTERN SEQ(A, B) SEMANTICS skip-till-next-match",
            "PROJECT[A, B](A : NEXT(B))",
        ),
        (
            "PATTERN S+ WHERE S.p < NEXT(S).p AND S.v IN (1, 2)",
            "PROJECT[S](S FILTER S[v = 1 OR v = 2]+ FILTER S[increasing(p)])",
        ),
        (
            "PATTERN SEQ(A, B) WHERE A.x * 2 < B.x",
            "PROJECT[A, B](AGG[pair0(n_A = COUNT(A.type), n_B = COUNT(B.type), "
            "A_x = MAX(A.x), B_x = MAX(B.x))](A ; B) "
            "FILTER pair0[A_x * 2 < B_x OR n_A = 0 OR n_B = 0])",
        ),
        (
            "PATTERN SEQ(A, B+) WHERE B.x > A.x * 2",
            "PROJECT[A, B](AGG[pair0(n = COUNT(B.type), least = MIN(B.x), A_x = MAX(A.x))]"
            "((A ; B+) FILTER B[x IS NOT NULL]) FILTER pair0[A_x * 2 < least OR n = 0])",
        ),
        (
            "PATTERN A+ WHERE LENGTH(*) >= 3",
            'PROJECT[A](AGG[length(n = COUNT("every event".type))]('
            'PROJECT[A](A+) AS "every event") FILTER length[n >= 3])',
        ),
    ],
)
def test_translations(query: str, formula: str) -> None:
    assert to_text(translate(parse(query)).formula) == formula


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("PATTERN SEQ(A, NOT C, B)", "NOT asks that something did not happen"),
        ("RETURN COUNT(*) PATTERN A AND B", "AND asks for pairs of trends"),
        ("PATTERN A+ SEMANTICS skip-till-next-match", "skip-till-next-match goes to the next"),
        ("PATTERN SEQ(A+, B) WHERE A.x < NEXT(B).x", "This compares two events of which one may"),
        ("PATTERN (SEQ(A+, B?))+ WHERE A.x < NEXT(A).x", "This compares two events of which one"),
        (
            "PATTERN SEQ(A, B+) WHERE A.x < B.x * 2",
            "This compares two events of which one may come",
        ),
        ("PATTERN SEQ(A, B+) WHERE A.x != B.x", "This compares two events of which one may come"),
        ("PATTERN A WHERE A.k LIKE 'a%'", "The logic has no words for"),
        ("RETURN COUNT(*) PATTERN A GROUP-BY A.x", "GROUP-BY A.x groups trends by one of"),
    ],
)
def test_what_the_logic_cannot_say(query: str, message: str) -> None:
    with pytest.raises(QueryMeaningError) as caught:
        translate(parse(query))
    assert caught.value.cause.startswith(message)
    assert caught.value.remedy


def test_the_text_of_a_query() -> None:
    query = """RETURN company, COUNT(*), SUM(S.price) PATTERN Stock S+ WHERE [company]
    GROUP-BY company HAVING COUNT(*) > 1 WITHIN 10 min SLIDE 5 min"""
    assert as_text(parse(query)).splitlines() == [
        "-- One complex event for every trend.",
        "-- Partition by company.",
        "-- Window: within 10 minutes, slide 5 minutes.",
        "-- COUNT(*): the number of complex events.",
        "-- SUM(S.price): SUM of price over the events of S in them all.",
        "-- HAVING chooses among the rows that this makes.",
        "PROJECT[S](Stock AS S+)",
    ]
