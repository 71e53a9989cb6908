"""Text to formula and back; precedence; every refusal word for word."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given

from acel.formulas import SCHEMA, formulas
from against_oracle import examples
from trendloom.acel import Formula, check, compile_formula, denote, parse, stream, to_text
from trendloom.acel import conditions as on
from trendloom.acel import nodes as n
from trendloom.errors import (
    LimitError,
    QueryError,
    QueryMeaningError,
    QuerySyntaxError,
    TrendloomError,
)
from trendloom.language.moments import SPELLED

A, B, C = n.OneEvent("A"), n.OneEvent("B"), n.OneEvent("C")


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("A ; B : C", n.Sequence(A, n.Contiguous(B, C))),
        ("A : B ; C", n.Sequence(n.Contiguous(A, B), C)),
        ("A AND B ; C OR C", n.Or(n.And(A, n.Sequence(B, C)), C)),
        ("A ; B ; C", n.Sequence(n.Sequence(A, B), C)),
        ("A ; (B ; C)", n.Sequence(A, n.Sequence(B, C))),
        ("A ; B AS X", n.Sequence(A, n.As(B, "X"))),
        ("(A ; B)+ AS X", n.As(n.Iteration(n.Sequence(A, B)), "X")),
        ("A AS X+", n.Iteration(n.As(A, "X"))),
        ("A:+ : NEXT(B)", n.Contiguous(n.ContiguousIteration(A), n.Next("B"))),
        ("a or b", n.Or(n.OneEvent("a"), n.OneEvent("b"))),
        ('"or"', n.OneEvent("or")),
        ("PROJECT[](A)", n.Project(A, ())),
        ("PROJECT[A, B](A ; B)", n.Project(n.Sequence(A, B), ("A", "B"))),
        ("PROJECT[A(x, type)](A)", n.ProjectAttributes(A, "A", ("x", "type"))),
        (
            "AGG[Y(b = sum(A.x), c = MAX(A.x))](A)",
            n.Aggregation(A, "Y", (n.Assign("b", "SUM", "A", "x"), n.Assign("c", "MAX", "A", "x"))),
        ),
        (
            "(A ; B) filter A, B[A.x < B.x]",
            n.PairFilter(
                n.Sequence(A, B),
                "A",
                "B",
                on.Comparison(
                    "<", on.Attribute("x", variable="A"), on.Attribute("x", variable="B")
                ),
            ),
        ),
        (
            "A+ FILTER last ( A ), A[LAST(A).x = A.x]",
            n.PairFilter(
                n.Iteration(A),
                "A",
                "A",
                on.Comparison(
                    "=", on.Attribute("x", variable="A", last=True), on.Attribute("x", variable="A")
                ),
                last=True,
            ),
        ),
        (
            "A FILTER A[upper(w) not like '_%']",
            n.Filter(
                A,
                "A",
                on.Not(on.Like(on.Call("UPPER", (on.Attribute("w"),)), on.Literally("_%"))),
            ),
        ),
        (
            "A FILTER A[date < timestamp '2024-01-31T12:00Z']",
            n.Filter(
                A,
                "A",
                on.Comparison("<", on.Attribute("date"), on.Literally(datetime(2024, 1, 31, 12))),
            ),
        ),
        ("A FILTER A[increasing(x)]", n.Filter(A, "A", on.BagCondition("increasing", "x"))),
        (
            "A FILTER A[x + 1 * 2 >= -3 /* why */]",
            n.Filter(
                A,
                "A",
                on.Comparison(
                    ">=",
                    on.Arithmetic(
                        "+",
                        on.Attribute("x"),
                        on.Arithmetic("*", on.Literally(1), on.Literally(2)),
                    ),
                    on.Negative(on.Literally(3)),
                ),
            ),
        ),
    ],
)
def test_it_reads(text: str, formula: Formula) -> None:
    assert parse(text) == formula
    assert parse(to_text(formula)) == formula


@examples(300)
@given(formulas())
def test_what_is_printed_parses_back(formula: Formula) -> None:
    text = to_text(formula)
    assert parse(text, SCHEMA) == formula
    assert to_text(parse(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "A FILTER A[x IS NOT NULL AND NOT (x = 1 OR x = 2)]",
        "A FILTER A[w = 'it''s']",
        "A FILTER A[1.5 - (x - 2) / 4 < x * (x + 1)]",
        "A FILTER A[NOT NOT x = 1]",
        'A AS "two words" FILTER "two words"["same" = TRUE]',
        "A FILTER A[-x < -(-1)]",
        "A FILTER A[NOT x = NULL OR COALESCE(x, NULL) + NULL IS NULL]",
        "A FILTER A[w NOT LIKE 'a%' AND NOT (LOWER(w) LIKE '_' OR abs = 1)]",
        "A FILTER A[ROUND(ABS(x - 1) % 2, -1) = COALESCE(x, -x, 2)]",
        'A AS "like" FILTER "like"[x % (x % 2) * 3 < 1]',
        "A FILTER A[d > DATE '0001-01-01' AND d != TIMESTAMP '2024-01-31 00:00:00.000001']",
        '(A AS last ; B) FILTER last, B[last.x + B."two words" > 1 AND B.last IS NULL]',
        "(A ; B) FILTER LAST(A), B[LAST(A).last = B.x] FILTER A[last = 1]",
        'A AS "x.y" AS x FILTER LAST("x.y"), x[LAST("x.y").a = x."y.a"]',
        "PROJECT[last(x)](A AS last)",
        "A FILTER A[COALESCE(date, DATE '2024-02-29') = TIMESTAMP '9999-12-31 23:59:59']",
    ],
)
def test_canonical_text_stays_as_it_is(text: str) -> None:
    assert to_text(parse(text)) == text


REFUSED = [
    (
        "",
        "The formula is empty\n"
        "Write at least an event type, as in SELL AS X FILTER X[price > 100].",
    ),
    (
        "A ; (B",
        "The formula ends too early (line 1, column 7)\n  A ; (B\n        ^\n",
    ),
    (
        "A ; ; B",
        "';' cannot stand here (line 1, column 5)\n  A ; ; B\n      ^\n"
        "Expected '(', AGG, NEXT, PROJECT or a name.",
    ),
    (
        "A FILTER A['q]",
        "The string that begins here never ends (line 1, column 12)\n"
        "  A FILTER A['q]\n             ^\nClose it with '.",
    ),
    (
        "A FILTER Z[x > 1]",
        "Unknown variable 'Z' (line 1, column 10)\n  A FILTER Z[x > 1]\n           ^\nKnown: A.",
    ),
    (
        "PROJECT[Q](A)",
        "Unknown variable 'Q' (line 1, column 9)\n  PROJECT[Q](A)\n          ^\nKnown: A.",
    ),
    (
        "AGG[Y(b = SUM(Q.x))](A)",
        "Unknown variable 'Q' (line 1, column 7)\n"
        "  AGG[Y(b = SUM(Q.x))](A)\n        ^^^^^^^^^^^^\nKnown: A.",
    ),
    (
        "PROJECT[A](A ; B) FILTER B[x > 1]",
        "'B' can never be bound here (line 1, column 26)\n"
        "  PROJECT[A](A ; B) FILTER B[x > 1]\n                           ^\n"
        "It is bound outside of this formula, left out by PROJECT, or on one side of AND only. "
        "Bound here: A.",
    ),
    (
        "(A AND B) FILTER A[x > 1]",
        "'A' can never be bound here (line 1, column 18)\n"
        "  (A AND B) FILTER A[x > 1]\n                   ^\n"
        "It is bound outside of this formula, left out by PROJECT, or on one side of AND only. "
        "Bound here: nothing.",
    ),
    (
        "A ; B AS X FILTER A[x > 1]",
        "'A' can never be bound here (line 1, column 19)\n",
    ),
    (
        "PROJECT[](A)+",
        "This repeats a formula that binds no variable (line 1, column 1)\n"
        "  PROJECT[](A)+\n  ^^^^^^^^^^^^^\n"
        "Repeat first, and leave variables out with PROJECT around it.",
    ),
    (
        "AGG[Y(b = SUM(A.w))](A)",
        "SUM cannot be applied to 'A.w', a text (line 1, column 7)\n"
        "  AGG[Y(b = SUM(A.w))](A)\n        ^^^^^^^^^^^^\nSUM takes a number; COUNT takes all.",
    ),
    ("AGG[Y(b = SUMM(A.x))](A)", "Unknown aggregate 'SUMM' (line 1, column 7)\n"),
    ("AGG[Y(b = SUM(A.x), b = MIN(A.x))](A)", "'b' is made twice (line 1, column 21)\n"),
    ("A FILTER A[x > 'q']", "A number is compared with a text (line 1, column 12)\n"),
    ("A FILTER A[x + w > 1]", "A text cannot be reckoned with (line 1, column 16)\n"),
    (
        "A FILTER A[TRUE < FALSE]",
        "A truth value is neither less nor more than another (line 1, column 12)\n",
    ),
    ("A FILTER A[x LIKE 'a%']", "A number is not like a text (line 1, column 12)\n"),
    ("A FILTER A[UPPER(x) = 'A']", "UPPER cannot be applied to a number (line 1, column 12)\n"),
    ("A FILTER A[ABS(w) = 1]", "ABS cannot be applied to a text (line 1, column 12)\n"),
    ("A FILTER A[COALESCE(w, x) = 1]", "COALESCE gives either a number or a text (line 1"),
    ("A FILTER A[COALESCE(w, 'a') = 1]", "A text is compared with a number (line 1, column 12)\n"),
    ("A FILTER A[ABS(x, 1) = 1]", "ABS cannot be applied to this (line 1, column 12)\n"),
    ("A FILTER A[ROUND(x, x) = 1]", "ROUND cannot be applied to this (line 1, column 12)\n"),
    ("A FILTER A[ROUND(x, 0.5) = 1]", "ROUND cannot be applied to this (line 1, column 12)\n"),
    (
        "A FILTER A[d > DATE '2024-02-31']",
        "'2024-02-31' is not a date (line 1, column 16)\n"
        "  A FILTER A[d > DATE '2024-02-31']\n                 ^^^^^^^^^^^^^^^^^\n" + SPELLED,
    ),
    *(
        (
            f"A FILTER A[d > {word} '{text}']",
            f"'{text}' is not a {word.lower()} (line 1, column 16)\n",
        )
        for word, text in (
            ("DATE", ""),
            ("DATE", "20240131"),
            ("DATE", "2024-1-05Z"),
            ("DATE", "2024-01-31 12:00:00"),
            ("TIMESTAMP", "2024-01-31 12"),
            ("TIMESTAMP", "2024-01-31 25:00"),
            ("TIMESTAMP", "0001-01-01 00:30+01:00"),
            ("TIMESTAMP", "2024-01-31 12:00:00.1234567"),
        )
    ),
    ("A FILTER A[DATE = 1 OR x > DATE]", "No event of 'A' has an attribute 'DATE' (line 1"),
    ("A FILTER A[d > 1]", "A moment is compared with a number (line 1, column 12)\n"),
    ("A FILTER A[d * 2 IS NULL]", "A moment cannot be reckoned with (line 1, column 12)\n"),
    ("A FILTER A[d + d IS NULL]", "A moment cannot be added to another (line 1, column 16)\n"),
    ("A FILTER A[1 - d IS NULL]", "A moment cannot be taken from a number (line 1, column 16)\n"),
    ("A FILTER A[d - d = d]", "A number is compared with a moment (line 1, column 12)\n"),
    ("A FILTER A[d + w IS NULL]", "A text cannot be reckoned with (line 1, column 16)\n"),
    ("A FILTER A[-d IS NULL]", "A moment cannot be reckoned with (line 1, column 13)\n"),
    (
        "(A ; B) FILTER A, Q[A.x = Q.x]",
        "Unknown variable 'Q' (line 1, column 16)\n"
        "  (A ; B) FILTER A, Q[A.x = Q.x]\n                 ^^^^\nKnown: A, B.",
    ),
    (
        "A+ FILTER A, A[A.x = A.x]",
        "Every event of 'A' is compared with itself (line 1, column 11)\n"
        "  A+ FILTER A, A[A.x = A.x]\n            ^^^^\n"
        "Compare it with the one before: LAST(A), A.",
    ),
    (
        "(A ; B) FILTER A, B[x = B.x]",
        "'x' is no attribute of what is filtered (line 1, column 21)\n"
        "  (A ; B) FILTER A, B[x = B.x]\n                      ^\nWrite A.x or B.x.",
    ),
    (
        "(A ; B) FILTER LAST(A), B[A.x = B.x]",
        "'A.x' is no attribute of what is filtered (line 1, column 27)\n"
        "  (A ; B) FILTER LAST(A), B[A.x = B.x]\n                            ^^^\n"
        "Write LAST(A).x or B.x.",
    ),
    (
        "A FILTER A[A.x = 1]",
        "'A.x' is no attribute of what is filtered (line 1, column 12)\n"
        "  A FILTER A[A.x = 1]\n             ^^^\nWrite x.",
    ),
    ("(A ; B) FILTER A, B[A.w = B.x]", "A text is compared with a number (line 1, column 21)\n"),
    ("(A ; B) FILTER A, B[A.x = B.w]", "No event of 'B' has an attribute 'w' (line 1, column 27)"),
    ("(A ; B) FILTER A, B[same(x)]", "'(' cannot stand here (line 1, column 25)\n"),
    ("A FILTER A[d LIKE '2024%']", "A moment is not like a text (line 1, column 12)\n"),
    *(
        (f"A FILTER A[{f}(d) IS NULL]", f"{f} cannot be applied to a moment (line 1, column 12)\n")
        for f in ("ABS", "ROUND", "UPPER", "LOWER")
    ),
    *(
        (
            f"AGG[Y(b = {f}(A.d))](A)",
            f"{f} cannot be applied to 'A.d', a moment (line 1, column 7)\n",
        )
        for f in ("SUM", "PROD", "AVG", "RANGE")
    ),
    ("A FILTER A[x LIKE]", "']' cannot stand here (line 1, column 18)\n"),
    ("A FILTER A[y > 1]", "No event of 'A' has an attribute 'y' (line 1, column 12)\n"),
    ("B FILTER B[same(w)]", "No event of 'B' has an attribute 'w' (line 1, column 12)\n"),
    ("PROJECT[A(y)](A)", "No event of 'A' has an attribute 'y' (line 1, column 9)\n"),
    ("D", "The stream has no events of type 'D' (line 1, column 1)\n  D\n  ^\nKnown: A, B, C."),
    (
        "(AGG[Y(m = MAX(A.x))](A) OR AGG[Y(m = MAX(A.w))](A)) FILTER Y[m > 1]",
        "'Y.m' is a number in some events, a text in others (line 1, column 63)\n",
    ),
    (
        "AGG[Z(b = MIN(Y.m))](AGG[Y(m = MAX(A.x))](A) OR AGG[Y(m = MAX(A.w))](A))",
        "'Y.m' is a number in some events, a text in others (line 1, column 7)\n",
    ),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[text for text, _ in REFUSED])
def test_it_refuses(text: str, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text, SCHEMA)
    assert str(caught.value).startswith(message)
    assert caught.value.remedy


def test_a_formula_made_in_python_is_refused_without_a_place() -> None:
    with pytest.raises(QueryMeaningError) as caught:
        check(n.Project(A, ("Q",)))
    assert str(caught.value) == "Unknown variable 'Q'\nKnown: A."


@pytest.mark.parametrize("value", [-1, -0.0, float("inf"), float("nan")])
def test_it_refuses_literals_that_no_text_spells(value: float) -> None:
    with pytest.raises(TrendloomError, match="is not a literal"):
        on.Literally(value)


def test_moments_that_are_equal_are_one_literal() -> None:
    ways = [date(2024, 1, 31), datetime(2024, 1, 31), datetime(2024, 1, 31, tzinfo=UTC)]
    ways += [datetime(2024, 1, 31, 1, tzinfo=timezone(timedelta(hours=1)))]
    assert len({on.Literally(value) for value in ways}) == 1
    assert on.Literally(datetime(2024, 1, 31, fold=1)) == on.Literally(ways[0])


@pytest.mark.parametrize(
    "walk",
    [
        check,
        to_text,
        lambda deep: compile_formula(deep, SCHEMA),
        lambda deep: denote(deep, stream([], SCHEMA)),
    ],
)
def test_it_refuses_deep_formulas_made_in_python(walk: Callable[[Formula], object]) -> None:
    deep: Formula = A
    for _ in range(50_000):
        deep = n.Iteration(deep)
    with pytest.raises(LimitError, match="The formula nests too deeply"):
        walk(deep)


def test_it_refuses_what_nests_too_deeply() -> None:
    with pytest.raises(QuerySyntaxError, match="stand inside each other"):
        parse("(" * 5000 + "A" + ")" * 5000 + "+" * 5000)
