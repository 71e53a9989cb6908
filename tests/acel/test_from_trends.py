"""Queries of the trend language as formulas: their complex events are the oracle's trends."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

import trendloom as tl
from trendloom.acel import compile_formula, evaluate, stream, to_text
from trendloom.acel.events import NUMBER
from trendloom.acel.from_trends import as_text, translate
from trendloom.acel.nodes import walk
from trendloom.errors import LimitError, QueryMeaningError
from trendloom.language import parse
from trendloom.language.naming import name_variables
from trendloom.language.nodes import CountWindow, Query, Semantics, TimeWindow, events_of
from trendloom.testing import naive, trends
from trendloom.testing.listings import ListingCase, listings
from trendloom.testing.shapes import TYPES


def amounts(window: TimeWindow | CountWindow | None) -> dict[str, str]:
    match window:
        case CountWindow(within=within, slide=slide):
            return {"within": f"{within} events", "slide": f"{slide} events"}
        case TimeWindow(within=within, slide=slide) if slide is not None:
            # In these tests all of them are seconds.
            return {"within": f"{within.amount} s", "slide": f"{slide.amount} s"}
    return {}


def one_by_one(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events with times that differ: formulas order all of them."""
    made, last = [], None
    for event in sorted(events, key=lambda event: event["time"]):
        last = event["time"] if last is None else max(event["time"], last + 1)
        made.append({**event, "time": last})
    return made


def many(examples: int) -> Any:
    return settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )


KNOBS = {"complete": False, "allow_group_by": False, "max_size": 7, "limit": 60}


@given(
    st.one_of(
        listings(**KNOBS, semantics=tuple(Semantics)),
        listings(**KNOBS, semantics=(Semantics.ANY,), allow_adjacent=False),
        listings(**KNOBS, semantics=(Semantics.NEXT,), allow_adjacent=False, allow_anchored=False),
    ),
)
@many(100)
def test_a_complex_event_for_every_trend(case: ListingCase) -> None:
    try:
        made = translate(case.query, TYPES)
    except (QueryMeaningError, LimitError) as error:
        assert error.remedy  # noqa: PT017
        return
    events = one_by_one(case.events)
    assume(events)
    case = ListingCase(case.query, events, None, trends(case.query, events, type="type"))
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


PIECES = ["A", "A+", "B", "SEQ(A, B?)", "(SEQ(A, C))+", "A OR B", "(A OR B)+", "C{1,2}", "B*"]
GUARDED = ["C", "D", "SEQ(C, D)", "C OR D", "C+", "SEQ(D, B?, C)"]
WHERE = ["", "A.x > 0", "C.x > 0 AND D.x > 1", "LENGTH(*) >= 2", "D.x IS NOT NULL"]
WHERE += ["A.x < NEXT(A).x", "A.x > NEXT(A).x AND B.x > 0"]
LETTERS = {word: {"x": NUMBER} for word in TYPES}

OTHERS = str.maketrans("ABC", "BCD")
"""Parts of an AND share some types, and sometimes words."""

piece, guard = st.sampled_from(PIECES), st.sampled_from(GUARDED)
guarded = st.one_of(
    st.builds("SEQ({}, NOT ({}), {})".format, piece, guard, piece),
    st.builds("SEQ({}, NOT ({}), {}, NOT ({}), {})".format, piece, guard, piece, guard, piece),
    st.builds("(SEQ({}, NOT ({}), {}))+".format, piece, guard, piece),
    st.builds("SEQ({}, {})".format, piece, piece),
    piece,
)
few_events = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(TYPES), "x": st.sampled_from([None, 0, 1, 2])},
    ),
    max_size=7,
)


@given(guarded, st.sampled_from(WHERE), st.sampled_from(list(Semantics)), few_events)
@many(250)
def test_what_must_not_lie_between(
    pattern: str, where: str, semantics: Semantics, drawn: list[dict[str, Any]]
) -> None:
    query = parse(f"PATTERN {pattern} SEMANTICS {semantics.value}")
    names = {str(event.variable) for event in events_of(name_variables(query).pattern)}
    kept = [part for part in where.split(" AND ") if part[0:1] in names or part.startswith("LEN")]
    if kept:
        query = parse(f"PATTERN {pattern} WHERE {' AND '.join(kept)} SEMANTICS {semantics.value}")
    try:
        agree(query, drawn)
    except QueryMeaningError as error:
        assert error.remedy  # noqa: PT017


LINKS = ["A.x <= NEXT(A).x", "A.x != NEXT(B).x", "B.x + 1 > NEXT(A).x", "A.x < NEXT(A).x"]
LINKS += ["A.x = NEXT(C).x OR A.x > 1", "A.x - NEXT(A).x < 1 AND A.x < NEXT(B).x"]
linked = st.one_of(
    st.builds("SEQ({}, {})".format, piece, piece),
    st.builds("(SEQ({}, {}))+".format, piece, piece),
    st.builds("({}){{1,3}}".format, piece),
    piece,
)


@given(linked, st.sampled_from(LINKS), st.booleans(), few_events)
@many(250)
def test_any_conditions_between_neighbours(
    pattern: str, where: str, gaps: bool, drawn: list[dict[str, Any]]
) -> None:
    """One formula takes links from the first event on, another from the second on."""
    names = {
        str(one.variable) for one in events_of(name_variables(parse(f"PATTERN {pattern}")).pattern)
    }
    assume(set("ABC") & set(where) <= names)
    semantics = "any" if gaps else "contiguous"
    query = parse(f"PATTERN {pattern} WHERE {where} SEMANTICS {semantics}")
    agree(query, drawn)


def agree(query: Query, drawn: list[dict[str, Any]]) -> None:
    """There is a complex event for every trend, and no other."""
    try:
        made = translate(query, TYPES)
    except LimitError:
        return
    assume(sum(1 for _ in walk(made.formula)) < 160)  # larger ones take their time to compile
    over = stream(drawn, LETTERS)
    found = [
        sorted((event.time, name) for name in made.variables for event in one[name])
        for one in evaluate(compile_formula(made.formula, LETTERS), over)
    ]
    rows = [{**row, "time": time} for time, row in enumerate(drawn)]
    expected = [sorted(trend.elements) for trend in trends(query, rows, type="type")]
    assert sorted(found) == sorted(expected)


ANCHORED = ["A.x < B.x * 2", "3 - B.x / 2 >= A.x", "A.x * 2 = 2 * B.x", "-B.x < A.x - 1"]
ANCHORED += ["A.x - 2 <= B.x * -1", "(1 - B.x) * 2 > A.x"]


@given(
    st.sampled_from(["SEQ(A, B+)", "SEQ(A, C?, B*)", "SEQ(A, (B OR C)+)", "SEQ(A, (SEQ(B, C))+)"]),
    st.sampled_from(ANCHORED),
    few_events,
)
@many(100)
def test_one_event_and_the_least_of_many(
    pattern: str, where: str, drawn: list[dict[str, Any]]
) -> None:
    agree(parse(f"PATTERN {pattern} WHERE {where}"), drawn)


@given(st.tuples(piece, piece.map(lambda text: text.translate(OTHERS))), few_events)
@many(150)
def test_a_complex_event_for_every_pair(
    parts: tuple[str, str], drawn: list[dict[str, Any]]
) -> None:
    query = parse(f"RETURN COUNT(*) AS n PATTERN ({parts[0]}) AND ({parts[1]})")
    try:
        made = translate(query)
    except (QueryMeaningError, LimitError) as error:
        assert error.remedy  # noqa: PT017
        return
    over = stream(drawn[:6], LETTERS)
    rows = [{**row, "time": time} for time, row in enumerate(drawn[:6])]
    found = evaluate(compile_formula(made.formula, LETTERS), over)
    expected = naive(query, rows, type="type")
    assert len(found) == (expected[0]["n"] if expected else 0)


def elements(row: dict[str, Any], variables: tuple[str, ...], names: list[str]) -> Any:
    pairs = sorted((event, variable) for variable in variables for event in row[variable])
    keys = [(name, row[name]) for name in names]
    return (row["window_start"], row["window_end"], *keys, tuple(pairs))


LINK = (
    "PROJECT[A](AGG[link(own_x = MAX(own.x), following_x = MAX(following.x))]"
    "(A AS own ; A AS following) FILTER link[own_x <= following_x])"
)


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
            "PATTERN SEQ(A, B+) WHERE 3 - B.x / 2 >= A.x",
            "PROJECT[A, B](AGG[pair0(n = COUNT(B.type), least = MAX(B.x), A_x = MAX(A.x))]"
            "((A ; B+) FILTER B[x IS NOT NULL]) FILTER pair0[A_x <= 3 - least / 2 OR n = 0])",
        ),
        (
            "PATTERN A+ WHERE LENGTH(*) >= 3",
            "PROJECT[A](AGG[length(n_A = COUNT(A.type))](A+) FILTER length[n_A >= 3])",
        ),
        (
            "PATTERN SEQ(A, NOT C, B) WHERE C.x > 1",
            "PROJECT[A, B]((A : PROJECT[skipped]((A OR C FILTER C[NOT x > 1 OR x IS NULL] OR B) "
            "AS skipped):+ OR A) : B)",
        ),
        ("PATTERN SEQ(A X, NOT C, B) SEMANTICS contiguous", "PROJECT[X, B](A AS X : B)"),
        (
            "PATTERN SEQ(A X+, B) SEMANTICS skip-till-next-match",
            "PROJECT[X, B](A AS X:+ : (A AS X : B) OR A AS X : B)",
        ),
        (
            "PATTERN S+ WHERE S.p < NEXT(S).p SEMANTICS skip-till-next-match",
            'PROJECT[S](((S OR PROJECT[S](AGG["left out"(own = MAX(S.p), best = MAX(failing.p))]'
            '(S : PROJECT[failing](S AS failing):+) FILTER "left out"[best <= own OR best IS NULL '
            "OR own IS NULL])):+ : S OR S) FILTER S[increasing(p)])",
        ),
        (
            "PATTERN SEQ(A, B?) WHERE A.x <= NEXT(B).x SEMANTICS contiguous",
            "PROJECT[A, B](AGG[pair0(n_A = COUNT(A.type), n_B = COUNT(B.type), A_x = MAX(A.x), "
            "B_x = MAX(B.x))](A : B OR A) FILTER pair0[A_x <= B_x OR n_A = 0 OR n_B = 0])",
        ),
        (
            "PATTERN A+ WHERE A.x <= NEXT(A).x",
            f"PROJECT[A](PROJECT[A](A OR ({LINK} ; (A OR ({LINK}+ ; A OR {LINK}+)) OR {LINK})) "
            f"AND PROJECT[A]((A OR A ; {LINK}+) ; A OR (A OR A ; {LINK}+)))",
        ),
        (
            "RETURN COUNT(*) PATTERN SEQ(A, B) AND C",
            "PROJECT[A, B, C](A ; (B ; C) OR (C ; A OR A ; C) ; B)",
        ),
    ],
)
def test_translations(query: str, formula: str) -> None:
    assert to_text(translate(parse(query)).formula) == formula


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("PATTERN SEQ(NOT C, A, B)", "This NOT looks at what happens before the first event"),
        ("PATTERN SEQ(A, B?, NOT C)", "This NOT looks at what happens after the last event"),
        ("RETURN COUNT(*) PATTERN A AND A+", "The same events can be a trend of both parts"),
        ("RETURN COUNT(*) PATTERN A AND SEQ(B, NOT C, B)", "NOT in a part of AND says what does"),
        ("RETURN COUNT(*) PATTERN A AND B SEMANTICS contiguous", "AND under contiguous says what"),
        ("RETURN COUNT(*) PATTERN A AND B WHERE [k]", "The trends of a pair may be of different"),
        (
            "PATTERN S+ WHERE S.p = NEXT(S).p SEMANTICS skip-till-next-match",
            "Which event is next depends on this comparison",
        ),
        (
            "PATTERN SEQ(A+, NOT C, B) WHERE A.x < NEXT(B).x",
            "This compares two events of which one may",
        ),
        (
            "RETURN COUNT(*) PATTERN SEQ(A+, B) AND C WHERE A.x < NEXT(B).x",
            "This compares two events of which one",
        ),
        (
            "PATTERN SEQ(A, B+) WHERE A.x < B.x * B.x",
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
