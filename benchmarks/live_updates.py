"""A row after every step of a stream: new events cost hardly more, however many the window holds.

`S+` with `S.price > NEXT(S).price`, skip-till-any-match, one window in update mode, on one core. A
step brings a thousand events and takes the window's new row. "From nothing" is what a known batch
of the window costs at every step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from benchmarks import charts
from benchmarks.events import A
from benchmarks.harness import Figure, Size, at_least, at_most, one_core, take_turns
from trendloom import query
from trendloom.engine.live import Live, Mode
from trendloom.engine.setting import Setting

if TYPE_CHECKING:
    import altair as alt

HELD = {
    Size.FULL: (10_000, 100_000, 1_000_000),
    Size.QUICK: (10_000, 100_000),
    Size.TINY: (50, 100),
}
STEP = {Size.FULL: 1_000, Size.QUICK: 1_000, Size.TINY: 20}
TEXT = (
    "RETURN LOG2(COUNT(*)) PATTERN S+ WHERE S.price > NEXT(S).price"
    " WITHIN 1000 hours SLIDE 1000 hours"
)


class Window:
    """One that holds some events already."""

    def __init__(self, held: int, step: int, *, keep_events: bool = False) -> None:
        setting = Setting(query(TEXT).plan, [pa.float64()], [], nanoseconds=1_000_000_000)
        self.live = Live(setting, Mode.UPDATE, keep_events=keep_events)
        self.step = step
        self.now = 0
        self.chance = np.random.default_rng(3)
        self._take(held)

    def __call__(self) -> None:
        """A step, and its row."""
        self._take(self.step)

    def _take(self, count: int) -> None:
        time = np.arange(self.now, self.now + count)
        self.now += count
        mask = np.full(count, A, np.uint8)
        columns = {"time": time, "mask": mask, "x0": self.chance.random(count)}
        self.live.advance(pa.table(columns), None)
        assert self.live.advance(None, self.now).matches == 1


def run(size: Size) -> list[Figure]:
    step = STEP[size]
    with one_core():
        entries = {n: Window(n, step) for n in HELD[size]}
        s = take_turns(entries, 3 * size.turns)
        few, many = HELD[size][0], HELD[size][-1]
        last = Window(many, step)
        nothing = Window(many, step, keep_events=True)
        both = take_turns({"entries": last, "nothing": nothing}, size.turns)
    return [
        Figure(f"a step of a window of {many:,} to one of {few:,} events", s[many] / s[few], "×",
               at_most(4)),
        Figure(f"from nothing to a step, {many:,} events", both["nothing"] / both["entries"], "×",
               at_least(20)),
        *(Figure(f"a step of {step:,} events, {n:,} held", s[n], "s", label=f"{n:,} held")
          for n in HELD[size]),
        Figure(f"from nothing, {many:,} held", both["nothing"], "s",
               label=f"from nothing, {many:,} held"),
    ]  # fmt: skip


def draw(figures: list[Figure]) -> alt.LayerChart:
    return charts.bars(
        figures,
        title="A stream's window with a comparison, updated at every step",
        subtitle=f"Milliseconds per step of {STEP[Size.FULL]:,} events, one core",
        axis="milliseconds",
        unit=1e-3,
    )
