"""Lanes → the values of aggregates, as Arrow columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from trendloom import bigint
from trendloom.engine.arrow import from_numpy
from trendloom.engine.ends import from_keys
from trendloom.engine.inputs import Centre
from trendloom.engine.lanes import Extremum, Sum, lanes_of
from trendloom.engine.numbers import Column, Doubles, Exact, Integers, fitting
from trendloom.language.nodes import Aggregate, Function

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trendloom.engine.harvest import Rows
    from trendloom.plan.plan import Plan


def value_column(
    plan: Plan,
    aggregate: Aggregate,
    rows: Rows,
    types: Sequence[pa.DataType],
    centres: dict[int, Centre],
) -> tuple[dict[bytes, bytes] | None, pa.Array]:
    """(field metadata, values) of an aggregate for every row."""
    lanes = lanes_of(plan, aggregate)
    if isinstance(lanes[0], Extremum):
        lane = lanes[0]
        kind = pa.int64() if lane.operand is None else types[lane.operand]
        keys = rows.extremes[lane]
        if lane.operand is None:
            # Lengths are kept as they are, negative for the largest.
            missing = ~rows.found
            array = from_numpy(np.where(missing, 0, -keys if lane.largest else keys), missing)
        else:
            array = from_keys(keys, kind, largest=lane.largest)
        return None, array
    columns = [rows.columns[lane] for lane in lanes]
    if aggregate.log2:
        bits = columns[0].log2()
        array = from_numpy(bits, ~columns[0].nonzero)
        return None, array
    match aggregate.function:
        case Function.COUNT:
            return _number(columns[0], np.zeros(len(rows), np.bool_))
        case Function.SUM:
            return _number(columns[0], ~columns[1].nonzero)
        case Function.AVG:
            values = _over(columns[0], columns[1])
            array = from_numpy(values, ~columns[1].nonzero)
            return None, array
        case _:
            assert isinstance(lanes[0], Sum)
            assert isinstance(lanes[1], Sum)
            assert lanes[0].operand is not None
            scale: float | NDArray[np.float64] = centres.get(lanes[0].operand, Centre()).scale
            if lanes[1] in rows.centres:
                scale = rows.centres[lanes[1]].scale
            array = _spread(columns, scale, root=aggregate.function is Function.STDDEV)
            return None, array


def _number(
    column: Column, missing: NDArray[np.bool_]
) -> tuple[dict[bytes, bytes] | None, pa.Array]:
    match column:
        case Doubles():
            return None, from_numpy(column.to_float(), missing)
        case Integers():
            return None, from_numpy(fitting(column.v, missing), missing)
        case Exact():
            text = [
                None if gone else bigint.as_text(v)
                for v, gone in zip(column.v, missing, strict=True)
            ]
            return bigint.MARK, pa.array(text, bigint.TYPE)


def _over(left: Column, right: Column) -> NDArray[np.float64]:
    if isinstance(left, Exact) and isinstance(right, Exact):
        quotients = [int(a) / int(b) if b else np.nan for a, b in zip(left.v, right.v, strict=True)]
        return np.array(quotients, np.float64)
    return left.to_doubles().over(right.to_doubles())


def _spread(columns: list[Column], scale: float | NDArray[np.float64], *, root: bool) -> pa.Array:
    """The sample variance from centred sums: (S₂ − S₁²/n) / (n − 1)."""
    first, second, count = (column.to_doubles() for column in columns)
    mean = first.over(count)
    square = second.over(count)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        n = count.to_float()
        variance = square - mean * mean
        # What is left of a difference that cancels to its last bits is rounding, not variance.
        variance = np.where(variance < 1e-14 * square, 0.0, variance)
        variance = np.where(np.isinf(n), variance, variance * (n / (n - 1)))
        values = np.sqrt(variance) / scale if root else variance / scale / scale
        missing = ~(n >= 2)
    return from_numpy(np.where(missing, 0.0, values), missing)
