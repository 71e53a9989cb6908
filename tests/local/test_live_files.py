"""Live queries over files, each with a database of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq

import trendloom as tl

if TYPE_CHECKING:
    from pathlib import Path

QUERY = "RETURN k, COUNT(*) AS n PATTERN SEQ(A+, B) GROUP-BY k WITHIN 6 s SLIDE 3 s"
TABLE = pa.table(
    {
        "time": list(range(40)),
        "type": ["AABABB"[t % 6] for t in range(40)],
        "k": ["uv"[t % 2] for t in range(40)],
    }
)


def test_files_and_relations_are_pushed_like_tables(tmp_path: Path) -> None:
    pq.write_table(TABLE.slice(0, 10), tmp_path / "one.parquet")
    pcsv.write_csv(TABLE.slice(10, 10), tmp_path / "two.csv")
    pq.write_table(TABLE.slice(20, 10), tmp_path / "three.parquet")
    (tmp_path / "none.csv").write_text("time,type,k\n")
    last = TABLE.slice(30)
    live = tl.workload([QUERY]).live(time="time", type="type", watermark="3 s")
    with (tmp_path / "three.parquet").open("rb") as file, duckdb.connect() as connection:
        relation = connection.from_arrow(last)
        pushes = [str(tmp_path / "one.parquet"), tmp_path / "two.csv", tmp_path / "none.csv"]
        steps = [live.push(events) for events in (*pushes, file, relation)]
    steps.append(live.finish())
    assert [step.events for step in steps] == [10, 10, 0, 10, 10, 0]
    rows = [row for step in steps for row in step["q1"].rows()]
    assert rows == tl.run(QUERY, TABLE, time="time", type="type").rows()
