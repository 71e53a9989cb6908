"""How events are read: what a caller says once, and every host hands down as one thing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trendloom.errors import InputError, one_of
from trendloom.hosts.scan.columns import check_tiebreak, check_time, check_type

if TYPE_CHECKING:
    from trendloom.hosts.scan.columns import Described
    from trendloom.hosts.scan.times import TimeAxis

BAD_ROWS = ("error", "drop")
ROW, ANY_ROW = "@row", "row"
"""Tiebreaks that mean the order of the rows: always, and where no column has that name."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The columns that the caller named, and what to do with rows that have no place in time."""

    time: str
    type: str | None = None
    event_type: str | None = None
    tick: str = "s"
    tiebreak: str | None = None
    bad_rows: str = "error"
    date_format: str | None = None
    """How dates are written in text files, where the values alone do not tell."""
    hive_partitioning: bool = False
    """Whether folders of files name columns, as in `day=2024-01-01/x.parquet`."""

    def __post_init__(self) -> None:
        one_of("bad_rows", self.bad_rows, BAD_ROWS)

    @property
    def drops(self) -> bool:
        """Whether rows without a time or tiebreak are left out; otherwise they are an error."""
        return self.bad_rows == "drop"

    @property
    def named(self) -> tuple[str, ...]:
        """The columns that were named, whether they exist or not."""
        names = (self.time, self.type, self.tiebreak)
        return tuple(name for name in names if name not in (None, ROW))

    def columns(self, source: Described) -> tuple[str, ...]:
        """`named`, without a tiebreak that is the order of the rows of this source."""
        by_row = self.is_by_row(source)
        return tuple(name for name in self.named if not (by_row and name == self.tiebreak))

    def is_by_row(self, source: Described) -> bool:
        """Whether the order of the rows is the tiebreak."""
        return self.tiebreak == ROW or (self.tiebreak == ANY_ROW and ANY_ROW not in source.schema)

    def refuse_file_options(self) -> None:
        """For events that are no files, which have no folders and whose times have a type."""
        if self.date_format is not None or self.hive_partitioning:
            raise InputError(
                "date_format and hive_partitioning are for files; these events are none.",
                remedy="Leave them out, and convert text to times before.",
            )

    def roles(self, source: Described) -> Roles:
        """What the columns of a source are to a scan; errors say which of them misfits."""
        axis = check_time(source, self.time, tick=self.tick)
        type_column, event_type = check_type(source, self.type, self.event_type)
        by_row = self.is_by_row(source)
        tiebreak = None if by_row else self.tiebreak
        if tiebreak is not None:
            check_tiebreak(source, tiebreak)
        return Roles(axis, type_column, event_type, tiebreak, by_row)


@dataclass(frozen=True, slots=True)
class Roles:
    """The columns of a source that are more than attributes, checked."""

    axis: TimeAxis
    type_column: str | None
    event_type: str | None
    """The one type of all rows, where no column says it."""
    tiebreak: str | None
    """A column."""
    by_row: bool = False
    """Whether the order of the rows is the tiebreak, where they have one."""

    @property
    def columns(self) -> tuple[str, ...]:
        names = (self.axis.column, self.type_column, self.tiebreak)
        return tuple(name for name in names if name is not None)
