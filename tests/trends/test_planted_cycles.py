"""Money that comes back to where it started: planted cycles are among the chains listed."""

from __future__ import annotations

import os
from collections import defaultdict
from itertools import permutations
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
Transfer = tuple[Any, int, int, float]
"""Time, source, target, amount."""


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


def rings_by_hand(events: list[Transfer]) -> set[Cycle]:
    """Closed walks of one amount over distinct accounts, whatever the order of time."""
    found = set()
    for amount in {event[3] for event in events}:
        leaving = defaultdict(set)
        for _, source, target, paid in events:
            if paid == amount:
                leaving[source].add(target)
        walks = [[account] for account in leaving]
        while walks:
            walk = walks.pop()
            for account in leaving.get(walk[-1], ()):
                if account == walk[0]:
                    found.add(turned(walk))
                elif account not in walk:
                    walks.append([*walk, account])
    return found


def turned(accounts: list[int]) -> Cycle:
    """The same ring, from its smallest account."""
    first = accounts.index(min(accounts))
    return tuple(accounts[first:] + accounts[:first])


def parts_by_hand(events: list[Transfer]) -> set[frozenset[Transfer]]:
    """What belongs together: transfers of one amount that an account joins."""
    parts: list[set[Transfer]] = []
    for event in events:
        joined = {event}
        apart = []
        for part in parts:
            if any(one[3] == event[3] and {*one[1:3]} & {*event[1:3]} for one in part):
                joined |= part
            else:
                apart.append(part)
        parts = [*apart, joined]
    return {frozenset(part) for part in parts}


@pytest.fixture(scope="module")
def planted() -> list[Transfer]:
    """Transfers of planted cycles are those of 10 to 20; the simulation repeats most of them up to
    five times on the same day, which tells nothing.
    """
    if not DATA.exists():
        pytest.skip(f"{DATA.name} is not in {DATA.parent}")
    table = pq.read_table(DATA, filters=[("amount", ">=", 10), ("amount", "<", 20)])
    assert table.num_rows == 1_899
    columns = [table[name].to_pylist() for name in ("ts", "src", "dst", "amount")]
    return sorted(set(zip(*columns, strict=True)))


def as_table(events: list[Transfer]) -> pa.Table:
    columns = zip(*events, strict=True)
    return pa.table(dict(zip(("ts", "src", "dst", "amount"), map(list, columns), strict=True)))


def test_every_planted_transfer_is_in_the_trend_of_its_cycle(planted: list[Transfer]) -> None:
    """A cycle has five accounts and one amount, and its transfers come on five days in no order.

    Of the 200 that were planted, 186 have transfers in the 149 days simulated, and 21 have all. A
    trend per amount holds them: all its transfers, in time.
    """
    found = tl.trends(
        "PATTERN Transfer T+ WHERE [amount]", as_table(planted), time="ts", event_type="Transfer",
        tiebreak="src",
    )  # fmt: skip
    trends = [{planted[row] for row in events} for events in found.to_arrow()["events"].to_pylist()]
    parts = parts_by_hand(planted)
    assert (len(planted), len(trends), len(parts)) == (479, 145, 186)
    assert all(sum(part <= trend for trend in trends) == 1 for part in parts)
    rings = rings_by_hand(planted)
    assert set().union(*(rings_by_hand(list(trend)) for trend in trends)) == rings
    assert len(rings) == 21
    assert {len(ring) for ring in rings} == {5}


def test_planted_cycles_in_each_order_of_time(planted: list[Transfer]) -> None:
    """A query per order in which five transfers can close a ring; together they list each once."""
    letters = "ABCDE"
    types = ", ".join(f"Transfer {letter}" for letter in letters)
    listed: list[Cycle] = []
    for later in permutations(range(1, 5)):
        order = (0, *later)
        closing = zip(order, (*later, 0), strict=True)
        steps = " AND ".join(f"{letters[a]}.dst = {letters[b]}.src" for a, b in closing)
        found = tl.trends(
            f"PATTERN SEQ({types}) WHERE [amount] AND {steps}", as_table(planted),
            time="ts", event_type="Transfer", tiebreak="src",
        )  # fmt: skip
        listed += [
            turned([planted[events[place]][1] for place in order])
            for events in found.to_arrow()["events"].to_pylist()
        ]
    assert len(listed) == len(set(listed)) == 21
    assert set(listed) == rings_by_hand(planted)


def test_planted_transfers_that_close_in_time(planted: list[Transfer]) -> None:
    """None of the 21 is a chain in time, which one order in 24 is; parts of several make one."""
    time, source, target, _ = (list(column) for column in zip(*planted, strict=True))
    found = tl.trends(CHAINS, as_table(planted), time="ts", event_type="Transfer")
    chains = found.to_arrow()["events"].to_pylist()
    expected = cycles_by_hand(time, source, target)
    assert cycles_in(chains, source, target) == expected == {(6018, 6116, 4717)}
