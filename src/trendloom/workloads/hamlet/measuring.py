"""Measures the constants of the benefit model: small workloads of known bursts, timed.

Every constant comes from differences between runs of different lengths, so that what they have in
common (wiring queries, making tables) is not in it.
"""

from __future__ import annotations

import time
from math import log2
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from trendloom.engine.chunk import make_chunk
from trendloom.kernels.burst_choice import Costs
from trendloom.language import parse
from trendloom.plan.planner import plan
from trendloom.workloads.hamlet import calibration
from trendloom.workloads.hamlet.benefit import Mode
from trendloom.workloads.hamlet.execute import Sharing
from trendloom.workloads.hamlet.template import merge

if TYPE_CHECKING:
    from collections.abc import Callable

    from trendloom.engine.chunk import Chunk

FEW, MANY = 2, 18
"""Queries."""
BURST = 100
BURSTS = 20
WINDOWS = 40
ROUNDS = 9
RATES = 9
"""Measured in all."""
LEAST = 0.05
"""Nanoseconds: no work is free."""


def measure(
    progress: Callable[[int, int | None], None] | None = None, *, windows: int = WINDOWS
) -> tuple[Costs, Costs]:
    """The costs without and with conditions inside E+.

    Some seconds; fewer windows take less time and tell less. `progress` gets (done, of all).
    """
    done = 0

    def rate(*what: Any, **how: Any) -> float:
        nonlocal done
        found = _rate(windows, *what, **how)
        done += 1
        if progress is not None:
            progress(done, RATES)
        return found

    return _free(rate), _paired(rate)


def _free(rate: Callable[..., float]) -> Costs:
    """A window is BURSTS times an A and a burst of B: two pieces."""
    size = BURST * BURSTS
    many = rate(MANY, Mode.ALWAYS, size, graphlets=BURSTS)
    few = rate(FEW, Mode.ALWAYS, size, graphlets=BURSTS)
    query = (many - few) / (2 * BURSTS * (MANY - FEW))
    event = (few - 2 * BURSTS * FEW * query) / size
    alone = rate(MANY, Mode.NEVER, size, graphlets=BURSTS) / (size * MANY)
    # Every other event is missed by one query: a snapshot, and a map of one event in between.
    differing = rate(MANY, Mode.ALWAYS, size, graphlets=BURSTS, every=2)
    snapshot = (differing - many) / (size / 2 * MANY)
    return _costs(event, 0.0, snapshot, query, alone)


def _paired(rate: Callable[..., float]) -> Costs:
    """A window is one burst of B, or is cut into some by A's."""
    size, inside, cuts, every = 4 * BURST, "B.v < NEXT(B).v", 9, 20
    looks = size * log2(2 + size)
    many = rate(MANY, Mode.ALWAYS, size, inside=inside)
    few = rate(FEW, Mode.ALWAYS, size, inside=inside)
    cut = rate(FEW, Mode.ALWAYS, size, inside=inside, graphlets=cuts)
    query = (many - few) / (MANY - FEW)
    # An expression of the first graphlet has one column, one of the last has them all.
    column = (cut - few) / (looks * (cuts - 1) / 2)
    event = (few - FEW * query) / looks - column
    alone = rate(MANY, Mode.NEVER, size, inside=inside) / (looks * MANY)
    differing = rate(MANY, Mode.ALWAYS, size, inside=inside, every=every)
    added = size / every
    more = differing - many - looks * column * added / 2
    return _costs(event, column, more / (added * MANY), query, alone)


def _rate(
    windows: int,
    k: int,
    mode: Mode,
    size: int,
    *,
    inside: str = "",
    graphlets: int = 1,
    every: int = 0,
) -> float:
    """Nanoseconds of one more window: the second half of twice as many."""
    trials = [
        _Trial(k, number, size, inside=inside, graphlets=graphlets, every=every, mode=mode)
        for number in (windows, 2 * windows)
    ]
    # In turns, so that what else the machine does at times slows down both.
    best = [float("inf")] * 2
    for _ in range(ROUNDS):
        best = [min(least, trial.seconds()) for least, trial in zip(best, trials, strict=True)]
    return (best[1] - best[0]) * 1e9 / windows


def _costs(event: float, column: float, snapshot: float, query: float, alone: float) -> Costs:
    least = LEAST if column else 0.0
    return Costs(
        max(event, LEAST), max(column, least), max(snapshot, LEAST), max(query, LEAST),
        max(alone, LEAST),
    )  # fmt: skip


class _Trial:
    """k queries SEQ(A, B+, C) over windows of some graphlets."""

    def __init__(
        self,
        k: int,
        windows: int,
        size: int,
        *,
        inside: str,
        graphlets: int,
        every: int,
        mode: Mode,
    ) -> None:
        """One query misses every so many-th event, if any."""
        apart = ["B.w > 0"] if every else []
        queries = []
        for number in range(k):
            where = " AND ".join([inside] * bool(inside) + apart * (number == 0))
            queries.append(
                "RETURN COUNT(*) PATTERN SEQ(A, B+, C) "
                + (f"WHERE {where} " if where else "")
                + "WITHIN 100000 s SLIDE 100000 s"
            )
        (self.group,) = merge([plan(parse(text)) for text in queries]).groups
        self.chunk = self._chunk(windows, size, graphlets, every)
        types = [pa.float64()] * len(self.group.joint.scan.operands)
        costs = calibration.USUAL, calibration.USUAL_PAIRS
        self.sharing = Sharing(self.group, types, 1_000_000_000, mode, costs)
        self.sharing.evaluate(self.chunk)

    def _chunk(self, windows: int, size: int, graphlets: int, every: int) -> Chunk:
        scan = self.group.joint.scan
        kinds = (["A"] + ["B"] * (size // graphlets)) * graphlets + ["C"]
        one = np.array(kinds)
        kind = np.tile(one, windows)
        at = np.concatenate([w * 100_000 + np.arange(len(one)) for w in range(windows)])
        missed = np.zeros(len(kind), np.bool_)
        if every:
            missed[::every] = True
        mask = np.zeros(len(kind), np.uint64)
        for bit, letter in enumerate(scan.letters):
            here = (kind == letter.type) & ~(missed & (letter.condition is not None))
            mask |= here.astype(np.uint64) << np.uint64(bit)
        values = np.random.default_rng(1).random(len(kind))
        columns = {"time": pa.array(at.astype(np.int64)), "mask": pa.array(mask)}
        columns |= {f"x{k}": pa.array(values) for k in range(len(scan.operands))}
        return make_chunk(pa.RecordBatch.from_pydict(columns), 0)

    def seconds(self) -> float:
        started = time.process_time()
        self.sharing.evaluate(self.chunk)
        return time.process_time() - started
