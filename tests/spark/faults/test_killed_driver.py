"""A stream whose driver is killed again and again writes every row once, and the right one."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest

import trendloom as tl
from spark.faults.events import DELAY, QUERY, make_events, write_events
from spark.faults.killing import BATCHES, PATIENCE, run_and_kill
from spark.faults.written import watermark, written_rows
from trendloom.testing import same_rows

DRIVER = Path(__file__).with_name("driver_stream.py")
ROWS = 4_000
SEED = 11


@pytest.mark.timeout(PATIENCE)
def test_a_killed_driver_goes_on_without_a_row_lost_or_twice(tmp_path: Path) -> None:
    tables = make_events(BATCHES, ROWS, SEED)
    write_events(tables, tmp_path / "events")
    rows = tmp_path / "rows"
    run_and_kill(DRIVER, tmp_path, sink_size=lambda: len(list(rows.glob("*.parquet"))), seed=SEED)

    events = pa.concat_tables(tables)
    over = watermark(tmp_path / "checkpoint")
    ahead = max(events["t"].to_pylist()) - over - timedelta(seconds=DELAY)
    assert timedelta(0) <= ahead < timedelta(milliseconds=1)
    batch = tl.run(QUERY, events, time="t").rows()
    expected = [row for row in batch if row["window_end"] <= over]
    assert 100 < len(expected) < len(batch)
    assert same_rows(expected, written_rows(rows), keys=["k"]) is None
