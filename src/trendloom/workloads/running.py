"""A group's runs over the batches of its scan."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from trendloom.engine.arrow import to_numpy
from trendloom.engine.interleaved import Interleaved
from trendloom.engine.layout import Numbers
from trendloom.engine.run import Run
from trendloom.engine.setting import Setting
from trendloom.errors import TrendloomError, WorkloadError
from trendloom.workloads.evaluator import MergedEvaluator
from trendloom.workloads.hamlet.benefit import Mode
from trendloom.workloads.hamlet.execute import Sharing
from trendloom.workloads.hamlet.metrics import Metrics
from trendloom.workloads.hamlet.run import SharedRun
from trendloom.workloads.lens import Lens
from trendloom.workloads.run import MergedRun, MergedSetting, MergedView

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from trendloom.plan.plan import Plan
    from trendloom.workloads.family import Family
    from trendloom.workloads.sharing import Bursts, Group


SHORT = 4.0
"""Events of a burst from which on sharing them was as fast as the engine, query by query, or
faster: 0.5 times as fast at 1, 1 to 3 times at 4, 1 to 5 times at 20 (3 to 20 queries)."""


@dataclass(frozen=True)
class Columns:
    """What is known of a scan once it is bound."""

    operand_types: Sequence[pa.DataType]
    partition_types: Sequence[pa.DataType]
    nanoseconds: int
    numbers: Numbers
    threads: int


class Runner(Protocol):
    """Takes the shared scan's batches; gives the rows of one query or of several."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def run(self) -> Run | Interleaved | SharedRun: ...
    def push(self, batch: pa.RecordBatch) -> None: ...
    def tables(self) -> dict[str, pa.Table]: ...


@dataclass
class _Alone:
    names: tuple[str, ...]
    lens: Lens
    run: Run | Interleaved

    def push(self, batch: pa.RecordBatch) -> None:
        self.run.push(self.lens(batch))

    def tables(self) -> dict[str, pa.Table]:
        return {self.names[0]: self.run.finish()}


@dataclass
class _Together:
    names: tuple[str, ...]
    view: MergedView
    run: MergedRun

    def push(self, batch: pa.RecordBatch) -> None:
        self.run.push(self.view(batch))

    def tables(self) -> dict[str, pa.Table]:
        return dict(zip(self.names, self.run.tables(), strict=True))


@dataclass
class _InBursts:
    names: tuple[str, ...]
    lens: Lens
    run: SharedRun

    def push(self, batch: pa.RecordBatch) -> None:
        self.run.push(self.lens(batch))

    def tables(self) -> dict[str, pa.Table]:
        return dict(zip(self.names, self.run.finish(), strict=True))


@dataclass(frozen=True)
class Finished:
    """What came of a group's run."""

    tables: dict[str, pa.Table]
    """By query, but for those to run again."""
    again: tuple[str, ...]
    """Queries to run alone: together they failed, by a number that perhaps none asks for."""
    metrics: Metrics
    """What sharing of bursts did."""


class GroupRun:
    """Feed it the shared scan's batches, then take a table per query."""

    def __init__(
        self, group: Group, columns: Columns, queries: int = 0, *, by_time: bool = False
    ) -> None:
        """`queries`: how many the workload has, for errors to tell."""
        exact = columns.numbers is Numbers.EXACT
        families = () if exact else group.families
        self._group, self._columns = group, columns
        self._undecided = () if exact else group.bursts
        alone = dict(group.plans) if exact else group.alone
        self._queries = max(queries, len(group.plans))
        self._runners: list[Runner] = [
            *(_together(family, columns) for family in families),
            *(_alone(n, plan, group, columns, by_time=by_time) for n, plan in alone.items()),
        ]
        self._again: list[str] = []
        self.rows_in = 0

    def by_time(self) -> GroupRun | None:
        """One for events in order of time, all partitions side by side; None if it cannot be.

        What queries share is kept of one partition after the other.
        """
        alone = [one.run for one in self._runners if isinstance(one, _Alone)]
        if self._undecided or len(alone) < len(self._runners):
            return None
        if not all(isinstance(run, Run) and run.streams for run in alone):
            return None
        return GroupRun(self._group, self._columns, self._queries, by_time=True)

    @property
    def is_crowded(self) -> bool:
        return any(one.run.is_crowded for one in self._runners if isinstance(one, _Alone))

    def push(self, batch: pa.RecordBatch) -> None:
        self.rows_in += batch.num_rows
        if self._undecided:
            self._decide(batch)
        for runner in list(self._runners):
            with self._told(runner):
                runner.push(batch)

    def _decide(self, batch: pa.RecordBatch | None) -> None:
        """Queries that could share bursts go alone where the first batch has hardly any."""
        for bursts in self._undecided:
            runner = _in_bursts(bursts, self._columns)
            always = batch is None or bursts.mode is Mode.ALWAYS
            if always or mean_burst(runner.lens(batch)) >= SHORT:
                self._runners.append(runner)
            else:
                plans = {name: self._group.plans[name] for name in bursts.names}
                self._runners += [
                    _alone(name, plan, self._group, self._columns) for name, plan in plans.items()
                ]
        self._undecided = ()

    def finish(self) -> Finished:
        """No more rows."""
        if self._undecided:
            self._decide(None)
        tables: dict[str, pa.Table] = {}
        for runner in list(self._runners):
            with self._told(runner):
                tables |= runner.tables()
        shared = [one.run.metrics for one in self._runners if isinstance(one, _InBursts)]
        return Finished(tables, tuple(self._again), sum(shared, Metrics()))

    @property
    def tied(self) -> dict[tuple[str, ...], int]:
        """Events that share their time with another one, by the queries with so many of them."""
        queries: dict[int, list[str]] = {}
        for runner in self._runners:
            queries.setdefault(runner.run.ties, []).extend(runner.names)
        return {tuple(names): count for count, names in queries.items()}

    @contextmanager
    def _told(self, runner: Runner) -> Iterator[None]:
        try:
            yield
        except TrendloomError as error:
            if len(runner.names) == 1:
                raise WorkloadError({runner.names[0]: error}, self._queries, ran=True) from error
            self._runners.remove(runner)
            self._again += runner.names


def mean_burst(batch: pa.RecordBatch) -> float:
    """Of neighbours that are the same letters."""
    mask = to_numpy(batch.column("mask"))
    return len(mask) / (1 + np.count_nonzero(mask[1:] != mask[:-1]))


def _alone(
    name: str, plan: Plan, group: Group, columns: Columns, *, by_time: bool = False
) -> _Alone:
    lens = Lens.of(group.shared, plan)
    kinds = [columns.operand_types[k] for k in lens.operands]
    setting = Setting(
        plan, kinds, columns.partition_types, columns.nanoseconds, columns.numbers, columns.threads
    )
    return _Alone(
        (name,), lens, Interleaved(setting) if by_time else Run(setting, counts_ties=True)
    )


def _together(family: Family, columns: Columns) -> _Together:
    setting = MergedSetting(
        family.plan,
        [columns.operand_types[k] for k in family.operands],
        columns.partition_types,
        columns.nanoseconds,
        columns.numbers,
        columns.threads,
        family,
    )
    run = MergedRun(setting)
    (evaluator,) = run.evaluators
    assert isinstance(evaluator, MergedEvaluator)
    assert evaluator.codes is not None
    keep = family.plan.scan.keep_unmatched
    lens = Lens(family.shared.scan, family.merged.letters, family.operands, keep)
    return _Together(tuple(family.plans), MergedView(lens, evaluator.codes), run)


def _in_bursts(bursts: Bursts, columns: Columns) -> _InBursts:
    operands = bursts.operands
    kinds = [columns.operand_types[k] for k in operands]
    sharing = Sharing(bursts.template, kinds, columns.nanoseconds, bursts.mode)
    lens = Lens(bursts.shared.scan, bursts.letters, operands, keep_unmatched=False)
    return _InBursts(bursts.names, lens, SharedRun(sharing, columns.partition_types))
