"""A group's runs over the batches of its scan."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from trendloom.engine.layout import Numbers
from trendloom.engine.run import Run
from trendloom.engine.setting import Setting
from trendloom.errors import TrendloomError, WorkloadError
from trendloom.workloads.lens import Lens
from trendloom.workloads.run import MergedEvaluator, MergedRun, MergedSetting, MergedView

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from trendloom.plan.plan import Plan
    from trendloom.workloads.family import Family
    from trendloom.workloads.sharing import Group


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
    def push(self, batch: pa.RecordBatch) -> None: ...
    def tables(self) -> dict[str, pa.Table]: ...


@dataclass
class _Alone:
    names: tuple[str, ...]
    lens: Lens
    run: Run

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


class GroupRun:
    """Feed it the shared scan's batches, then take a table per query."""

    def __init__(self, group: Group, columns: Columns, queries: int = 0) -> None:
        """`queries`: how many the workload has, for errors to tell."""
        exact = columns.numbers is Numbers.EXACT
        families = () if exact else group.families
        alone = dict(group.plans) if exact else group.alone
        self._queries = max(queries, len(group.plans))
        self._runners: list[Runner] = [
            *(_together(family, columns) for family in families),
            *(_alone(name, plan, group, columns) for name, plan in alone.items()),
        ]
        self.again: list[str] = []
        """Queries to run alone: together they failed, by a number that perhaps none asks for."""

    def push(self, batch: pa.RecordBatch) -> None:
        for runner in list(self._runners):
            with self._told(runner):
                runner.push(batch)

    def tables(self) -> dict[str, pa.Table]:
        """Of all queries but those to run again."""
        tables: dict[str, pa.Table] = {}
        for runner in list(self._runners):
            with self._told(runner):
                tables |= runner.tables()
        return tables

    @contextmanager
    def _told(self, runner: Runner) -> Iterator[None]:
        try:
            yield
        except TrendloomError as error:
            if len(runner.names) == 1:
                raise WorkloadError({runner.names[0]: error}, self._queries, ran=True) from error
            self._runners.remove(runner)
            self.again += runner.names


def _alone(name: str, plan: Plan, group: Group, columns: Columns) -> _Alone:
    shared = group.shared
    operands = shared.operands_of(plan)
    lens = Lens(shared.scan, shared.letters_of(plan), operands, plan.scan.keep_unmatched)
    kinds = [columns.operand_types[k] for k in operands]
    setting = Setting(
        plan, kinds, columns.partition_types, columns.nanoseconds, columns.numbers, columns.threads
    )
    return _Alone((name,), lens, Run(setting))


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
