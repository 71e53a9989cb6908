"""Rows of runs that each saw some of the partitions, and the result that they make together.

A run's share is one Arrow table: per part of the plan, window and group one row, with the columns

`part`               the number of the part
`g0`, `g1`, …        the GROUP-BY attributes that partition, in their own types
`window`             the number of the window
`v0`, `v1`, …        the values of grouping variables, null for trends without the variable
`found`              whether there is a trend
`lane0`, …           the lanes: 64-bit integers, null where they do not fit; scaled doubles as two
                     columns, `_m` and `_e`; exact integers in hexadecimal digits, which are read
                     and written in linear time
`lane0_wide`, …      the same digits of integers that do not fit
`least0`, …          keys of the extremes, null without a value
`lane0_middle`, …    beside squares: what the row's sums of a variance are relative to
`lane0_scale`, …

A column that the part has no use for is null. The schema depends on the setting only, so shares of
several runs can be concatenated, in any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trendloom.engine.arrow import filled, from_numpy, to_numpy
from trendloom.engine.centres import Centres, moments
from trendloom.engine.chunk import mark_changes
from trendloom.engine.columns import valid
from trendloom.engine.ends import is_absent, without
from trendloom.engine.groups import Groups
from trendloom.engine.harvest import EVERY, Harvest, Rows
from trendloom.engine.inputs import Centre
from trendloom.engine.numbers import Column, Doubles, Exact, Integers, fits
from trendloom.engine.table import group_keys, put_together, result_table
from trendloom.engine.wire import damaged, reading
from trendloom.kernels.extreme import ABSENT
from trendloom.plan.plan import WindowStrategy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from trendloom.engine.evaluate import Evaluator
    from trendloom.engine.lanes import Extremum, Lane, Sum
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
    tables = [
        shape.write(k, harvest, groups, rows, evaluator.centres)
        for k, (evaluator, harvest, rows) in enumerate(
            zip(evaluators, harvests, sides, strict=True)
        )
    ]
    return pa.concat_tables(tables)


def merge_partials(setting: Setting, tables: Iterable[pa.Table]) -> pa.Table:
    """The result of all runs together, as one run over all partitions gives it."""
    plan, shape = setting.plan, _Shape(setting)
    evaluators, harvests = setting.evaluators(), setting.harvests()
    with reading():
        table = shape.joined(tables)
        groups, group = _numbered(table, setting.group_types)
        part = _numbers(table, "part")
        if len(part) and not 0 <= part.min() <= part.max() < len(evaluators):
            raise damaged(f"there are rows of parts {part.min()} to {part.max()}")
    sides: list[Rows] = []
    for k, harvest in enumerate(harvests):
        mine = np.flatnonzero(part == k)
        own = table.take(from_numpy(mine))
        with reading():
            rows = shape.read(k, harvest, group[mine], own)
        sides.append(rows.merged())
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
    def centred(self) -> dict[Sum, str]:
        """Squares of variances."""
        found = dict.fromkeys(one.second for part in self.lanes for one in moments(part))
        return {lane: self.lane_names[lane] for lane in found}

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
        for name in self.centred.values():
            fields += [(f"{name}_middle", pa.float64()), (f"{name}_scale", pa.float64())]
        return pa.schema(fields)

    def joined(self, tables: Iterable[pa.Table]) -> pa.Table:
        """All shares in one table, in the columns' types."""
        shares = [table.select(self.schema.names).cast(self.schema) for table in tables]
        return pa.concat_tables(shares or [self.schema.empty_table()])

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
            arrays[self.extreme_names[extremum]] = _written_keys(rows.extremes[extremum])
        for one in moments(self.lanes[part]):
            name, same = self.centred[one.second], centres.get(one.operand, Centre())
            own = rows.centres.get(one.second, Centres.same(same, count))
            arrays[f"{name}_middle"] = from_numpy(own.middle)
            arrays[f"{name}_scale"] = from_numpy(own.scale)
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
        found = _numbers(table, "found")
        extremes = {
            lane: _read_keys(table.column(self.extreme_names[lane]).combine_chunks())
            for lane in self.extremes[part]
        }
        for lane, keys in extremes.items():
            # Values may all be null, but every trend has a length.
            if lane.variable is None and (found & is_absent(keys)).any():
                raise damaged("there are trends without a length")
        return Rows(
            group,
            _numbers(table, "window"),
            values,
            found,
            {
                lane: _read(table, self.lane_names[lane], domain)
                for lane, domain in self.lanes[part].items()
            },
            extremes,
            {
                one.second: Centres(
                    _numbers(table, f"{self.centred[one.second]}_middle"),
                    _numbers(table, f"{self.centred[one.second]}_scale"),
                )
                for one in moments(self.lanes[part])
            },
        )


# ── lanes as columns ─────────────────────────────────────────────────────────────────────────


def _written(name: str, column: Column) -> list[tuple[str, pa.Array]]:
    match column:
        case Doubles():
            return [(f"{name}_m", from_numpy(column.m)), (f"{name}_e", from_numpy(column.e))]
        case Integers():
            if not column.is_wide:
                none = pa.nulls(len(column.v), pa.string())
                return [(name, from_numpy(column.v)), (f"{name}_wide", none)]
            narrow = [int(v) if fits(v) else None for v in column.v]
            wide = [None if fits(v) else format(int(v), "x") for v in column.v]
            return [
                (name, pa.array(narrow, pa.int64())),
                (f"{name}_wide", pa.array(wide, pa.string())),
            ]
        case Exact():
            return [(name, pa.array([format(int(v), "x") for v in column.v], pa.string()))]


def _read(table: pa.Table, name: str, domain: Column) -> Column:
    match domain:
        case Doubles():
            return Doubles(_numbers(table, f"{name}_m"), _numbers(table, f"{name}_e"))
        case Integers():
            narrow = table.column(name).combine_chunks()
            digits = table.column(f"{name}_wide").combine_chunks()
            if (valid(narrow) == valid(digits)).any():
                raise damaged("a number is missing, or there twice")
            whole = filled(narrow, 0)
            if digits.null_count < len(digits):
                whole = whole.astype(np.object_)
                whole[to_numpy(digits.is_valid())] = _undigits(digits.drop_null())
            return Integers(whole)
        case Exact():
            return Exact(_undigits(table.column(name).combine_chunks()))


def _undigits(column: pa.Array) -> NDArray[np.object_]:
    values = np.empty(len(column), np.object_)
    values[:] = [int(text, 16) for text in column.to_pylist()]
    return values


def _numbers(table: pa.Table, name: str) -> NDArray[Any]:
    return to_numpy(table.column(name).combine_chunks())


def _written_keys(keys: NDArray[Any]) -> pa.Array:
    absent = is_absent(keys)
    return from_numpy(np.where(absent, 0, keys).astype(np.int64), absent)


def _read_keys(column: pa.Array) -> NDArray[Any]:
    keys, here = filled(column, ABSENT), valid(column)
    if not (here & (keys == ABSENT)).any():
        return keys
    return without(keys.astype(np.object_), ~here)


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
