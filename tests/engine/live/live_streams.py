"""Streams for the tests: a case's events as a host scans them, in the order in which they come."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from trendloom import bigint
from trendloom.api import query
from trendloom.engine.layout import Numbers
from trendloom.engine.live import Live, Mode, Step
from trendloom.engine.run import Run
from trendloom.engine.setting import Setting
from trendloom.hosts.local.scan import scan_batches
from trendloom.hosts.local.sources import open_events
from trendloom.hosts.scan.dress import dressed
from trendloom.hosts.scan.reading import Reading

if TYPE_CHECKING:
    from trendloom.hosts.scan.times import TimeAxis
    from trendloom.testing.strategies import Case

END = 1 << 62


@dataclass(frozen=True)
class Scanned:
    """A query and its events, as the engine gets them."""

    setting: Setting
    table: pa.Table
    """Sorted."""
    axis: TimeAxis

    @property
    def second(self) -> int:
        return 1_000_000_000 // self.axis.nanoseconds

    @property
    def time(self) -> np.ndarray:
        return np.array(self.table.column("time").to_pylist(), np.int64)

    def live(self, mode: Mode = Mode.APPEND) -> Live:
        return Live(self.setting, mode)

    def batch(self, table: pa.Table) -> pa.Table:
        """The rows of a batch over these events."""
        run = Run(self.setting)
        for batch in table.combine_chunks().to_batches():
            run.push(batch)
        return run.finish()

    def rows(self, *tables: pa.Table) -> list[dict[str, Any]]:
        """Result tables as the caller gets them."""
        tables = (self.batch(self.table.slice(0, 0)), *tables)
        table = dressed(self.setting.plan, pa.concat_tables(tables), self.axis)
        marked = bigint.marked_columns(table)
        columns = [
            bigint.as_integers(column) if i in marked else column.to_pylist()
            for i, column in enumerate(table.columns)
        ]
        return [
            dict(zip(table.column_names, row, strict=True)) for row in zip(*columns, strict=True)
        ]


def scanned(
    asked: Any,
    events: list[dict[str, Any]],
    *,
    tiebreak: str | None = None,
    numbers: Numbers = Numbers.AUTO,
) -> Scanned:
    plan = query(asked).plan
    with open_events(events) as source:
        roles = Reading("time", "type", tiebreak=tiebreak).roles(source)
        axis = roles.axis
        batches = scan_batches(source, plan.scan, roles)
        with batches:
            types = batches.operand_types, batches.partition_types
            setting = Setting(plan, *types, axis.nanoseconds, numbers)
            table = pa.Table.from_batches(list(batches), batches.schema)
    return Scanned(setting, table, axis)


def scanned_case(case: Case, numbers: Numbers = Numbers.AUTO) -> Scanned:
    return scanned(case.query, case.events, tiebreak=case.tiebreak, numbers=numbers)


@dataclass(frozen=True)
class Arrival:
    """How events come: at most `delay` seconds after a later one, so many at a time."""

    delay: int
    sizes: tuple[int, ...]
    seed: int

    def batches(self, scan: Scanned) -> list[pa.Table]:
        chance = random.Random(self.seed)
        delay = self.delay * scan.second
        moments = [int(t) + chance.randint(0, delay) for t in scan.time]
        order = sorted(range(len(moments)), key=lambda row: (moments[row], chance.random()))
        came = scan.table.take(pa.array(order, pa.int64()))
        found, at, turn = [], 0, 0
        while at < came.num_rows:
            size = self.sizes[turn % len(self.sizes)]
            found.append(came.slice(at, size))
            at, turn = at + size, turn + 1
        return found


def arrivals() -> st.SearchStrategy[Arrival]:
    sizes = st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple)
    return st.builds(Arrival, st.sampled_from((0, 1, 2, 3, 6)), sizes, st.integers(0, 1 << 20))


def play(
    scan: Scanned, arrival: Arrival, mode: Mode = Mode.APPEND, *, end: bool = True
) -> tuple[Live, list[tuple[int, Step]]]:
    """Every step with its watermark; the state rests in bytes before each of them."""
    live = scan.live(mode)
    steps: list[tuple[int, Step]] = []
    watermark = None
    latest = -END
    for batch in arrival.batches(scan):
        steps.append((watermark if watermark is not None else -END, live.advance(batch, watermark)))
        live = rested(scan, live)
        latest = max(latest, max(batch.column("time").to_pylist()))
        watermark = latest - arrival.delay * scan.second
    if end:
        steps.append((END, live.advance(None, END)))
        live = rested(scan, live)
    return live, steps


def rested(scan: Scanned, live: Live) -> Live:
    data = live.save()
    again = Live.restore(scan.setting, live.mode, data)
    assert again.save() == data
    return again
