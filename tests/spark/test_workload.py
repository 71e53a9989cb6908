"""A workload on Spark: the rows that it has on the local host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import trendloom as tl
from spark.cases import frame_of
from trendloom.testing import same_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERIES = {
    "ends": "RETURN k, COUNT(*) AS n PATTERN SEQ(A+, B) GROUP-BY k WITHIN 4 s SLIDE 2 s",
    "rises": "RETURN SUM(A.x) AS total PATTERN A+ WHERE A.x < NEXT(A).x",
}
EVENTS = [{"time": t, "type": "ABA"[t % 3], "x": t * 7 % 5, "k": "pq"[t % 2]} for t in range(20)]
READ: dict[str, Any] = {"time": "time", "type": "type"}


def test_rows_are_those_of_the_local_host(spark: SparkSession) -> None:
    workload = tl.workload(QUERIES)
    rows = [
        row.asDict() for row in tl.spark.run(workload, frame_of(spark, EVENTS), **READ).collect()
    ]
    wanted = workload.run(EVENTS, **READ).table.to_pylist()
    assert len(wanted) > len(QUERIES)
    assert {row["query"] for row in rows} == set(QUERIES)
    assert same_rows(wanted, rows, keys=["query", "window_start", "k"]) is None
