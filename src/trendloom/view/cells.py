"""How the values of a column are written for people: short, aligned, never misleading."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from trendloom.errors import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

WINDOW = ("window_start", "window_end")
TAG = re.compile(r"<(?=[/!?A-Za-z])")
LONGEST = 60
"""Characters of a text value that are shown."""
EXACT = 2.0**53
"""Beyond this a double is not every whole number, so digits would be made up."""


def is_number(column: pa.DataType) -> bool:
    """Does the column hold numbers?"""
    types = pa.types
    return bool(types.is_integer(column) or types.is_floating(column) or types.is_decimal(column))


def shown_columns(table: pa.Table) -> list[str]:
    """Every column, but the window's where the query has no window."""
    # Of a workload, the queries' names come first.
    end = 3 if table.column_names[:1] == ["query"] else 2
    return [
        name
        for i, name in enumerate(table.column_names)
        if not (i < end and name in WINDOW and table.column(i).null_count == table.num_rows)
        or not table.num_rows
    ]


def column_texts(values: Sequence[Any]) -> list[str]:
    """The cells of one column, written alike."""
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, datetime) for value in known):
        pattern = _moment_format(known)
        return [_moment(value, pattern) for value in values]
    if known and all(isinstance(value, float) for value in known):
        decimals = _decimals([value for value in known if math.isfinite(value)])
        return [_float(value, decimals) for value in values]
    return [cell(value) for value in values]


def cell(value: Any) -> str:
    """One value on its own."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float():
            return _float(value, None)
        case Decimal():
            return format(value, "f")
        case datetime():
            return _moment(value, _moment_format([value]))
        case date():
            return value.isoformat()
        case dict() | list():
            return _short(json.dumps(value, default=str, ensure_ascii=False))
        case _:
            return _short(str(value))


def width(text: str) -> int:
    """Columns of a terminal that the text takes."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    marks = sum(unicodedata.combining(char) != 0 for char in text)
    return len(text) + wide - marks


def label(text: str) -> str:
    """A text of a chart, which pages hold inside of a script: `</script>` in it ends none.

    Between `<` and what would make it a tag stands a character without width.
    """
    return TAG.sub("<\u2060", printable(text))


def pad(text: str, columns: int, *, right: bool = False) -> str:
    """Fill up with spaces; numbers go to the right."""
    space = " " * max(0, columns - width(text))
    return space + text if right else text + space


def _short(text: str) -> str:
    clean = printable(text)
    return clean if len(clean) <= LONGEST else clean[: LONGEST - 1] + "…"


def _float(value: float | None, decimals: int | None) -> str:
    if value is None:
        return "null"
    if not math.isfinite(value):
        return str(value)
    if abs(value) > EXACT:
        return f"{value:.6g}"
    if decimals is not None:
        return f"{value:.{decimals}f}"
    if value.is_integer():
        return f"{value:.0f}"
    return f"{value:.6g}" if abs(value) < 1e5 else f"{value:.1f}"


def _decimals(values: list[float]) -> int | None:
    """As many for all, where that loses nothing; None: each as it needs."""
    sizes = [abs(value) for value in values if value]
    if all(value.is_integer() for value in values):
        return 0
    if max(sizes) > 1e4 * min(sizes) or max(sizes) > EXACT:
        return None
    most = min(6, max(1, 5 - math.floor(math.log10(max(sizes)))))
    needed = [f"{value:.{most}f}".rstrip("0").partition(".")[2] for value in values]
    return max(1, *map(len, needed))


def _moment_format(values: list[datetime]) -> str:
    if all((v.hour, v.minute, v.second, v.microsecond) == (0, 0, 0, 0) for v in values):
        return "day"
    if all((v.second, v.microsecond) == (0, 0) for v in values):
        return "minutes"
    return "seconds" if all(v.microsecond == 0 for v in values) else "microseconds"


def _moment(value: datetime | None, precision: str) -> str:
    if value is None:
        return "null"
    naive = value.replace(tzinfo=None)
    if precision == "day":
        return naive.date().isoformat()
    zone = "" if value.tzinfo is None else "Z"
    return naive.isoformat(sep=" ", timespec=precision) + zone
