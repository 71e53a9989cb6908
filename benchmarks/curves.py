"""Time by size, of contenders that count the same until they take too long."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.baselines.limits import Stopped
from benchmarks.harness import Figure, Samples, Size, take_turns

Counting = Callable[[], np.ndarray]
"""Counts per group or window: integers, or doubles that are logarithms of them."""

TURNS = {Size.FULL: 3, Size.QUICK: 3, Size.TINY: 1}
ENGINE = "Trendloom"


@dataclass
class Curves:
    """One panel: contenders that are asked at one point after the other until they are stopped."""

    name: str
    x: str
    size: Size
    turns: dict[tuple[str, int], Samples] = field(default_factory=dict)
    points: list[dict[str, Any]] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)

    def measure(self, x: int, contenders: dict[str, Counting]) -> None:
        """Counts first; then those that came to an end take turns."""
        running = {who: count for who, count in contenders.items() if who not in self.gone}
        counts: dict[str, np.ndarray] = {}
        for who, count in running.items():
            started = time.perf_counter()
            try:
                counts[who] = count()
            except Stopped:
                self.gone.add(who)
                self._point(who, x, time.perf_counter() - started, stopped=True)
        for who in counts:
            same(f"{self.name}, {x:,} {self.x}", who, counts[who], counts[ENGINE])
        left = {who: running[who] for who in counts}
        for who, seconds in take_turns(left, TURNS[self.size], warm_up=0).items():
            self.turns[who, x] = seconds
            self._point(who, x, seconds.median, stopped=False)

    def _point(self, who: str, x: int, seconds: float, *, stopped: bool) -> None:
        point = {"panel": self.name, "what": who, "x": x, "y": seconds * 1e3, "stopped": stopped}
        self.points.append(point)

    def figures(self) -> list[Figure]:
        """Per contender, against the engine at the last point that it came to an end at."""
        found = []
        for who in dict.fromkeys(who for who, _ in self.turns):
            mine = tuple(point for point in self.points if point["what"] == who)
            last = [x for name, x in self.turns if name == who][-1]
            at = f"{self.name}, {last:,} {self.x}"
            seconds = self.turns[who, last]
            if who == ENGINE:
                found.append(Figure(f"{at}: {who}", seconds * 1e3, "ms", points=mine))
                if self.x == "events":
                    rate = Samples(tuple(last / taken for taken in seconds.values))
                    found.append(Figure(f"{at}: {who}, throughput", rate, "events/s"))
                continue
            ratio = seconds / self.turns[ENGINE, last]
            until = " (stopped at the next)" if who in self.gone else ""
            found.append(Figure(f"{at}: {who}, × {ENGINE}'s time{until}", ratio, "×", points=mine))
        never = [p for p in self.points if p["what"] not in {who for who, _ in self.turns}]
        return [*found, *(_never(point, self.x) for point in never)]


def _never(point: dict[str, Any], x: str) -> Figure:
    claim = f"{point['panel']}, {point['x']:,} {x}: {point['what']}, stopped after"
    return Figure(claim, Samples((point["y"],)), "ms", points=(point,))


def same(where: str, who: str, found: np.ndarray, wanted: np.ndarray) -> None:
    """Integers must be equal; logarithms to 1e-9, and two-step's integers as logarithms."""
    theirs, ours = np.asarray(found), np.asarray(wanted)
    if ours.dtype.kind == "f" and theirs.dtype.kind != "f":
        with np.errstate(divide="ignore"):
            theirs = np.log2(theirs)
    exact = ours.dtype.kind != "f"
    if not (
        np.array_equal(theirs, ours)
        if exact
        else np.allclose(theirs, ours, rtol=1e-9, atol=1e-9, equal_nan=False)
    ):
        raise AssertionError(f"{where}: {who} counts other trends than {ENGINE}")
