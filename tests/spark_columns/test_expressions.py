"""Conditions and operands: Spark must compute what DuckDB computes, row by row."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from local.scans import scan
from spark_columns.sides import NASTY, by_duck, by_spark, same
from trendloom.errors import InputError
from trendloom.plan.scan import Kind
from trendloom.testing.predicates import LOCAL

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NUMBERS = ("i8", "i32", "i64", "f32", "f64", "d2", "d9")
SYMBOLS = ("=", "<>", "<", "<=", ">", ">=")

CONDITIONS = [
    # numbers against literals of every kind
    *[f"{x} {op} {y}" for x in NUMBERS for op in ("=", ">=") for y in ("0.1", "1", "2.675", "1e0")],
    *[f"{x} = {y}" for x, y in itertools.combinations(NUMBERS, 2)],
    *[f"{x} < {y}" for x, y in itertools.combinations(NUMBERS, 2)],
    *[f"{x} BETWEEN -1 AND 2.5" for x in NUMBERS],
    *[f"{x} IN (0, 2.5, -1, 100)" for x in NUMBERS],
    *[f"NOT {x} IN (0, 1, NULL)" for x in NUMBERS],
    *[f"{x} IS NULL" for x in (*NUMBERS, "s", "o", "day", "ntz", "ltz")],
    *[f"NOT {x} IS NULL" for x in (*NUMBERS, "s", "o", "day", "ntz", "ltz")],
    "i8 = 300", "i8 > -129", "i64 = 9007199254740992.0", "i64 = 9007199254740993",
    "i64 < 9223372036854775808", "i8 < 99999999999999999999.5", "NOT i32 > 9223372036854775808",
    "i64 > -9223372036854775808", "f32 = 16777217", "i32 = '25'",
    "f64 > 0.1234567890123456789012345678901234567890123", "f32 = '0.1'", "d2 = '5.55'",
    "f64 = .1", "i32 = 1.", "-(-i8) = 1",
    # arithmetic, division and remainders
    *[f"{x} / 2 > 0.04" for x in NUMBERS],
    *[f"{x} / 0 IS NULL" for x in NUMBERS],
    *[f"{x} % 0 IS NULL" for x in NUMBERS],
    *[f"{x} % 2 = 1" for x in NUMBERS],
    *[f"{x} % 2 = -1" for x in NUMBERS],
    *[f"{x} / {x} = 1" for x in NUMBERS],
    *[f"{x} % {x} = 0" for x in NUMBERS],
    "i32 / i64 > 0.5", "f32 / 3 = f64 / 3", "f32 * 3 > 0.3", "f32 + 0.1 = 0.2", "d2 * 1.5 > 1.5",
    "d2 / 3 < 0.0334", "d9 - d2 = 0", "d2 + i64 > 5", "i8 + 1000 > 999", "i8 * 1 >= 2",
    "1 - i8 = 0",
    "f64 - f64 = 0", "f64 - f64 IS NULL", "(f64 * 0) IS NULL", "0 * (f64 / 0) = 0 OR f64 > 1",
    "i64 + 0.5 > 25", "d2 % 1.5 = 1.05", "i64 % 2.5 = 0", "i32 * 2.0 = 50", "- f64 > 0",
    # functions
    *[f"ABS({x}) > 1" for x in NUMBERS if x != "i8"],
    *[f"ROUND({x}) = 3" for x in NUMBERS],
    *[f"ROUND({x}) = -3" for x in NUMBERS],
    *[f"ROUND({x}, 2) = 2.68" for x in NUMBERS],
    *[f"ROUND({x}, 1) >= 2.7" for x in NUMBERS],
    *[f"ROUND({x}, -1) = 30" for x in NUMBERS if x not in ("i8", "i32")],
    *[f"ROUND({x}, 400) > 1" for x in ("f32", "f64")],
    *[f"ROUND({x}, -400) = 0" for x in ("f32", "f64")],
    *[f"COALESCE({x}, 0.5) = 0.5" for x in NUMBERS],
    *[f"COALESCE({x}, 1) = 1" for x in NUMBERS],
    "COALESCE(f64, f32, i8, 7) = 7", "COALESCE(s, p, 'x') = '%'", "COALESCE(day, ntz) = day",
    "UPPER(s) = 'U'", "LOWER(s) = 'äö€😀'", "UPPER(s) = 'ÄÖ€😀'", "LOWER(s) < 'v'",
    # text
    *[f"s {op} 'a'" for op in SYMBOLS],
    "s = ''", "s = 'it''s \"so\"'", "s = '50%_\\x'", "s = 'äÖ€😀'", "s > 'ä'", "s < p", "s = p",
    "s IN ('u', 'it''s \"so\"', '50%_\\x')", "s = '${spark.app.name}'", "s <> '\\n'",
    "s = '\\u0075'",
    "s LIKE 'u%'", "s LIKE '_'", "s LIKE '%'", "s LIKE '50%'", "s LIKE '50\\%\\_\\x'",
    "s LIKE '%\\x'",
    "s LIKE '%''%'", "s LIKE 'a_b'", "s LIKE '____'", "s LIKE '%\\'", "s LIKE '%\"'", "s LIKE p",
    "NOT s LIKE p", "s LIKE UPPER(p)", "s LIKE '\\%'", "s LIKE '(.*)'", "s LIKE '[u]'",
    # truth
    "o", "NOT o", "o = TRUE", "o <> FALSE", "o IS TRUE", "o IS FALSE", "NOT o IS TRUE", "o = 1",
    "o AND i64 > 0", "o OR f64 > 0", "NOT (o AND f64 > 0)", "NOT (o OR f64 > 0)", "o > FALSE",
    "TRUE", "NULL", "o = 't'", "i64 = NULL", "i64 IS TRUE", "o IN (TRUE, NULL)", "(i8 > 0) = o",
    # dates and times
    *[f"{x} {op} DATE '2024-03-31'" for x in ("day", "ntz", "ltz") for op in SYMBOLS],
    *[f"{x} {op} TIMESTAMP '2024-03-31 01:30:00.123456'" for x in ("day", "ntz", "ltz")
      for op in SYMBOLS],
    *[f"{x} > '2024-03-31'" for x in ("day", "ntz", "ltz")],
    *[f"{x} <= '2024-03-31 03:30:00.123456'" for x in ("ntz", "ltz")],
    *[f"{x} {op} {y}" for x, y in itertools.combinations(("day", "ntz", "ltz"), 2)
      for op in SYMBOLS],
    "ntz BETWEEN DATE '2024-03-30' AND TIMESTAMP '2024-04-01'", "ltz IN (TIMESTAMP '1978-08-13')",
    "ltz = TIMESTAMP '2024-03-31 01:30:00.123456'", "day - DATE '2024-03-30' = 1", "day + 1 > ntz",
    "day - 1 < DATE '2024-03-30'", "ntz - ltz > ltz - ntz", "day - day = 0",
    "ltz - day > ntz - day",
    "COALESCE(ntz, ltz) = ltz", "COALESCE(day, ltz) <= ltz", "ntz - day < ltz - day",
    # names
    '"odd `name`.""x""\\" > 3',
]  # fmt: skip


@pytest.mark.parametrize("start", range(0, len(CONDITIONS), 60))
def test_conditions(start: int, spark: SparkSession) -> None:
    batch = CONDITIONS[start : start + 60]
    query = scan(*(f"A: {condition}" for condition in batch), keep=True)
    ours = by_duck(NASTY, query, time="t", event_type="A")["mask"].to_pylist()
    theirs = by_spark(spark, NASTY, query, time="t", event_type="A")["mask"].to_pylist()
    different = {
        (condition, row): (one >> k & 1, two >> k & 1)
        for k, condition in enumerate(batch)
        for row, (one, two) in enumerate(zip(ours, theirs, strict=True))
        if one >> k & 1 != two >> k & 1
    }
    assert different == {}
    assert any(ours)


OPERANDS = [
    *[(x, kind) for x in NUMBERS for kind in Kind],
    *[(f"{x} / 3", Kind.NUMBER) for x in NUMBERS],
    *[(f"{x} * 2.5", Kind.NUMBER) for x in NUMBERS],
    *[(f"{x} % 0.7", Kind.ANY) for x in NUMBERS],
    *[(f"ROUND({x}, 1)", Kind.ANY) for x in NUMBERS],
    *[(f"COALESCE({x}, 1)", Kind.ANY) for x in NUMBERS],
    *[(f"i64 + {x}", Kind.NUMBER) for x in NUMBERS],
    *[(x, Kind.ORDERED) for x in ("o", "day", "ntz", "ltz")],
    *[(x, Kind.ANY) for x in ("s", "o", "day", "ntz", "ltz", "UPPER(s)", "s LIKE 'u%'", "NULL")],
    ("day - DATE '2024-01-01'", Kind.NUMBER),
    ("day + 1", Kind.ORDERED),
    ("COALESCE(day, ltz)", Kind.ORDERED),
    ("COALESCE(s, 'it''s')", Kind.ANY),
    ("i8 > 0 AND f64 < 1", Kind.ANY),
    ('"odd `name`.""x""\\" + 1', Kind.NUMBER),
]


def test_operands(spark: SparkSession) -> None:
    query = scan("A", operands=tuple(OPERANDS), keep=True)
    table = same(spark, NASTY, query, time="t", event_type="A")
    assert table.num_rows == NASTY.num_rows
    assert table.num_columns == len(OPERANDS) + 2


def test_generated_conditions(spark: SparkSession) -> None:
    """Random combinations of the language's local predicates, many to a mask."""
    leaves = st.sampled_from([text.replace("{v}.", "") for text in LOCAL])
    trees = st.recursive(
        leaves,
        lambda inner: st.one_of(
            inner.map(lambda one: f"NOT ({one})"),
            st.tuples(inner, st.sampled_from(("AND", "OR")), inner).map(
                lambda parts: f"({parts[0]}) {parts[1]} ({parts[2]})"
            ),
        ),
        max_leaves=5,
    )
    values = itertools.product(
        (0, 1, 2, -1, None), (0.25, 1.25, None, float("nan")), ("u", "V", None)
    )
    x, y, k = zip(*values, strict=True)
    table = pa.table({"t": list(range(len(x))), "x": x, "y": y, "k": k})

    @settings(max_examples=5, deadline=None, database=None, derandomize=True,
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(st.lists(trees, min_size=40, max_size=64, unique=True))
    def check(conditions: list[str]) -> None:
        query = scan(*(f"A: {condition}" for condition in conditions), keep=True)
        same(spark, table, query, time="t", event_type="A")

    check()


def test_a_time_in_a_zone_is_not_moved_by_the_zone_of_the_session(spark: SparkSession) -> None:
    with pytest.raises(InputError, match=r"moves a time in a zone.*\nConvert the column to"):
        by_spark(spark, NASTY, scan("A: ltz + (ntz - day) > ltz"), time="t", event_type="A")


def test_decimals_of_a_column(spark: SparkSession) -> None:
    with pytest.raises(InputError, match=r"rounds to a number of decimals that is no constant.*\n"):
        by_spark(spark, NASTY, scan("A: ROUND(f64, i8) > 1"), time="t", event_type="A")


def test_a_literal_that_cannot_be_converted(spark: SparkSession) -> None:
    with pytest.raises(InputError, match="compares text with a number"):
        by_spark(spark, NASTY, scan("A: i64 = 'zz'"), time="t", event_type="A")
