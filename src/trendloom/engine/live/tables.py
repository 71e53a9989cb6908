"""A state's tables, checked before anything looks at their numbers.

Kernels check no bounds and take for granted what only this package has written. So what they use
as an index, a code or a length is in its range, whoever wrote the bytes; other numbers may be any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from trendloom.engine.arrow import from_numpy, to_numpy
from trendloom.engine.ends import from_keys, is_absent
from trendloom.engine.scanned import event_schema, plain
from trendloom.engine.sort import key_codes
from trendloom.engine.windows import LAST_TIME
from trendloom.engine.wire import damaged

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from numpy.typing import NDArray

    from trendloom.engine.evaluate import Evaluator
    from trendloom.engine.setting import Setting

    Ints = NDArray[np.int64]

FARTHEST_EXPONENT = 1 << 41
"""Beyond those of all numbers, of infinity too."""


def check_names(tables: Mapping[str, pa.Table], known: Collection[str]) -> None:
    """Refuses tables that nobody would read."""
    for name in tables:
        if name not in known:
            raise damaged(f"there is a table '{name}', which the query has no use for")


def columns_of(
    table: pa.Table,
    needed: Mapping[str, pa.DataType],
    optional: Mapping[str, pa.DataType] | None = None,
) -> dict[str, pa.Array]:
    """A table's columns by name, in these types and no others, without nulls but in keys (`p…`)."""
    types = {**needed, **(optional or {})}
    names = table.schema.names
    if len(set(names)) < len(names) or not set(needed) <= set(names) <= set(types):
        raise damaged(f"a table has the columns {', '.join(names)}, not {', '.join(needed)}")
    found: dict[str, pa.Array] = {}
    for name in names:
        column = table.column(name).combine_chunks()
        if column.type != types[name]:
            raise damaged(f"the column '{name}' is {column.type}, not {types[name]}")
        if name[0] != "p":
            _refuse_nulls(name, column)
        found[name] = column
    return found


def _refuse_nulls(name: str, column: pa.Array) -> None:
    inner = column.flatten() if pa.types.is_fixed_size_list(column.type) else column
    if column.null_count or inner.null_count:
        raise damaged(f"the column '{name}' has nulls")


def key_types(setting: Setting) -> dict[str, pa.DataType]:
    """The columns of partition attributes."""
    return {f"p{k}": plain(kind) for k, kind in enumerate(setting.partition_types)}


def to_lists(rows: NDArray[np.float64] | Ints) -> pa.Array:
    """[row, number] as a column."""
    return pa.FixedSizeListArray.from_arrays(from_numpy(rows.ravel()), rows.shape[1])


def to_rows(column: pa.Array) -> NDArray[Any]:
    """What `to_lists` wrote."""
    values: NDArray[Any] = to_numpy(column.flatten())
    return values.reshape(len(column), column.type.list_size)


def wide_lists(name: str, rows: NDArray[Any]) -> dict[str, pa.Array]:
    """As `to_lists`; integers beyond 64 bits have a column of their hexadecimal digits beside."""
    if rows.dtype != np.object_:
        return {name: to_lists(rows)}
    digits = pa.array([format(int(value), "x") for value in rows.ravel()], pa.string())
    return {
        name: to_lists(np.zeros(rows.shape, np.int64)),
        f"{name}_wide": pa.FixedSizeListArray.from_arrays(digits, rows.shape[1]),
    }


def wide_rows(columns: dict[str, pa.Array], name: str) -> NDArray[Any]:
    """What `wide_lists` wrote."""
    rows = to_rows(columns[name])
    if f"{name}_wide" not in columns:
        return rows
    wide = np.empty(rows.size, np.object_)
    wide[:] = [int(text, 16) for text in columns[f"{name}_wide"].flatten().to_pylist()]
    return wide.reshape(rows.shape)


def exponents(column: pa.Array) -> Ints:
    """As `to_rows`, of numbers that can be exponents."""
    rows: Ints = to_rows(column)
    return within("exponents", rows, -FARTHEST_EXPONENT, FARTHEST_EXPONENT)


def within(what: str, numbers: Ints, least: int, most: int) -> Ints:
    """The same numbers, all of this range."""
    if numbers.size and not least <= int(numbers.min()) <= int(numbers.max()) <= most:
        raise damaged(f"the {what} reach from {numbers.min()} to {numbers.max()}")
    return numbers


def check_extremes(evaluator: Evaluator, keys: NDArray[Any], width: int) -> None:
    """Refuses keys that are of no value; a cell is so many numbers, at its end those of lanes."""
    lanes = evaluator.layout.extremes
    for k, lane in enumerate(lanes, width - len(lanes)):
        own = np.ascontiguousarray(keys[:, k::width]).ravel()
        if lane.operand is None:
            within("lengths", own[~is_absent(own)], -LAST_TIME, LAST_TIME)
        else:
            from_keys(own, evaluator.operand_types[lane.operand], largest=lane.largest)


def window_numbers(setting: Setting, column: pa.Array) -> Ints:
    """Of sliding windows whose bounds are 64-bit ticks."""
    most = LAST_TIME // max(1, setting.windows.slide)
    return within("windows", to_numpy(column), -most, most)


def events_of(setting: Setting, table: pa.Table | None) -> pa.Table | None:
    """Events that a keeper can go on with."""
    if table is None:
        return None
    names = table.schema.names
    tie = table.schema.field("tie").type if names.count("tie") == 1 else None
    schema = event_schema(setting, tie)
    if table.schema != schema:
        raise damaged("events have other columns than the query needs")
    if tie is not None:
        # Refuses types that have no order.
        key_codes([table.column("tie").slice(0, 1)], ordered=True)
    time, mask = (table.column(name).combine_chunks() for name in ("time", "mask"))
    _refuse_nulls("time", time)
    _refuse_nulls("mask", mask)
    setting.windows.check_range(to_numpy(time))
    _check_masks(setting, to_numpy(mask))
    return table


def _check_masks(setting: Setting, masks: NDArray[Any]) -> None:
    """Kernels look masks up in tables of all that can be, and have room for what those may do."""
    types = [letter.type for letter in setting.plan.scan.letters]
    for mask in map(int, np.unique(masks)):
        if mask >> len(types) or len({t for k, t in enumerate(types) if mask >> k & 1}) > 1:
            raise damaged(f"an event has the mask {mask:#x}, which none can have")
