"""Trends that are listed on Spark against those of the local host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import trendloom as tl
from trendloom.errors import InputError, LimitError, QueryMeaningError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

READING: dict[str, Any] = {"time": "time", "type": "type"}


def table() -> pa.Table:
    """60 events of five partitions, in no order, with ties and nulls; `id` is the row."""
    random = np.random.default_rng(4)
    x = random.integers(0, 4, 60)
    return pa.table(
        {
            "id": np.arange(60),
            "time": random.permutation(60) // 3,
            "type": np.where(random.random(60) < 0.7, "A", "B"),
            "k": [f"k{i}" for i in random.integers(0, 5, 60)],
            "x": pa.array(x, mask=x == 3),
            "y": random.integers(0, 4, 60),
        }
    )


def rows_of(rows: list[dict[str, Any]]) -> list[Any]:
    return sorted(
        (row["window_start"], row.get("k"), row["length"], row["events"], row["variables"])
        for row in rows
    )


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("PATTERN A+ WHERE [k] AND A.x < NEXT(A).x WITHIN 9 s SLIDE 3 s", {}),
        ("PATTERN SEQ(A+, B) WHERE [k] WITHIN 9 s SLIDE 9 s", {"algorithm": "h"}),
        ("PATTERN A+ WHERE A.x = NEXT(A).y WITHIN 6 s SLIDE 6 s", {"memory_limit": "8 MB"}),
        ("PATTERN A+ WHERE [k] WITHIN 9 s SLIDE 9 s", {"top": 1, "by": "SUM(A.y)"}),
        ("PATTERN SEQ(A+, B) WHERE [k] WITHIN 9 s SLIDE 9 s SEMANTICS next", {"all": True}),
    ],
)
def test_the_same_trends(spark: SparkSession, query: str, options: dict[str, Any]) -> None:
    events = table()
    frame = spark.createDataFrame(events.to_pandas()).repartition(3)
    found = tl.spark.trends(query, frame, id="id", **READING, **options).toArrow()
    local = tl.trends(query, events, **READING, **options).to_arrow()
    assert found.schema.names == local.schema.names
    numbers = found["trend"].to_pylist()
    assert len(set(numbers)) == len(numbers) > 0
    ours, theirs = rows_of(local.to_pylist()), rows_of(found.to_pylist())
    if "top" in options:  # of trends of the same sum either may be told
        assert [row[:2] for row in theirs] == [row[:2] for row in ours]
    else:
        assert theirs == ours


def carried(rows: list[dict[str, Any]]) -> list[Any]:
    return sorted((row["events"], [list(one.items()) for one in row["attributes"]]) for row in rows)


def test_some_trends(spark: SparkSession) -> None:
    """The longest, a sample and a limit: as many as asked, and each of them a trend."""
    events = table()
    frame = spark.createDataFrame(events.to_pandas()).repartition(3)
    query = "PATTERN A+ WHERE [k] WITHIN 30 s SLIDE 30 s"
    whole = rows_of(tl.trends(query, events, **READING).rows())

    def some(**options: Any) -> list[Any]:
        found = tl.spark.trends(query, frame, id="id", **READING, **options)
        rows = rows_of(found.toArrow().to_pylist())
        assert all(row in whole for row in rows)
        return rows

    longest = tl.trends(query, events, longest=1, **READING).rows()
    assert [row[:3] for row in some(longest=1)] == [row[:3] for row in rows_of(longest)]
    assert len(some(sample=2, seed=3)) == 2 * len({row[:2] for row in whole})
    assert len(some(limit=3)) == 3
    assert some(max_results=len(whole)) == whole
    assert len(some(max_results=2, limit=1)) == 1
    told = f"There are {len(whole):,} trends to list; max_results is {len(whole) - 1:,}"
    with pytest.raises(LimitError, match=told):
        some(max_results=len(whole) - 1)
    options = {"attributes": ["k", "x", "time"], **READING}
    theirs = tl.spark.trends(query, frame, id="id", **options).toArrow().to_pylist()
    ours = tl.trends(query, events, **options).rows()
    assert carried(theirs) == carried(ours)


def test_refusals(spark: SparkSession) -> None:
    frame = spark.createDataFrame(table().to_pandas())
    with pytest.raises(InputError, match=r"no column 'ids' \(id\)"):
        tl.spark.trends("PATTERN A+", frame, id="ids", **READING)
    with pytest.raises(InputError, match="is of type string, not an integer"):
        tl.spark.trends("PATTERN A+", frame, id="k", **READING)
    with pytest.raises(InputError, match="do not go on behind a trend"):
        tl.spark.trends("PATTERN A+", frame, id="id", after=3, **READING)
    with pytest.raises(InputError, match="do not drop rows"):
        tl.spark.trends("PATTERN A+", frame, id="id", bad_rows="drop", **READING)
    with pytest.raises(QueryMeaningError, match="RETURN aggregates"):
        tl.spark.trends("RETURN COUNT(*) PATTERN A+", frame, id="id", **READING)
