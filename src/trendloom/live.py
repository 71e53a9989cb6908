"""A workload over events that come bit by bit: `Workload.live`."""

from __future__ import annotations

import time as clock
from threading import RLock
from typing import TYPE_CHECKING, Any

from trendloom.api import result_of
from trendloom.errors import TrendloomError, collecting_warnings
from trendloom.results import Results

if TYPE_CHECKING:
    from trendloom.errors import TrendloomWarning
    from trendloom.hosts.local.live import Feeding, Pushed
    from trendloom.several import Asked, Workload


def read_delay(watermark: str | None) -> int | None:
    """In nanoseconds."""
    from trendloom.language.windows import read_amount

    if watermark is None:
        return None
    amount = read_amount(watermark)
    if amount.unit is None:
        raise TrendloomError(
            "A watermark is a time, not a number of events.", remedy="Write, say, '2 minutes'."
        )
    return int(amount.number * amount.unit.value)


class LiveWorkload:
    """Push events; each push returns the rows that became final with it.

    The watermark is the greatest time pushed so far, less the delay: no earlier event is expected
    any more. Those that come nevertheless are late: they are counted, handed back and not used. All
    rows together are those of `Workload.run` over the events that were not late.

    Threads may share one: whatever they do to it is done one after another. Which push comes first
    is theirs to say, and with it which events are late.
    """

    def __init__(self, workload: Workload, feeding: Feeding, key: bytes | None = None) -> None:
        """Made by `Workload.live`."""
        self._workload = workload
        self._feeding = feeding
        self._key = key
        self._lock = RLock()

    @property
    def workload(self) -> Workload:
        """The queries as they are now, with which `save` can be gone on from."""
        return self._workload

    @property
    def names(self) -> tuple[str, ...]:
        return self._workload.names

    @property
    def watermark(self) -> Any:
        """In the type of the time column; None: there is none yet."""
        with self._lock:
            ticks, bound = self._feeding.watermark, self._feeding.bound
            if ticks is None or bound is None or self._feeding.finished:
                return None
        return bound.clock.axis.to_arrow([ticks])[0].as_py()

    @property
    def late_events(self) -> int:
        """How many came behind the watermark, all pushes together."""
        return self._feeding.late_events

    def push(self, events: Any, *, watermark: Any = None) -> Results:
        """The next events, in any order, of any kind that `trendloom.run` takes.

        None of them is late because of another one of the same push. `watermark`: a time, as the
        time column has them, before which no event is expected after this push; without it the
        delay alone counts. `late` of the results has the events that came too late, as they were.
        """
        from trendloom.hosts.local.tables import read_table

        started = clock.perf_counter()
        with self._lock:
            self._feeding.check_whole()
        with collecting_warnings() as told:
            found = read_table(events, self._feeding.terms.reading)
            with self._lock:
                pushed = self._feeding.push(found, watermark)
                return self._results(pushed, started, told)

    def finish(self) -> Results:
        """There are no more events: all rows that are left."""
        started = clock.perf_counter()
        with collecting_warnings() as told, self._lock:
            return self._results(self._feeding.finish(), started, told)

    def add(self, name: str, asked: Asked) -> None:
        """One more query. It begins with the events that come from now on."""
        with self._lock:
            self._change(self._workload.add(name, asked))

    def replace(self, name: str, asked: Asked) -> None:
        """Another query under a known name; what the old one has not told yet is gone.

        It begins with the events that come from now on. All other queries keep their state.
        """
        with self._lock:
            self._change(self._workload.replace(name, asked))

    def remove(self, name: str) -> None:
        """One query less; what it has not told yet is gone."""
        with self._lock:
            self._change(self._workload.remove(name))

    def save(self, *, state_key: bytes | str | None = None) -> bytes:
        """Everything that `Workload.live(…, state=…)` needs to go on from here.

        It is signed with the key of `live(…, state_key=…)`, or with another one that is given here.
        """
        from trendloom.engine.signing import key_bytes
        from trendloom.hosts.local.live_state import write

        key = key_bytes(state_key) or self._key
        with self._lock:
            return write(self._feeding, key)

    def __repr__(self) -> str:
        return f"LiveWorkload({', '.join(self.names)}; watermark {self.watermark})"

    def _change(self, workload: Workload) -> None:
        self._feeding.change({name: one.plan for name, one in workload.items()})
        self._workload = workload

    def _results(self, pushed: Pushed, started: float, told: list[TrendloomWarning]) -> Results:
        from trendloom.hosts.local.host import Outcome
        from trendloom.several import warnings_of
        from trendloom.workloads.hamlet.metrics import Metrics

        elapsed = clock.perf_counter() - started
        results = {}
        for name, one in self._workload.items():
            outcome = Outcome(pushed.tables[name], pushed.events, pushed.dropped, "")
            results[name] = result_of(one.plan, outcome, elapsed, warnings_of(name, told))
        counts = pushed.events, pushed.dropped, elapsed
        return Results(results, *counts, Metrics(), late=pushed.late, warnings=tuple(told))
