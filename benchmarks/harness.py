"""How things are measured here.

1. Contenders take turns (A B A B …), so that whatever else the machine does hits all of them.
2. A ratio is taken turn by turn, then its median: numbers of different runs are never compared.
3. Every number is shown with its spread, the least and the greatest of its turns.
"""

from __future__ import annotations

import gc
import math
import os
import statistics
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping

Name = TypeVar("Name", bound="Hashable")


class Size(Enum):
    """How much work a benchmark is given."""

    FULL = "full"
    QUICK = "quick"
    """Minutes become seconds; ratios are already near those of the full size."""
    TINY = "tiny"
    """Only shows that the benchmark runs."""

    @property
    def turns(self) -> int:
        return {Size.FULL: 5, Size.QUICK: 3, Size.TINY: 1}[self]


@dataclass(frozen=True, slots=True)
class Samples:
    """One measured quantity, turn by turn."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def low(self) -> float:
        return min(self.values)

    @property
    def high(self) -> float:
        return max(self.values)

    def __truediv__(self, other: Samples | float) -> Samples:
        """Turn by turn, if both were measured in the same turns."""
        if isinstance(other, Samples):
            pairs = zip(self.values, other.values, strict=True)
            return Samples(tuple(a / b for a, b in pairs))
        return Samples(tuple(a / other for a in self.values))

    def __mul__(self, factor: float) -> Samples:
        return Samples(tuple(a * factor for a in self.values))

    def __sub__(self, other: Samples) -> Samples:
        return Samples(tuple(a - b for a, b in zip(self.values, other.values, strict=True)))


@dataclass(frozen=True, slots=True)
class Bar:
    """What a figure must reach."""

    sign: str
    """"≤" or "≥"."""
    value: float

    def met_by(self, measured: Samples) -> bool:
        median = measured.median
        return median <= self.value if self.sign == "≤" else median >= self.value

    def missed_by(self, measured: Samples) -> float:
        """How many times too large or too small the median is; 1 and less: met."""
        here, there = measured.median, self.value
        if self.sign == "≥":
            here, there = there, here
        return here / there if there else math.inf if here else 0.0


def at_most(value: float) -> Bar:
    return Bar("≤", value)


def at_least(value: float) -> Bar:
    return Bar("≥", value)


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of a report: a claim with its bar, or (without one) a plain number."""

    claim: str
    measured: Samples
    unit: str
    bar: Bar | None = None
    label: str = ""
    """Its name in the bar chart; empty: not drawn there."""
    points: tuple[dict[str, Any], ...] = field(default=())
    """The curve behind the number, for a line chart."""

    @property
    def met(self) -> bool | None:
        return None if self.bar is None else self.bar.met_by(self.measured)


def take_turns(
    contenders: Mapping[Name, Callable[[], object]],
    turns: int,
    *,
    warm_up: int = 1,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[Name, Samples]:
    """Seconds of each contender, after turns that do not count."""
    seconds: dict[Name, list[float]] = {name: [] for name in contenders}
    with no_garbage():
        for turn in range(warm_up + turns):
            for name, contender in contenders.items():
                started = clock()
                contender()
                elapsed = clock() - started
                if turn >= warm_up:
                    seconds[name].append(elapsed)
    return {name: Samples(tuple(values)) for name, values in seconds.items()}


@contextmanager
def no_garbage() -> Iterator[None]:
    """Nobody's turn pays for the garbage of another's."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextmanager
def one_core() -> Iterator[None]:
    """Pins this thread, and all that it starts, to one core."""
    if not hasattr(os, "sched_setaffinity"):  # not Linux: the contenders are single threads anyway
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)
