"""The evaluator, one SQL rule per line."""

from __future__ import annotations

import math
from datetime import date, datetime
from fractions import Fraction

import pytest
from sqlglot import exp, parse_one

from trendloom.errors import QueryMeaningError
from trendloom.testing.expressions import evaluate, satisfied

ROW = {
    "one": 1,
    "half": 0.5,
    "nothing": None,
    "nan": math.nan,
    "word": "Ab_c",
    "yes": True,
    "day": date(2024, 1, 2),
    "moment": datetime(2024, 1, 2, 3),
}


def lookup(leaf):
    return (True, ROW[leaf.name]) if isinstance(leaf, exp.Column) else (False, None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # three-valued logic
        ("nothing = 1", None),
        ("NOT nothing = 1", None),
        ("nothing = 1 AND FALSE", False),
        ("nothing = 1 OR TRUE", True),
        ("nothing = 1 AND TRUE", None),
        ("nothing = 1 OR FALSE", None),
        ("nothing IS NULL", True),
        ("one IS NOT NULL", True),
        ("yes IS TRUE", True),
        ("nothing IN (1)", None),
        ("one IN (1, NULL)", True),
        ("one IN (2, NULL)", None),
        ("one NOT IN (2, NULL)", None),
        ("one NOT IN (2, 3)", True),
        ("one BETWEEN 0 AND 1", True),
        ("one NOT BETWEEN 0 AND 1", False),
        ("one BETWEEN nothing AND 0", False),
        ("one BETWEEN nothing AND 1", None),
        # NaN compares with nothing
        ("nan = nan", None),
        ("NOT nan < 1", None),
        ("nan <> 1", None),
        ("nan IS NULL", True),
        ("nan + 1 > 0", None),
        # numbers
        ("7 / 2", 3.5),
        ("one / 0", None),
        ("one % 0", None),
        ("-5 % 3", -2),
        ("-5.5 % 3", Fraction(-5, 2)),
        ("one + half * 4", 3.0),
        ("one + nothing", None),
        ("ABS(-one)", 1),
        ("ROUND(half)", 1.0),
        ("ROUND(-half)", -1.0),
        ("ROUND(2.5)", Fraction(3)),
        ("ROUND(0.375, 2)", Fraction(38, 100)),
        ("ROUND(25, -1)", 30),
        ("ROUND(nothing)", None),
        ("COALESCE(nothing, 2)", 2),
        ("COALESCE(nothing, nothing)", None),
        # strings
        ("word LIKE 'A%'", True),
        ("word LIKE 'a%'", False),
        ("word LIKE '____'", True),
        ("word NOT LIKE '%c'", False),
        ("nothing LIKE '%'", None),
        ("UPPER(word)", "AB_C"),
        ("LOWER(word)", "ab_c"),
        ("word < 'B'", True),
        # times
        ("day = DATE '2024-01-02'", True),
        ("day < '2024-01-03'", True),
        ("moment > DATE '2024-01-02'", True),
        ("moment = TIMESTAMP '2024-01-02 03:00:00'", True),
    ],
)
def test_sql(text, expected):
    value = evaluate(parse_one(text, read="duckdb"), lookup)
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize(("text", "expected"), [("one", True), ("nan", False), ("nothing", False)])
def test_only_true_satisfies(text, expected):
    assert satisfied(parse_one(text), lookup) is expected


def test_what_the_language_does_not_offer():
    with pytest.raises(QueryMeaningError):
        evaluate(parse_one("SQRT(one)"), lookup)
