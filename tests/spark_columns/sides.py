"""One scan over one table, evaluated by Spark and by DuckDB."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema

from trendloom.hosts.scan.project import Projector
from trendloom.hosts.scan.reading import Reading
from trendloom.hosts.spark.arrive import arrive
from trendloom.hosts.spark.columns import spark_scan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from trendloom.plan.scan import Scan


def in_spark(session: SparkSession, table: pa.Table) -> DataFrame:
    """The same values, times without a zone as such."""
    schema = from_arrow_schema(table.schema, prefer_timestamp_ntz=True)
    return session.createDataFrame(table, schema)


def by_spark(
    session: SparkSession, table: pa.Table | DataFrame, scan: Scan, **options: Any
) -> pa.Table:
    """Through Spark's expressions and the worker's door."""
    reading = Reading(**options)
    frame = in_spark(session, table) if isinstance(table, pa.Table) else table
    found = spark_scan(frame.schema, scan, reading)
    kept = frame if found.condition is None else frame.where(found.condition)
    batches = kept.selectExpr(*found.columns).toArrow().to_batches()
    arrived = [arrive(batch, found.arrival, drop=reading.drops).batch for batch in batches]
    return pa.Table.from_batches(arrived, found.arrival.contract)


def by_duck(table: pa.Table, scan: Scan, **options: Any) -> pa.Table:
    return Projector(scan, table.schema, Reading(**options))(table).table


def same(session: SparkSession, table: pa.Table, scan: Scan, **options: Any) -> pa.Table:
    """Both sides, equal in types and values; returns them."""
    ours, theirs = by_duck(table, scan, **options), by_spark(session, table, scan, **options)
    assert theirs.schema == ours.schema
    for name in ours.column_names:
        assert theirs[name].to_pylist() == ours[name].to_pylist(), name
    return ours


NAN, INF = math.nan, math.inf
BIG = 2**53 + 1
_MOMENT = dt.datetime(2024, 3, 31, 1, 30, 0, 123456)
_ROWS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "t": (pa.int64(), list(range(9))),
    "type": (pa.string(), ["A", "B", "A", "it's", "A", None, "a\\b", "Ä€", "A"]),
    "number": (pa.int32(), [1, 2, -3, None, 8, 1, 1, 2, 128]),
    "i8": (pa.int8(), [1, -1, 0, None, 100, 2, 3, -128, 7]),
    "i32": (pa.int32(), [1, -1, 0, None, 100, 25, -25, 15, 2**31 - 1]),
    "i64": (pa.int64(), [1, -1, 0, None, BIG, 25, -25, 7, 2**40]),
    "f32": (pa.float32(), [0.1, -0.0, 0.0, None, NAN, INF, 2.675, 16777217.0, -2.5]),
    "f64": (pa.float64(), [0.1, -0.0, 0.0, None, NAN, -INF, 2.675, 1e308, -2.5]),
    "d2": (pa.decimal128(10, 2), [Decimal(x) if x else None for x in
           ("0.10", "-1.05", "0.00", None, "5.55", "2.68", "-2.50", "99999999.99", "1.00")]),
    "d9": (pa.decimal128(30, 9), [Decimal(x) if x else None for x in
           ("0.1", "-1.05", "0", None, "5.555", "2.675", "-2.5", "123456789012.5", "1")]),
    "s": (pa.string(), ["u", "U", "", None, "50%_\\x", "it's \"so\"", "a\nb", "äÖ€😀", "05"]),
    "p": (pa.string(), ["u", "_", "%", "%", "50\\%_\\x", None, "a_b", "__€_", "0%"]),
    "o": (pa.bool_(), [True, False, None, True, False, True, True, False, None]),
    "day": (pa.date32(), [_MOMENT.date() + dt.timedelta(x) if x is not None else None
            for x in (0, 1, -1, None, -19900, 5000, 30, 0, 0)]),
    "ntz": (pa.timestamp("us"), [_MOMENT + dt.timedelta(hours=x) if x is not None else None
            for x in (0, 1, -1, None, -400000, 50000, 24, 2, 0)]),
    "ltz": (pa.timestamp("us", "UTC"), [_MOMENT + dt.timedelta(hours=x) if x is not None else None
            for x in (0, 1, -2, None, -400000, 50000, 23, 2, 3)]),
    "odd `name`.\"x\"\\": (pa.int64(), [1, 2, 3, 4, 5, 6, 7, 8, 9]),
}  # fmt: skip
NASTY = pa.table(
    {name: pa.array(values, kind) for name, (kind, values) in _ROWS.items()},
    schema=pa.schema([(name, kind) for name, (kind, _) in _ROWS.items()]),
)
