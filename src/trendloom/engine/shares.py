"""Which runs go to which thread: shares of about the same cost, in the order of the runs.

Runs lie one after another on a line, as long as they have events. A cut between two runs costs
nothing, and what is computed is the same to the last bit. A cut inside of a run costs: behind it
the vector is not known yet, so events there become a map (`pieces`), each at `dearer` times the
price. Runs are therefore cut only where that ends clearly sooner: one huge run, or a few.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from trendloom.engine.windows import Runs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk

    Ints = NDArray[np.int64]

CLEARLY = 0.85
"""Times as long as with runs left whole: then they are cut."""
HALVINGS = 12
"""Of the range in which the least time of all threads is searched."""
NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class Cut:
    """Before event `offset` of run `run`; between two runs, if it is 0."""

    run: int
    offset: int


def cut_runs(sizes: Ints, shares: int, dearer: float = NEVER) -> list[Cut]:
    """The cuts that part the runs into at most so many shares."""
    line = np.cumsum(sizes)
    whole = dearer == NEVER and len(line) == 1
    if shares < 2 or whole or not len(line) or line[-1] == 0:
        return []
    time, cuts = _search(line, shares, NEVER)
    if dearer < NEVER:
        sooner, inside = _search(line, shares, dearer)
        cuts = inside if sooner < CLEARLY * time else cuts
    return [Cut(run, cut - start) for cut in cuts for run, start in (_run_at(line, cut),)]


@dataclass(frozen=True)
class Portion:
    """Runs `first : end` with their events only: rows `lo : hi` of the chunk."""

    first: int
    end: int
    lo: int
    hi: int
    chunk: Chunk
    runs: Runs

    @property
    def numbers(self) -> Ints:
        """The runs' own."""
        return np.arange(self.first, self.end)

    @classmethod
    def of(cls, chunk: Chunk, runs: Runs, first: int, end: int) -> Portion:
        """Nothing is copied but the bounds of runs."""
        mine = runs.pick(np.arange(first, end))
        lo, hi = int(mine.lo.min()), int(mine.hi.max())
        mine = Runs(mine.lo - lo, mine.hi - lo, mine.partition, mine.window)
        return cls(first, end, lo, hi, chunk.slice(lo, hi), mine)


def portions(chunk: Chunk, runs: Runs, cuts: list[Cut]) -> list[Portion]:
    """One per share, where no run is cut."""
    if not cuts:
        return [Portion(0, len(runs), 0, len(chunk), chunk, runs)]
    places = dict.fromkeys([0, *(cut.run for cut in cuts), len(runs)])
    return [Portion.of(chunk, runs, first, end) for first, end in pairwise(places)]


def cut_windows(runs: Runs, shares: int) -> list[Cut]:
    """Cuts between windows that overlap: between partitions, or where these are too few inside.

    There, both sides look at the events that windows of both hold.
    """
    before = np.concatenate([[0], runs.hi[:-1]])
    sizes = np.maximum(runs.hi - np.maximum(runs.lo, before), 0)
    starts = np.flatnonzero(np.diff(runs.partition, prepend=-1))
    whole = cut_runs(np.add.reduceat(sizes, starts), shares)
    between = [Cut(int(starts[cut.run]), 0) for cut in whole]
    inside = cut_runs(sizes, shares)
    sooner = _most_events(runs, inside) < CLEARLY * _most_events(runs, between)
    return inside if sooner else between


def _most_events(runs: Runs, cuts: list[Cut]) -> int:
    places = np.array([0, *(cut.run for cut in cuts)])
    lo, hi = np.minimum.reduceat(runs.lo, places), np.maximum.reduceat(runs.hi, places)
    return int((hi - lo).max())


def _search(line: Ints, shares: int, dearer: float) -> tuple[float, list[int]]:
    """The least time in which the shares are done, and their cuts on the line."""
    low, high = float(line[-1]) / shares, float(line[-1])
    best: list[int] = []
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        cuts = _greedy(line, shares, dearer, middle)
        if cuts is None:
            low = middle
        else:
            high, best = middle, cuts
    return high, best


def _greedy(line: Ints, shares: int, dearer: float, time: float) -> list[int] | None:
    """Every share as long as the time lasts; None if events are left."""
    cuts: list[int] = []
    at = 0
    for _ in range(shares):
        at = _reach(line, at, dearer, time)
        if at >= line[-1]:
            return cuts
        cuts.append(at)
    return None


def _reach(line: Ints, at: int, dearer: float, time: float) -> int:
    """How far a share comes that begins at a place of the line."""
    run, start = _run_at(line, at)
    if at > start:
        rest = (int(line[run]) - at) * dearer
        if rest > time:
            return at + int(time / dearer)
        at, time = int(line[run]), time - rest
    end = at + int(time)
    if end >= line[-1] or dearer < NEVER:
        return end
    return max(at, _run_at(line, end)[1])


def _run_at(line: Ints, place: int) -> tuple[int, int]:
    """The run at a place of the line, and where it begins."""
    run = int(np.searchsorted(line, place, side="right"))
    return run, int(line[run - 1]) if run else 0
