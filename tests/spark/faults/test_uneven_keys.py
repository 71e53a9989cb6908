"""One key that has half of all events, and very many that have one each.

`TRENDLOOM_UNEVEN=10000000` takes so many instead of the few that every run of the tests does.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import trendloom as tl
from spark.faults.events import write_events

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

EVENTS = int(os.environ.get("TRENDLOOM_UNEVEN", "200000"))
"""Of the one key, and as many other keys."""
FILES = 4
QUERY = "RETURN k, COUNT(*) AS n, SUM(B.x) AS s PATTERN SEQ(A?, B) GROUP-BY k"


@pytest.fixture(scope="module")
def events() -> pa.Table:
    """Key 0 is every other event, an A or a B; the others are a B each."""
    count = 2 * EVENTS
    number = np.arange(count)
    many = number % 2 == 0
    return pa.table(
        {
            "t": number,
            "type": pa.array(np.where(many & (number % 3 == 0), "A", "B")),
            "k": np.where(many, 0, number),
            "x": number % 7,
        }
    )


@pytest.mark.parametrize("plan", ["combine", "direct", "exchange"])
def test_keys_of_very_different_size(
    spark: SparkSession, tmp_path: Path, events: pa.Table, plan: str
) -> None:
    rows = -(-events.num_rows // FILES)
    tables = [events.slice(at, rows) for at in range(0, events.num_rows, rows)]
    write_events(tables, tmp_path / "events")
    frame = tl.spark.run(QUERY, str(tmp_path / "events"), spark, time="t", type="type", plan=plan)
    found = frame.toArrow().sort_by("k")

    one = events.filter(pc.equal(events["k"], 0))
    b = np.asarray(one["type"]) == "B"
    x = np.asarray(one["x"])[b]
    before = np.cumsum(~b)[b]
    assert found["k"].to_pylist()[:3] == [0, 1, 3]
    assert found.num_rows == EVENTS + 1
    # Each B is a match by itself, and one with every A before it.
    assert found["n"][0].as_py() == int((before + 1).sum())
    assert found["s"][0].as_py() == int(((before + 1) * x).sum())
    others = events.filter(pc.not_equal(events["k"], 0))
    assert pc.all(pc.equal(found["n"].slice(1), 1)).as_py()
    assert found["s"].slice(1).cast(pa.int64()).to_pylist() == others["x"].to_pylist()
