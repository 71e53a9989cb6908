"""A family over sorted batches: one run, and a table of rows for every member."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from trendloom.engine.arrow import to_numpy
from trendloom.engine.lanes import TRENDS
from trendloom.engine.layout import Layout
from trendloom.engine.run import Run, Seen, note_timeline
from trendloom.engine.setting import Setting
from trendloom.engine.table import part_rows, put_together, result_table
from trendloom.engine.turnover import part_turnover
from trendloom.plan.plan import WindowStrategy
from trendloom.workloads.codes import Codes
from trendloom.workloads.evaluator import MergedEvaluator
from trendloom.workloads.family import ANY, Family

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.evaluate import Evaluator
    from trendloom.engine.groups import Partitions
    from trendloom.engine.harvest import Harvest
    from trendloom.engine.lanes import Extremum, Lane, Sum
    from trendloom.engine.numbers import Column
    from trendloom.engine.slots import Slots, State
    from trendloom.engine.windows import Runs
    from trendloom.workloads.family import LaneNames
    from trendloom.workloads.lens import Lens

    Ints = NDArray[np.int64]


@dataclass(frozen=True)
class MergedSetting(Setting):
    """The family's plan over columns of known types."""

    family: Family | None = None

    def evaluators(self) -> list[Evaluator]:
        family = self.family
        assert family is not None
        layout = _layout([(lay, family.lanes(lay.plan)) for lay in self.members()])
        types = tuple(letter.type for letter in self.plan.scan.letters)
        codes = Codes(family.merged, types)
        operands = tuple(self.operand_types)
        merged = family.merged.folding
        return [
            MergedEvaluator(
                family.part,
                merged,
                layout,
                ANY,
                types,
                operands,
                {},
                self.threads,
                codes,
                bool(family.chops),
            )
        ]

    def harvests(self) -> list[Harvest]:
        return []

    def members(self) -> list[Setting]:
        """Each member's own, as if it ran alone."""
        family = self.family
        assert family is not None
        kinds = dict(zip(family.operands, self.operand_types, strict=True))
        return [
            Setting(
                plan,
                [kinds[k] for k in family.shared.operands_of(plan)],
                self.partition_types,
                self.nanoseconds,
                self.numbers,
                self.threads,
            )
            for plan in family.plans.values()
        ]


def _layout(members: Sequence[tuple[Setting, LaneNames]]) -> Layout:
    """Everybody's lanes, each once."""
    scaled: dict[Sum, None] | None = None
    checked: dict[Sum, None] | None = None
    extremes: dict[Extremum, None] = {}
    for setting, lanes in members:
        (own,) = (evaluator.layout for evaluator in setting.evaluators())
        if own.scaled is not None:
            scaled = (scaled or {}) | {lanes.sums[lane]: None for lane in own.scaled}
        if own.checked is not None:
            checked = (checked or {}) | {lanes.sums[lane]: None for lane in own.checked}
        extremes |= {lanes.extremes[lane]: None for lane in own.extremes}
    return Layout(
        None if scaled is None else tuple(scaled),
        None if checked is None else tuple(checked),
        None,
        tuple(extremes),
        (),
    )


@dataclass
class _Member:
    """One query's share of a merged run."""

    setting: Setting
    reader: Evaluator
    """The merged evaluator, ending where this query does."""
    lanes: LaneNames
    evaluators: list[Evaluator]
    harvest: Harvest
    timeline: dict[int, dict[int, Ints]] = field(default_factory=dict)
    row_partition: list[Ints] = field(default_factory=list)

    def read(self, state: State, seen: Seen | None = None) -> Slots:
        """Under the query's own names."""
        slots = self.reader.read(state)
        if seen is not None:
            slots = seen.settled(self.reader, slots)
        columns: dict[Lane, Column] = {TRENDS: slots.columns[TRENDS]}
        columns |= {own: slots.columns[lane] for own, lane in self.lanes.sums.items()}
        extremes = {own: slots.extremes[lane] for own, lane in self.lanes.extremes.items()}
        centres = {
            own: slots.centres[lane]
            for own, lane in self.lanes.sums.items()
            if lane in slots.centres
        }
        return replace(slots, columns=columns, extremes=extremes, centres=centres)


@dataclass
class MergedRun(Run):
    """Feed it the shared batches with `push`, then take every member's rows with `tables`."""

    _members: list[_Member] = field(init=False, default_factory=list)
    _changed: list[NDArray[np.bool_]] = field(init=False, default_factory=list)
    """Of the chunk: per member, which windows have other trends than those before."""

    def __post_init__(self) -> None:
        super().__post_init__()
        assert isinstance(self.setting, MergedSetting)
        family = self.setting.family
        assert family is not None
        (shared,) = self.evaluators
        for setting, ends in zip(self.setting.members(), family.merged.ends, strict=True):
            reader = replace(shared, folding=replace(shared.fast, accepts=ends))
            lanes = family.lanes(setting.plan)
            (harvest,) = setting.harvests()
            self._members.append(_Member(setting, reader, lanes, setting.evaluators(), harvest))

    def tables(self) -> list[pa.Table]:
        """No more rows: the members' results, in their order."""
        self._end()
        return [self._table(member) for member in self._members]

    def _table(self, member: _Member) -> pa.Table:
        plan, evaluators, harvests = member.setting.plan, member.evaluators, [member.harvest]
        (shared,) = self.evaluators
        for own, lane in member.lanes.sums.items():
            if own.operand is not None and lane.operand in shared.centres:
                evaluators[0].centres[own.operand] = shared.centres[lane.operand]
        rows = part_rows(plan, evaluators, harvests, member.timeline, [member.row_partition])
        whole = put_together(plan, rows)
        return result_table(plan, self.windows, evaluators, harvests, self._groups, whole)

    def _gather(
        self, states: list[State], group: Ints, window: Ints, seen: Seen | None = None
    ) -> None:
        (state,) = states
        for member in self._members:
            member.harvest.add(member.read(state, seen).with_trends(), group, window)

    def _turnover(self, chunk: Chunk, runs: Runs) -> NDArray[np.bool_]:
        (shared,) = self.evaluators
        self._changed = [
            part_turnover(shared, member.reader.fast.accepts, chunk, runs)
            for member in self._members
        ]
        any_changed: NDArray[np.bool_] = np.logical_or.reduce(self._changed)
        return any_changed

    def _settle(
        self, chunk: Chunk, runs: Runs, done: NDArray[np.bool_], partitions: Partitions
    ) -> None:
        changes = self.windows.strategy is WindowStrategy.CHANGES
        complete = runs.pick(done)
        (shared,) = self.evaluators
        state = shared.blank(len(complete))
        if len(complete):
            state = shared.fold(chunk, complete, state)
        for k, member in enumerate(self._members):
            mine = self._changed[k][done] if changes else np.ones(len(complete), np.bool_)
            own = complete.pick(mine)
            if changes:
                note_timeline(member.timeline, own, partitions)
            if not len(own):
                continue
            seen = Seen(chunk, own, np.ones(len(own), np.bool_))
            slots = member.read(state.take(np.flatnonzero(mine)), seen).with_trends()
            member.harvest.add(slots, partitions.group[own.partition], own.window)
            member.row_partition.append(partitions.number[own.partition][slots.run])


@dataclass
class MergedView:
    """The family's lens: the mask of its batches holds codes."""

    lens: Lens
    codes: Codes

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if self._fused is None:
            codes = self.codes.of(self.lens.masks(batch))
        else:
            word, table = self._fused
            codes = table[to_numpy(batch.column(word))]
        return self.lens.with_mask(batch, codes)

    @cached_property
    def _fused(self) -> tuple[str, NDArray[Any]] | None:
        """Where all letters are of one word: from its values to codes at once."""
        if len(self.lens.tables) != 1 or self.codes.grows:
            return None
        ((word, table),) = self.lens.tables.items()
        return word, self.codes.of(table)
