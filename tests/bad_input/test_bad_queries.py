"""Queries that are refused: the place, the cause, the remedy."""

import time
from pathlib import Path

import pytest
from refusals import LETTERS, call, letters_in, place_of, refused

from trendloom.api import query, run
from trendloom.errors import (
    InputError,
    LimitError,
    QueryMeaningError,
    QuerySyntaxError,
    TrendloomError,
)

COUNT = "RETURN COUNT(*) PATTERN"

# query, the words under the caret, of the cause, of the remedy
Case = tuple[str, str, str, str]

SYNTAX: list[Case] = [
    ("RETURN COUNT(* PATTERN A", "(", "never closed", "Add a ')'"),
    (f"{COUNT} SEQ(A, B", "(", "never closed", "Add a ')'"),
    (f"{COUNT} SEQ(A,, B)", ",", "cannot stand here", "Expected"),
    (f"{COUNT} A WHERE A.x >", ">", "Something is missing", "Conditions offer"),
    (f"{COUNT} A WHERE x > 3", "x", "without a variable", "VARIABLE.x"),
    (f"{COUNT} A{{3,2}}", "{3,2}", "exclude each other", "{2,3}"),
    # The only patterns of the language that match nothing but the empty trend.
    (f"{COUNT} A{{0}}", "{0}", "match nothing", "at least 1"),
    (f"{COUNT} A{{0,0}}", "{0,0}", "match nothing", "at least 1"),
    # Units.
    (f"{COUNT} A WITHIN 5 fortnights", "fortnights", "no unit 'fortnights'", "days, weeks"),
    (f"{COUNT} A WITHIN 5 secunds", "secunds", "no unit 'secunds'", "Did you mean 'seconds'"),
    (f"{COUNT} A WITHIN 5", "5", "unit is missing", "10 seconds"),
    (f"{COUNT} A WITHIN 5 EVENTS", "WITHIN 5 EVENTS", "needs a SLIDE", "SLIDE 5 EVENTS"),
    (f"{COUNT} A WITHIN 5 EVENTS SLIDE 1 s", "1 s", "mix EVENTS with a unit", "both in"),
    # Clauses.
    ("RETURN COUNT(*) PATERN A", "PATERN", "cannot stand here", "Did you mean 'PATTERN'?"),
    (f"{COUNT} A PATTERN B", "PATTERN", "stands twice", "once"),
    (f"{COUNT} A SEMANTICS skip-til-next", "skip-til-next", "no semantics", "Did you mean"),
    ("SELECT COUNT(*) FROM A", "SELECT", "no SELECT here", "Write RETURN"),
    # Functions.
    ("RETURN SUMM(A.x) PATTERN A", "SUMM", "no aggregate function SUMM", "Did you mean 'SUM'?"),
    ("RETURN SUM(A) PATTERN A", "SUM(A)", "needs an attribute", "SUM(A.attribute)"),
    ("RETURN LENGTH(*) PATTERN A", "LENGTH(*)", "cannot stand like this", "MIN(LENGTH(*))"),
    (f"{COUNT} A WHERE LENGTH(A.x) > 2", "A.x", "LENGTH(*), and nothing else", "Conditions offer"),
    ("RETURN COUNT(LENGTH(*)) PATTERN A", "COUNT(LENGTH(*))", "not offered", "MIN, MAX and AVG"),
]

MEANING: list[Case] = [
    # Variables.
    (f"{COUNT} A WHERE Z.x > 1", "Z.x", "Unknown variable 'Z'", "Known: A"),
    (f"{COUNT} Ab WHERE AB.x > 1", "AB.x", "Unknown variable 'AB'", "Did you mean 'Ab'?"),
    (f"{COUNT} A GROUP-BY Z.word", "Z.word", "Unknown variable 'Z' in GROUP-BY", "Known: A"),
    ("RETURN SUM(Z.x) PATTERN A", "Z.x", "Unknown variable 'Z'", "Known: A"),
    ("RETURN COUNT(Z) PATTERN SEQ(A, B)", "Z", "Unknown variable 'Z'", "Known: A, B"),
    ("RETURN SUM(A.x) PATTERN SEQ(A, A)", "A.x", "Unknown variable 'A'", "Did you mean"),
    (f"{COUNT} A HAVING SUM(Z.x) > 1", "Z.x", "Unknown variable 'Z'", "Known: A"),
    (f"{COUNT} SEQ(A a, B a)", "B a", "variable a is used twice", "another name"),
    # Windows.
    (f"{COUNT} A WITHIN 5 s SLIDE 0 s", "0 s", "SLIDE must be more than zero", ""),
    # NOT and AND.
    (f"{COUNT} NOT A", "NOT A", "NOT stands only", "SEQ(A, NOT C, B)"),
    (f"{COUNT} (NOT A)+", "NOT A", "NOT stands only", "SEQ(A, NOT C, B)"),
    (f"{COUNT} NOT A OR B", "NOT A", "NOT stands only", "SEQ(A, NOT C, B)"),
    (f"{COUNT} SEQ(A, (NOT C)?, B)", "NOT C", "NOT stands only", "SEQ(A, NOT C, B)"),
    (f"{COUNT} SEQ(NOT A, NOT B)", "NOT A", "that has a positive part", "SEQ(A, NOT C, B)"),
    (f"{COUNT} SEQ(A, NOT SEQ(B, NOT C))", "NOT C", "NOT inside NOT", "Remove the inner NOT"),
    (f"{COUNT} SEQ(A, NOT B*, C)", "NOT B*", "matches nothing at all", "NOT C instead of NOT C*"),
    (f"{COUNT} SEQ(A, B AND C)", "B AND C", "AND stands at the top", "OR, SEQ, or two queries"),
    (f"{COUNT} (A AND B)+", "A AND B", "AND stands at the top", "OR, SEQ, or two queries"),
    (f"{COUNT} A AND A SEMANTICS contiguous WHERE A1.x < A2.x",
     "A1.x < A2.x", "different sides of AND", "within one side"),
    (f"{COUNT} A+ AND A+ SEMANTICS skip-till-next-match",
     "A+ AND A+", "can match the same trend", "any-match or contiguous"),
    ("RETURN SUM(A1.x) PATTERN A+ AND A+",
     "A+ AND A+", "can match the same trend", "COUNT(*)"),
    # Conditions.
    (f"{COUNT} SEQ(A, B, C) WHERE A.x < NEXT(C).x",
     "A.x < NEXT(C).x", "'C' never directly follows 'A'", "A → B, B → C"),
    (f"{COUNT} SEQ(A, B) WHERE B.x < NEXT(A).x",
     "B.x < NEXT(A).x", "'A' never directly follows 'B'", "A → B"),
    (f"{COUNT} SEQ(A+, B) WHERE A.x < B.x",
     "A.x < B.x", "Neither 'A' nor 'B' occurs exactly once", "NEXT(B)"),
    (f"{COUNT} SEQ(A, B, C) WHERE A.x + B.x < C.x",
     "A.x + B.x < C.x", "mixes variables", "X.a op NEXT(Y).b"),
    (f"{COUNT} SEQ(A, NOT C, B) WHERE A.x < C.x",
     "A.x < C.x", "negated variable 'C'", "local conditions only"),
    (f"{COUNT} SEQ(A, NOT C, B) WHERE A.x < NEXT(C).x",
     "A.x < NEXT(C).x", "negated variable 'C'", "local conditions only"),
    (f"{COUNT} A WHERE 1 = 1", "1 = 1", "names no variable", "V.a"),
    (f"{COUNT} A+ WHERE LENGTH(*) > A.x", "LENGTH(*) > A.x", "LENGTH(*)", "whole number"),
    (f"{COUNT} A+ WHERE LENGTH(*) > 2.5", "LENGTH(*) > 2.5", "LENGTH(*)", "whole number"),
    (f"{COUNT} A+ WHERE LENGTH(*) <> 2", "LENGTH(*) <> 2", "LENGTH(*)", "BETWEEN 2 AND 5"),
    (f"{COUNT} A+ WHERE LENGTH(*) > 2 OR A.x > 1",
     "LENGTH(*) > 2 OR A.x > 1", "LENGTH(*)", "whole number"),
    # Results.
    ("RETURN word, COUNT(*) PATTERN A", "word", "nor in GROUP-BY", "Add GROUP-BY word"),
    ("RETURN A.word, COUNT(*) PATTERN A GROUP-BY word", "A.word", "nor in GROUP-BY", "GROUP-BY"),
    ("RETURN COUNT(*), COUNT(*) PATTERN A",
     "COUNT(*)", "Two result columns are called 'COUNT(*)'", "alias with AS"),
    ("RETURN COUNT(*) AS n, SUM(A.x) AS n PATTERN A",
     "SUM(A.x)", "Two result columns are called 'n'", "alias with AS"),
    (f"{COUNT} A HAVING n > 3", "n", "HAVING does not know 'n'", "Known: COUNT(*)"),
    ("RETURN COUNT(*) AS trends PATTERN A HAVING trend > 3",
     "trend", "HAVING does not know 'trend'", "Did you mean 'trends'?"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "case"),
    [(QuerySyntaxError, case) for case in SYNTAX] + [(QueryMeaningError, case) for case in MEANING],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_query_is_refused(kind: type[TrendloomError], case: Case, tmp_path: Path) -> None:
    text, place, cause, remedy = case
    error = refused(letters_in(tmp_path), text, kind)
    assert place_of(error) == place
    assert cause in error.cause
    assert remedy in str(error.remedy)
    with pytest.raises(kind, match="\\^"):
        query(text)
    assert call("check", "-q", text).stderr == f"Error: {error}\n"


@pytest.mark.parametrize("text", ["", " \n\t", "-- nothing but a comment"])
def test_a_query_without_words(text: str, tmp_path: Path) -> None:
    error = refused(letters_in(tmp_path), text, QuerySyntaxError)
    assert "PATTERN" in str(error.remedy)


def test_a_query_without_return(tmp_path: Path) -> None:
    error = refused(letters_in(tmp_path), "PATTERN A+", QueryMeaningError)
    assert "no RETURN clause" in error.cause
    assert "RETURN COUNT(*)" in str(error.remedy)


def test_the_place_is_found_on_a_later_line(tmp_path: Path) -> None:
    text = "RETURN COUNT(*)\nPATTERN SEQ(A, B)\nWHERE A.x < 3 AND\n      Z.x = 1"
    error = refused(letters_in(tmp_path), text, QueryMeaningError)
    assert "(line 4, column 7)\n        Z.x = 1\n        ^^^\n" in str(error)


# ── what only the data tells ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        (f"{COUNT} A WHERE A.words = 'u'", "Did you mean 'word'?"),
        (f"{COUNT} A WHERE A.WORD = 'u'", "Did you mean 'word'?"),
        (f"{COUNT} A WHERE [words]", "Did you mean 'word'?"),
        (f"{COUNT} A GROUP-BY words", "Did you mean 'word'?"),
        (f"{COUNT} A GROUP-BY A.words", "Did you mean 'word'?"),
        (f"{COUNT} A+ WHERE A.words < NEXT(A).word", "Did you mean 'word'?"),
        ("RETURN MIN(A.zzz) PATTERN A", "Known: time, type, word, x"),
        (f"{COUNT} A HAVING MIN(A.zzz) > 1", "Known: time, type, word, x"),
    ],
)
def test_an_unknown_attribute(text: str, remedy: str, tmp_path: Path) -> None:
    error = refused(letters_in(tmp_path), text, InputError)
    assert "Unknown attribute" in error.cause
    assert remedy in str(error.remedy)


@pytest.mark.parametrize(
    ("text", "causes"),
    [
        ("RETURN SUM(A.word) PATTERN A", ["SUM(A.word) needs a number", "VARCHAR"]),
        ("RETURN AVG(A.word) PATTERN A+", ["AVG(A.word) needs a number", "VARCHAR"]),
        (f"{COUNT} A WHERE A.word > 3", ["condition on A", "word", "VARCHAR"]),
        (f"{COUNT} A WHERE A.word IN (1, 2)", ["compares text with a number", "VARCHAR"]),
        (f"{COUNT} A WHERE A.x = 'u'", ["compares text with a number", "BIGINT"]),
        (f"{COUNT} A WHERE A.word < A.x", ["compares text with a number", "'x' is BIGINT"]),
        (f"{COUNT} A WHERE A.x LIKE 'a%'", ["condition on A", "LIKE", "BIGINT"]),
        (f"{COUNT} A WHERE A.word", ["condition on A", "not true or false", "VARCHAR"]),
        (f"{COUNT} A+ WHERE A.word < NEXT(A).x", ["compares string with int64"]),
        ("RETURN COUNT(*) AS n PATTERN A HAVING n > 'x'", ["HAVING", "n", "does not fit"]),
    ],
)
def test_an_attribute_of_the_wrong_type(text: str, causes: list[str], tmp_path: Path) -> None:
    error = refused(letters_in(tmp_path), text, InputError)
    assert all(cause in error.cause for cause in causes)
    assert error.remedy


@pytest.mark.parametrize(
    ("window", "place", "tick", "one_tick"),
    [
        ("WITHIN 500 ms SLIDE 500 ms", "500 ms", "s", "1 s"),
        ("WITHIN 1.5 s SLIDE 1 s", "1.5 s", "s", "1 s"),
        ("WITHIN 2 s SLIDE 1.5 s", "1.5 s", "s", "1 s"),
        ("WITHIN 1.5 s", "1.5 s", "s", "1 s"),
        ("WITHIN 90 s", "90 s", "min", "60 s"),
    ],
)
def test_a_window_between_two_ticks(
    window: str, place: str, tick: str, one_tick: str, tmp_path: Path
) -> None:
    error = refused(letters_in(tmp_path), f"{COUNT} A {window}", QueryMeaningError, tick=tick)
    assert place_of(error) == place
    assert "not a whole number of ticks" in error.cause
    assert f"One tick is {one_tick}" in str(error.remedy)


# ── limits ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("pattern", "limit"),
    [
        ("A{1,5000}", "1000 positions"),
        ("A{99999999999}", "1000 positions"),
        ("(A{1,200}){1,200}", "1000 positions"),
        ("((((A{1,9}){1,9}){1,9}){1,9}){1,9}", "1000 positions"),
        ("SEQ(A, NOT B{5000}, C)", "1000 positions"),
        ("(SEQ(A{1,2}, B?)){1,300}", "4096 states"),
        ("A+ WHERE LENGTH(*) <= 5000", "4096 states"),
        ("A+ WHERE LENGTH(*) = 999999999", "4096 states"),
    ],
)
def test_a_pattern_past_the_limit_is_answered_soon(
    pattern: str, limit: str, tmp_path: Path
) -> None:
    started = time.perf_counter()
    error = refused(letters_in(tmp_path), f"{COUNT} {pattern}", LimitError)
    assert time.perf_counter() - started < 20
    assert limit in error.cause
    assert "{m,n}" in str(error.remedy)


# ── options ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("option", "value", "remedy"),
    [
        ("host", "locale", "Did you mean 'local'?"),
        ("host", "flink", "Known: local"),
        ("numbers", "exakt", "Did you mean 'exact'?"),
        ("bad_rows", "skip", "Known: drop, error"),
    ],
)
def test_an_unknown_option(option: str, value: str, remedy: str) -> None:
    with pytest.raises(TrendloomError) as caught:
        run(f"{COUNT} A", LETTERS, time="time", **{option: value})
    assert caught.value.cause == f"Unknown {option} '{value}'."
    assert remedy in str(caught.value.remedy)


def test_an_unknown_host_on_the_command_line(tmp_path: Path) -> None:
    error = refused(letters_in(tmp_path), f"{COUNT} A", TrendloomError, host="flink")
    assert "Unknown host 'flink'" in error.cause


@pytest.mark.parametrize(("option", "value"), [("numbers", "exakt"), ("bad-rows", "skip")])
def test_an_unknown_choice_is_wrong_usage(option: str, value: str, tmp_path: Path) -> None:
    words = ["run", "-q", f"{COUNT} A", "-i", letters_in(tmp_path), "-t", "time"]
    done = call(*words, f"--{option}", value)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert f"--{option}" in done.stderr
    assert value in done.stderr


def test_an_unknown_tick(tmp_path: Path) -> None:
    error = refused(letters_in(tmp_path), f"{COUNT} A", InputError, tick="sekond")
    assert "Unknown tick 'sekond'" in error.cause
    assert "Did you mean 'second'" in str(error.remedy)
