"""Moments: dates and timestamps. Events and literals hold each as a datetime of UTC without a zone.

A date is its midnight, and what has no zone is taken for UTC, as hosts compare columns. So any two
moments can be compared, and those that are equal are one value.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Any

from trendloom.errors import InputError

# Python reads more spellings than SQL does, and leaves out digits behind the sixth.
_ISO = {
    "DATE": re.compile(r"\d{4}-\d\d-\d\d", re.ASCII),
    "TIMESTAMP": re.compile(
        r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?Z?)?", re.ASCII
    ),
}  # fmt: skip


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


def from_text(word: str, text: str) -> datetime:
    """What `DATE 'text'` or `TIMESTAMP 'text'` is; a ValueError if it is none."""
    if not _ISO[word].fullmatch(text):
        raise ValueError(text)
    return datetime.fromisoformat(text).replace(tzinfo=None)


def to_words(value: datetime) -> tuple[str, str]:
    """The two words of which `from_text` makes the moment."""
    midnight = datetime(value.year, value.month, value.day)
    return ("DATE", str(value.date())) if value == midnight else ("TIMESTAMP", str(value))
