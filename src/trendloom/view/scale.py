"""Which numbers a chart shows, and on which scale."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trendloom.errors import InputError, did_you_mean
from trendloom.view.cells import WINDOW, is_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa

DECADES = 3
"""Counts that span more than this many powers of ten are drawn on a log scale."""


def to_float(value: Any) -> float | None:
    """Any number as a double; beyond its range it is infinite, which a chart must say."""
    if value is None:
        return None
    try:
        number = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    return None if math.isnan(number) else number


@dataclass(frozen=True, slots=True)
class Scale:
    """The range of the finite values; `log` if they span too many decades for a linear axis."""

    low: float
    high: float
    smallest: float
    """The smallest value above zero."""
    log: bool
    infinite: bool

    @property
    def has_zero(self) -> bool:
        return self.low <= 0

    def share(self, value: float) -> float:
        """Where on the axis the value stands, from 0 to 1."""
        if value <= 0:
            return 0.0
        if not math.isfinite(value) or self.high <= 0:
            return 1.0
        if not self.log:
            return min(1.0, value / self.high)
        start = math.log10(self.smallest) - 1
        return min(1.0, (math.log10(value) - start) / (math.log10(self.high) - start))


def scale_of(values: Iterable[float | None]) -> Scale:
    """The scale that fits the values."""
    known = [value for value in values if value is not None]
    finite = [value for value in known if math.isfinite(value)]
    positive = [value for value in finite if value > 0]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    smallest = min(positive, default=1.0)
    infinite = len(finite) < len(known)
    spread = bool(positive) and math.log10(high) - math.log10(smallest) > DECADES
    # Beside something infinite every linear axis is flat.
    return Scale(low, high, smallest, low >= 0 and (spread or infinite), infinite)


def pick_value(table: pa.Table, value_columns: Sequence[str], value: str | None) -> str:
    """The column to draw: the one asked for, else the first that holds numbers."""
    numbers = [name for name in value_columns if is_number(table.schema.field(name).type)]
    if value is not None:
        if value not in numbers:
            raise InputError(
                f"The result has no column of numbers '{value}'.",
                remedy=did_you_mean(value, numbers),
            )
        return value
    if not numbers:
        raise InputError(
            "The result has no column of numbers to draw.",
            remedy="RETURN an aggregate such as COUNT(*).",
        )
    return numbers[0]


def has_windows(table: pa.Table) -> bool:
    """Is there more than one window?"""
    if WINDOW[0] not in table.column_names:
        return False
    starts = table.column(WINDOW[0])
    return starts.null_count < len(starts) and len(starts.unique()) > 1


def has_window(table: pa.Table) -> bool:
    """Does the query have a window at all?"""
    name = WINDOW[0]
    return name in table.column_names and table.column(name).null_count < table.num_rows
