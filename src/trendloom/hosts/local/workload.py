"""Many queries on the local host: one scan per group, text parsed once for all."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from trendloom.engine.layout import Numbers
from trendloom.engine.machine import usable_cores
from trendloom.engine.windows import Windows
from trendloom.errors import TrendloomError, WorkloadError
from trendloom.hosts.local.beginning import begin_scan
from trendloom.hosts.local.host import Outcome, empty_table
from trendloom.hosts.local.order import Order
from trendloom.hosts.local.running import in_order
from trendloom.hosts.local.sources import open_events
from trendloom.hosts.scan import duck
from trendloom.hosts.scan.columns import check_attributes
from trendloom.hosts.scan.dress import dressed
from trendloom.hosts.scan.gaps import tell_gaps
from trendloom.hosts.scan.projection import check_letters
from trendloom.hosts.scan.type_names import TypeNames
from trendloom.language import TimeWindow
from trendloom.workloads.hamlet.metrics import Metrics
from trendloom.workloads.running import Columns, GroupRun
from trendloom.workloads.sharing import share

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trendloom.hosts.local.host import Progress
    from trendloom.hosts.local.sources import Source
    from trendloom.hosts.scan.reading import Reading
    from trendloom.plan.plan import Plan
    from trendloom.workloads.sharing import Group, Sharing

_serial = itertools.count()


@dataclass(frozen=True, slots=True)
class _Call:
    """What is the same for every group."""

    reading: Reading
    numbers: Numbers
    threads: int
    progress: Progress | None
    passes: int
    queries: int


def run_workload(
    sharing: Sharing,
    events: object,
    reading: Reading,
    *,
    numbers: Numbers = Numbers.AUTO,
    progress: Progress | None = None,
    threads: int | None = None,
) -> tuple[dict[str, Outcome], Metrics]:
    """Every query's rows, and what sharing of bursts did.

    An error of any query's columns is told before anything is sorted.
    """
    cores = usable_cores() if threads is None else threads
    plans = {name: plan for group in sharing.groups for name, plan in group.plans.items()}
    tell_gaps(plans)
    with open_events(events, reading) as source:
        if threads is not None:
            duck.use_threads(source.connection, threads)
        each(plans, lambda plan: check_letters(plan.scan))
        if not source.is_empty:
            each(plans, lambda plan: check_attributes(source, plan.scan.attributes))
        if source.is_text and len(sharing.groups) > 1:
            source = _staged(source, plans, reading)
        call = _Call(reading, numbers, cores, progress, len(sharing.groups), len(plans))
        outcomes: dict[str, Outcome] = {}
        metrics = Metrics()
        for turn, group in enumerate(sharing.groups):
            found, shared = _run_group(source, group, call, turn)
            outcomes |= found
            metrics += shared
        return {name: outcomes[name] for name in plans}, metrics


def _run_group(
    source: Source, group: Group, call: _Call, turn: int, *, again: bool = False
) -> tuple[dict[str, Outcome], Metrics]:
    names = TypeNames.only(()) if again else TypeNames.of(group.plans)
    timed = any(isinstance(plan.window, TimeWindow) for plan in group.plans.values())
    begun = begin_scan(source, group.shared.scan, call.reading, names, timed=timed, sort=False)
    if begun is None:
        unsorted = Order.AS_READ.value
        nothing = {
            name: Outcome(empty_table(plan), 0, 0, unsorted) for name, plan in group.plans.items()
        }
        return nothing, Metrics()
    batches, axis = begun
    total, dropped = batches.total_rows, batches.dropped_rows
    try:
        each(group.plans, lambda plan: Windows.of(plan, axis.nanoseconds))
        types = batches.operand_types, batches.partition_types
        columns = Columns(*types, axis.nanoseconds, call.numbers, call.threads)
    except BaseException:
        batches.close()
        raise

    def make(*, by_time: bool) -> GroupRun | None:
        run = GroupRun(group, columns, call.queries)
        return run.by_time() if by_time else run

    def progress(done: int, _: int | None) -> None:
        if call.progress is not None:
            call.progress(turn * total + done, call.passes * total)

    finished, order = in_order(make, batches, progress)
    outcomes = {
        name: Outcome(dressed(group.plans[name], table, axis), total, dropped, order.value)
        for name, table in finished.tables.items()
    }
    if finished.again:
        # Some number did not fit that perhaps no query asks for. Alone, each says so itself.
        rest = share({name: group.plans[name] for name in finished.again}, "never")
        outcomes |= _run_group(source, rest.groups[0], call, turn, again=True)[0]
    progress(total, total)
    return outcomes, finished.metrics.timed(axis.to_arrow)


def each(plans: Mapping[str, Plan], check: Callable[[Plan], object]) -> None:
    """Raises what is wrong with any of the queries, all at once."""
    wrong: dict[str, TrendloomError] = {}
    for name, plan in plans.items():
        try:
            check(plan)
        except TrendloomError as error:
            wrong[name] = error
    if wrong:
        raise WorkloadError(wrong, len(plans))


def _staged(source: Source, plans: Mapping[str, Plan], reading: Reading) -> Source:
    """The columns that any query needs, parsed once."""
    attributes = [name for plan in plans.values() for name in plan.scan.attributes]
    # The type column that nobody named is called `type`.
    wanted = dict.fromkeys([*reading.columns(source), "type", *attributes])
    columns = [duck.column(name) for name in wanted if name in source.schema]
    name = f"workload_{next(_serial)}"
    kept = exp.select(*columns).from_(source.name)
    create = exp.Create(this=exp.to_table(name), kind="TABLE", expression=kept)
    source.connection.execute(duck.text(create))
    schema = {column.name: source.schema[column.name] for column in columns}
    return replace(source, name=name, schema=schema, is_text=False)
