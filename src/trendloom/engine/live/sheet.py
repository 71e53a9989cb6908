"""One step's results on their way to a table: runs or vectors in, rows out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from trendloom.engine.groups import Groups
from trendloom.engine.harvest import Rows
from trendloom.engine.live.mode import may_lose_trends
from trendloom.engine.numbers import Column, Doubles, Exact, Integers
from trendloom.engine.table import part_rows, put_together, result_table
from trendloom.engine.windows import Runs
from trendloom.kernels.extreme import ABSENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.evaluate import Evaluator
    from trendloom.engine.groups import Partitions
    from trendloom.engine.harvest import Harvest
    from trendloom.engine.setting import Setting
    from trendloom.engine.slots import State

    Ints = NDArray[np.int64]


@dataclass
class Sheet:
    """Add results, take their rows, make a table of those. Values keep their numbers between."""

    setting: Setting
    evaluators: list[Evaluator]
    harvests: list[Harvest] = field(init=False)
    _timeline: dict[int, dict[int, Ints]] = field(init=False, default_factory=dict)
    _row_partition: list[list[Ints]] = field(init=False)

    def __post_init__(self) -> None:
        self.harvests = self.setting.harvests()
        self._row_partition = [[] for _ in self.evaluators]

    def add_runs(self, chunk: Chunk, runs: Runs, partitions: Partitions) -> None:
        """Complete runs, from nothing."""
        if not len(runs):
            return
        for k, (evaluator, harvest) in enumerate(zip(self.evaluators, self.harvests, strict=True)):
            slots = evaluator.evaluate(chunk, runs).with_trends()
            harvest.add(slots, partitions.group[runs.partition], runs.window)
            self._row_partition[k].append(partitions.number[runs.partition][slots.run])

    def add_points(self, runs: Runs, partitions: Partitions) -> None:
        """The time points of every partition: runs are sorted by partition and time."""
        starts = np.flatnonzero(np.diff(runs.partition, prepend=-1))
        # Without runs there is nothing to split, but `split` would give one piece of it.
        pieces = np.split(runs.window, starts[1:]) if len(starts) else []
        for p, points in zip(runs.partition[starts], pieces, strict=True):
            of_group = self._timeline.setdefault(int(partitions.group[p]), {})
            of_group[int(partitions.number[p])] = points

    def add_states(self, states: Sequence[State], group: Ints, window: Ints) -> None:
        for evaluator, harvest, state in zip(self.evaluators, self.harvests, states, strict=True):
            harvest.add(evaluator.read(state).with_trends(), group, window)

    def rows(self) -> Rows:
        """Of all that was added since the last time."""
        parts = part_rows(
            self.setting.plan, self.evaluators, self.harvests, self._timeline, self._row_partition
        )
        for harvest in self.harvests:
            harvest.parts.clear()
        self._row_partition = [[] for _ in self.evaluators]
        self._timeline = {}
        return put_together(self.setting.plan, parts)

    def changed(
        self, chunk: Chunk, runs: Runs, old: Ints, partitions: Partitions
    ) -> tuple[Rows, NDArray[np.bool_] | None]:
        """Rows of runs that have grown since they reached to `old`, and which of them to show.

        What a trailing NOT took away since then comes out as a row without trends.
        """
        self.add_runs(chunk, runs, partitions)
        rows = self.rows()
        if not may_lose_trends(self.setting.plan):
            return rows, None
        some = old > runs.lo
        earlier = Runs(runs.lo[some], old[some], runs.partition[some], runs.window[some])
        self.add_runs(chunk, earlier, partitions)
        before = self.rows()
        before = before.take(np.flatnonzero(before.found))
        rows = rows.take(np.flatnonzero(rows.found))
        rows = Rows.join([rows, _emptied(before)]).merged()
        return rows, np.ones(len(rows), np.bool_)

    def table(
        self, rows: Rows, groups: Groups | None = None, shown: NDArray[np.bool_] | None = None
    ) -> pa.Table:
        setting = self.setting
        if groups is None:
            groups = Groups(setting.plan.plain_groups, list(setting.partition_types))
        return result_table(
            setting.plan, setting.windows, self.evaluators, self.harvests, groups, rows, shown
        )


def _emptied(rows: Rows) -> Rows:
    """The same windows and groups without a trend."""
    return replace(
        rows,
        found=np.zeros(len(rows), np.bool_),
        columns={lane: _zeros(column, len(rows)) for lane, column in rows.columns.items()},
        extremes={lane: np.full(len(rows), ABSENT, np.int64) for lane in rows.extremes},
    )


def _zeros(column: Column, count: int) -> Column:
    match column:
        case Doubles():
            return Doubles(np.zeros(count), np.zeros(count, np.int64))
        case Integers():
            return Integers(np.zeros(count, np.int64))
        case Exact():
            return Exact(np.full(count, 0, np.object_))
