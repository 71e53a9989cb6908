"""A cluster runs Python workers, and a job outlives the loss of a worker."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spark.servers.cluster import Cluster

DRIVER = Path(__file__).with_name("driver_total.py")


def test_cluster_runs_python_workers(cluster: Cluster, tmp_path: Path) -> None:
    assert "total 49995000\n" in cluster.run_driver(DRIVER, str(tmp_path), "0")
    assert list(tmp_path.iterdir()), "no task has run"
    assert len({server.pid for server in (cluster.master, *cluster.workers)}) == 3


def test_job_outlives_the_loss_of_a_worker(cluster: Cluster, tmp_path: Path) -> None:
    lost = cluster.workers[0]
    driver = cluster.start_driver(DRIVER, str(tmp_path), "3")
    while not any(f"+{lost.name}+" in mark.name for mark in tmp_path.iterdir()):
        assert driver.alive, f"no task ran at {lost.name}: {driver.errors}"
        time.sleep(0.05)
    cluster.kill_worker(0)
    assert driver.wait(200) == 0, driver.errors
    assert "total 49995000\n" in driver.output
    assert "Lost executor" in driver.errors
    assert not lost.alive


def test_lost_workers_are_replaced_before_the_next_test(cluster: Cluster) -> None:
    cluster.kill_worker(1)
    cluster.heal()
    assert all(worker.alive for worker in cluster.workers)
