"""Queries on a cluster that loses workers in the middle: the rows of one machine."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

import trendloom as tl
from spark.faults.events import QUERY, make_events, write_events
from spark.faults.written import last, watermark, written_rows
from trendloom.testing import same_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from spark.servers.cluster import Cluster
    from spark.servers.process import Server

DRIVER = Path(__file__).with_name("driver_trends.py")
ROWS = 4_000
SECONDS = 200


def wait_until(happens: Callable[[], bool], driver: Server) -> None:
    end = time.monotonic() + SECONDS
    while not happens():
        assert driver.alive, f"the driver ended:\n{driver.errors}"
        assert time.monotonic() < end, f"nothing happened:\n{driver.errors}"
        time.sleep(0.02)


def test_batch_plans_outlive_the_loss_of_workers(cluster: Cluster, tmp_path: Path) -> None:
    """Lost when its maps or events were exchanged and rows are made of them: they are made anew."""
    tables = make_events(6, ROWS, seed=21)
    write_events(tables, tmp_path / "events")
    marks = tmp_path / "marks"
    marks.mkdir()
    driver = cluster.start_driver(
        DRIVER, str(tmp_path), "batch", spark_sql_adaptive_coalescePartitions_enabled="false"
    )
    for plan in ("combine", "exchange"):
        wait_until(lambda plan=plan: any(marks.glob(f"{plan}*")), driver)
        mark = next(marks.glob(f"{plan}*")).name
        lost = next(i for i, one in enumerate(cluster.workers) if f"+{one.name}+" in mark)
        cluster.kill_worker(lost)
        cluster.heal()
    assert driver.wait(SECONDS) == 0, driver.errors
    assert driver.errors.count("Lost executor") >= 2
    expected = tl.run(QUERY, pa.concat_tables(tables), time="t").rows()
    assert len(expected) > 100
    for plan in ("combine", "exchange", "direct"):
        rows = pq.read_table(tmp_path / f"{plan}.parquet").to_pylist()
        assert same_rows(expected, rows, keys=["k"]) is None, plan


def test_a_stream_outlives_the_loss_of_a_worker(cluster: Cluster, tmp_path: Path) -> None:
    tables = make_events(8, ROWS, seed=22)
    write_events(tables, tmp_path / "events")
    driver = cluster.start_driver(DRIVER, str(tmp_path), "stream")
    checkpoint = tmp_path / "checkpoint"
    wait_until(lambda: last(checkpoint / "offsets") > last(checkpoint / "commits") >= 2, driver)
    cluster.kill_worker(0)
    under_way = last(checkpoint / "commits")
    assert driver.wait(SECONDS) == 0, driver.errors
    assert "Lost executor" in driver.errors
    assert last(checkpoint / "commits") > under_way
    over = watermark(checkpoint)
    batch = tl.run(QUERY, pa.concat_tables(tables), time="t").rows()
    expected = [row for row in batch if row["window_end"] <= over]
    assert 100 < len(expected) < len(batch)
    assert same_rows(expected, written_rows(tmp_path / "rows"), keys=["k"]) is None
