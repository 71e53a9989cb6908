"""Windows in ticks: which runs to make, and what the result rows say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trendloom.engine.arrow import read_only
from trendloom.errors import InputError, LimitError
from trendloom.kernels import windows as kernel
from trendloom.language.nodes import CountWindow, TimeWindow
from trendloom.language.windows import ticks
from trendloom.plan.plan import Plan, WindowStrategy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk

    Ints = NDArray[np.int64]


MAX_WINDOWS = 20_000_000
LAST_TIME = 1 << 62


@dataclass(frozen=True, slots=True)
class Runs:
    """Events `lo : hi` of the chunk are window `window` of partition `partition`."""

    lo: Ints
    hi: Ints
    partition: Ints
    window: Ints

    def __len__(self) -> int:
        return len(self.lo)

    def pick(self, rows: NDArray[np.bool_] | Ints) -> Runs:
        return Runs(self.lo[rows], self.hi[rows], self.partition[rows], self.window[rows])


@dataclass(frozen=True, slots=True)
class Windows:
    """A plan's windows on a time axis. A window is numbered by k, or by its end (CHANGES)."""

    strategy: WindowStrategy
    within: int = 0
    slide: int = 0

    @classmethod
    def of(cls, plan: Plan, nanoseconds: int) -> Windows:
        """`nanoseconds` per tick of the time column."""
        match plan.window:
            case None:
                return cls(plan.strategy)
            case CountWindow(within=within, slide=slide):
                return cls(plan.strategy, within, slide)
            case TimeWindow(within=length, slide=every):
                text = plan.query.text
                within = ticks(length, nanoseconds, text)
                return cls(
                    plan.strategy,
                    within,
                    within if every is None else ticks(every, nanoseconds, text),
                )

    def runs(self, chunk: Chunk) -> Runs:
        return self.runs_over(chunk.time, chunk.bounds)

    def runs_over(self, time: Ints, bounds: Ints) -> Runs:
        """The runs of sorted rows: partition p is rows `bounds[p] : bounds[p + 1]`."""
        time = read_only(time)
        match self.strategy:
            case WindowStrategy.WHOLE:
                count = len(bounds) - 1
                return Runs(bounds[:-1], bounds[1:], np.arange(count), np.zeros(count, np.int64))
            case WindowStrategy.SLIDING:
                self.check_range(time)
                runs = Runs(*kernel.sliding(time, bounds, self.within, self.slide, MAX_WINDOWS))
                if len(runs) == MAX_WINDOWS:
                    raise LimitError(
                        f"More than {MAX_WINDOWS:,} windows over {len(time):,} rows.",
                        remedy="Use a larger SLIDE.",
                    )
                return runs
            case WindowStrategy.COUNTED:
                return Runs(*kernel.counted(bounds, self.within, self.slide))
            case WindowStrategy.CHANGES:
                self.check_range(time)
                return Runs(*kernel.changes(time, bounds, self.within))

    def check_range(self, time: Ints) -> None:
        """Window bounds are 64-bit ticks too."""
        room = LAST_TIME - self.within - self.slide
        if len(time) and max(-int(time.min()), int(time.max())) > room:
            raise InputError(
                "An event's time is too near the ends of the 64-bit range for its windows.",
                remedy="Times in such a distance are probably wrong; drop or correct those rows.",
            )

    def start(self, window: Ints) -> Ints:
        if self.strategy is WindowStrategy.CHANGES:
            return window - self.within
        return window * self.slide

    def end(self, window: Ints) -> Ints:
        if self.strategy is WindowStrategy.CHANGES:
            return window
        return window * self.slide + self.within

    def last_end(self, time: Ints) -> Ints:
        """The end of the last sliding window that an event is in."""
        return time // self.slide * self.slide + self.within

    def next_end(self, time: int) -> int:
        """The first end of a sliding window after a time."""
        return ((time - self.within) // self.slide + 1) * self.slide + self.within
