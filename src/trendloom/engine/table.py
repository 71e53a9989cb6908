"""Harvested lanes → the result table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trendloom import bigint
from trendloom.engine.arrow import filled, from_numpy, to_numpy
from trendloom.engine.centres import Centres, moments
from trendloom.engine.chunk import mark_changes
from trendloom.engine.finish import value_column
from trendloom.engine.harvest import EVERY, Harvest, Rows, on_change, paired
from trendloom.engine.inputs import Centre
from trendloom.language.nodes import Aggregate, Function, GroupKey
from trendloom.plan.plan import BindingKind, Part, Plan, WindowStrategy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trendloom.engine.evaluate import Evaluator
    from trendloom.engine.groups import Groups
    from trendloom.engine.windows import Windows

    Ints = NDArray[np.int64]

STEADY = 1e-12
"""The relative difference up to which variances are the same."""


def part_rows(
    plan: Plan,
    evaluators: list[Evaluator],
    harvests: list[Harvest],
    timeline: dict[int, dict[int, Ints]],
    row_partition: list[list[Ints]],
) -> list[Rows]:
    """Of every part, one row per window and group."""
    sides: list[Rows] = []
    for k, harvest in enumerate(harvests):
        rows = harvest.rows() or _no_rows(evaluators[k], len(plan.group_variables))
        rows = _place_values(rows, plan.group_variables, group_keys(plan.all_parts[k]))
        if plan.strategy is WindowStrategy.CHANGES:
            partition = np.concatenate(row_partition[k] or [np.zeros(0, np.int64)])
            rows = on_change(rows, timeline, partition)
        sides.append(rows.merged())
    return sides


def put_together(plan: Plan, sides: list[Rows]) -> Rows:
    """The rows of the query from those of its parts."""
    if len(plan.parts) == 1:
        return sides[0]
    both = sides.pop() if plan.overlap is not None else None
    return paired(sides, both).merged()


def result_table(
    plan: Plan,
    windows: Windows,
    evaluators: list[Evaluator],
    harvests: list[Harvest],
    groups: Groups,
    rows: Rows,
    shown: NDArray[np.bool_] | None = None,
) -> pa.Table:
    """Window bounds in ticks, then every output, hidden ones included.

    `shown` says which rows may come out; of itself, every row with a trend does, and of changes
    every row. Rows that are not shown still count as the ones before.
    """
    types = evaluators[0].operand_types
    centres = {k: centre for e in evaluators for k, centre in e.centres.items()}
    fields = [pa.field("window_start", pa.int64()), pa.field("window_end", pa.int64())]
    arrays = [from_numpy(windows.start(rows.window)), from_numpy(windows.end(rows.window))]
    for output in plan.outputs:
        metadata = None
        match output.value:
            case GroupKey() as key:
                array = _group_column(plan, harvests, groups, key, rows)
            case Aggregate() as aggregate:
                metadata, array = value_column(plan, aggregate, rows, types, centres)
        fields.append(pa.field(output.name, array.type, metadata=metadata))
        arrays.append(array)
    changes = plan.strategy is WindowStrategy.CHANGES
    if changes:
        keep = _changed(plan, rows, arrays[2:])
        keep = keep if shown is None else keep & shown
    else:
        keep = rows.found if shown is None else shown
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields)).filter(from_numpy(keep))


def group_keys(part: Part) -> list[int]:
    """The part's grouping variables, by their place in GROUP-BY."""
    return [b.key for b in part.bindings if b.kind is BindingKind.GROUP and b.key is not None]


def _place_values(rows: Rows, wanted: list[int], own: list[int]) -> Rows:
    """The values of the part's grouping variables in GROUP-BY order, EVERY for the others'."""
    values = np.full((len(rows), len(wanted)), EVERY, np.int64)
    for b, key in enumerate(own):
        values[:, wanted.index(key)] = rows.values[:, b]
    return replace(rows, values=values)


def _no_rows(evaluator: Evaluator, variables: int) -> Rows:
    """What an input without events gives: lanes of no rows."""
    none = np.zeros(0, np.int64)
    columns, extremes = evaluator.empty()
    values = np.zeros((0, variables), np.int64)
    # Rows may be joined to these, and have what they are relative to.
    centres = {one.second: Centres.same(Centre(), 0) for one in moments(columns)}
    return Rows(none, none, values, np.zeros(0, np.bool_), columns, extremes, centres)


def _group_column(
    plan: Plan, harvests: list[Harvest], groups: Groups, key: GroupKey, rows: Rows
) -> pa.Array:
    if key.variable is None:
        plain = dict.fromkeys(k.attribute for k in plan.group_by if k.variable is None)
        return groups.column(list(plain).index(key.attribute), rows.group)
    number = plan.group_by.index(key)
    part = plan.part_of(key.variable)
    position = plan.group_variables.index(number)
    binding = group_keys(plan.parts[part]).index(number)
    return harvests[part].decode(binding, rows.values[:, position])


def _mark_moves(column: pa.Array, changes: NDArray[np.bool_]) -> None:
    """`mark_changes` of variances: equal ones of different windows may be rounded differently."""
    values = filled(column, np.nan)
    changes[1:] |= ~np.isclose(values[1:], values[:-1], rtol=STEADY, atol=0.0, equal_nan=True)


def _changed(plan: Plan, rows: Rows, arrays: list[pa.Array]) -> NDArray[np.bool_]:
    """Rows whose RETURN values differ from the group's row before (at first: from no trend)."""
    keys = [rows.values[:, b] for b in range(rows.values.shape[1])]
    keys.append(rows.group)
    order = np.lexsort([rows.window, *keys])
    first = np.zeros(len(rows), np.bool_)
    first[:1] = True
    for key in keys:
        first[1:] |= np.diff(key[order]) != 0
    changed = np.zeros(len(rows), np.bool_)
    from_nothing = np.zeros(len(rows), np.bool_)
    for array, output in zip(arrays, plan.outputs, strict=True):
        if isinstance(output.value, Aggregate) and not output.hidden:
            column = array.take(from_numpy(order))
            if output.value.function in (Function.VARIANCE, Function.STDDEV):
                _mark_moves(column, changed)
            else:
                mark_changes(column, changed)
            counts = output.value.function is Function.COUNT and not output.value.log2
            from_nothing |= _is_something(column, zero=counts)
    keep = np.zeros(len(rows), np.bool_)
    keep[order] = np.where(first, from_nothing, changed)
    return keep


def _is_something(column: pa.Array, *, zero: bool) -> NDArray[np.bool_]:
    """Whether each value differs from that of no trend: 0, or null."""
    if not zero:
        return to_numpy(column.is_valid())
    if column.type == bigint.TYPE:
        return filled(pc.not_equal(column, bigint.as_text(0)), True)
    return np.asarray(filled(column, 1) != 0)
