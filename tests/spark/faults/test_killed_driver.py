"""A stream whose driver is killed again and again writes every row once, and the right one.

`TRENDLOOM_KILLS=20` kills more often than the few times that every run of the tests does.
"""

from __future__ import annotations

import os
import random
import sys
import time
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest

import trendloom as tl
from spark.faults.events import DELAY, QUERY, make_events, write_events
from spark.faults.written import last, watermark, written_rows
from spark.servers.process import Server
from spark.servers.settings import quiet
from trendloom.testing import same_rows

DRIVER = Path(__file__).with_name("driver_stream.py")
KILLS = int(os.environ.get("TRENDLOOM_KILLS", "3"))
FILES = 12 + KILLS
"""Each is a micro-batch, and no kill lets more than two of them pass."""
ROWS = 4_000
SEED = 11


@pytest.mark.timeout(240 + 60 * KILLS)
def test_a_killed_driver_goes_on_without_a_row_lost_or_twice(tmp_path: Path) -> None:
    tables = make_events(FILES, ROWS, SEED)
    write_events(tables, tmp_path / "events")
    chance = random.Random(SEED)
    within = 0
    for kill in range(KILLS):
        driver = start(tmp_path, kill)
        try:
            within += kill_somewhere(driver, tmp_path / "checkpoint", chance)
        finally:
            driver.kill()
    driver = start(tmp_path, KILLS)
    assert driver.wait(200) == 0, driver.errors
    assert (tmp_path / "ended").exists()
    assert within, "no kill has hit a micro-batch"

    events = pa.concat_tables(tables)
    over = watermark(tmp_path / "checkpoint")
    ahead = max(events["t"].to_pylist()) - over - timedelta(seconds=DELAY)
    assert timedelta(0) <= ahead < timedelta(milliseconds=1)
    batch = tl.run(QUERY, events, time="t").rows()
    expected = [row for row in batch if row["window_end"] <= over]
    assert 100 < len(expected) < len(batch)
    assert same_rows(expected, written_rows(tmp_path / "rows"), keys=["k"]) is None


def start(home: Path, number: int) -> Server:
    own = home / f"driver-{number}"
    command = [sys.executable, str(DRIVER), str(home), str(own)]
    return Server(f"driver-{number}", command, own, quiet(own))


def kill_somewhere(driver: Server, checkpoint: Path, chance: random.Random) -> bool:
    """Mostly within a micro-batch, at times while Spark starts; whether a batch was under way."""
    if chance.random() < 0.2:
        time.sleep(chance.uniform(1, 8))
    else:
        target = last(checkpoint / "commits") + 1 + chance.randint(0, 1)
        while last(checkpoint / "offsets") < target or last(checkpoint / "commits") >= target:
            assert driver.alive, f"ended before it was killed:\n{driver.errors}"
            if last(checkpoint / "commits") >= target:
                target += 1
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 1.2))
    driver.kill()
    return last(checkpoint / "offsets") > last(checkpoint / "commits")
