"""Helpers on the SQL trees of WHERE and HAVING."""

from __future__ import annotations

import sqlglot
from sqlglot import exp

from trendloom.errors import Place
from trendloom.language import (
    Aggregate,
    Condition,
    Function,
    Length,
    Occurrences,
    Trends,
    Values,
    parse,
)
from trendloom.language.expressions import (
    Reference,
    aggregate_of,
    column,
    conjuncts,
    having_aggregates,
    place_of,
    reference_of,
    references,
    to_sql,
)


def where(text: str) -> exp.Expression:
    (condition,) = parse(f"PATTERN A WHERE {text}").where
    assert isinstance(condition, Condition)
    return condition.tree


def having(text: str) -> exp.Expression:
    condition = parse(f"PATTERN A HAVING {text}").having
    assert condition is not None
    return condition.tree


def test_references_come_from_left_to_right_and_once() -> None:
    tree = where("A.x * 2 < NEXT(B).y + A.x - A.z")

    assert references(tree) == (
        Reference("A", "x"),
        Reference("B", "y", next=True),
        Reference("A", "z"),
    )


def test_references_leave_out_what_aggregates_mention() -> None:
    assert references(having("SUM(A.x) > n AND T.d = 1")) == (
        Reference(None, "n"),
        Reference("T", "d"),
    )


def test_next_is_the_db_of_a_column() -> None:
    tree = where("A.x < NEXT(B).y")

    earlier, later = tree.find_all(exp.Column)
    assert (earlier.db, earlier.table, earlier.name) == ("", "A", "x")
    assert (later.db, later.table, later.name) == ("NEXT", "B", "y")


def test_columns_and_references_are_two_views() -> None:
    for reference in (Reference(None, "n"), Reference("A", "x"), Reference("A", "x", next=True)):
        assert reference_of(column(reference)) == reference


def test_quotes_in_the_text_do_not_matter() -> None:
    assert where('"A"."x" = 1') == where("A.x = 1")


def test_plain_sql_made_from_a_tree_is_safe() -> None:
    sql = where("case.select = 1").sql("duckdb")

    assert sql == '"case"."select" = 1'
    assert sqlglot.parse_one(sql, into=exp.Condition, dialect="duckdb") == where("case.select = 1")


def test_conjuncts_look_through_parentheses() -> None:
    tree = having("(a = 1 AND (b = 2 AND c = 3)) AND (d = 4 OR e = 5)")

    assert [to_sql(part) for part in conjuncts(tree)] == [
        "a = 1",
        "b = 2",
        "c = 3",
        "d = 4 OR e = 5",
    ]


def test_a_tree_knows_its_place_in_the_query() -> None:
    tree = where("1 < A.x + NEXT(A).y")

    assert place_of(tree) == Place(
        len("PATTERN A WHERE 1 < "), len("PATTERN A WHERE 1 < A.x + NEXT(A).y")
    )
    assert place_of(exp.Literal.number(1)) is None


def test_length_stays_as_sqlglot_has_it() -> None:
    assert where("LENGTH(*) >= 3") == exp.GTE(
        this=exp.Length(this=exp.Star()), expression=exp.Literal.number(3)
    )


def test_aggregates_of_having() -> None:
    tree = having(
        "COUNT(*) > 1 AND LOG2(COUNT(A)) > SUM(DISTINCT A.x) AND MAX(LENGTH(*)) < 9 "
        "AND VARIANCE(A.x) = n"
    )

    found = having_aggregates(tree)

    assert [aggregate for _, aggregate in found] == [
        Aggregate(Function.COUNT, Trends()),
        Aggregate(Function.COUNT, Occurrences("A"), log2=True),
        Aggregate(Function.SUM, Values("A", "x"), distinct=True),
        Aggregate(Function.MAX, Length()),
        Aggregate(Function.VARIANCE, Values("A", "x")),
    ]
    assert [to_sql(part) for part, _ in found] == [
        "COUNT(*)",
        "LOG2(COUNT(A))",
        "SUM(DISTINCT A.x)",
        "MAX(LENGTH(*))",
        "VARIANCE(A.x)",
    ]


def test_what_is_no_aggregate_gives_none() -> None:
    assert aggregate_of(where("A.x = 1")) is None
    assert aggregate_of(sqlglot.parse_one("SUM(1)")) is None
    assert aggregate_of(sqlglot.parse_one("LN(2)")) is None
