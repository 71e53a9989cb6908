"""The local host: scan with DuckDB, run the engine, filter and order the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from trendloom.cet.memory import ONE_THREAD, scan_share
from trendloom.engine.layout import Numbers
from trendloom.engine.machine import usable_cores
from trendloom.engine.setting import Setting
from trendloom.hosts.local.beginning import begin_scan
from trendloom.hosts.local.order import Order
from trendloom.hosts.local.running import run_batches
from trendloom.hosts.local.scan import BATCH_ROWS
from trendloom.hosts.local.simultaneous import refuse_simultaneous
from trendloom.hosts.local.sources import open_events
from trendloom.hosts.scan import duck
from trendloom.hosts.scan.dress import dressed
from trendloom.hosts.scan.failures import within_memory
from trendloom.hosts.scan.gaps import tell_gap
from trendloom.hosts.scan.type_names import TypeNames
from trendloom.language import TimeWindow
from trendloom.plan.explaining.costs import memory as held_in_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from trendloom.hosts.scan.reading import Reading
    from trendloom.plan.plan import Plan

    Progress = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result rows, and what became of the input's."""

    table: pa.Table
    events: int
    dropped_rows: int
    order: str
    """How they were brought into order."""


def run_local(
    plan: Plan,
    events: object,
    reading: Reading,
    *,
    numbers: Numbers = Numbers.AUTO,
    progress: Progress | None = None,
    threads: int | None = None,
    one_by_one: bool = False,
    memory: int | None = None,
) -> Outcome:
    """All rows of a plan over a bounded input, with as many threads as there are cores.

    `one_by_one`: simultaneous events of a partition are refused. `memory`: what the scan and the
    engine may hold, in bytes.
    """
    scan_memory, batch_rows = (None, BATCH_ROWS) if memory is None else scan_share(memory)
    if threads is None and memory is not None and memory < ONE_THREAD:
        threads = 1
    tell_gap(plan.window)
    with (
        within_memory(partial(held_in_words, plan)),
        open_events(events, reading, memory_limit=scan_memory) as source,
    ):
        if threads is not None:
            duck.use_threads(source.connection, threads)
        begun = begin_scan(
            source,
            plan.scan,
            reading,
            TypeNames.of_one(plan),
            timed=isinstance(plan.window, TimeWindow),
            sort=one_by_one,
            batch_rows=batch_rows,
        )
        if begun is None:
            return Outcome(empty_table(plan), 0, 0, Order.AS_READ.value)
        batches, axis = begun
        if one_by_one:
            refuse_simultaneous(batches.rows(), len(plan.scan.partition), axis)
            batches = batches.again(sort=False)
        cores = usable_cores() if threads is None else threads
        types = batches.operand_types, batches.partition_types
        setting = Setting(plan, *types, axis.nanoseconds, numbers, cores)
        table, order = run_batches(setting, batches, progress, memory)
        outcome = Outcome(
            dressed(plan, table, axis), batches.total_rows, batches.dropped_rows, order.value
        )
        if progress is not None:
            progress(batches.total_rows, batches.total_rows)
        return outcome


def empty_table(plan: Plan) -> pa.Table:
    """No rows of unknown types: an empty list has no columns to look at."""
    names = [output.name for output in plan.outputs if not output.hidden]
    columns = ["window_start", "window_end", *names]
    return pa.table({name: pa.nulls(0) for name in columns})
