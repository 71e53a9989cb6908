"""A workload run by sharing bursts, and each of its queries alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from trendloom.api import query, run
from trendloom.engine.chunk import join_batches, make_chunk
from trendloom.engine.run import Run
from trendloom.hosts.local.beginning import begin_scan
from trendloom.hosts.local.sources import open_events
from trendloom.hosts.scan.dress import dressed
from trendloom.hosts.scan.reading import Reading
from trendloom.workloads.hamlet.benefit import Mode
from trendloom.workloads.hamlet.execute import Sharing
from trendloom.workloads.hamlet.metrics import Metrics
from trendloom.workloads.hamlet.run import SharedRun
from trendloom.workloads.hamlet.template import merge

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from trendloom.engine.chunk import Chunk
    from trendloom.hosts.scan.times import TimeAxis
    from trendloom.plan.plan import Plan
    from trendloom.workloads.hamlet.template import Group

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Joined:
    """A group of queries whose events are scanned."""

    group: Group
    chunk: Chunk | None
    axis: TimeAxis
    operand_types: Sequence[pa.DataType]
    partition_types: Sequence[pa.DataType]

    def sharing(self, mode: Mode = Mode.DYNAMIC, **options: Any) -> Sharing:
        return Sharing(self.group, self.operand_types, self.axis.nanoseconds, mode, **options)

    def together(
        self, mode: Mode, *, batch: int = 0, **options: Any
    ) -> tuple[dict[int, Rows], Metrics]:
        """The rows of every query, by its number; in batches of so many events, or in one."""
        if self.chunk is None:
            return {number: [] for number in self.group.queries}, Metrics()
        running = SharedRun(self.sharing(mode, **options), self.partition_types)
        for at in range(0, len(self.chunk), batch or len(self.chunk)):
            running.push(self.chunk.batch.slice(at, batch or len(self.chunk)))
        plans = [self.group.members[places[0]].plan for places in self.group.sides]
        rows = zip(self.group.queries, plans, running.finish(), strict=True)
        found = {number: self._rows(plan, table) for number, plan, table in rows}
        return found, running.metrics

    def alone(self, place: int) -> Rows:
        """One query of the group by the engine, over the events of all."""
        if self.chunk is None:
            return []
        sharing, place = self.sharing(), self.group.sides[place][0]
        running = Run(sharing.setting(place, self.partition_types))
        running.push(sharing.joint.own_chunk(place, self.chunk).batch)
        return self._rows(running.plan, running.finish())

    def _rows(self, plan: Plan, table: pa.Table) -> Rows:
        return dressed(plan, table, self.axis).to_pylist()


@cache
def planned(text: str) -> Plan:
    return query(text).plan


def join(queries: Sequence[str], events: Rows, *, tiebreak: str | None = None) -> list[Joined]:
    """Per group of the workload's template."""
    template = merge([planned(text) for text in queries])
    return [scan(group, events, tiebreak=tiebreak) for group in template.groups]


def scan(group: Group, events: Any, *, time: str = "time", tiebreak: str | None = None) -> Joined:
    with open_events(events) as source:
        begun = begin_scan(source, group.joint.scan, Reading(time, "type", tiebreak=tiebreak))
        assert begun is not None, "there are events"
        batches, axis = begun
        with batches:
            received = list(batches)
            chunk = None
            if received:
                chunk = make_chunk(join_batches(received), len(group.partition))
            return Joined(group, chunk, axis, batches.operand_types, batches.partition_types)


def together(
    queries: Sequence[str], events: Rows, mode: Mode = Mode.DYNAMIC, **options: Any
) -> tuple[dict[int, Rows], Metrics]:
    """The rows of every query that is in a group."""
    found: dict[int, Rows] = {}
    metrics = Metrics()
    for joined in join(queries, events):
        rows, counted = joined.together(mode, **options)
        found |= rows
        metrics += counted
    return found, metrics


def alone(text: str, events: Rows) -> Rows:
    return run(text, events, time="time", type="type").rows()
