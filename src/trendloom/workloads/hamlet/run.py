"""A group of queries over a host's sorted batches: one pass, each query's own result.

Feed it the batches of the group's joint scan with `push`, then take the tables with `finish`. What
waits for the next batch are the events of the windows that are open in the last partition, of any
query. Results are those of `engine.run.Run`, query by query.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from trendloom.engine.chunk import join_batches, make_chunk, same_partition, tied_events
from trendloom.engine.groups import Groups
from trendloom.engine.run import last_point
from trendloom.engine.table import part_rows, put_together, result_table
from trendloom.plan.plan import WindowStrategy
from trendloom.workloads.hamlet.metrics import Metrics

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.evaluate import Evaluator
    from trendloom.engine.harvest import Harvest
    from trendloom.engine.setting import Setting
    from trendloom.engine.windows import Runs, Windows
    from trendloom.workloads.hamlet.execute import Sharing


@dataclass
class _Query:
    """A query of the group, and what its parts have given so far."""

    places: tuple[int, ...]
    """Of its members in the group."""
    setting: Setting
    evaluators: list[Evaluator] = field(init=False)
    harvests: list[Harvest] = field(init=False)

    def __post_init__(self) -> None:
        self.evaluators = self.setting.evaluators()
        self.harvests = self.setting.harvests()


@dataclass
class SharedRun:
    """The run of a group."""

    sharing: Sharing
    partition_types: Sequence[pa.DataType]
    metrics: Metrics = field(init=False, default_factory=Metrics)
    ties: int = field(init=False, default=0)
    """Events that share their time with another one of their partition."""

    _queries: list[_Query] = field(init=False)
    _groups: Groups = field(init=False)
    _waiting: list[pa.RecordBatch] = field(init=False, default_factory=list)
    _seen: int = field(init=False, default=0)
    """The time of the last event that was looked at,"""
    _counted: int | None = field(init=False, default=None)
    """and of the last one whose burst was counted, in the last partition."""

    def __post_init__(self) -> None:
        self._queries = [
            _Query(places, self.sharing.setting(places[0], self.partition_types))
            for places in self.sharing.group.sides
        ]
        plan = self._queries[0].setting.plan
        self._groups = Groups(plan.plain_groups, list(self.partition_types))

    def push(self, batch: pa.RecordBatch) -> None:
        """Takes the next rows of the joint scan."""
        if batch.num_rows == 0:
            return
        self._waiting.append(batch)
        keys = len(self.partition_types)
        if all(one.strategy is WindowStrategy.WHOLE for one in self.sharing.windows):
            # Nothing can be finished before the partition ends: wait without copying.
            begins = make_chunk(batch, keys).bounds
            if len(begins) == 2 and same_partition(self._waiting[0], 0, batch, keys):
                return
        self._evaluate(make_chunk(join_batches(self._waiting), keys), last=False)

    def finish(self) -> list[pa.Table]:
        """No more rows: the result of each query, in the order of the group."""
        if self._waiting:
            chunk = make_chunk(join_batches(self._waiting), len(self.partition_types))
            self._evaluate(chunk, last=True)
        return [self._table(query) for query in self._queries]

    def _table(self, query: _Query) -> pa.Table:
        setting, evaluators, harvests = query.setting, query.evaluators, query.harvests
        evaluators[0].centres.update(self.sharing.own_centres(query.places[0]))
        rows = put_together(setting.plan, part_rows(setting.plan, evaluators, harvests, {}, []))
        return result_table(setting.plan, setting.windows, evaluators, harvests, self._groups, rows)

    def _evaluate(self, chunk: Chunk, *, last: bool) -> None:
        partitions = self._groups.number(chunk)
        keep = len(chunk)
        complete: list[Runs] = []
        for windows, runs in zip(self.sharing.windows, self.sharing.runs(chunk), strict=True):
            done = np.ones(len(runs), np.bool_)
            if not last:
                done, first = _complete(windows, runs, chunk)
                keep = min(keep, first)
            if partitions.continues and windows.strategy is WindowStrategy.SLIDING:
                # Windows that ended before the events that waited were complete already then.
                done &= (runs.partition != 0) | (windows.end(runs.window) > self._seen)
            complete.append(runs.pick(done))
        self.ties += tied_events(chunk, keep)
        self._waiting = [] if keep == len(chunk) else [chunk.batch.slice(keep)]
        self._seen = int(chunk.time[-1])
        if not any(len(runs) for runs in complete):
            return
        fresh = self._fresh(chunk) if partitions.continues else 0
        evaluated = self.sharing.evaluate(chunk, complete, fresh=fresh)
        self._told(chunk, complete, continues=partitions.continues)
        self.metrics += evaluated.metrics
        for query in self._queries:
            runs = evaluated.runs[query.places[0]]
            slots = [evaluated.slots[place] for place in query.places]
            if query.setting.plan.overlap is not None:
                # Trends of both sides are no pattern of the query: the engine counts them.
                own = self.sharing.joint.own_chunk(query.places[0], chunk)
                slots.append(query.evaluators[-1].evaluate(own, runs))
            for harvest, one in zip(query.harvests, slots, strict=True):
                harvest.add(one.with_trends(), partitions.group[runs.partition], runs.window)

    def _fresh(self, chunk: Chunk) -> int:
        """The first event that is in no window of those before."""
        first = chunk.time[: chunk.bounds[1]]
        return 0 if self._counted is None else int(np.searchsorted(first, self._counted, "right"))

    def _told(self, chunk: Chunk, runs: Sequence[Runs], *, continues: bool) -> None:
        """Up to when bursts of the last partition are counted."""
        final = len(chunk.bounds) - 2
        last = max(int(one.hi[one.partition == final].max(initial=0)) for one in runs)
        if last:
            self._counted = int(chunk.time[last - 1])
        elif final or not continues:
            self._counted = None


def _complete(windows: Windows, runs: Runs, chunk: Chunk) -> tuple[NDArray[np.bool_], int]:
    """Which runs no later event can be in, and the first row that those still open need."""
    final = len(chunk.bounds) - 2
    in_last = runs.partition == final
    if windows.strategy is WindowStrategy.WHOLE:
        return ~in_last, int(chunk.bounds[final])
    done = ~in_last | (windows.end(runs.window) <= chunk.time[-1])
    keep = int(runs.lo[~done].min(initial=len(chunk)))
    # Later windows may begin with events that are in no run yet: keep the last point.
    return done, min(keep, last_point(chunk))
