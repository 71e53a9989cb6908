"""What events add to lanes, as columns for the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trendloom.engine.arrow import to_numpy
from trendloom.engine.columns import as_doubles, as_integers, differences, order_keys, valid
from trendloom.kernels.extreme import ABSENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.lanes import Extremum, Sum

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Centre:
    """Centred values are (x − middle) · scale: near 1, so squares neither cancel nor overflow."""

    middle: float = 0.0
    scale: float = 1.0

    @classmethod
    def near(cls, values: Floats) -> Centre | None:
        """Chosen once, by the first values seen; None if there are none yet."""
        values = values[np.isfinite(values)]
        if not len(values):
            return None
        low, high = float(values.min()), float(values.max())
        middle = float(np.mean(values / 2.0**64)) * 2.0**64
        spread = max(high / 2 - middle / 2, middle / 2 - low / 2)
        return cls(middle, 2.0 ** -np.clip(np.frexp(spread)[1], -900, 1000) if spread else 1.0)

    def of(self, column: pa.Array) -> Floats:
        """The centred values; NaN for null."""
        with np.errstate(over="ignore", invalid="ignore"):
            return differences(column, self.middle) * self.scale


def centred_column(operand: int) -> str:
    """The column of a chunk in which an operand's values are centred already (`centring`)."""
    return f"c{operand}"


EVERY_VARIABLE = -1
COUNT_LANE = -2


def integers(chunk: Chunk, lane: Sum) -> Ints:
    """What each event adds to a lane of integers; 0 for nulls."""
    if lane.operand is None:
        return np.ones(len(chunk), np.int64)
    column = chunk.operand(lane.operand)
    return valid(column).astype(np.int64) if lane.power == 0 else as_integers(column)


def doubles(chunk: Chunk, lane: Sum, centres: dict[int, Centre]) -> Floats:
    """What each event adds to a lane of doubles; 0 for nulls."""
    if lane.operand is None:
        return np.ones(len(chunk))
    column = chunk.operand(lane.operand)
    if lane.power == 0:
        return valid(column).astype(np.float64)
    if lane.centred and centred_column(lane.operand) in chunk.batch.schema.names:
        values = to_numpy(chunk.batch.column(centred_column(lane.operand)))
    elif lane.centred:
        values = centres.get(lane.operand, Centre()).of(column)
    else:
        values = as_doubles(column, np.nan)
    if lane.power == 2:
        values = values * values
    missing = np.isnan(values)
    return np.where(missing, 0.0, values) if missing.any() else values


def integer_rows(chunk: Chunk, lanes: Sequence[Sum]) -> Ints:
    """[lane, event], with row 0 unused: lane 0 counts."""
    if not lanes:
        return np.zeros((1, 1), np.int64)
    rows = np.zeros((1 + len(lanes), len(chunk)), np.int64)
    for row, lane in zip(rows[1:], lanes, strict=True):
        row[:] = integers(chunk, lane)
    return rows


def double_rows(
    chunk: Chunk, lanes: Sequence[Sum], centres: dict[int, Centre], *, magnitudes: int = 0
) -> Floats:
    """The same; of the first `magnitudes` lanes only the magnitudes."""
    if not lanes:
        return np.zeros((1, 1))
    rows = np.zeros((1 + len(lanes), len(chunk)))
    for row, lane in zip(rows[1:], lanes, strict=True):
        row[:] = doubles(chunk, lane, centres)
    np.abs(rows[1 : 1 + magnitudes], out=rows[1 : 1 + magnitudes])
    return rows


def feeding_variables(variables: tuple[str, ...], lanes: Sequence[Sum | Extremum]) -> Ints:
    """The variable that feeds each lane, lane 0 included."""
    numbers = [
        EVERY_VARIABLE if lane.variable is None else variables.index(lane.variable)
        for lane in lanes
    ]
    return np.array([COUNT_LANE, *numbers], np.int64)


def key_rows(chunk: Chunk, lanes: Sequence[Extremum]) -> Ints:
    """[lane, event]: keys that order as the values do, ABSENT where there is none."""
    keys = np.full((len(lanes), len(chunk)), ABSENT, np.int64)
    for k, lane in enumerate(lanes):
        if lane.operand is not None:
            keys[k] = order_keys(chunk.operand(lane.operand), largest=lane.largest)
    return keys


def length_steps(lanes: Sequence[Extremum]) -> Ints:
    """What an event adds to the key of each lane: lengths grow, negative for the longest."""
    steps = [0 if x.variable is not None else -1 if x.largest else 1 for x in lanes]
    return np.array(steps, np.int64)
