"""Whatever tree a query has, its printed text has the same tree."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from hypothesis import given, settings
from hypothesis import strategies as st

from trendloom.errors import QueryError
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
    name_variables,
    parse,
    to_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
Strategy = st.SearchStrategy[Any]

plain_names = st.sampled_from(["A", "B", "price", "x_1", "Größe"])
odd_names = st.sampled_from(
    ["where", "Seq", "next", "NOT", "a b", 'say "hi"', "1st", "b[i]", "--", "'", "date", "or\nif"]
)
names = plain_names | odd_names | st.text(st.characters(codec="utf-8"), min_size=1, max_size=4)

events = st.builds(Event, names, st.none() | names)


def limits() -> Strategy:
    bounded = st.tuples(st.integers(0, 3), st.integers(1, 4)).map(lambda p: (min(p), max(p)))
    return bounded | st.tuples(st.integers(0, 3), st.none())


def bigger(patterns: Strategy) -> Strategy:
    several = st.lists(patterns, min_size=2, max_size=3).map(tuple)
    return (
        st.builds(lambda body, limit: Repeat(body, *limit), patterns, limits())
        | st.builds(Sequence, st.lists(patterns, min_size=1, max_size=3).map(tuple))
        | st.builds(Either, several)
        | st.builds(Both, several)
        | st.builds(Not, patterns)
    )


patterns: st.SearchStrategy[Pattern] = st.recursive(events, bigger, max_leaves=6)

values = st.builds(Values, names, names)
occurrences = st.builds(Occurrences, names)
aggregates = (
    st.builds(Aggregate, st.just(Function.COUNT), st.just(Trends()), st.just(False), st.booleans())
    | st.builds(Aggregate, st.just(Function.COUNT), occurrences, st.just(False), st.booleans())
    | st.builds(Aggregate, st.just(Function.COUNT), occurrences, st.just(True))
    | st.builds(Aggregate, st.sampled_from(Function), values, st.booleans())
    | st.builds(
        Aggregate, st.sampled_from([Function.MIN, Function.MAX, Function.AVG]), st.just(Length())
    )
)
keys = st.builds(GroupKey, names, st.none() | names)
items = st.builds(Item, aggregates | keys, st.none() | names)


# Conditions are written as text: sqlglot's trees come from the parser in real life as well.
def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


references = st.builds(lambda v, a: f"{quoted(v)}.{quoted(a)}", names, names) | st.builds(
    lambda v, a: f"NEXT({quoted(v)}).{quoted(a)}", names, names
)
literals = (
    st.integers(0, 99).map(str)
    | st.sampled_from(["1.5", ".5", "2e3", "NULL", "TRUE", "FALSE", "DATE '2020-01-01'"])
    | st.text(st.characters(codec="utf-8"), max_size=4).map(
        lambda text: "'" + text.replace("'", "''") + "'"
    )
)


def arithmetic(parts: Strategy) -> Strategy:
    return (
        st.builds("({} {} {})".format, parts, st.sampled_from("+-*/%"), parts)
        | st.builds("{} {} {}".format, parts, st.sampled_from("+-*/%"), parts)
        | st.builds("- {}".format, parts)
        | st.builds("{}({})".format, st.sampled_from(["abs", "UPPER", "Lower"]), parts)
        | st.builds("COALESCE({}, {})".format, parts, parts)
        | st.builds("ROUND({}, 2)".format, parts)
    )


def logic(parts: Strategy) -> Strategy:
    return (
        st.builds("({} {} {})".format, parts, st.sampled_from(["AND", "OR"]), parts)
        | st.builds("{} {} {}".format, parts, st.sampled_from(["AND", "OR"]), parts)
        | st.builds("NOT ({})".format, parts)
    )


def comparisons(scalars: Strategy) -> Strategy:
    signs = st.sampled_from(["=", "<>", "!=", "<", "<=", ">", ">=", "LIKE", "NOT LIKE"])
    return (
        st.builds("{} {} {}".format, scalars, signs, scalars)
        | st.builds("{} BETWEEN {} AND {}".format, scalars, scalars, scalars)
        | st.builds("{} NOT BETWEEN {} AND {}".format, scalars, scalars, scalars)
        | st.builds("{} IN ({}, {})".format, scalars, scalars, scalars)
        | st.builds("NOT {} IN ({})".format, scalars, scalars)
        | st.builds("{} IS NULL".format, scalars)
        | st.builds("{} IS NOT TRUE".format, scalars)
        | st.builds("LENGTH(*) >= {}".format, st.integers(0, 9))
    )


scalars = st.recursive(references | literals, arithmetic, max_leaves=4)
conditions = st.recursive(comparisons(scalars), logic, max_leaves=3)
aliases = names.map(quoted)
totals = aggregates.map(to_text) | aliases | references.filter(lambda text: "NEXT" not in text)
havings = st.recursive(
    comparisons(st.recursive(totals | literals, arithmetic, max_leaves=4)), logic, max_leaves=3
)

durations = st.builds(
    Duration,
    st.integers(1, 10**6).map(Fraction) | st.decimals("0.001", "9", places=3).map(Fraction),
    st.sampled_from(Unit),
)


def time_window(first: Duration, second: Duration | None) -> TimeWindow:
    if second is None:
        return TimeWindow(first)
    slide, within = sorted((first, second), key=lambda duration: duration.nanoseconds)
    return TimeWindow(within, slide)


windows = (
    st.none()
    | st.builds(time_window, durations, st.none() | durations)
    | st.tuples(st.integers(1, 99), st.integers(1, 99)).map(lambda p: CountWindow(max(p), min(p)))
)


def where(text: str) -> tuple[Equivalence | Condition, ...]:
    return parse(f"PATTERN A WHERE {text}").where


def having(text: str) -> Condition | None:
    return parse(f"PATTERN A HAVING {text}").having


equivalences = st.lists(names, min_size=1, max_size=3).map(lambda names: (Equivalence((*names,)),))
queries = st.builds(
    Query,
    pattern=patterns,
    returns=st.lists(items, max_size=3).map(tuple),
    semantics=st.sampled_from(Semantics),
    where=st.lists(conditions.map(where) | equivalences, max_size=3).map(lambda w: sum(w, ())),
    group_by=st.lists(keys, max_size=2).map(tuple),
    having=st.none() | havings.map(having),
    window=windows,
)


# The first query builds the grammar; no deadline for it.
relaxed = settings(deadline=None)


def outcome(stage: Callable[[T], Query], given: T) -> Query | QueryError:
    try:
        return stage(given)
    except QueryError as error:
        return error


@relaxed
@given(patterns)
def test_patterns(pattern: Pattern) -> None:
    assert parse(f"PATTERN {to_text(pattern)}").pattern == pattern


@relaxed
@given(items)
def test_items(item: Item) -> None:
    assert parse(f"RETURN {to_text(item)} PATTERN A").returns == (item,)


@relaxed
@given(conditions)
def test_conditions(text: str) -> None:
    query = parse(f"PATTERN A WHERE {text}")

    assert parse(to_text(query)) == query


@relaxed
@given(havings)
def test_having(text: str) -> None:
    query = parse(f"PATTERN A HAVING {text}")

    assert parse(to_text(query)) == query


@relaxed
@given(queries)
def test_queries(query: Query) -> None:
    text = to_text(query)

    assert parse(text) == query
    assert to_text(parse(text)) == text


@relaxed
@given(queries)
def test_queries_with_named_variables(query: Query) -> None:
    named = outcome(name_variables, query)

    if isinstance(named, QueryError):
        assert named.place is not None
    else:
        assert parse(to_text(named)) == named
        assert name_variables(named) == named


WORDS = """
    PATTERN RETURN WHERE WITHIN SLIDE GROUP-BY HAVING SEQ AGG SEMANTICS COUNT NEXT AND OR NOT IN
    BETWEEN IS NULL A B a.x 10 s min EVENTS ( ) [ ] { } < > = + - * / , . ; ' " 's' "q" -- /* */
    LENGTH(*) COUNT(*) [a] b[i].x DATE any ! | & ? : # ‘
"""


@relaxed
@given(st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=14))
def test_any_text_parses_or_is_refused_with_a_place(words: list[str]) -> None:
    query = outcome(parse, "PATTERN A " + " ".join(words))

    if isinstance(query, QueryError):
        assert query.cause
        assert query.place is not None
    else:
        assert parse(to_text(query)) == query
