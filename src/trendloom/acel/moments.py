"""Moments: dates and timestamps. Events and literals hold each as a datetime of UTC without a zone.

A date is its midnight, and what has no zone is taken for UTC, as hosts compare columns. So any two
moments can be compared, and those that are equal are one value. Days are counted between dates
only, as SQL does.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

from trendloom.errors import InputError, NumberError


def as_held(value: Any) -> Any:
    """The value as events hold it: only moments may change."""
    if not isinstance(value, date):
        return value
    if not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)
    if value.tzinfo is not None:
        try:
            value = value.astimezone(UTC)
        except OverflowError:
            raise InputError(
                f"{value} is outside of the years 1 to 9999 in UTC.", remedy="Move it inside."
            ) from None
    return value.replace(tzinfo=None, fold=0)


def words_of(moment: datetime) -> str:
    """What it is called in a literal."""
    return "DATE" if moment == _midnight(moment) else "TIMESTAMP"


def days_between(earlier: datetime, later: datetime) -> int:
    return (_dated(later) - _dated(earlier)).days


def days_later(moment: datetime, days: float) -> datetime:
    if days != int(days):
        raise InputError(f"{days} days are no date.", remedy="Add a whole number of days.")
    try:
        return _dated(moment) + timedelta(days=int(days))
    except OverflowError:
        raise NumberError(
            f"{days} days from {moment.date()} are outside of the years 1 to 9999.",
            remedy="Scale the attributes down.",
        ) from None


def _dated(moment: datetime) -> datetime:
    if moment != _midnight(moment):
        raise InputError(
            f"Days are counted between dates, and {moment} is none.",
            remedy="Reckon with columns of dates, or compare timestamps as they are.",
        )
    return moment


def _midnight(moment: datetime) -> datetime:
    return datetime(moment.year, moment.month, moment.day)
