"""Money that comes back to where it started: planted cycles are among the chains listed."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import trendloom as tl

SHARED = Path(__file__).parents[3] / "shared" / "data"
DATA = Path(os.environ.get("TRENDLOOM_DATA", SHARED)) / "transfers_amlsim_SYNTHETIC.parquet"
CHAINS = "PATTERN Transfer T+ WHERE T.dst = NEXT(T).src"
Cycle = tuple[int, ...]
"""Accounts in the order in which the money passes them."""


def cycles_in(chains: list[list[int]], source: list[int], target: list[int]) -> set[Cycle]:
    """Stretches of chains that end at the account they begin with, and pass no other one twice."""
    found = set()
    for chain in chains:
        for first in range(len(chain)):
            passed: list[int] = []
            for event in chain[first:]:
                if source[event] in passed:
                    break
                passed.append(source[event])
                if target[event] == passed[0]:
                    found.add(tuple(passed))
                    break
    return found


def cycles_by_hand(time: list[Any], source: list[int], target: list[int]) -> set[Cycle]:
    """All of them by depth-first search over later transfers, without any trend."""
    leaving = defaultdict(list)
    for event, account in enumerate(source):
        leaving[account].append(event)
    found = set()

    def follow(path: list[int]) -> None:
        last = path[-1]
        if target[last] == source[path[0]]:
            found.add(tuple(source[event] for event in path))
            return
        if target[last] in {source[event] for event in path}:
            return
        for event in leaving[target[last]]:
            if time[event] > time[last]:
                follow([*path, event])

    for event in range(len(source)):
        follow([event])
    return found


@pytest.mark.parametrize("algorithm", ["m", "t", "h", "auto"])
def test_generated_cycles(algorithm: str) -> None:
    """30 cycles of three to six accounts, in time, among 3,000 transfers that lead nowhere."""
    random = np.random.default_rng(11)
    planted, rows = set(), []
    for number in range(30):
        accounts = [1_000 * (number + 1) + k for k in range(int(random.integers(3, 7)))]
        times = np.sort(random.choice(1_000, len(accounts), replace=False)).tolist()
        rows += list(zip(times, accounts, [*accounts[1:], accounts[0]], strict=True))
        planted.add(tuple(accounts))
    noise = zip(
        random.integers(0, 1_000, 3_000).tolist(),
        random.integers(100_000, 200_000, 3_000).tolist(),
        random.integers(100_000, 200_000, 3_000).tolist(),
        strict=True,
    )
    mixed = [*rows, *noise]
    order = random.permutation(len(mixed))
    time, source, target = (list(column) for column in zip(*(mixed[i] for i in order), strict=True))
    events = pa.table({"ts": time, "src": source, "dst": target})
    found = tl.trends(CHAINS, events, time="ts", event_type="Transfer", algorithm=algorithm)
    chains = found.to_arrow()["events"].to_pylist()
    cycles = {cycle for cycle in cycles_in(chains, source, target) if len(cycle) > 1}
    assert (
        planted
        <= cycles
        == {cycle for cycle in cycles_by_hand(time, source, target) if len(cycle) > 1}
    )


@pytest.mark.skipif(not DATA.exists(), reason=f"{DATA.name} is not in {DATA.parent}")
def test_simulated_bank_transfers() -> None:
    """The planted transfers are those of 10 to 20; every cycle that they close in time is found.

    These are few: the simulation drew the days of a cycle's transfers in no order, so most of the
    23 cycles of accounts are no chain in time, and no trend.
    """
    table = pq.read_table(DATA)
    amount = table["amount"].to_numpy()
    planted = np.flatnonzero((amount >= 10) & (amount < 20))
    columns = [table[name].to_pylist() for name in ("ts", "src", "dst")]
    expected = cycles_by_hand(*([column[i] for i in planted] for column in columns))
    found = tl.trends(
        f"{CHAINS} AND T.amount >= 10 AND T.amount < 20", str(DATA), time="ts", type="type"
    )
    chains = found.to_arrow()["events"].to_pylist()
    assert cycles_in(chains, columns[1], columns[2]) == expected
    assert (6018, 6116, 4717) in expected
