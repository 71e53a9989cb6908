"""Queries of the trend language as formulas: their complex events are the oracle's trends."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import trendloom as tl
from against_oracle import count_found, examples
from trendloom.acel import compile_formula, evaluate, stream, to_text
from trendloom.acel import parse as parse_formula
from trendloom.acel.events import NUMBER, ComplexEvent, Schema
from trendloom.acel.from_trends import Translation, as_text, translate
from trendloom.acel.nodes import walk
from trendloom.errors import LimitError, QueryError, QueryMeaningError
from trendloom.language import parse
from trendloom.language.naming import name_variables
from trendloom.language.nodes import CountWindow, GroupKey, Query, Semantics, TimeWindow, events_of
from trendloom.plan.planner import plan
from trendloom.plan.shape import positive_events
from trendloom.testing import naive, trends
from trendloom.testing.listings import ListingCase, listings
from trendloom.testing.shapes import TYPES
from trendloom.testing.strategies import queries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Row = dict[str, Any]


def amounts(window: TimeWindow | CountWindow | None) -> dict[str, str]:
    match window:
        case CountWindow(within=within, slide=slide):
            return {"within": f"{within} events", "slide": f"{slide} events"}
        case TimeWindow(within=within, slide=slide) if slide is not None:
            # In these tests all of them are seconds.
            return {"within": f"{within.amount} s", "slide": f"{slide.amount} s"}
    return {}


def one_by_one(events: list[Row]) -> list[Row]:
    """The events with times that differ: formulas order all of them."""
    made, last = [], None
    for event in sorted(events, key=lambda event: event["time"]):
        last = event["time"] if last is None else max(event["time"], last + 1)
        made.append({**event, "time": last})
    return made


KNOBS = {"complete": False, "allow_group_by": False, "max_size": 7, "limit": 60}


@examples(100)
@given(
    st.one_of(
        listings(**KNOBS, semantics=tuple(Semantics)),
        listings(**KNOBS, semantics=(Semantics.ANY,), allow_adjacent=False),
        listings(**KNOBS, semantics=(Semantics.NEXT,), allow_adjacent=False, allow_anchored=False),
    ),
)
def test_a_complex_event_for_every_trend(case: ListingCase) -> None:
    try:
        made = translate(case.query, TYPES)
    except LimitError as error:
        assert error.remedy  # noqa: PT017
        return
    events = one_by_one(case.events)
    assume(events)
    assume(sum(1 for _ in walk(made.formula)) < 1000)
    case = ListingCase(case.query, events, None, trends(case.query, events, type="type"))
    found = tl.matches(
        to_text(made.formula),
        case.events,
        time="time",
        partition_by=made.partition_by,
        **amounts(made.window),
    ).rows()
    names = sorted(made.partition_by)
    found = [row for row in found if reaches_edges(made, row, events)]
    shown = sorted((elements(row, made.variables, names) for row in found), key=repr)
    assert shown == case.expected


def reaches_edges(made: Translation, row: dict[str, Any], events: list[Row]) -> bool:
    """Whether a result begins, or ends, where its window does, if a NOT asks for it."""
    rows = [
        number
        for number, event in enumerate(events)
        if all(event[name] == row[name] for name in made.partition_by)
    ]
    if isinstance(made.window, CountWindow):
        rows = rows[row["window_start"] : row["window_end"]]
    elif made.window is not None:
        rows = [k for k in rows if row["window_start"] <= events[k]["time"] < row["window_end"]]
    starts = not made.at_start or row["start"] == rows[0]
    return starts and (not made.at_end or row["end"] == rows[-1])


PIECES = ["A", "A+", "B", "SEQ(A, B?)", "(SEQ(A, C))+", "A OR B", "(A OR B)+", "C{1,2}", "B*"]
GUARDED = ["C", "D", "SEQ(C, D)", "C OR D", "C+", "SEQ(D, B?, C)"]
WHERE = [[], ["A.x > 0"], ["C.x > 0", "D.x > 1"], ["LENGTH(*) >= 2"], ["D.x IS NOT NULL"]]
WHERE += [["ABS(A.x - 1) = 1"], ["COALESCE(C.x, 1) % 2 = 1"]]
WHERE += [["A.x < NEXT(A).x"], ["A.x > NEXT(A).x", "B.x > 0"]]
WHERE += [["(A.x > 0) = (A.x > 1)", "(D.x > 1) = FALSE"], ["(A.x > 0) < (A.x IS NULL)"]]
WHERE += [["COALESCE(A.x > 1, A.x IS NULL)", "(C.x > 0) IS NULL"], ["(A.x = 1) IS NOT TRUE"]]
LETTERS = {word: {"x": NUMBER} for word in TYPES}

OTHERS = str.maketrans("ABC", "BCD")
"""Parts of an AND share some types, and sometimes words."""

piece, guard = st.sampled_from(PIECES), st.sampled_from(GUARDED)
guarded = st.one_of(
    st.builds("SEQ(NOT ({}), {}, {})".format, guard, piece, piece),
    st.builds("SEQ({}, {}, NOT ({}))".format, piece, piece, guard),
    st.builds("(SEQ(NOT ({}), {}))+".format, guard, piece),
    st.builds("SEQ(NOT ({}), {}, NOT ({}))".format, guard, piece, guard),
    st.builds("SEQ({}, NOT ({}), {}) OR {}".format, piece, guard, piece, piece),
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
    min_size=4,
    max_size=7,
)
some_events = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from("AABBBC"), "x": st.sampled_from([None, 0, 0, 1, 1, 2, 2])},
    ),
    min_size=4,
    max_size=7,
)
"""Such as patterns of A and B are likely to match."""


def telling(query: Query, drawn: list[Row], count: Callable[[Query, list[Row]], int]) -> list[Row]:
    """The drawn events, or others of the pattern's own types where these have more trends."""
    dice = random.Random(repr(drawn))
    types = [event.type for event in positive_events(query.pattern)]
    keys = sorted({key for row in drawn for key in row} - {"type"}) or ["x"]
    best, most = drawn, count(query, drawn)
    for _ in range(6 if dice.random() < 0.9 else 0):
        if most >= 5:
            break
        rows = [
            {"type": dice.choice(types), **{key: dice.choice([0, 1, 1, 2]) for key in keys}}
            for _ in range(6)
        ]
        if count(query, rows) > most:
            best, most = rows, count(query, rows)
    return best


def trends_in(query: Query, drawn: list[Row]) -> int:
    return len(trends(query, numbered(drawn), type="type"))


def counted_in(query: Query, drawn: list[Row]) -> int:
    """By the query's own COUNT, `n`: pairs of trends, where there is an AND."""
    return sum(row["n"] for row in naive(query, numbered(drawn), type="type"))


def numbered(drawn: list[Row]) -> list[Row]:
    return [{**row, "time": time} for time, row in enumerate(drawn)]


def asking(pattern: str, conditions: Iterable[str], rest: str) -> Query:
    """The query, with those of the conditions that can be asked of it."""
    query, kept = parse(f"{pattern} {rest}"), list[str]()
    for one in conditions:
        more = parse(f"{pattern} WHERE {' AND '.join([*kept, one])} {rest}")
        try:
            plan(more, listing=not more.returns)
        except QueryMeaningError:
            continue
        query, kept = more, [*kept, one]
    return query


@examples(250)
@given(guarded, st.sampled_from(WHERE), st.sampled_from(list(Semantics)), few_events)
def test_what_must_not_lie_between(
    pattern: str, where: list[str], semantics: Semantics, drawn: list[Row]
) -> None:
    agree(asking(f"PATTERN {pattern}", where, f"SEMANTICS {semantics.value}"), drawn)


LINKS = ["A.x <= NEXT(A).x", "A.x != NEXT(B).x", "B.x + 1 > NEXT(A).x", "A.x < NEXT(A).x"]
LINKS += ["A.x = NEXT(A).x", "A.x != NEXT(A).x", "A.x * 2 - NEXT(B).x / 2 <= 1"]
LINKS += ["NOT (A.x < NEXT(A).x OR NEXT(A).x > 1)", "ABS(A.x - NEXT(A).x) <= 1"]
LINKS += ["A.x = NEXT(C).x OR A.x > 1", "A.x - NEXT(A).x < 1 AND A.x < NEXT(B).x"]
LINKS += ["A.x < NEXT(A).x * NEXT(A).x", "(A.x > 0) = (NEXT(B).x > 0)", "A.x % NEXT(A).x = 0"]
linked = st.one_of(
    st.builds("SEQ({}, {})".format, piece, piece),
    st.builds("(SEQ({}, {}))+".format, piece, piece),
    st.builds("({}){{1,3}}".format, piece),
    piece,
)


@examples(400)
@given(
    st.one_of(linked, linked, guarded),
    st.sampled_from(LINKS),
    st.sampled_from(list(Semantics)),
    st.one_of(few_events, some_events),
)
def test_any_conditions_between_neighbours(
    pattern: str, where: str, semantics: Semantics, drawn: list[Row]
) -> None:
    """One formula takes links from the first event on, another from the second on."""
    query = asking(f"PATTERN {pattern}", [where], f"SEMANTICS {semantics.value}")
    assume(query.where)
    agree(query, drawn)


def agree(query: Query, drawn: list[Row]) -> None:
    """There is a complex event for every trend, and no other."""
    try:
        made = translate(query, TYPES)
    except LimitError:
        return
    assume(sum(1 for _ in walk(made.formula)) < 160)  # larger ones take their time to compile
    compare(made, query, telling(query, drawn, trends_in))


def complex_events(
    made: Translation, drawn: list[Row], schema: Schema = LETTERS
) -> list[ComplexEvent]:
    """Those that are trends: where a NOT reaches to the window's edge, so do they."""
    return [
        one
        for one in evaluate(compile_formula(made.formula, schema), stream(drawn, schema))
        if (not made.at_start or one.start == 0) and (not made.at_end or one.end == len(drawn) - 1)
    ]


def compare(made: Translation, query: Query, drawn: list[Row]) -> None:
    found = [
        sorted((event.time, name) for name in made.variables for event in one[name])
        for one in complex_events(made, drawn)
    ]
    rows = numbered(drawn)
    expected = [sorted(trend.elements) for trend in trends(query, rows, type="type")]
    count_found(len(expected))
    assert sorted(found) == sorted(expected)


@examples(150)
@given(
    st.one_of(guarded, linked),
    st.sampled_from([*Semantics, Semantics.NEXT]),
    st.sampled_from([[], ["A.x < NEXT(A).x"], ["A.x < 2"]]),
    some_events,
)
def test_groups_by_attributes_of_variables(
    pattern: str, semantics: Semantics, where: list[str], drawn: list[Row]
) -> None:
    named = name_variables(parse(f"PATTERN {pattern}"))
    assume("A" in {str(one.variable) for one in positive_events(named.pattern)})
    asked = f"RETURN A.x, COUNT(*) AS n PATTERN {pattern}"
    query = asking(asked, where, f"GROUP-BY A.x SEMANTICS {semantics.value}")
    try:
        made = translate(query, TYPES)
    except LimitError as error:
        assert error.remedy  # noqa: PT017
        return
    assert made.groups == (("A", "x"),)
    assume(sum(1 for _ in walk(made.formula)) < 160)
    drawn = telling(query, drawn, counted_in)
    found = complex_events(made, drawn)
    count_found(len(found))
    counts = Counter(one["A"][0].get("x") if one["A"] else None for one in found)
    rows = numbered(drawn)
    assert counts == {row["A.x"]: row["n"] for row in naive(query, rows, type="type")}


ANCHORED = ["A.x < B.x * 2", "3 - B.x / 2 >= A.x", "A.x * 2 = 2 * B.x", "-B.x < A.x - 1"]
ANCHORED += ["A.x != B.x", "B.x BETWEEN A.x - 1 AND A.x", "(A.x < B.x OR B.x = 0 OR A.x = 2)"]
ANCHORED += ["(B.x - A.x >= 1 AND A.x > 0 OR ROUND(B.x) < 1)", "NOT (A.x = B.x OR B.x IS NULL)"]
ANCHORED += ["A.x - 2 <= B.x * -1", "(1 - B.x) * 2 > A.x"]
ANCHORED += ["ABS(A.x - B.x) < 2", "ABS(B.x - 1) <= COALESCE(A.x, 1)", "COALESCE(B.x, 1) > A.x"]
ANCHORED += ["A.x < B.x * B.x", "(A.x + B.x) % 2 = 0", "(A.x > 0) = (B.x > 1)"]


@examples(250)
@given(
    st.sampled_from(["SEQ(A, B+)", "SEQ(A, C?, B*)", "SEQ(A, (B OR C)+)", "SEQ(A, (SEQ(B, C))+)"]),
    st.sampled_from(ANCHORED),
    st.sampled_from(["", "B.x < NEXT(B).x", "A.x != NEXT(B).x"]),
    st.sampled_from([*Semantics, Semantics.NEXT]),
    some_events,
)
def test_one_event_and_many(
    pattern: str, where: str, beside: str, semantics: Semantics, drawn: list[Row]
) -> None:
    """Under skip-till-next-match all that is left out is compared with the one event, too."""
    conditions = [where, beside] if beside else [where]
    agree(asking(f"PATTERN {pattern}", conditions, f"SEMANTICS {semantics.value}"), drawn)


def test_what_is_left_out_is_compared_with_the_one_before_and_with_the_anchor() -> None:
    where = "A.x < B.x AND A.x != NEXT(B).x SEMANTICS skip-till-next-match"
    drawn = [{"type": "A", "x": 0}, *({"type": "B", "x": x} for x in (1, 2, 0, 2))]
    query = parse(f"PATTERN SEQ(A, B+) WHERE {where}")
    compare(translate(query, TYPES), query, drawn)


def of_parts(query: Query, types: Iterable[str] = ()) -> Translation | None:
    """None if the parts can match the same trend in a way that queries do not count."""
    try:
        return translate(query, types)
    except QueryMeaningError as error:
        assert error.cause.startswith("The sides of AND can match the same trend")  # noqa: PT017
        return None


ALIKE = ["A", "A+", "SEQ(A, B)", "A OR B", "SEQ(A?, B)", "(SEQ(A, B))+", "SEQ(A, B+)", "B+"]
ALIKE += ["SEQ(NOT C, A+)", "SEQ(A, NOT C, B)", "SEQ(B+, NOT C)"]


@examples(150)
@given(
    st.sampled_from(ALIKE),
    st.sampled_from(ALIKE),
    st.sampled_from([[], [], ["A1.x < NEXT(A1).x"], ["A1.x > 0"], ["LENGTH(*) >= 2"], ["[x]"]]),
    st.sampled_from([Semantics.ANY, Semantics.CONTIGUOUS]),
    some_events,
)
def test_two_different_trends_in_no_order(
    one: str, other: str, where: list[str], semantics: Semantics, drawn: list[Row]
) -> None:
    """Parts that the same events can match: pairs are counted once, and none with itself."""
    pattern = f"RETURN COUNT(*) AS n PATTERN ({one}) AND ({other})"
    query = asking(pattern, where, f"SEMANTICS {semantics.value}")
    made = of_parts(query)
    assume(made is not None and made.in_no_order)
    assert made is not None
    assume(sum(1 for _ in walk(made.formula)) < 350)
    assert made.variables == ("first", "second")
    types = {event.type for event in events_of(query.pattern)}
    drawn = telling(query, [row for row in drawn if row["type"] in types][:6], counted_in)
    rows = numbered(drawn)
    expected = sum(row["n"] for row in naive(query, rows, type="type"))
    count_found(expected)
    assert len(complex_events(made, drawn, {word: {"x": NUMBER} for word in types})) == expected


@examples(300)
@given(
    st.tuples(piece, piece.map(lambda text: text.translate(OTHERS))),
    st.booleans(),
    st.sampled_from(["", "", *LINKS]),
    st.sampled_from(["any", "skip-till-next-match", "contiguous"]),
    few_events,
)
def test_a_complex_event_for_every_pair(
    parts: tuple[str, str], grouped: bool, where: str, semantics: str, drawn: list[Row]
) -> None:
    pattern = f"RETURN COUNT(*) AS n PATTERN ({parts[0]}) AND ({parts[1]})"
    query = asking(pattern, [where] if where else [], f"SEMANTICS {semantics}")
    named = {event.variable for event in positive_events(name_variables(query).pattern)}
    if grouped and "A" in named:
        query = replace(query, group_by=(GroupKey("x", "A"),))
    try:
        made = of_parts(query, TYPES)
    except LimitError:
        return
    if made is None:
        return
    assume(sum(1 for _ in walk(made.formula)) < 250)
    drawn = telling(query, drawn[:6], counted_in)
    rows = numbered(drawn)
    found = complex_events(made, drawn)
    expected = naive(query, rows, type="type")
    count_found(len(found))
    groups = Counter(one["A"][0].get("x") if grouped and one["A"] else None for one in found)
    assert sorted(groups.values()) == sorted(row["n"] for row in expected)


FIRST_PARTS = ["A", "A+", "SEQ(A, B)", "SEQ(A, NOT C, B)", "SEQ(NOT C, A)", "SEQ(A, NOT D)"]
FIRST_PARTS += ["(SEQ(A, NOT C, B))+", "SEQ(A+, NOT D, B)", "SEQ(NOT B, A, C?)"]
SECOND_PARTS = ["C X", "B X", "D+", "SEQ(C X, D)", "SEQ(C X, NOT A, D)", "SEQ(NOT A, B X)"]
SECOND_PARTS += ["SEQ(B X, NOT C, C Y)", "SEQ(A X, C Y)", "SEQ(B X, C Y?, NOT B)"]
BETWEEN = ["", "", "A.x < NEXT(A).x", "A.x <= NEXT(A).x", "A.x < NEXT(B).x", "C.x != NEXT(D).x"]


@examples(180)
@given(
    st.sampled_from(FIRST_PARTS),
    st.sampled_from(SECOND_PARTS),
    st.sampled_from(BETWEEN),
    st.sampled_from(list(Semantics)),
    st.sampled_from([False, False, True]),
    st.data(),
)
def test_what_must_not_lie_between_may_be_of_the_other_part(
    first: str, second: str, where: str, semantics: Semantics, apart: bool, data: st.DataObject
) -> None:
    """`apart`: the two trends may be of different partitions."""
    pattern = f"RETURN COUNT(*) AS n PATTERN ({first}) AND ({second})"
    conditions = [one for one in ("[k]" if apart else "", where) if one]
    query = asking(pattern, conditions, f"SEMANTICS {semantics.value}")
    made = of_parts(query)
    if made is None:
        return
    assume(sum(1 for _ in walk(made.formula)) < 350)
    types = dict.fromkeys(one.type for one in events_of(query.pattern))
    event = st.fixed_dictionaries(
        {
            "type": st.sampled_from([*types]),
            "x": st.sampled_from([1, 2]),
            "k": st.sampled_from([1, 1, 2, 2, None]),
        }
    )
    drawn = telling(query, data.draw(st.lists(event, min_size=5, max_size=6)), counted_in)
    rows = numbered(drawn)
    expected = sum(row["n"] for row in naive(query, rows, type="type"))
    count_found(expected)
    schema = {word: {"x": NUMBER, "k": NUMBER} for word in types}
    assert len(complex_events(made, drawn, schema)) == expected


@examples(150)
@given(queries())
def test_every_query_has_a_formula(query: Query) -> None:
    """And what it says is one: it parses back to itself."""
    try:
        made = translate(query, TYPES)
    except LimitError as error:
        assert error.remedy  # noqa: PT017
        return
    assert parse_formula(to_text(made.formula)) == made.formula


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
            "PATTERN SEQ(A, B) WHERE LENGTH(*) <= 1 SEMANTICS skip-till-next-match",
            "PROJECT[A, B](AGG[length(n_A = COUNT(A.type), n_B = COUNT(B.type))](A : NEXT(B)) "
            "FILTER length[n_A + n_B >= 1 AND n_A + n_B <= 1])",
        ),
        (
            "PATTERN S+ WHERE S.p < NEXT(S).p AND S.v IN (1, 2)",
            "PROJECT[S](S FILTER S[v = 1 OR v = 2]+ FILTER S[increasing(p)])",
        ),
        (
            "PATTERN A WHERE NOT UPPER(A.k) LIKE 'U%' AND ROUND(A.x % 3, 1) = ABS(-2)",
            "PROJECT[A](A FILTER A[UPPER(k) NOT LIKE 'U%'] FILTER A[ROUND(x % 3, 1) = ABS(-2)])",
        ),
        (
            "PATTERN A WHERE A.on AND A.off IS NOT TRUE AND COALESCE(A.x, A.y, 1) IN (1, 2)",
            "PROJECT[A](A FILTER A[on = TRUE] FILTER A[NOT (off IS NOT NULL AND off = TRUE)] "
            "FILTER A[COALESCE(x, y, 1) = 1 OR COALESCE(x, y, 1) = 2])",
        ),
        (
            "PATTERN SEQ(A X, NOT B, A Y) WHERE B.k LIKE 'u%'",
            "PROJECT[X, Y]((A AS X : (A OR B FILTER B[k NOT LIKE 'u%' OR k IS NULL]):+ OR A AS X) "
            ": A AS Y)",
        ),
        (
            "RETURN COUNT(*) PATTERN SEQ(A+, B) GROUP-BY A.k",
            "PROJECT[A, B]((A FILTER A[k IS NOT NULL]+ ; B) FILTER A[same(k)])",
        ),
        (
            "PATTERN SEQ(A, B) WHERE A.x * 2 < B.x",
            "PROJECT[A, B]((A ; B) FILTER A, B[A.x * 2 < B.x])",
        ),
        (
            "PATTERN SEQ(A, B+) WHERE B.x * B.y > A.x * 2",
            "PROJECT[A, B]((A ; B+) FILTER A, B[B.x * B.y > A.x * 2])",
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
        (
            "PATTERN SEQ(NOT C, A, B+, NOT D) WHERE D.x > 1 SEMANTICS contiguous",
            "PROJECT[A, B]((PROJECT[skipped]((A OR B OR D) AS skipped):+ : A OR A OR (PROJECT["
            "skipped]((A OR B OR D) AS skipped):+ : A OR A) : B:+) : (B : PROJECT[skipped]((C OR A "
            "OR B OR D FILTER D[NOT x > 1 OR x IS NULL]) AS skipped):+ OR B))",
        ),
        (
            "RETURN COUNT(*) PATTERN A AND SEQ(B, NOT C, D)",
            "PROJECT[A, B, D](PROJECT[A, B, D]((B OR D)+ ; (A ; (B OR D)+ OR A) OR (A ; (B OR D)+ "
            "OR A)) AND PROJECT[A, B, D](((A : (A OR PROJECT[skipped]((A OR B OR C OR D) AS skipped"
            ")):+ OR A) : (B : (PROJECT[skipped]((A OR B OR D) AS skipped) OR A):+ OR B) OR (B : ("
            "PROJECT[skipped]((A OR B OR D) AS skipped) OR A):+ OR B)) : (D : ((A OR PROJECT["
            "skipped]((A OR B OR C OR D) AS skipped)):+ : A OR A) OR D)))",
        ),
        (
            "PATTERN SEQ(A, NOT C, B) WHERE C.x != NULL AND A.x IN (1, NULL)",
            "PROJECT[A, B]((A FILTER A[x = 1 OR x = NULL] : PROJECT[skipped]((A OR C FILTER "
            "C[NOT x != NULL OR x IS NULL OR NULL IS NULL] OR B) AS skipped):+ OR "
            "A FILTER A[x = 1 OR x = NULL]) : B)",
        ),
        ("PATTERN SEQ(A X, NOT C, B) SEMANTICS contiguous", "PROJECT[X, B](A AS X : B)"),
        (
            "PATTERN SEQ(A X+, B) SEMANTICS skip-till-next-match",
            "PROJECT[X, B](A AS X:+ : (A AS X : B) OR A AS X : B)",
        ),
        (
            "PATTERN S+ WHERE S.p < NEXT(S).p SEMANTICS skip-till-next-match",
            "PROJECT[S](((S : PROJECT[failing](S AS failing):+ OR S):+ : S OR S) FILTER LAST(S), "
            "failing[NOT LAST(S).p < failing.p OR LAST(S).p IS NULL OR failing.p IS NULL] "
            "FILTER S[increasing(p)])",
        ),
        (
            "PATTERN SEQ(A+, NOT C, B) WHERE A.x < NEXT(B).x",
            "PROJECT[A, B](((A : PROJECT[skipped]((A OR C OR B) AS skipped):+ OR A):+ : ((A : "
            "PROJECT[skipped]((A OR B) AS skipped):+ OR A) : B) OR (A : PROJECT[skipped]((A OR B) "
            "AS skipped):+ OR A) : B) FILTER LAST(A), B[LAST(A).x < B.x])",
        ),
        (
            "PATTERN SEQ(A, B?) WHERE A.x <= NEXT(B).x SEMANTICS contiguous",
            "PROJECT[A, B]((A : B OR A) FILTER A, B[A.x <= B.x])",
        ),
        (
            "PATTERN A+ WHERE A.x <= NEXT(A).x",
            "PROJECT[A](A+ FILTER LAST(A), A[LAST(A).x <= A.x])",
        ),
        (
            "PATTERN SEQ(A, B+) WHERE A.x = NEXT(B).x",
            "PROJECT[A, B]((A ; B AS B_after_A OR A ; B AS B_after_A ; (B OR B+ ; B)) "
            "FILTER LAST(A), B_after_A[LAST(A).x = B_after_A.x])",
        ),
        (
            "RETURN COUNT(*) PATTERN SEQ(A, B) AND C SEMANTICS contiguous",
            "PROJECT[A, B, C](C ; A : B OR A : B ; C OR (A : B : C OR C : A : B))",
        ),
        (
            "RETURN COUNT(*) PATTERN SEQ(A, B) AND C",
            "PROJECT[A, B, C](A ; (B ; C) OR (C ; A OR A ; C) ; B)",
        ),
        (
            "PATTERN A WHERE A.day + 1 > DATE '2024-1-31' AND A.day - A.first = 1",
            "PROJECT[A](A FILTER A[day + 1 > DATE '2024-01-31'] FILTER A[day - first = 1])",
        ),
        (
            "PATTERN A WHERE A.t BETWEEN TIMESTAMP '2024-01-31' AND TIMESTAMP '2024-01-31 12:00'",
            "PROJECT[A](A FILTER A[t >= DATE '2024-01-31' "
            "AND t <= TIMESTAMP '2024-01-31 12:00:00'])",
        ),
    ],
)
def test_translations(query: str, formula: str) -> None:
    assert to_text(translate(parse(query)).formula) == formula


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "RETURN COUNT(*) PATTERN A+ AND A+ SEMANTICS skip-till-next-match",
            "The sides of AND can match the same trend",
        ),
        (
            "RETURN COUNT(*) PATTERN A+ AND C WHERE A.x < NEXT(C).x",
            "The condition compares events of different sides of AND",
        ),
        ("PATTERN A AND B", "The results of AND are pairs of trends, which are only counted"),
        ("PATTERN SEQ(A+, B+) WHERE A.x < B.x", "Neither 'A' nor 'B' occurs exactly once"),
        ("PATTERN A WHERE ABS(A.x > 1) = 1", "The logic has no words for"),
        ("PATTERN A WHERE A.day * 2 > DATE '2024-01-31'", "A number is compared with a moment"),
        ("RETURN COUNT(*) PATTERN A GROUP-BY Q.x", "Unknown variable 'Q' in GROUP-BY"),
    ],
)
def test_what_is_no_query(query: str, message: str) -> None:
    with pytest.raises(QueryMeaningError) as caught:
        translate(parse(query))
    assert caught.value.cause.startswith(message)
    assert caught.value.remedy


@pytest.mark.parametrize(
    "query",
    [
        "PATTERN (SEQ(A?, B?, C?, D?, E?))+ WHERE A.x <= NEXT(B).x AND B.x < NEXT(A).x",
        f"RETURN COUNT(*) PATTERN SEQ(A, NOT C, B) AND SEQ({', '.join(['D'] * 6)})",
    ],
)
def test_formulas_too_large_to_write(query: str) -> None:
    with pytest.raises(LimitError) as caught:
        translate(parse(query))
    assert caught.value.remedy


def test_the_text_of_a_query() -> None:
    query = """RETURN company, COUNT(*), SUM(S.price) PATTERN Stock S+ WHERE [company]
    GROUP-BY company, S.sector HAVING COUNT(*) > 1 WITHIN 10 min SLIDE 5 min"""
    assert as_text(parse(query)).splitlines() == [
        "-- One complex event for every trend.",
        "-- Partition by company.",
        "-- Group by sector of S.",
        "-- Window: within 10 minutes, slide 5 minutes.",
        "-- COUNT(*): the number of complex events.",
        "-- SUM(S.price): SUM of price over the events of S in them all.",
        "-- HAVING chooses among the rows that this makes.",
        "PROJECT[S](Stock AS S FILTER S[sector IS NOT NULL]+ FILTER S[same(sector)])",
    ]


def test_the_text_of_trends_in_no_order() -> None:
    told, _, formula = as_text(parse("RETURN COUNT(*) PATTERN A AND A")).splitlines()
    assert (
        told
        == "-- One complex event for every two different trends, one of each part, in no order."
    )
    assert formula.startswith("PROJECT[first, second](")


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("SEQ(NOT C, A)", "begin with the window's first event"),
        ("SEQ(A, NOT C)", "end with the window's last event"),
        (
            "SEQ(A?, NOT C, B, NOT C)",
            "begin with the window's first event and end with the window's last event",
        ),
    ],
)
def test_a_guard_at_an_end_is_told(pattern: str, told: str) -> None:
    assert f"-- Only complex events that {told}.\n" in as_text(parse(f"PATTERN {pattern}"))


@pytest.mark.parametrize("pattern", ["NOT A", "(NOT A)+", "SEQ(NOT A, NOT B)", "A AND NOT B"])
def test_patterns_of_guards_alone_are_refused_as_queries_are(pattern: str) -> None:
    with pytest.raises(QueryError, match="NOT stands only between the parts of a SEQ"):
        translate(parse(f"RETURN COUNT(*) PATTERN {pattern}"))
