"""The time column: int64 ticks for the engine, and back to what the caller had."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from sqlglot import exp

from trendloom.errors import InputError, TrendloomWarning, did_you_mean, warn
from trendloom.hosts.scan import duck

_SPELLINGS = {
    1: "ns nanosecond nanoseconds",
    1_000: "us µs microsecond microseconds",
    1_000_000: "ms millisecond milliseconds",
    1_000_000_000: "s sec second seconds",
    60_000_000_000: "min minute minutes",
    3_600_000_000_000: "h hour hours",
    86_400_000_000_000: "d day days",
}
TICKS = {word: size for size, words in _SPELLINGS.items() for word in words.split()}

_FINER = {"ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
_YEAR = 31_556_952_000_000_000
"""Nanoseconds of a mean year of the calendar."""

_TIMESTAMPS = {
    "TIMESTAMP": ("epoch_us", 1_000, pa.timestamp("us")),
    "TIMESTAMP_S": ("epoch_us", 1_000_000_000, pa.timestamp("s")),
    "TIMESTAMP_MS": ("epoch_ms", 1_000_000, pa.timestamp("ms")),
    "TIMESTAMP_NS": ("epoch_ns", 1, pa.timestamp("ns")),
    "TIMESTAMP WITH TIME ZONE": ("epoch_us", 1_000, pa.timestamp("us", "UTC")),
    "TIMESTAMPTZ_NS": ("epoch_ns", 1, pa.timestamp("ns", "UTC")),
    "DATE": ("epoch_us", 1_000, pa.timestamp("us")),
}


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """How one time column counts."""

    column: str
    duck_type: str
    nanoseconds: int
    """Per tick."""
    arrow_type: pa.DataType
    """What window bounds are delivered as."""

    @property
    def expression(self) -> exp.Expr:
        """int64 ticks; null where the time is null or infinite."""
        column = duck.column(self.column)
        if self.duck_type not in _TIMESTAMPS:
            bigint = self.duck_type == "BIGINT"
            return column if bigint else exp.cast(column, exp.DataType.Type.BIGINT)
        ticks = exp.func(_TIMESTAMPS[self.duck_type][0], column, dialect="duckdb")
        if self.duck_type == "TIMESTAMP_S":
            # epoch() would be a double.
            return exp.IntDiv(this=ticks, expression=exp.Literal.number(1_000_000))
        return ticks

    def warn_of_ticks(self, ticks: int) -> None:
        """Warn of an integer time after the year 3000 that in a finer unit would be of our days.

        Milliseconds that are taken for seconds make windows a thousand times too short.
        """
        year = 1970 + ticks * self.nanoseconds // _YEAR
        if self.duck_type in _TIMESTAMPS or year <= 3000:
            return
        for tick, plural in _FINER.items():
            meant = 1970 + ticks * TICKS[tick] // _YEAR
            if TICKS[tick] < self.nanoseconds and 1990 <= meant <= 2100:
                cause = (
                    f"The times of column '{self.column}' (such as {ticks}) are in the year "
                    f"{year:,}; as {plural} they would be in {meant}."
                )
                warn(TrendloomWarning(cause, remedy=f"Say so with tick='{tick}' (--tick {tick})."))
                return

    def to_arrow(self, ticks: Any) -> pa.Array:
        """Window bounds in the caller's type."""
        array = ticks if isinstance(ticks, pa.Array) else pa.array(ticks, pa.int64())
        return array if self.arrow_type == pa.int64() else array.cast(self.arrow_type)


def time_axis(column: str, duck_type: str, *, tick: str = "s") -> TimeAxis:
    """The axis of a column, or an error that says how to cast it."""
    if duck_type in _TIMESTAMPS:
        _, nanoseconds, arrow = _TIMESTAMPS[duck_type]
        return TimeAxis(column, duck_type, nanoseconds, arrow)
    if tick not in TICKS:
        raise InputError(f"Unknown tick '{tick}'.", remedy=did_you_mean(tick, TICKS))
    if duck_type in duck.INTEGERS:
        return TimeAxis(column, duck_type, TICKS[tick], pa.int64())
    raise InputError(
        f"The time column '{column}' is {duck_type}; it must be an integer, a timestamp or a date.",
        remedy=_cast_remedy(column, duck_type),
    )


def moment_type(duck_type: str) -> pa.DataType | None:
    """What a date or a timestamp is in Arrow; None if the column is neither."""
    if duck_type == "DATE":
        return pa.date32()
    return _TIMESTAMPS[duck_type][2] if duck_type in _TIMESTAMPS else None


def _cast_remedy(column: str, duck_type: str) -> str:
    if duck_type == "VARCHAR":
        return (
            f"Convert it before, for example in SQL: CAST({column} AS TIMESTAMP), or say how a "
            "text file writes it with date_format= (--date-format)."
        )
    if duck.is_number(duck_type):
        return (
            f"Convert it before, for example in SQL: CAST(ROUND({column}) AS BIGINT), "
            f"or to_timestamp({column}) if it holds seconds since 1970."
        )
    return "Name another column, or convert this one to a timestamp."
