"""Rows of runs that each saw some of the partitions, and the result that they make together.

A run's share is one Arrow table: per part of the plan, window and group one row, with the columns

`part`               the number of the part
`g0`, `g1`, …        the GROUP-BY attributes that partition, in their own types
`window`             the number of the window
`v0`, `v1`, …        the values of grouping variables, null for trends without the variable
`found`              whether there is a trend
`lane0`, …           the lanes: 64-bit integers; scaled doubles as two columns, `_m` and `_e`; exact
                     integers in hexadecimal digits, which are read and written in linear time
`least0`, …          keys of the extremes
`middle0`, `scale0`  by operand: what the run's centred sums are relative to, null if nothing yet

A column that the part has no use for is null. The schema depends on the setting only, so shares of
several runs can be concatenated, in any order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trendloom.engine.arrow import from_numpy, to_numpy
from trendloom.engine.centres import Centres, moments, recentred_sums
from trendloom.engine.chunk import mark_changes
from trendloom.engine.groups import Groups
from trendloom.engine.harvest import EVERY, Harvest, Rows
from trendloom.engine.inputs import Centre
from trendloom.engine.numbers import Column, Doubles, Exact, Integers
from trendloom.engine.table import group_keys, put_together, result_table
from trendloom.plan.plan import WindowStrategy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from trendloom.engine.evaluate import Evaluator
    from trendloom.engine.lanes import Extremum, Lane
    from trendloom.engine.setting import Setting
    from trendloom.plan.plan import Plan

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


def can_split(plan: Plan) -> bool:
    """Whether the partitions of one group may be in several runs.

    `WITHIN w` alone has a row wherever any partition of the group changes, so it needs them all.
    """
    return plan.strategy is not WindowStrategy.CHANGES or (
        len(plan.scan.partition) <= plan.plain_groups
    )


def partial_schema(setting: Setting) -> pa.Schema:
    """The columns of every run's share."""
    return _Shape(setting).schema


def partial_table(
    setting: Setting,
    evaluators: list[Evaluator],
    harvests: list[Harvest],
    groups: Groups,
    sides: list[Rows],
) -> pa.Table:
    """A run's share: the rows of its parts."""
    shape = _Shape(setting)
    centres = {k: centre for e in evaluators for k, centre in e.centres.items()}
    tables = [
        shape.write(k, harvest, groups, rows, centres)
        for k, (harvest, rows) in enumerate(zip(harvests, sides, strict=True))
    ]
    return pa.concat_tables(tables)


def merge_partials(setting: Setting, tables: Iterable[pa.Table]) -> pa.Table:
    """The result of all runs together, as one run over all partitions gives it."""
    plan, shape = setting.plan, _Shape(setting)
    shares = [table.select(shape.schema.names).cast(shape.schema) for table in tables]
    table = pa.concat_tables(shares or [shape.schema.empty_table()])
    groups, group = _numbered(table, setting.group_types)
    scales = {operand: _scale(table, operand) for operand in shape.centred}
    evaluators, harvests = setting.evaluators(), setting.harvests()
    part = to_numpy(table.column("part").combine_chunks())
    sides: list[Rows] = []
    for k, (evaluator, harvest) in enumerate(zip(evaluators, harvests, strict=True)):
        evaluator.centres.update({o: Centre(0.0, scale) for o, scale in scales.items()})
        mine = np.flatnonzero(part == k)
        own = table.take(from_numpy(mine))
        rows = shape.read(k, harvest, group[mine], own)
        sides.append(_under_one_centre(rows, own, scales).merged())
    rows = put_together(plan, sides)
    return result_table(plan, setting.windows, evaluators, harvests, groups, rows)


@dataclass(frozen=True)
class _Shape:
    """Which columns a setting's shares have."""

    setting: Setting

    @cached_property
    def lanes(self) -> list[dict[Lane, Column]]:
        """Per part, empty columns in the domains that they are kept in."""
        return [evaluator.empty()[0] for evaluator in self.setting.evaluators()]

    @cached_property
    def extremes(self) -> list[tuple[Extremum, ...]]:
        """Per part."""
        return [evaluator.layout.extremes for evaluator in self.setting.evaluators()]

    @cached_property
    def lane_names(self) -> dict[Lane, str]:
        """Of all parts; those that a lane is common to share its columns."""
        found = dict.fromkeys(lane for part in self.lanes for lane in part)
        return {lane: f"lane{k}" for k, lane in enumerate(found)}

    @cached_property
    def extreme_names(self) -> dict[Extremum, str]:
        found = dict.fromkeys(lane for part in self.extremes for lane in part)
        return {lane: f"least{k}" for k, lane in enumerate(found)}

    @cached_property
    def centred(self) -> list[int]:
        """Operands of variances."""
        return sorted({one.operand for part in self.lanes for one in moments(part)})

    @cached_property
    def schema(self) -> pa.Schema:
        plan, setting = self.setting.plan, self.setting
        values = {
            key: kind
            for part in plan.all_parts
            for key, kind in zip(group_keys(part), setting.value_types(part), strict=True)
        }
        domains = {lane: column for part in self.lanes for lane, column in part.items()}
        fields: list[tuple[str, pa.DataType]] = [
            ("part", pa.int16()),
            *((f"g{k}", kind) for k, kind in enumerate(setting.group_types)),
            ("window", pa.int64()),
            *((f"v{k}", values[key]) for k, key in enumerate(plan.group_variables)),
            ("found", pa.bool_()),
        ]
        for lane, name in self.lane_names.items():
            fields += [(field, array.type) for field, array in _written(name, domains[lane])]
        fields += [(name, pa.int64()) for name in self.extreme_names.values()]
        for k in self.centred:
            fields += [(f"middle{k}", pa.float64()), (f"scale{k}", pa.float64())]
        return pa.schema(fields)

    def write(
        self, part: int, harvest: Harvest, groups: Groups, rows: Rows, centres: dict[int, Centre]
    ) -> pa.Table:
        plan, count = self.setting.plan, len(rows)
        arrays: dict[str, pa.Array] = {
            "part": from_numpy(np.full(count, part, np.int64)).cast(pa.int16()),
            "window": from_numpy(rows.window),
            "found": from_numpy(rows.found),
        }
        for k in range(len(self.setting.group_types)):
            arrays[f"g{k}"] = groups.column(k, rows.group)
        for b, key in enumerate(group_keys(plan.all_parts[part])):
            place = plan.group_variables.index(key)
            arrays[f"v{place}"] = harvest.decode(b, rows.values[:, place])
        for lane in self.lanes[part]:
            arrays.update(_written(self.lane_names[lane], rows.columns[lane]))
        for extremum in self.extremes[part]:
            arrays[self.extreme_names[extremum]] = from_numpy(rows.extremes[extremum])
        for k in self.centred:
            if k in centres:
                arrays[f"middle{k}"] = from_numpy(np.full(count, centres[k].middle))
                arrays[f"scale{k}"] = from_numpy(np.full(count, centres[k].scale))
        columns = [
            arrays[field.name].cast(field.type)
            if field.name in arrays
            else pa.nulls(count, field.type)
            for field in self.schema
        ]
        return pa.Table.from_arrays(columns, schema=self.schema)

    def read(self, part: int, harvest: Harvest, group: Ints, table: pa.Table) -> Rows:
        """The rows of one part, whose groups have numbers already."""
        plan = self.setting.plan
        values = np.full((len(table), len(plan.group_variables)), EVERY, np.int64)
        for b, key in enumerate(group_keys(plan.all_parts[part])):
            place = plan.group_variables.index(key)
            values[:, place] = harvest.number(b, table.column(f"v{place}").combine_chunks())
        return Rows(
            group,
            _numbers(table, "window"),
            values,
            _numbers(table, "found"),
            {
                lane: _read(table, self.lane_names[lane], domain)
                for lane, domain in self.lanes[part].items()
            },
            {lane: _numbers(table, self.extreme_names[lane]) for lane in self.extremes[part]},
        )


# ── lanes as columns ─────────────────────────────────────────────────────────────────────────


def _written(name: str, column: Column) -> list[tuple[str, pa.Array]]:
    match column:
        case Doubles():
            return [(f"{name}_m", from_numpy(column.m)), (f"{name}_e", from_numpy(column.e))]
        case Integers():
            return [(name, from_numpy(column.v))]
        case Exact():
            return [(name, pa.array([format(int(v), "x") for v in column.v], pa.string()))]


def _read(table: pa.Table, name: str, domain: Column) -> Column:
    match domain:
        case Doubles():
            return Doubles(_numbers(table, f"{name}_m"), _numbers(table, f"{name}_e"))
        case Integers():
            return Integers(_numbers(table, name))
        case Exact():
            values = np.empty(len(table), np.object_)
            values[:] = [int(text, 16) for text in table.column(name).to_pylist()]
            return Exact(values)


def _numbers(table: pa.Table, name: str) -> NDArray[Any]:
    return to_numpy(table.column(name).combine_chunks())


# ── groups ───────────────────────────────────────────────────────────────────────────────────


def _numbered(table: pa.Table, types: list[pa.DataType]) -> tuple[Groups, Ints]:
    """The groups, numbered in the order of their attributes, and every row's number."""
    plain, count = len(types), len(table)
    groups = Groups(plain, types)
    if not plain or not count:
        return groups, np.zeros(count, np.int64)
    columns = [table.column(f"g{k}").combine_chunks() for k in range(plain)]
    ranks = [_ranks(column) for column in columns]
    order = np.lexsort(ranks[::-1])
    new = np.zeros(count, np.bool_)
    for rank in ranks:
        new[1:] |= rank[order][1:] != rank[order][:-1]
    number = np.empty(count, np.int64)
    number[order] = np.cumsum(new)
    new[0] = True
    heads = from_numpy(order[new])
    names = [f"p{k}" for k in range(plain)]
    batch = pa.RecordBatch.from_arrays([column.take(heads) for column in columns], names)
    groups.heads.append(batch)
    return groups, number


def _ranks(column: pa.Array) -> Ints:
    """Numbers that order as the values do, the same for equal ones."""
    encoded = column.dictionary_encode()
    order = to_numpy(pc.sort_indices(encoded.dictionary).cast(pa.int64()))
    new = np.zeros(len(order), np.bool_)
    mark_changes(encoded.dictionary.take(from_numpy(order)), new)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.cumsum(new)
    ranks: Ints = rank[to_numpy(encoded.indices)]
    return ranks


# ── centres ──────────────────────────────────────────────────────────────────────────────────


def _scale(table: pa.Table, operand: int) -> float:
    """The scale of the widest values that any run has seen, so that no square overflows."""
    smallest = pc.min(table.column(f"scale{operand}")).as_py()
    return 1.0 if smallest is None else float(smallest)


def _under_one_centre(rows: Rows, table: pa.Table, scales: dict[int, float]) -> Rows:
    """Rows whose centred sums can be added up, window by window and group by group.

    Rows of one sum move to the middle of that with the largest squares. What it has rounded off is
    lost anyway, and the sum's squares still tell how much that is: a variance of less is none.
    A common middle for all would be far from groups that only one run has seen.
    """
    found = moments(rows.columns)
    if not found or not len(rows):
        return rows
    order, starts = rows.order()
    rows = rows.take(order)
    lengths = np.diff(np.append(starts, len(rows)))
    columns = dict(rows.columns)
    for one in found:
        old = _centres(table, one.operand).take(order)
        first, second, count = (
            columns[lane].to_doubles() for lane in (one.first, one.second, one.count)
        )
        lead = np.repeat(_largest(second, count, old.scale, starts, lengths), lengths)
        new = Centres(old.middle[lead], np.full(len(rows), scales[one.operand]))
        columns[one.first], columns[one.second] = recentred_sums(first, second, count, old, new)
    return replace(rows, columns=columns)


def _centres(table: pa.Table, operand: int) -> Centres:
    """Of every row; a run without one has seen no values."""
    nowhere = Centre()
    return Centres(
        to_numpy(pc.fill_null(table.column(f"middle{operand}"), nowhere.middle).combine_chunks()),
        to_numpy(pc.fill_null(table.column(f"scale{operand}"), nowhere.scale).combine_chunks()),
    )


def _largest(second: Doubles, count: Doubles, scale: Floats, starts: Ints, lengths: Ints) -> Ints:
    """Per run of rows, the one with the largest sum of squares."""
    with np.errstate(invalid="ignore"):
        size = second.log2() - 2 * np.log2(scale)
    # Squares that are infinite are largest, and values at the middle are more than no values.
    size = np.maximum(np.where(np.isnan(size), np.inf, size), np.finfo(np.float64).min)
    size = np.where(count.nonzero, size, -np.inf)
    top = np.flatnonzero(size == np.repeat(np.maximum.reduceat(size, starts), lengths))
    run = np.repeat(np.arange(len(starts)), lengths)
    return top[np.searchsorted(run[top], np.arange(len(starts)))]
