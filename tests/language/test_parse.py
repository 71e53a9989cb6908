"""What each spelling means, shown by the canonical form that the printer gives it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from trendloom.language import (
    Aggregate,
    Both,
    Condition,
    CountWindow,
    Duration,
    Either,
    Equivalence,
    Event,
    Function,
    GroupKey,
    Item,
    Length,
    Not,
    Occurrences,
    Pattern,
    Query,
    Repeat,
    Semantics,
    Sequence,
    TimeWindow,
    Trends,
    Unit,
    Values,
    parse,
    to_text,
)

A, B, C = Event("A"), Event("B"), Event("C")


@pytest.mark.parametrize(
    ("pattern", "tree"),
    [
        ("Stock", Event("Stock")),
        ("Stock S", Event("Stock", "S")),
        ("Stock S+", Repeat(Event("Stock", "S"), 1, None)),
        ("Stock+ S", Repeat(Event("Stock", "S"), 1, None)),
        ("Stock+ S[]", Repeat(Event("Stock", "S"), 1, None)),
        ("Stock+ S[ ]", Repeat(Event("Stock", "S"), 1, None)),
        ("Stock S[]+", Repeat(Event("Stock", "S"), 1, None)),
        ("A*", Repeat(A, 0, None)),
        ("A?", Repeat(A, 0, 1)),
        ("A{2}", Repeat(A, 2, 2)),
        ("A{2,}", Repeat(A, 2, None)),
        ("A{2,3}", Repeat(A, 2, 3)),
        ("A{0,3}", Repeat(A, 0, 3)),
        ("A{2}+ X?", Repeat(Repeat(Repeat(Event("A", "X"), 2, 2), 1, None), 0, 1)),
        ("SEQ(A, B)", Sequence((A, B))),
        ("seq(A)", Sequence((A,))),
        ("A, B", Sequence((A, B))),
        ("<SEQ(A, B)>", Sequence((A, B))),
        ("(A, B)+", Repeat(Sequence((A, B)), 1, None)),
        ("(SEQ(A+, B))+", Repeat(Sequence((Repeat(A, 1, None), B)), 1, None)),
        ("SEQ(A, B)+", Repeat(Sequence((A, B)), 1, None)),
        ("((A))", A),
        ("A OR B OR C", Either((A, B, C))),
        ("A | B", Either((A, B))),
        ("(A OR B) OR C", Either((Either((A, B)), C))),
        ("A AND B", Both((A, B))),
        ("A & B & C", Both((A, B, C))),
        ("A OR B AND NOT C+", Either((A, Both((B, Not(Repeat(C, 1, None))))))),
        ("SEQ(A, !C, B)", Sequence((A, Not(C), B))),
        ("SEQ(A, (NOT C), B)", Sequence((A, Not(C), B))),
        ("SEQ(A, NOT (B OR C), B)", Sequence((A, Not(Either((B, C))), B))),
        ("SEQ(A OR B, C)", Sequence((Either((A, B)), C))),
        ('"my type" "a ""b"""', Event("my type", 'a "b"')),
        ('"WHERE" "SEQ"', Event("WHERE", "SEQ")),
        ("Größe g", Event("Größe", "g")),
    ],
)
def test_a_pattern_and_its_tree(pattern: str, tree: object) -> None:
    query = parse(f"PATTERN {pattern}")

    assert query.pattern == tree
    assert parse(to_text(query)).pattern == tree


@pytest.mark.parametrize(
    ("item", "value"),
    [
        ("COUNT(*)", Aggregate(Function.COUNT, Trends())),
        ("count ( * )", Aggregate(Function.COUNT, Trends())),
        ("COUNT(V)", Aggregate(Function.COUNT, Occurrences("V"))),
        ("COUNT(V.a)", Aggregate(Function.COUNT, Values("V", "a"))),
        ("COUNT(DISTINCT V)", Aggregate(Function.COUNT, Occurrences("V"), distinct=True)),
        ("SUM(DISTINCT V.a)", Aggregate(Function.SUM, Values("V", "a"), distinct=True)),
        ("SUM(V.a)", Aggregate(Function.SUM, Values("V", "a"))),
        ("SUM(V[].a)", Aggregate(Function.SUM, Values("V", "a"))),
        ("avg(V[ ].a)", Aggregate(Function.AVG, Values("V", "a"))),
        ("VARIANCE(V.a)", Aggregate(Function.VARIANCE, Values("V", "a"))),
        ("STDDEV(V.a)", Aggregate(Function.STDDEV, Values("V", "a"))),
        ("MIN(LENGTH(*))", Aggregate(Function.MIN, Length())),
        ("LOG2(COUNT(*))", Aggregate(Function.COUNT, Trends(), log2=True)),
        ("LOG2(COUNT(V))", Aggregate(Function.COUNT, Occurrences("V"), log2=True)),
        ("sector", GroupKey("sector")),
        ("T.district", GroupKey("district", "T")),
        ('"T".within', GroupKey("within", "T")),
    ],
)
def test_a_return_item_keeps_its_text(item: str, value: object) -> None:
    query = parse(f'RETURN {item} , {item} AS "the alias" PATTERN V')

    plain, named = query.returns
    assert (plain.value, plain.alias, plain.text, plain.name) == (value, None, item, item)
    assert (named.value, named.alias, named.name) == (value, "the alias", "the alias")


@pytest.mark.parametrize(
    ("clause", "value"),
    [
        ("AGG COUNT", Aggregate(Function.COUNT, Trends())),
        ("AGG <COUNT>", Aggregate(Function.COUNT, Trends())),
        ("[AGG COUNT]", Aggregate(Function.COUNT, Trends())),
        ("[agg count(*)]", Aggregate(Function.COUNT, Trends())),
        ("AGG SUM(V.a)", Aggregate(Function.SUM, Values("V", "a"))),
    ],
)
def test_agg_is_return(clause: str, value: object) -> None:
    assert [item.value for item in parse(f"PATTERN V {clause}").returns] == [value]


def test_a_bare_agg_count_is_named_like_count_of_everything() -> None:
    assert parse("PATTERN V AGG count").returns[0].name == "COUNT(*)"


@pytest.mark.parametrize(
    ("word", "semantics"),
    [
        ("skip-till-any-match", Semantics.ANY),
        ("any", Semantics.ANY),
        ("Skip-Till-Next-Match", Semantics.NEXT),
        ("next", Semantics.NEXT),
        ("contiguous", Semantics.CONTIGUOUS),
        ("CONT", Semantics.CONTIGUOUS),
    ],
)
def test_semantics(word: str, semantics: Semantics) -> None:
    assert parse(f"PATTERN A SEMANTICS {word}").semantics is semantics


@pytest.mark.parametrize(
    ("clause", "within", "slide"),
    [
        ("WITHIN 10 minutes SLIDE 10 seconds", (10, Unit.MINUTE), (10, Unit.SECOND)),
        ("within 500 ms", (500, Unit.MILLISECOND), None),
        ("WITHIN 10s", (10, Unit.SECOND), None),
        ("[WITHIN 10s]", (10, Unit.SECOND), None),
        ("WITHIN 1hour", (1, Unit.HOUR), None),
        ("WITHIN 1 min SLIDE 1min", (1, Unit.MINUTE), (1, Unit.MINUTE)),
        ("WITHIN 2 hours", (2, Unit.HOUR), None),
        ("WITHIN 1 DAY", (1, Unit.DAY), None),
        ("WITHIN 2 weeks", (2, Unit.WEEK), None),
        ("WITHIN 1.5 hours", (Fraction(3, 2), Unit.HOUR), None),
        ("WITHIN .25 s", (Fraction(1, 4), Unit.SECOND), None),
        ("WITHIN 7 us SLIDE 5 ns", (7, Unit.MICROSECOND), (5, Unit.NANOSECOND)),
        ("WITHIN 7 µs", (7, Unit.MICROSECOND), None),
        ("WITHIN 10 s EMIT ON CHANGE", (10, Unit.SECOND), None),
    ],
)
def test_time_windows(
    clause: str, within: tuple[Fraction, Unit], slide: tuple[Fraction, Unit] | None
) -> None:
    window = parse(f"PATTERN A {clause}").window

    assert window == TimeWindow(
        Duration(Fraction(within[0]), within[1]),
        None if slide is None else Duration(Fraction(slide[0]), slide[1]),
    )


def test_count_windows() -> None:
    assert parse("PATTERN A WITHIN 100 EVENTS SLIDE 10 events").window == CountWindow(100, 10)


@pytest.mark.parametrize("spelling", ["GROUP-BY", "GROUP BY", "GROUPBY", "group\n  by", "Group-By"])
def test_group_by(spelling: str) -> None:
    query = parse(f"PATTERN A {spelling} sector, T.district")

    assert query.group_by == (GroupKey("sector"), GroupKey("district", "T"))


@pytest.mark.parametrize(
    ("where", "printed"),
    [
        ("[a, b]", "[a, b]"),
        ('["x y"] AND [b]', '["x y"] AND [b]'),
        ("S.x > 3 and S.y < 4", "S.x > 3 AND S.y < 4"),
        ("(S.x > 3 AND S.y < 4)", "S.x > 3 AND S.y < 4"),
        ("[a] AND (S.x > 3 OR S.y < 4)", "[a] AND (S.x > 3 OR S.y < 4)"),
        ("S.x > 3 OR S.y < 4", "(S.x > 3 OR S.y < 4)"),
        ("S.x > 3 AND S.y = 1 OR S.y < 4", "(S.x > 3 AND S.y = 1 OR S.y < 4)"),
        ("S.x BETWEEN 1 AND 2 AND S.y = 1", "S.x BETWEEN 1 AND 2 AND S.y = 1"),
        ("S.x NOT BETWEEN 1 AND 2", "S.x NOT BETWEEN 1 AND 2"),
        ("S.x IN ('a','b') AND S.x NOT IN (1)", "S.x IN ('a', 'b') AND S.x NOT IN (1)"),
        ("NOT S.x IN (1)", "S.x NOT IN (1)"),
        ("NOT (S.x = 1)", "NOT (S.x = 1)"),
        ("S.x LIKE 'a%' AND S.x NOT LIKE '_b'", "S.x LIKE 'a%' AND S.x NOT LIKE '_b'"),
        ("S.x IS NULL AND S.y IS NOT NULL", "S.x IS NULL AND S.y IS NOT NULL"),
        ("S.flag AND NOT S.other", "S.flag AND NOT S.other"),
        ("S.flag = true AND S.other = NULL", "S.flag = TRUE AND S.other = NULL"),
        ("S.x == 3 AND S.y != 4 AND S.z <> 5", "S.x = 3 AND S.y <> 4 AND S.z <> 5"),
        ("-S.x + 2 * (S.y - 1) / 3 % 4 >= -1.5e2", "-S.x + 2 * (S.y - 1) / 3 % 4 >= -1.5E2"),
        ("S.x - -1 = 0", "S.x - -1 = 0"),
        (
            "abs(S.x) < round(S.y, 2) AND upper(S.n) = lower(S.m)",
            "ABS(S.x) < ROUND(S.y, 2) AND UPPER(S.n) = LOWER(S.m)",
        ),
        ("coalesce(S.x, 0, 1) = 1", "COALESCE(S.x, 0, 1) = 1"),
        ("LENGTH(*) >= 3", "LENGTH(*) >= 3"),
        ("length(*) between 3 and 5", "LENGTH(*) BETWEEN 3 AND 5"),
        ("S.t > TIMESTAMP '2020-01-01 10:00:00'", "S.t > TIMESTAMP '2020-01-01 10:00:00'"),
        ("S.t > TIMESTAMP '2020-1-2T01:30+02:00'", "S.t > TIMESTAMP '2020-01-01 23:30:00'"),
        ("S.t > date '2020-1-01'", "S.t > DATE '2020-01-01'"),
        ("S.name = 'it''s -- [not] a /* comment */'", "S.name = 'it''s -- [not] a /* comment */'"),
        ("S.x > 3 -- why AND\n AND /* or */ S.y = 1", "S.x > 3 AND S.y = 1"),
        ("S.price > NEXT(S).price", "S.price > NEXT(S).price"),
        ("A.dst = next ( B ).src", "A.dst = NEXT(B).src"),
        ("A.id = B.id = C.id = D.id", "A.id = B.id AND B.id = C.id AND C.id = D.id"),
        ("<A.id=B.id=C.id>", "A.id = B.id AND B.id = C.id"),
        ("<A.x < 3 AND B.y > 4>", "A.x < 3 AND B.y > 4"),
        ("b[i].x = a.x AND b[].y = 1", "b.x = a.x AND b.y = 1"),
        ("b[i-1].x < b[i].x", "b.x < NEXT(b).x"),
        ("b[ i ].x < b[i + 1].x", "b.x < NEXT(b).x"),
        ("b[i].x > b[i-1].x", "NEXT(b).x > b.x"),
        ("b[i-1].x < 3", "b.x < 3"),
        ("case.end > 3 AND S.select = S.within", 'case.end > 3 AND S.select = S."within"'),
        ('"next".x = 1 AND next.x = 2', '"next".x = 1 AND "next".x = 2'),
        ('"a b"."c""d" = 1', '"a b"."c""d" = 1'),
    ],
)
def test_where(where: str, printed: str) -> None:
    query = parse(f"PATTERN A WHERE {where}")

    assert to_text(query) == f"PATTERN A\nWHERE {printed}"
    assert parse(to_text(query)) == query


def test_top_level_ands_become_conditions_with_their_places() -> None:
    text = (
        "PATTERN A WHERE [job, mapper]\n  AND A.x BETWEEN 1 AND 2 AND  A.x < NEXT(A).x WITHIN 1 s"
    )

    where = parse(text).where

    assert [type(part) for part in where] == [Equivalence, Condition, Condition]
    assert [text[part.place.start : part.place.end] for part in where] == [
        "[job, mapper]",
        "A.x BETWEEN 1 AND 2",
        "A.x < NEXT(A).x",
    ]


def said(text: str, node: Pattern | Duration) -> str:
    return text[node.place.start : node.place.end]


def test_events_and_windows_know_their_places() -> None:
    text = "PATTERN SEQ(Stock+ S[], NOT News) WITHIN 10 min SLIDE 1 min"

    query = parse(text)

    assert isinstance(query.pattern, Sequence)
    repeat, guard = query.pattern.parts
    assert isinstance(repeat, Repeat)
    assert isinstance(query.window, TimeWindow)
    assert query.window.slide is not None
    assert said(text, query.pattern) == "SEQ(Stock+ S[], NOT News)"
    assert said(text, repeat) == "Stock+ S[]"
    assert said(text, guard) == "NOT News"
    assert said(text, query.window.within) == "10 min"
    assert said(text, query.window.slide) == "1 min"


@pytest.mark.parametrize(
    "having",
    [
        "COUNT(*) > 3",
        "COUNT(*) > 3 AND n < 5 OR SUM(V.a) BETWEEN 1 AND 2",
        "LOG2(COUNT(*)) >= 10 AND MIN(LENGTH(*)) = 2",
        "COUNT(DISTINCT V) > COUNT(V) / 2",
        "NOT (T.district = 'x' AND sector IS NOT NULL)",
        "ABS(AVG(V.a)) < STDDEV(V.a)",
    ],
)
def test_having_prints_as_written(having: str) -> None:
    query = parse(f"PATTERN V HAVING {having}")

    assert to_text(query) == f"PATTERN V\nHAVING {having}"
    assert parse(to_text(query)) == query


def test_clauses_come_in_any_order_and_case() -> None:
    first = parse(
        "RETURN a, COUNT(*) PATTERN A+ SEMANTICS next WHERE [a] AND A.x > 1 GROUP-BY a "
        "HAVING COUNT(*) > 1 WITHIN 1 min SLIDE 1 s"
    )
    second = parse(
        "within 1 min slide 1 s having count(*) > 1 group by a where [a] and A.x > 1 "
        "semantics NEXT pattern A+ return a, count(*);"
    )

    assert first == second


def test_a_query_without_return_asks_for_trends() -> None:
    assert parse("PATTERN A") == Query(Event("A"))


def test_the_query_remembers_its_text() -> None:
    assert parse(" PATTERN A ").text == " PATTERN A "


def test_names_are_plain_strings() -> None:
    query = parse("RETURN A.x AS n PATTERN A a WHERE [k]")

    item = query.returns[0]
    event = query.pattern
    equivalence = query.where[0]
    assert isinstance(item, Item)
    assert isinstance(event, Event)
    assert isinstance(equivalence, Equivalence)
    assert isinstance(item.value, GroupKey)
    names = [event.type, event.variable, item.alias, item.text, item.value.attribute]
    assert {type(name) for name in [*names, *equivalence.attributes]} == {str}
