"""Checks of the columns that a caller or a query names, before anything is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from trendloom.errors import InputError, TrendloomWarning, did_you_mean, warn
from trendloom.hosts.scan import duck
from trendloom.hosts.scan.times import TimeAxis, time_axis

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trendloom.errors import TrendloomError


class Described(Protocol):
    """Anything whose columns are known: a source of the local host, a DataFrame's schema."""

    @property
    def schema(self) -> dict[str, str]:
        """Column names and DuckDB types, in order."""

    @property
    def is_empty(self) -> bool:
        """No rows, and therefore no known column types."""

    @property
    def remarks(self) -> Mapping[str, TrendloomError | TrendloomWarning]:
        """What is to be said of a column if it is used."""


def check_time(source: Described, time: str, *, tick: str = "s") -> TimeAxis:
    """The axis of the time column."""
    _require(source, time, "time column")
    if source.is_empty:
        return time_axis(time, "BIGINT", tick=tick)
    return time_axis(time, source.schema[time], tick=tick)


def check_type(
    source: Described,
    type: str | None,  # noqa: A002
    event_type: str | None,
) -> tuple[str | None, str | None]:
    """The type column or the one type of all events: exactly one of the two."""
    if type is not None and event_type is not None:
        raise InputError(
            "Both a type column and one event type for all rows are given.",
            remedy="Give type= (a column) or event_type= (a name), not both.",
        )
    if event_type is not None:
        return None, event_type
    if type is None and "type" not in source.schema and source.schema:
        _tell(source, "type")
        raise InputError(
            "The events have no column 'type', and no other was named.",
            remedy="Give type= (the column that holds each event's type) or "
            "event_type= (the one type that all of these events have).",
        )
    column = "type" if type is None else type
    _require(source, column, "type column")
    found = source.schema.get(column, "VARCHAR")
    if not (source.is_empty or duck.is_text(found) or found in duck.INTEGERS):
        raise InputError(
            f"The type column '{column}' is {found}; it must be text or an integer.",
            remedy="Name another column with type=, or one event_type= for all rows.",
        )
    return column, None


def check_tiebreak(source: Described, tiebreak: str) -> None:
    """A tiebreak must exist and have an order."""
    _require(source, tiebreak, "tiebreak column")
    found = source.schema.get(tiebreak, "BIGINT")
    if duck.is_nested(found) or found == "JSON":
        raise InputError(
            f"The tiebreak column '{tiebreak}' is {found}, which has no order.",
            remedy="Name a column of numbers, times or text.",
        )


def check_attributes(source: Described, attributes: Iterable[str]) -> None:
    """Every attribute that a query reads must exist."""
    for attribute in attributes:
        _require(source, attribute, "attribute")


def refuse_repeated(names: Iterable[str]) -> None:
    """DuckDB renames columns that differ in case only, Spark cannot tell them apart."""
    seen: set[str] = set()
    for name in names:
        if name.casefold() in seen:
            raise InputError(
                f"The column name '{name}' occurs twice (upper and lower case count as the same).",
                remedy="Rename one of the columns.",
            )
        seen.add(name.casefold())


def _require(source: Described, name: str, role: str) -> None:
    _tell(source, name)
    # Exact names only: DuckDB ignores case, other hosts may not.
    if name not in source.schema and not (source.is_empty and not source.schema):
        raise InputError(f"Unknown {role} '{name}'.", remedy=did_you_mean(name, source.schema))


def _tell(source: Described, name: str) -> None:
    remark = source.remarks.get(name)
    if isinstance(remark, TrendloomWarning):
        warn(remark)
    elif remark is not None:
        raise remark
