"""Drivers of a stream that are killed again and again, each going on from the same checkpoint.

`TRENDLOOM_KILLS=20` kills more often than the few times that every run of the tests does.
"""

from __future__ import annotations

import os
import random
import sys
import time
from typing import TYPE_CHECKING

from spark.faults.written import last
from spark.servers.process import Server
from spark.servers.settings import quiet

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KILLS = int(os.environ.get("TRENDLOOM_KILLS", "3"))
BATCHES = 6 + 2 * KILLS
"""Micro-batches that the events last for: no kill lets more than two of them pass."""
PATIENCE = 600 + 60 * KILLS
"""Seconds for all of it."""


def run_and_kill(
    driver: Path, home: Path, *arguments: str, sink_size: Callable[[], int], seed: int
) -> None:
    """Kills the driver KILLS times, then lets it end. It gets `home`, a folder of its own, and the
    arguments; its checkpoint is in `home`, and so is the file `ended` when it has read everything.
    `sink_size` grows with what it writes.
    """
    chance = random.Random(seed)
    within = 0
    for kill in range(KILLS):
        running = _start(driver, home, kill, arguments)
        try:
            within += _kill_somewhere(running, home / "checkpoint", sink_size, chance)
        finally:
            running.kill()
    running = _start(driver, home, KILLS, arguments)
    assert running.wait(400) == 0, running.errors
    assert (home / "ended").exists()
    assert within, "no kill has hit a micro-batch"


def _start(driver: Path, home: Path, number: int, arguments: tuple[str, ...]) -> Server:
    own = home / f"driver-{number}"
    command = [sys.executable, str(driver), str(home), str(own), *arguments]
    return Server(f"driver-{number}", command, own, quiet(own))


def _kill_somewhere(
    driver: Server, checkpoint: Path, sink_size: Callable[[], int], chance: random.Random
) -> bool:
    """While Spark starts, anywhere in a micro-batch, or as soon as a micro-batch has written some
    of its rows; whether a batch was under way.
    """
    moment = chance.choice(["start", "anywhere", "anywhere", "written", "written"])
    if moment == "start":
        time.sleep(chance.uniform(1, 8))
    else:
        target = last(checkpoint / "commits") + 1 + chance.randint(0, 1)
        while not _in_batch(checkpoint, target):
            assert driver.alive, f"ended before it was killed:\n{driver.errors}"
            if last(checkpoint / "commits") >= target:
                target += 1
            time.sleep(0.01)
        if moment == "anywhere":
            time.sleep(chance.uniform(0, 1.2))
        else:
            before = sink_size()
            while sink_size() == before and _in_batch(checkpoint, target):
                time.sleep(0.001)
    driver.kill()
    return last(checkpoint / "offsets") > last(checkpoint / "commits")


def _in_batch(checkpoint: Path, batch: int) -> bool:
    return last(checkpoint / "commits") < batch <= last(checkpoint / "offsets")
