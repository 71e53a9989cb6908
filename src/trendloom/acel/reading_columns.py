"""Columns of a scan for Python, where runs and aggregates hold their values."""

from __future__ import annotations

from datetime import datetime, timedelta
from importlib.util import find_spec

import pyarrow as pa
import pyarrow.compute as pc

from trendloom.errors import InputError

_MICROSECOND = timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1)
_FIRST = (datetime.min - _EPOCH) // _MICROSECOND
_LAST = (datetime.max - _EPOCH) // _MICROSECOND


def readable(name: str, column: pa.Array) -> pa.Array:
    """The column; moments as timestamps of UTC without a zone, of which Python can hold each."""
    if not (pa.types.is_date(column.type) or pa.types.is_timestamp(column.type)):
        return column
    try:
        made = column.cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return _finer(name, column)
    ends = pc.min_max(made.view(pa.int64()))
    if ends["min"].is_valid and (ends["min"].as_py() < _FIRST or ends["max"].as_py() > _LAST):
        raise _outside(name)
    return made


def _finer(name: str, column: pa.Array) -> pa.Array:
    """What microseconds do not hold."""
    if not pa.types.is_timestamp(column.type) or column.type.unit != "ns":
        raise _outside(name)
    if find_spec("pandas") is None:
        # Arrow makes values of pandas of them, if it is there.
        raise InputError(
            f"'{name}' has nanoseconds, which need pandas where Python holds them.",
            remedy="Install pandas, or convert the column to microseconds.",
        )
    return column.cast(pa.timestamp("ns"))


def _outside(name: str) -> InputError:
    return InputError(
        f"'{name}' is outside of the years 1 to 9999 in some event.",
        remedy="Replace it by null, or leave the event out.",
    )
