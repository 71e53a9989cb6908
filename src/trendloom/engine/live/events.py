"""Everything that vectors do not do: the events of open windows are kept.

- `WITHIN … SLIDE …`: a window that is over (or, for updates, one with new events) is evaluated from
  nothing over its events. An event is kept until its last window is over.
- `WITHIN w` alone: time points from the last watermark up to this one are evaluated, and for every
  partition the last point before them. Nothing of the partition arrived or expired since, so that
  is its value still, and the group's before the first change: no row has to be remembered. An
  event is kept until the point at which it expires has been evaluated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trendloom.engine.chunk import Chunk, make_chunk, tied_events
from trendloom.engine.groups import Groups
from trendloom.engine.live.mode import Mode
from trendloom.engine.live.sheet import Sheet
from trendloom.engine.live.tables import check_names, events_of
from trendloom.engine.live.waiting import FIRST, Waiting, pair_numbers
from trendloom.engine.sort import sort_events
from trendloom.engine.turnover import turnover
from trendloom.plan.plan import WindowStrategy

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from trendloom.engine.evaluate import Evaluator
    from trendloom.engine.groups import Partitions
    from trendloom.engine.harvest import Rows
    from trendloom.engine.setting import Setting

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]


class Events:
    """The shard's events, those that the watermark has passed and those that it has not."""

    NAME = "events"

    def __init__(self, setting: Setting, evaluators: list[Evaluator], mode: Mode) -> None:
        self.setting = setting
        self.evaluators = evaluators
        self.mode = mode
        self.waiting = Waiting()
        self.ties = 0
        """Events that share their time with another one of their partition,"""
        self._counted = FIRST
        """of those before this time."""
        self._changes = setting.windows.strategy is WindowStrategy.CHANGES

    @property
    def is_empty(self) -> bool:
        return not len(self.waiting)

    def deadline(self, watermark: int) -> int | None:
        """`watermark`: the one in force."""
        if not len(self.waiting):
            return None
        windows, time = self.setting.windows, self.waiting.time()
        ahead = time >= watermark
        points = []
        if ahead.any() and (self._changes or self.mode is Mode.UPDATE):
            points.append(int(time[ahead].min()) + 1)
        if not self._changes:
            points.append(windows.next_end(max(int(time.min()), watermark)))
        elif not ahead.all():
            points.append(int(time[~ahead].min()) + windows.within + 1)
        return min(points)

    def move(self, before: int, now: int) -> pa.Table | None:
        """The watermark moves: the rows that come of it, None if nothing does."""
        due = self.deadline(before)
        if due is None or due > now:
            return None
        table = None
        ready = self.waiting.before(now)
        if ready is not None:
            setting = self.setting
            keys = len(setting.partition_types)
            chunk = make_chunk(sort_events(ready, keys), keys)
            self.ties += tied_events(chunk, since=self._counted)
            self._counted = now
            groups = Groups(setting.plan.plain_groups, list(setting.partition_types))
            partitions = groups.number(chunk)
            sheet = Sheet(setting, self.evaluators)
            evaluate = self._points if self._changes else self._windows
            rows, shown = evaluate(sheet, chunk, partitions, before, now)
            table = sheet.table(rows, groups, shown)
        self._forget(now)
        return table

    def _windows(
        self, sheet: Sheet, chunk: Chunk, partitions: Partitions, before: int, now: int
    ) -> tuple[Rows, Bools | None]:
        runs = self.setting.windows.runs(chunk)
        if self.mode is Mode.APPEND:
            ends = self.setting.windows.end(runs.window)
            sheet.add_runs(chunk, runs.pick((ends > before) & (ends <= now)), partitions)
            return sheet.rows(), None
        touched = chunk.time[runs.hi - 1] >= before
        pairs = pair_numbers(partitions.group[runs.partition], runs.window)
        runs = runs.pick(np.isin(pairs, pairs[touched]))
        early = np.concatenate([[0], np.cumsum(chunk.time < before)])
        old = runs.lo + early[runs.hi] - early[runs.lo]
        return sheet.changed(chunk, runs, old, partitions)

    def _points(
        self, sheet: Sheet, chunk: Chunk, partitions: Partitions, before: int, now: int
    ) -> tuple[Rows, Bools]:
        runs = self.setting.windows.runs(chunk)
        early = runs.window < before
        last_of_partition = np.append(np.diff(runs.partition) != 0, True)
        last_early = early & (last_of_partition | np.append(~early[1:], True))
        changed = turnover(self.evaluators, chunk, runs)
        runs = runs.pick(last_early | (~early & (runs.window < now) & changed))
        sheet.add_points(runs, partitions)
        sheet.add_runs(chunk, runs, partitions)
        rows = sheet.rows()
        return rows, rows.window >= before

    def _forget(self, now: int) -> None:
        """Events that no row can need any more."""
        time = self.waiting.time()
        if self._changes:
            self.waiting.keep(time + self.setting.windows.within >= now)
        else:
            self.waiting.keep(self.setting.windows.last_end(time) > now)

    # ── at rest ──────────────────────────────────────────────────────────────────────────────

    @property
    def shape(self) -> list[object]:
        """Events mean the same in every version."""
        return []

    def tables(self) -> dict[str, pa.Table]:
        table = self.waiting.table
        return {} if table is None else {"events": table.combine_chunks()}

    def load(self, tables: dict[str, pa.Table], _watermark: int) -> None:
        check_names(tables, ["events"])
        self.waiting = Waiting(events_of(self.setting, tables.get("events")))
