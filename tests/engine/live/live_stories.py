"""Streams that were cut in the middle, and the states that a version left there.

    python tests/engine/live/live_stories.py

writes the states of this version that are not there yet. What a version wrote is never written
again: later ones must read it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from live_streams import END, Scanned, scanned

from trendloom.engine.layout import Numbers
from trendloom.engine.live import Live, Mode
from trendloom.engine.wire import VERSION
from trendloom.testing import stream

if TYPE_CHECKING:
    import numpy as np

FIXTURES = Path(__file__).parents[1] / "fixtures"
EVENTS = (
    "a1:g=1,k=u,x=3 b2:g=1,k=u,x=1 a2:g=2,k=v,x=5 a4:g=1,k=v,x=7 b5:g=1,k=v,x= c5:g=2,k=v,x=2 "
    "a6:g=1,k=u,x=4 b7:g=2,k=v,x=9 a8:g=1,k=u,x=6 a9:g=1,k=v,x=2 b10:g=1,k=u,x=8 c11:g=1,k=u,x=1 "
    "a12:g=2,k=v,x=3 b13:g=1,k=v,x=4 a14:g=1,k=u,x=2 b15:g=2,k=v,x=7 b16:g=1,k=u,x=5 "
    "b19:g=1,k=v,x=1"
)


@dataclass(frozen=True)
class Story:
    """A query over `EVENTS`; the state rests when those before time 10 have come, watermark 7."""

    query: str
    mode: Mode = Mode.APPEND
    numbers: Numbers = Numbers.AUTO
    tiebreak: str | None = None
    keep_events: bool = False
    """As a version did that had no vectors for the query."""
    cut: int = 10
    watermark: int = 7

    def scan(self) -> Scanned:
        events = stream(EVENTS)
        return scanned(self.query, events, tiebreak=self.tiebreak, numbers=self.numbers)

    def begun(self, scan: Scanned) -> tuple[Live, list[pa.Table]]:
        """The stream up to the cut, and its rows."""
        live = Live(scan.setting, self.mode, keep_events=self.keep_events)
        first = live.advance(_where(scan, scan.time < self.cut), None)
        return live, [first.rows, live.advance(None, self.watermark).rows]

    def ended(self, scan: Scanned, live: Live) -> list[pa.Table]:
        """The rows of the rest."""
        second = live.advance(_where(scan, scan.time >= self.cut), self.watermark)
        return [second.rows, live.advance(None, END).rows]


def _where(scan: Scanned, rows: np.ndarray) -> pa.Table:
    return scan.table.filter(pa.array(rows))


GROUPED = "WHERE [k] GROUP-BY g WITHIN 6 seconds SLIDE 3 seconds"
STORIES = {
    "vectors": Story(
        f"RETURN g, COUNT(*), SUM(A.x), VARIANCE(B.x) PATTERN (SEQ(A+, B))+ {GROUPED}",
    ),
    "vectors_checked": Story(
        "RETURN g, COUNT(*), SUM(A.x) PATTERN (SEQ(A+, B))+ SEMANTICS skip-till-next-match "
        f"{GROUPED}",
        Mode.UPDATE,
    ),
    "vectors_extremes": Story(
        "RETURN g, COUNT(*), MIN(A.x), MAX(B.x), MAX(LENGTH(*)) PATTERN (SEQ(A+, B))+ "
        f"SEMANTICS skip-till-next-match {GROUPED}",
    ),
    "events": Story(
        f"RETURN g, COUNT(*), MAX(B.x), AVG(A.x) PATTERN SEQ(A+, NOT C, B) {GROUPED}",
        keep_events=True,
    ),
    "vectors_guards": Story(
        f"RETURN g, COUNT(*), MAX(B.x), AVG(A.x) PATTERN SEQ(A+, NOT C, B) {GROUPED}",
    ),
    "events_exact": Story(
        "RETURN COUNT(*), SUM(B.x) PATTERN SEQ(A+, B+, NOT C) WHERE A.x < NEXT(A).x "
        "WITHIN 8 seconds SLIDE 2 seconds",
        Mode.UPDATE,
        Numbers.EXACT,
        tiebreak="k",
    ),
    "changes": Story(
        "RETURN g, COUNT(*), STDDEV(A.x) PATTERN SEQ(A+, B) WHERE [k] GROUP-BY g WITHIN 5 seconds"
    ),
    "entries": Story(
        "RETURN g, COUNT(*), SUM(B.x), VARIANCE(A.x), MIN(A.x), MAX(LENGTH(*)) "
        "PATTERN (SEQ(A+, B))+ WHERE A.x <= NEXT(A).x AND A.g = NEXT(B).g AND A.x <> NEXT(B).x "
        "GROUP-BY g WITHIN 9 seconds SLIDE 3 seconds",
        Mode.UPDATE,
    ),
    "numbered": Story(
        "RETURN g, COUNT(*), SUM(A.x) PATTERN SEQ(A+, B) GROUP-BY g WITHIN 5 EVENTS SLIDE 2 EVENTS",
        Mode.UPDATE,
        tiebreak="k",
    ),
}


def path(name: str, version: int = VERSION) -> Path:
    return FIXTURES / f"live_state_v{version}_{name}.bin"


if __name__ == "__main__":
    for name, story in STORIES.items():
        if not path(name).exists():
            path(name).write_bytes(story.begun(story.scan())[0].save())
