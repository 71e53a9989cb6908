"""Texts that are too much: refused at their place with the limit, in time linear in the text."""

from __future__ import annotations

import time

import pytest

from trendloom import acel
from trendloom.api import query
from trendloom.errors import QueryError, QueryMeaningError, QuerySyntaxError
from trendloom.language.limits import MAX_CHARACTERS
from trendloom.language.windows import read_amount

COUNT = "RETURN COUNT(*) PATTERN A+"
SECONDS = 5.0


def joined(word: str, term: str, many: int) -> str:
    return f" {word} ".join([term] * many)


REFUSED = [
    (f"{COUNT} WITHIN 1e100000000 s", "1e100000000", "exponent of this number is beyond ±400"),
    (f"{COUNT} WITHIN 1e-100000000 s", "1e-100000000", "exponent of this number is beyond ±400"),
    (f"{COUNT} WHERE A.x > 1e{'9' * 5_000}", f"1e{'9' * 5_000}", "exponent of this number"),
    (f"{COUNT} WHERE A.x > 1e309", "1e309", "beyond the largest double"),
    (f"{COUNT} WHERE A.x > {'7' * 5_000}", "7" * 5_000, "5,000 digits; at most 100"),
    (f"{COUNT} WITHIN {'7' * 5_000} s", "7" * 5_000, "5,000 digits; at most 100"),
    (f"RETURN COUNT(*) PATTERN A{{{'7' * 5_000}}}", "7" * 5_000, "5,000 digits; at most 100"),
    (f"{COUNT} WHERE LENGTH(*) > {'7' * 5_000}", "7" * 5_000, "5,000 digits; at most 100"),
    (f"RETURN COUNT(*) PATTERN A{'+' * 500}", "+", "More than 24 signs stand in a row"),
    (f"{COUNT} WHERE {'NOT ' * 500} A.x = 1", "NOT", "More than 24 signs stand in a row"),
    (f"{COUNT} WHERE {'- ' * 500} A.x = 1", "-", "More than 24 signs stand in a row"),
    (f"{COUNT} WHERE {'(' * 900}A.x = 1{')' * 900}", "(", "More than 24 parentheses"),
    (f"RETURN COUNT(*) PATTERN {'SEQ(' * 900}A{')' * 900}", "(", "More than 24 parentheses"),
    (f"{COUNT} WHERE {joined('+', 'A.x', 3_000)} > 1", None, "chain of more than 200 terms"),
    (f"{COUNT} WHERE {joined('=', 'A.x', 3_000)}", None, "chain of more than 200 terms"),
    (f"{COUNT} HAVING {joined('*', 'COUNT(*)', 3_000)} > 1", None, "more than 200 terms"),
    (f"{COUNT} WHERE {joined('OR', 'A.x < NEXT(A).x', 3_000)}", None, "more than 200 attributes"),
    (f"{COUNT} WHERE {joined('AND', 'A.x < NEXT(A).x', 3_000)}", None, "more than 200 attributes"),
    (f"RETURN COUNT(*) PATTERN SEQ(A a, C, B b+) WHERE {joined('AND', 'a.x < b.x', 3_000)}",
     None, "more than 200 attributes"),
    (f"{COUNT} WITHIN 99999999999999999999 EVENTS SLIDE 1 EVENTS",
     "99999999999999999999 EVENTS", "beyond 2^62 EVENTS"),
    (f"{COUNT}{' ' * MAX_CHARACTERS}", " ", "at most 100,000 are read"),
    (f"{COUNT} WHERE A.w = '\ud800'", "\ud800", "U+D800 cannot stand in a text"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "place", "cause"), REFUSED, ids=range(len(REFUSED)))
def test_too_much(text: str, place: str | None, cause: str) -> None:
    started = time.process_time()
    with pytest.raises(QueryError) as caught:
        query(text)
    assert time.process_time() - started < SECONDS
    error = caught.value
    assert cause in error.cause
    assert error.remedy
    assert error.place is not None
    assert place in (None, text[error.place.start : error.place.end])
    assert len(str(error)) < 6_000


FORMULAS = [
    (f"A FILTER A[x > {'7' * 5_000}]", "5,000 digits; at most 100"),
    ("A FILTER A[x > 1e100000000]", "exponent of this number"),
    ("A FILTER A[x > ٣]", "'٣' cannot stand here"),
    (f"A{'+' * 500}", "More than 24 signs"),
    (f"A FILTER A[{'NOT ' * 500} x = 1]", "More than 24 signs"),
    (f"{'(' * 900}A{')' * 900}", "More than 200 parentheses"),
    (joined(";", "A", 3_000), "More than 200 operators"),
    (f"A{' AS X' * 3_000}", "More than 200 operators"),
    (f"A FILTER A[{joined('OR', 'x = 1', 3_000)}]", "More than 200 operators"),
    (f"A{' ' * MAX_CHARACTERS}", "at most 100,000 are read"),
    ("'A' ; B", "'A' is a string, not a name"),
]


@pytest.mark.parametrize(("text", "cause"), FORMULAS, ids=range(len(FORMULAS)))
def test_too_much_in_a_formula(text: str, cause: str) -> None:
    started = time.process_time()
    with pytest.raises(QuerySyntaxError, match="\\^") as caught:
        acel.parse(text)
    assert time.process_time() - started < SECONDS
    assert cause in caught.value.cause
    assert caught.value.remedy


@pytest.mark.parametrize(
    "amount", ["9" * 5_000 + " s", "٣ s", "10 m", "1" + " " * 50_000 + "!", "\ud800"]
)
def test_amounts_outside_of_queries(amount: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        read_amount(amount)
    assert caught.value.remedy


@pytest.mark.parametrize(
    "condition",
    [
        joined("OR", "A.x = 1", 3_000),
        joined("AND", "A.x = 1", 3_000),
        f"({joined('AND', 'A.x = 1', 3_000)})",
        joined("AND A.y = 2 OR", "A.x = 1", 1_500),
        f"A.x IN ({', '.join(map(str, range(10_000)))})",
        f"{'(' * 24}A.x = 1{')' * 24}",
        f"{'NOT ' * 24} A.x = 1",
        f"{joined('- A.x +', 'A.x', 90)} > 1",
        f"A.x < {'9' * 38}",
        "A.x < 1e308 AND A.x > 4.9e-324",
    ],
    ids=range(10),
)
def test_much_but_not_too_much(condition: str) -> None:
    planned = query(f"{COUNT} WHERE {condition}")
    assert planned.explain()


@pytest.mark.parametrize("blank", [" ", "\n", "\t", "-", "- "])
@pytest.mark.parametrize(
    "begin", ["GROUP", "[GROUP", "NEXT", "DATE", "[", "'", '"', "/*", "[WHERE"]
)
def test_long_runs_are_read_in_linear_time(begin: str, blank: str) -> None:
    text = f"{COUNT} WHERE A.x = 1 {begin}{blank * 20_000}"
    started = time.process_time()
    with pytest.raises(QueryError):
        query(text)
    assert time.process_time() - started < SECONDS


@pytest.mark.parametrize("word", ["ORDER", "ANDY", "ASC", "SLIDER", "NOTB", "WITHINS", "ONE"])
def test_a_word_does_not_begin_with_a_keyword(word: str) -> None:
    for text in (f"PATTERN A WHERE [k] {word}.x = 1", f"PATTERN (A) {word} B"):
        with pytest.raises(QuerySyntaxError):
            query(text)
    with pytest.raises(QuerySyntaxError):
        acel.parse(f"(A) {word} B")


def test_windows_beyond_the_range_of_times() -> None:
    from trendloom.api import run

    with pytest.raises(QueryMeaningError, match=r"longer than 2\^62 ticks"):
        run(f"{COUNT} WITHIN 1e30 s SLIDE 1 s", [{"time": 1, "type": "A"}], time="time")
