"""Every type of column in every use: a right result, or an error of ours with cause and remedy."""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import trendloom as tl
from trendloom.errors import TrendloomError

if TYPE_CHECKING:
    from collections.abc import Callable

D = decimal.Decimal
DAY = dt.date(2024, 1, 31)
NOON = dt.datetime(2024, 1, 31, 12)
EXTENSION = pa.uuid() if hasattr(pa, "uuid") else pa.binary(16)


def column(kind: pa.DataType, first: Any, second: Any) -> pa.Array:
    """Two values, the first of them twice, and a null."""
    return pa.array([first, second, first, None], kind)


COLUMNS: dict[str, pa.Array] = {
    "int8": column(pa.int8(), -128, 127),
    "int64": column(pa.int64(), -(2**63), 2**63 - 1),
    "uint8": column(pa.uint8(), 0, 255),
    "uint64": column(pa.uint64(), 0, 2**64 - 1),
    "half": pa.array([1.5, 2.5, 1.5, None], pa.float16()),
    "float": column(pa.float32(), 1.5, float("nan")),
    "double": column(pa.float64(), 1.5, float("inf")),
    "decimal": column(pa.decimal128(10, 2), D("1.50"), D("2.25")),
    "wide decimal": column(pa.decimal128(38, 0), D(10**37), D(1)),
    "decimal256": column(pa.decimal256(50, 2), D("1.50"), D("2.25")),
    "boolean": column(pa.bool_(), False, True),
    "null": pa.nulls(4),
    "text": column(pa.string(), "A", "b"),
    "large text": column(pa.large_string(), "A", "b"),
    "text view": column(pa.string_view(), "A", "b"),
    "dictionary": column(pa.string(), "A", "b").dictionary_encode(),
    "dictionary of numbers": column(pa.int64(), 1, 2).dictionary_encode(),
    "binary": column(pa.binary(), b"A", b"\xff"),
    "fixed binary": column(pa.binary(2), b"AA", b"\xff\x00"),
    "date": column(pa.date32(), DAY, DAY + dt.timedelta(1)),
    "date64": column(pa.date64(), DAY, DAY + dt.timedelta(1)),
    "timestamp": column(pa.timestamp("us"), NOON, NOON + dt.timedelta(1)),
    "timestamp s": column(pa.timestamp("s"), NOON, NOON + dt.timedelta(1)),
    "timestamp ns": column(pa.timestamp("ns"), NOON, NOON + dt.timedelta(1)),
    "timestamp UTC": column(pa.timestamp("us", "UTC"), NOON, NOON + dt.timedelta(1)),
    "time of day": column(pa.time64("us"), dt.time(1), dt.time(2)),
    "time of day s": column(pa.time32("s"), dt.time(1), dt.time(2)),
    "time of day ns": column(pa.time64("ns"), dt.time(1), dt.time(2)),
    "duration": column(pa.duration("us"), dt.timedelta(1), dt.timedelta(2)),
    "duration ns": column(pa.duration("ns"), dt.timedelta(1), dt.timedelta(2)),
    "interval": column(pa.month_day_nano_interval(), (1, 2, 3), (0, 40, 0)),
    "list": column(pa.list_(pa.int64()), [1, 2], []),
    "large list": column(pa.large_list(pa.int64()), [1, 2], []),
    "fixed list": column(pa.list_(pa.int64(), 2), [1, 2], [3, 4]),
    "struct": column(pa.struct([("a", pa.int64())]), {"a": 1}, {"a": 2}),
    "map": column(pa.map_(pa.string(), pa.int64()), [("a", 1)], []),
    "uuid": pa.ExtensionArray.from_storage(
        EXTENSION, column(pa.binary(16), uuid.UUID(int=1).bytes, uuid.UUID(int=2).bytes)
    ),
}

COUNT = "RETURN COUNT(*) PATTERN A+"


def asking(query: str, **options: Any) -> Callable[[pa.Table], list[dict[str, Any]]]:
    named = {"time": "time", "event_type": "A"} | options
    return lambda events: tl.run(query, events, **named).rows()


def listing(query: str, **options: Any) -> Callable[[pa.Table], list[dict[str, Any]]]:
    named = {"time": "time", "event_type": "A"} | options
    return lambda events: tl.trends(query, events, **named).rows()


def matching(formula: str, **options: Any) -> Callable[[pa.Table], list[dict[str, Any]]]:
    named = {"time": "time", "event_type": "A"} | options
    return lambda events: tl.matches(formula, events, **named).rows()


USES: dict[str, Callable[[pa.Table], list[dict[str, Any]]]] = {
    "compared with a number": asking(f"{COUNT} WHERE A.v > 1"),
    "compared with text": asking(f"{COUNT} WHERE A.v = 'A'"),
    "compared with a time": asking(f"{COUNT} WHERE A.v >= TIMESTAMP '2024-01-31 12:00'"),
    "compared with itself": asking(f"{COUNT} WHERE A.v <= A.v"),
    "in a list": asking(f"{COUNT} WHERE A.v IN (1, 2)"),
    "as a condition": asking(f"{COUNT} WHERE A.v"),
    "null or not": asking(f"{COUNT} WHERE A.v IS NOT NULL"),
    "in arithmetic": asking(f"{COUNT} WHERE A.v * 2 + A.v / 3 > A.time"),
    "in functions": asking(f"{COUNT} WHERE ABS(COALESCE(A.v, 0)) > 0"),
    "in functions of text": asking(f"{COUNT} WHERE UPPER(A.v) LIKE 'A%'"),
    "equal in two rows": asking(f"{COUNT} WHERE A.v = NEXT(A).v"),
    "ordered in two rows": asking(f"{COUNT} WHERE A.v < NEXT(A).v"),
    "unequal in two rows": asking(f"{COUNT} WHERE A.v <> NEXT(A).v OR A.v IS NULL"),
    "compared with another column": asking(f"{COUNT} WHERE A.v < NEXT(A).time"),
    "subtracted in two rows": asking(f"{COUNT} WHERE NEXT(A).v - A.v > 0"),
    "in functions of two rows": asking(f"{COUNT} WHERE COALESCE(A.v, NEXT(A).v) > 0"),
    "next match": asking(f"{COUNT} SEMANTICS skip-till-next-match WHERE A.v <= NEXT(A).v"),
    "contiguous": asking(f"{COUNT} SEMANTICS contiguous WHERE A.v <= NEXT(A).v"),
    "anchored": asking("RETURN COUNT(*) PATTERN SEQ(A a, A+ b) WHERE a.v = b.v"),
    "equivalence": asking(f"{COUNT} WHERE [v]"),
    "group": asking("RETURN v, COUNT(*) PATTERN A+ GROUP-BY v"),
    "group of a variable": asking("RETURN A.v, COUNT(*) PATTERN A+ GROUP-BY A.v"),
    "group in windows": asking("RETURN v, COUNT(*) PATTERN A+ GROUP-BY v WITHIN 2 s SLIDE 1 s"),
    "group chosen": asking("RETURN v, COUNT(*) PATTERN A+ GROUP-BY v HAVING v IS NOT NULL"),
    **{
        f"{function} of it": asking(f"RETURN {function}(A.v) PATTERN A+")
        for function in ("SUM", "MIN", "MAX", "AVG", "VARIANCE", "STDDEV", "COUNT")
    },
    "distinct values": asking("RETURN COUNT(DISTINCT A.v) PATTERN A+"),
    "exact sum": asking("RETURN SUM(A.v) PATTERN A+", numbers="exact"),
    "aggregate chosen": asking("RETURN COUNT(*) PATTERN A+ HAVING MIN(A.v) > 1"),
    "time": asking("RETURN COUNT(*) PATTERN A+ WITHIN 2 s SLIDE 1 s", time="v"),
    "time dropped": asking(COUNT, time="v", bad_rows="drop"),
    "type": asking(COUNT, type="v", event_type=None),
    "tiebreak": asking(COUNT, tiebreak="v", bad_rows="drop"),
    "listed": listing("PATTERN A+ WHERE A.v <= NEXT(A).v"),
    "listed by value": listing("PATTERN A+ WHERE [v]"),
    "shown in a listing": listing("PATTERN A+", attributes=["v"]),
    "in a formula": matching("A FILTER A[v = 1]"),
    "pairs of a formula": matching("(A ; A) AS X FILTER A[same(v)]"),
    "partition of a formula": matching("A ; A", partition_by=["v"]),
}


RIGHT = {
    "compared with itself": 7,
    "null or not": 7,
    "equal in two rows": 5,
    "unequal in two rows": 7,
    "equivalence": 4,
    "COUNT of it": 24,
}
"""The one number of uses in which only nulls and equal values count."""
NUMBERLESS = {
    "float": {"compared with itself": 3, "null or not": 3, "unequal in two rows": 6,
              "equivalence": 3, "COUNT of it": 16},
    "null": {"compared with itself": 0, "null or not": 0, "equal in two rows": 4,
             "unequal in two rows": 15, "equivalence": 0, "COUNT of it": 0},
}  # fmt: skip
"""A NaN is a null, and a column of nulls has nothing else."""


@pytest.mark.filterwarnings("ignore::trendloom.errors.TrendloomWarning")
@pytest.mark.parametrize("use", USES)
def test_a_type_is_used_or_refused_in_words(use: str) -> None:
    for name, values in COLUMNS.items():
        events = pa.table({"time": pa.array([1, 2, 3, 4], pa.int64()), "v": values})
        try:
            rows = USES[use](events)
        except TrendloomError as error:
            refusal = error
        except Exception as error:
            raise AssertionError(f"{name}: {error!r}") from error
        else:
            if use in RIGHT:
                found = rows[0].popitem()[1] if rows else 0
                assert found == NUMBERLESS.get(name, RIGHT).get(use, RIGHT[use]), name
            continue
        assert refusal.cause, name
        assert refusal.remedy, (name, refusal)
