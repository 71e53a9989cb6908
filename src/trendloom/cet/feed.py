"""A host's sorted batches → chunks with the runs that are complete in them.

What waits for the next batch are the events of windows of the last partition that are still open.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from trendloom.cet.memory import open_windows
from trendloom.engine.chunk import Chunk, join_batches, make_chunk, same_partition
from trendloom.plan.plan import WindowStrategy

if TYPE_CHECKING:
    import pyarrow as pa

    from trendloom.engine.windows import Runs, Windows


@dataclass
class Feed:
    """`push` every batch, then `finish`: each run is given once, in the order of the scan."""

    windows: Windows
    keys: int
    memory: float = float("inf")
    """Bytes; half of them is for events that wait for their windows to end."""
    _waiting: list[pa.RecordBatch] = field(init=False, default_factory=list)
    _last: pa.RecordBatch | None = field(init=False, default=None)
    """A row of the partition that the last chunk ended in."""
    _seen: int = field(init=False, default=0)
    """The time of the last event that was looked at."""

    def push(self, batch: pa.RecordBatch) -> tuple[Chunk, Runs] | None:
        """The next rows of the scan; None if they complete no run."""
        if batch.num_rows == 0:
            return None
        self._waiting.append(batch)
        self._check()
        if self.windows.strategy is not WindowStrategy.SLIDING:
            # Nothing can be finished before the partition ends: wait without copying.
            begins = make_chunk(batch, self.keys).bounds
            if len(begins) == 2 and same_partition(self._waiting[0], 0, batch, self.keys):
                return None
        return self._take(last=False)

    def finish(self) -> tuple[Chunk, Runs] | None:
        """No more rows."""
        return self._take(last=True) if self._waiting else None

    def _take(self, *, last: bool) -> tuple[Chunk, Runs] | None:
        chunk = make_chunk(join_batches(self._waiting), self.keys)
        runs = self.windows.runs(chunk)
        done = np.ones(len(runs), np.bool_)
        keep = len(chunk)
        if not last:
            final = len(chunk.bounds) - 2
            in_last = runs.partition == final
            done = ~in_last
            keep = int(chunk.bounds[final])
            if self.windows.strategy is WindowStrategy.SLIDING:
                done |= self.windows.end(runs.window) <= chunk.time[-1]
                # Later windows may begin with events that are in no run yet: the last point stays.
                point = int(np.searchsorted(chunk.time[keep:], chunk.time[-1])) + keep
                keep = min(int(runs.lo[~done].min(initial=len(chunk))), point)
        self._waiting = [] if keep == len(chunk) else [chunk.batch.slice(keep)]
        if self.windows.strategy is WindowStrategy.SLIDING and self._continues(chunk):
            # Windows that ended before the events that waited were complete already then.
            done &= (runs.partition != 0) | (self.windows.end(runs.window) > self._seen)
        self._seen = int(chunk.time[-1])
        self._last = chunk.batch.slice(len(chunk) - 1)
        complete = runs.pick(done)
        return (chunk, complete) if len(complete) else None

    def _check(self) -> None:
        held = sum(batch.nbytes for batch in self._waiting)
        # While they are joined they are there twice.
        needed = held if len(self._waiting) == 1 else 2 * held
        if needed > self.memory / 2:
            raise open_windows(sum(batch.num_rows for batch in self._waiting), held, self.memory)

    def _continues(self, chunk: Chunk) -> bool:
        return self._last is not None and same_partition(self._last, 0, chunk.batch, self.keys)
