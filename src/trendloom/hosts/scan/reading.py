"""How events are read: what a caller says once, and every host hands down as one thing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trendloom.errors import one_of
from trendloom.hosts.scan.columns import check_tiebreak, check_time, check_type

if TYPE_CHECKING:
    from trendloom.hosts.scan.columns import Described
    from trendloom.hosts.scan.times import TimeAxis

BAD_ROWS = ("error", "drop")


@dataclass(frozen=True, slots=True)
class Reading:
    """The columns that the caller named, and what to do with rows that have no place in time."""

    time: str
    type: str | None = None
    event_type: str | None = None
    tick: str = "s"
    tiebreak: str | None = None
    bad_rows: str = "error"

    def __post_init__(self) -> None:
        one_of("bad_rows", self.bad_rows, BAD_ROWS)

    @property
    def drops(self) -> bool:
        """Whether rows without a time or tiebreak are left out; otherwise they are an error."""
        return self.bad_rows == "drop"

    @property
    def named(self) -> tuple[str, ...]:
        """The columns that were named, whether they exist or not."""
        return tuple(name for name in (self.time, self.type, self.tiebreak) if name is not None)

    def roles(self, source: Described) -> Roles:
        """What the columns of a source are to a scan; errors say which of them misfits."""
        axis = check_time(source, self.time, tick=self.tick)
        type_column, event_type = check_type(source, self.type, self.event_type)
        if self.tiebreak is not None:
            check_tiebreak(source, self.tiebreak)
        return Roles(axis, type_column, event_type, self.tiebreak)


@dataclass(frozen=True, slots=True)
class Roles:
    """The columns of a source that are more than attributes, checked."""

    axis: TimeAxis
    type_column: str | None
    event_type: str | None
    """The one type of all rows, where no column says it."""
    tiebreak: str | None

    @property
    def columns(self) -> tuple[str, ...]:
        names = (self.axis.column, self.type_column, self.tiebreak)
        return tuple(name for name in names if name is not None)
