"""The final form of a result: what the engine returns, as the caller gets it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from trendloom.engine.run import Run
from trendloom.hosts.scan.having import filter_rows, sort_rows
from trendloom.language.nodes import GroupKey
from trendloom.plan.plan import WindowStrategy

if TYPE_CHECKING:
    from trendloom.engine.setting import Setting
    from trendloom.hosts.scan.times import TimeAxis
    from trendloom.plan.plan import Plan


def dressed(plan: Plan, table: pa.Table, axis: TimeAxis) -> pa.Table:
    """HAVING applied, hidden columns gone, window bounds in the caller's type, rows in order."""
    if plan.having is not None:
        table = filter_rows(table, plan.having)
    table = table.drop_columns([output.name for output in plan.outputs if output.hidden])
    groups = [
        output.name
        for output in plan.outputs
        if isinstance(output.value, GroupKey) and not output.hidden
    ]
    if any(key.variable is not None for key in plan.group_by):
        table = sort_rows(table, ["window_start", *groups])
    for position, name in enumerate(("window_start", "window_end")):
        ticks = table.column(name).combine_chunks()
        table = table.set_column(position, name, window_bounds(plan, ticks, axis))
    return table


def window_bounds(plan: Plan, ticks: pa.Array, axis: TimeAxis) -> pa.Array:
    """In the caller's type: null without a window, numbers of events, or times."""
    if plan.strategy is WindowStrategy.WHOLE:
        return pa.nulls(len(ticks), axis.arrow_type)
    return ticks if plan.strategy is WindowStrategy.COUNTED else axis.to_arrow(ticks)


def result_schema(setting: Setting, axis: TimeAxis) -> pa.Schema:
    """The columns that a dressed result will have, before anything is read."""
    return dressed(setting.plan, Run(setting).finish(), axis).schema


def listing_schema(schema: pa.Schema, plan: Plan, axis: TimeAxis) -> pa.Schema:
    """The columns of a listing, window bounds in the caller's type."""
    if plan.strategy is WindowStrategy.COUNTED:
        return schema
    for position, name in enumerate(("window_start", "window_end")):
        schema = schema.set(position, pa.field(name, axis.arrow_type))
    return schema


def dressed_listing(
    batch: pa.RecordBatch, schema: pa.Schema, plan: Plan, axis: TimeAxis
) -> pa.RecordBatch:
    """A batch of trends with such columns."""
    bounds = [window_bounds(plan, ticks, axis) for ticks in batch.columns[:2]]
    return pa.RecordBatch.from_arrays([*bounds, *batch.columns[2:]], schema=schema)
