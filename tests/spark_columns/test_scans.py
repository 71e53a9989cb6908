"""Whole scans: partitions, types, times, masks and rows that are left out, on both sides."""

from __future__ import annotations

import datetime as dt
import pickle
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.errors import ArithmeticException
from pyspark.sql.types import ArrayType, IntegerType, LongType, StringType, StructField, StructType

from local.scans import scan
from spark_columns.sides import NASTY, by_duck, by_spark, in_spark, same
from trendloom.api import query
from trendloom.errors import InputError, LimitError
from trendloom.hosts.scan.reading import Reading
from trendloom.hosts.spark.arrive import arrive
from trendloom.hosts.spark.columns import spark_scan
from trendloom.plan.scan import Kind

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAN = float("nan")


def test_types_conditions_and_unmatched_rows(spark: SparkSession) -> None:
    letters = ("A", "it's", "a\\b: i64 < 0", "Ä€: f64 > 0", "A: f64 > 0 OR s LIKE '5%'", "Z")
    operands = (("f64", Kind.NUMBER), ("s", Kind.ANY))
    found = same(spark, NASTY, scan(*letters, operands=operands), time="t")
    assert found["time"].to_pylist() == [0, 2, 3, 4, 6, 7, 8]
    kept = same(spark, NASTY, scan(*letters, operands=operands, keep=True), time="t")
    assert kept["mask"].to_pylist() == [0b10001, 0, 1, 0b10, 0b10001, 0, 0b100, 0b1000, 1]


def test_types_that_are_integers(spark: SparkSession) -> None:
    letters = ("1", "-3", "08", "8: i8 > 0", "x", "99999999999")
    found = same(spark, NASTY, scan(*letters), time="t", type="number")
    assert found["mask"].to_pylist() == [1, 2, 8, 1, 1]
    assert same(spark, NASTY, scan("x", "+1"), time="t", type="number").num_rows == 0
    assert same(spark, NASTY, scan("x", keep=True), time="t", type="number").num_rows == 9


def test_partitions_leave_out_nulls_and_nan_and_know_one_zero(spark: SparkSession) -> None:
    for by in ("f64", "f32 s", "s", "d2", "o day", "ntz ltz", "i8 number"):
        found = same(spark, NASTY, scan("A", by=by), time="t", event_type="A")
        assert 0 < found.num_rows < NASTY.num_rows
    zeros = by_spark(spark, NASTY, scan("A", by="f64"), time="t", event_type="A")["p0"].to_pylist()
    assert [str(value) for value in zeros if value == 0] == ["0.0", "0.0"]


@pytest.mark.parametrize("count", [1, 8, 9, 16, 17, 32, 33, 64])
def test_the_mask_has_the_same_bits_at_every_width(count: int, spark: SparkSession) -> None:
    table = NASTY.select(["t", "i8"])
    letters = [f"A: i8 % {k + 2} = 1" for k in range(count - 1)]
    found = same(spark, table, scan(*letters, "A: i8 > 0"), time="t", event_type="A")
    assert all(mask >> (count - 1) for mask in found["mask"].to_pylist() if mask)
    assert any(mask >> (count - 1) for mask in found["mask"].to_pylist())


@pytest.mark.parametrize(
    ("kind", "tick"),
    [
        (pa.int8(), 1),
        (pa.int32(), 1),
        (pa.timestamp("us"), 1),
        (pa.timestamp("us", "UTC"), 1),
        (pa.date32(), 86_400_000_000),
    ],
    ids=str,
)
def test_times(kind: pa.DataType, tick: int, spark: SparkSession) -> None:
    ticks = pa.array([7, -5, 100, 0], pa.int32())
    values = (
        ticks.cast(kind) if not pa.types.is_timestamp(kind) else ticks.cast(pa.int64()).cast(kind)
    )
    table = pa.table({"t": values, "type": ["A"] * 4})
    found = same(spark, table, scan("A"), time="t")
    assert found["time"].to_pylist() == [7 * tick, -5 * tick, 100 * tick, 0]


@pytest.mark.parametrize(
    "kind", [pa.int16(), pa.string(), pa.float64(), pa.decimal128(9, 2)], ids=str
)
def test_rows_without_a_time_or_tiebreak(kind: pa.DataType, spark: SparkSession) -> None:
    table = pa.table(
        {
            "t": pa.array([1, None, 3, 4], pa.int64()),
            # The row without a time is no letter, and counts all the same.
            "type": ["A", "Z", "A", "A"],
            "n": pa.array([1, 2, None, 4], pa.int16()).cast(kind),
        }
    )
    with pytest.raises(
        InputError, match=r"1 rows have no time \('t' is null or infinite\)\.\n.*drop"
    ):
        by_spark(spark, table, scan("A"), time="t")
    with pytest.raises(InputError, match="1 of 4 rows have no time"):
        by_duck(table, scan("A"), time="t")
    with pytest.raises(InputError, match=r"2 rows have no time .* or no tiebreak \('n'\)"):
        by_spark(spark, table, scan("A"), time="t", tiebreak="n")
    found = same(spark, table, scan("A"), time="t", tiebreak="n", bad_rows="drop")
    assert found["time"].to_pylist() == [1, 4]
    frame = in_spark(spark, table)
    planned = spark_scan(frame.schema, scan("A"), Reading("t", tiebreak="n"))
    assert planned.condition is not None
    rows = frame.where(planned.condition).selectExpr(*planned.columns).toArrow()
    dropped = [arrive(b, planned.arrival, drop=True).dropped for b in rows.to_batches()]
    assert sum(dropped) == 2


def test_nan_is_no_tiebreak(spark: SparkSession) -> None:
    table = pa.table({"t": [1, 2], "type": ["A", "A"], "n": [NAN, 1.0]})
    with pytest.raises(InputError, match="1 rows have no time"):
        by_spark(spark, table, scan("A"), time="t", tiebreak="n")
    assert same(spark, table, scan("A"), time="t", tiebreak="n", bad_rows="drop").num_rows == 1


def test_a_planned_query(spark: SparkSession) -> None:
    asked = query(
        "RETURN s, COUNT(*), SUM(A.d2), MAX(B.ltz) PATTERN SEQ(A+, B) "
        "WHERE A.f64 < NEXT(A).f64 AND B.s LIKE '%' AND A.i64 / 2 > 0.1 GROUP-BY s "
        "WITHIN 1 day SLIDE 1 day"
    )
    found = same(spark, NASTY, asked.plan.scan, time="ltz", type="type", bad_rows="drop")
    assert found.num_rows > 0


def test_settings_of_the_session_do_not_matter(spark: SparkSession) -> None:
    letters = ("it's: s = 'it''s \"so\"'", "a\\b", "A: s LIKE '50%\\x'", "A: day <= ltz")
    expected = by_duck(NASTY, scan(*letters), time="t")["mask"].to_pylist()
    odd = {
        "spark.sql.parser.escapedStringLiterals": "true",
        "spark.sql.timestampType": "TIMESTAMP_NTZ",
        "spark.sql.caseSensitive": "true",
        "spark.sql.execution.arrow.useLargeVarTypes": "true",
        "spark.sql.ansi.enabled": "false",
    }
    before = {key: spark.conf.get(key) for key in odd}
    try:
        for key, value in odd.items():
            spark.conf.set(key, value)
        assert by_spark(spark, NASTY, scan(*letters), time="t")["mask"].to_pylist() == expected
    finally:
        for key, old in before.items():
            spark.conf.set(key, old)


def test_text_in_another_collation_is_compared_by_its_bytes(spark: SparkSession) -> None:
    table = pa.table({"t": [1, 2, 3], "type": ["A", "a", "A"], "s": ["u", "U", "U"]})
    frame = in_spark(spark, table).selectExpr(
        "t", "type COLLATE UTF8_LCASE type", "s COLLATE UNICODE_CI s"
    )
    query_ = scan("A: s = 'U'", by="s")
    found = by_spark(spark, frame, query_, time="t")
    assert found.to_pylist() == by_duck(table, query_, time="t").to_pylist()
    assert found["time"].to_pylist() == [3]


# ── refusals, without a session ──────────────────────────────────────────────────────────────


def schema(*fields: tuple[str, Any]) -> StructType:
    return StructType([StructField(name, kind) for name, kind in fields])


EVENTS = schema(("t", LongType()), ("type", StringType()), ("x", IntegerType()))


def test_columns_that_differ_in_case_only() -> None:
    twice = schema(*[(f.name, f.dataType) for f in EVENTS], ("X", LongType()))
    with pytest.raises(InputError, match=r"'X' occurs twice .*\nRename one of the columns"):
        spark_scan(twice, scan("A"), Reading("t"))


@pytest.mark.parametrize(
    ("letters", "options", "message"),
    [
        ("A: price > 1", {}, "Unknown attribute 'price'"),
        ("A: X > 1", {}, r"Unknown attribute 'X'\.\nDid you mean 'x'"),
        ("A", {"time": "T"}, "Unknown time column 'T'"),
        ("A", {"time": "type"}, "'type' is VARCHAR; it must be an integer"),
        ("A", {"tick": "minuts"}, "Unknown tick 'minuts'"),
        ("A", {"type": "kind"}, "Unknown type column 'kind'"),
        ("A", {"tiebreak": "n"}, "Unknown tiebreak column 'n'"),
        ("A", {"type": "x", "event_type": "A"}, "not both"),
        ("A: UPPER(x) = 'A'", {}, r"'UPPER\(x\) = 'A'' does not fit.*\n.*'x' is INTEGER"),
        ("A: x + 1", {}, r"not true or false: 'x \+ 1' is INTEGER"),
    ],
)
def test_refusals_are_those_of_every_host(
    letters: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        spark_scan(EVENTS, scan(letters), Reading(**{"time": "t", **options}))


def test_too_many_letters() -> None:
    with pytest.raises(LimitError, match="65 variables; at most 64"):
        spark_scan(EVENTS, scan(*["A"] * 65), Reading("t"))


def test_types_that_have_no_counterpart_matter_only_where_they_are_used() -> None:
    wide = schema(*[(f.name, f.dataType) for f in EVENTS], ("tags", ArrayType(LongType())))
    assert spark_scan(wide, scan("A: x > 1"), Reading("t")).columns[0] == "`t` AS time"
    with pytest.raises(
        InputError, match=r"'tags' is array<bigint>, which .*\nSelect a value of it"
    ):
        spark_scan(wide, scan("A", by="tags"), Reading("t"))


@pytest.mark.parametrize(
    ("condition", "operand", "expected"),
    [
        ("x > -1 AND x / 2 < 3.5", "x", False),
        ("x + 1 > 2", "x", True),
        ("x > 1", "x * x", True),
        ("-x > 1", "x", True),
        ("ABS(x) > 1", "x", True),
    ],
)
def test_whether_an_integer_may_overflow(condition: str, operand: str, expected: bool) -> None:
    query_ = scan(f"A: {condition}", by="x", operands=((operand, Kind.NUMBER),))
    assert spark_scan(EVENTS, query_, Reading("t")).may_overflow is expected


def test_overflow_is_an_error_in_both(spark: SparkSession) -> None:
    table = pa.table({"t": [1], "type": ["A"], "n": [2**63 - 1]})
    with pytest.raises(InputError, match="Overflow in addition"):
        by_duck(table, scan("A: n + n > 0"), time="t")
    with pytest.raises(ArithmeticException, match="OVERFLOW"):
        by_spark(spark, table, scan("A: n + n > 0"), time="t")


def test_what_is_sent_to_workers_is_plain() -> None:
    planned = spark_scan(EVENTS, scan("A", by="x"), Reading("t", tiebreak="x"))
    arrival = pickle.loads(pickle.dumps(planned.arrival))
    assert arrival == planned.arrival
    assert arrival.contract.names == ["p0", "time", "tie", "mask"]
    assert planned.partition_types == (pa.int32(),)


def test_what_arrives_in_other_clothes() -> None:
    fields = (("t", LongType()), ("type", StringType()), ("s", StringType()))
    query_ = scan("A", by="s", operands=(("s", Kind.ANY),))
    planned = spark_scan(schema(*fields), query_, Reading("t"))
    batch = pa.record_batch(
        {
            "x0": pa.array(["a", "b"]).dictionary_encode(),
            "mask": pa.array([-128, 1], pa.int8()),
            "time": pa.array([5, 6], pa.int32()),
            "p0": pa.array(["a", "b"], pa.large_string()),
            "more": [1, 2],
        }
    )
    found = arrive(batch, planned.arrival).batch
    assert found.schema == planned.arrival.contract
    assert found.to_pylist() == [
        {"p0": "a", "time": 5, "mask": 128, "x0": "a"},
        {"p0": "b", "time": 6, "mask": 1, "x0": "b"},
    ]


def test_a_value_that_does_not_fit_on_arrival() -> None:
    planned = spark_scan(EVENTS, scan("A", operands=(("x + 1", Kind.ANY),)), Reading("t"))
    values = {"time": [dt.date(2020, 1, 1)], "mask": pa.array([1], pa.int8()), "x0": [2**40]}
    with pytest.raises(InputError, match=r"column x0 arrived as int64 and does not fit int32"):
        arrive(pa.record_batch(values), planned.arrival)
