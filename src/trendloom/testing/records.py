"""Events as the oracle sees them: a row, its type, and where it stands in the order.

A time is turned into an integer once (ticks as given, or microseconds since the Unix epoch for a
datetime), so that everything after this file compares and subtracts plain integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from trendloom.errors import InputError
from trendloom.language.nodes import Duration, Unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Row = dict[str, Any]
Order = tuple[Any, ...]

EPOCH = datetime(1970, 1, 1)
MICROSECOND = timedelta(microseconds=1)

TICKS = {
    "ns": Unit.NANOSECOND,
    "us": Unit.MICROSECOND,
    "ms": Unit.MILLISECOND,
    "s": Unit.SECOND,
    "min": Unit.MINUTE,
    "h": Unit.HOUR,
    "d": Unit.DAY,
}


@dataclass(frozen=True, slots=True)
class Record:
    """One event. `index` is its identity: two equal rows are two events."""

    index: int
    time: int
    order: Order
    type: str
    row: Mapping[str, Any]

    def __getitem__(self, attribute: str) -> Any:
        # Rows are ragged in tests: an attribute that a row does not have is null.
        return self.row.get(attribute)


@dataclass(frozen=True, slots=True)
class Clock:
    """How times become integers and back."""

    tick: Unit
    is_datetime: bool
    is_aware: bool = False

    def read(self, time: Any) -> int:
        if self.is_datetime and isinstance(time, datetime):
            naive = time if time.tzinfo is None else time.astimezone(UTC).replace(tzinfo=None)
            return (naive - EPOCH) // MICROSECOND
        if not self.is_datetime and isinstance(time, int) and not isinstance(time, bool):
            return time
        raise InputError(f"{time!r} is not a time, or not of the kind of the times before it.")

    def show(self, time: int) -> int | datetime:
        if not self.is_datetime:
            return time
        moment = EPOCH + time * MICROSECOND
        return moment.replace(tzinfo=UTC) if self.is_aware else moment

    def ticks(self, duration: Duration) -> int:
        ticks = duration.nanoseconds / self.tick.value
        if ticks.denominator != 1 or ticks <= 0:
            raise InputError(f"{duration} is not a positive whole number of {self.tick.name}s.")
        return int(ticks)


def clock_for(events: Sequence[Row], time: str, tick: str) -> Clock:
    """The clock that the first event's time asks for."""
    first = events[0].get(time) if events else None
    if isinstance(first, datetime):
        return Clock(Unit.MICROSECOND, is_datetime=True, is_aware=first.tzinfo is not None)
    if tick not in TICKS:
        raise InputError(f"Unknown tick {tick!r}.", remedy=f"Known: {', '.join(TICKS)}.")
    return Clock(TICKS[tick], is_datetime=False)


def read_events(
    events: Sequence[Row],
    clock: Clock,
    time: str,
    type: str | None,  # noqa: A002 - the name that users type
    event_type: str | None,
    tiebreak: str | None,
) -> tuple[Record, ...]:
    """The events in the order (time, tiebreak, input order).

    The tiebreak "@row" is the input order; so is "row", unless an event has such an attribute.
    """
    by_row = tiebreak == "@row" or (tiebreak == "row" and not any("row" in row for row in events))
    if type is not None and event_type is not None:
        raise InputError("Name either the type column or the one event type, not both.")
    records = []
    for index, row in enumerate(events):
        if row.get(time) is None:
            raise InputError(f"Event {index} has a null time.")
        at = clock.read(row[time])
        order = (at,) if tiebreak is None else (at, index if by_row else row[tiebreak])
        kind = event_type if event_type is not None else row.get(type or "type")
        # NaN is no value, wherever it stands (choice 15).
        values = {name: None if is_nan(value) else value for name, value in row.items()}
        records.append(Record(index, at, order, str(kind), values))
    return tuple(sorted(records, key=lambda record: record.order))


def is_nan(value: Any) -> bool:
    """True for a float NaN only."""
    return isinstance(value, float) and math.isnan(value)
