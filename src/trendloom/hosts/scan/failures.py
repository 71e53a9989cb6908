"""Failures that only show while rows are read, in words for the caller."""

from __future__ import annotations

import duckdb

from trendloom.errors import InputError, LimitError
from trendloom.hosts.scan import duck


def without_order(bad: int, total: int | None, time: str, tiebreak: str | None) -> InputError:
    """Rows that have no place in the order; `total` is None where nobody counted all rows."""
    missing = f"time ('{time}' is null or infinite)"
    if tiebreak is not None:
        missing += f" or no tiebreak ('{tiebreak}')"
    return InputError(
        f"{bad}{'' if total is None else f' of {total}'} rows have no {missing}.",
        remedy="Repair them, or leave them out with bad_rows='drop' (--bad-rows drop).",
    )


def failed(error: Exception) -> Exception:
    """What DuckDB ran into, as an error of ours; the same error if it is nobody's input."""
    if isinstance(error, duckdb.ResourceInUseException):
        return error  # two scans at once: a bug of the caller, not of the events
    if isinstance(error, duckdb.OutOfMemoryException) or "Out of Memory" in str(error):
        return LimitError(
            f"The sort does not fit: {duck.first_line(error)}",
            remedy="Free memory or disk space in the temporary directory (TMPDIR), or raise "
            "memory_limit if there is one.",
        )
    return InputError(
        f"The events could not be read or computed: {duck.first_line(error)}",
        remedy="If a number is out of range, convert the column to DOUBLE before the query; "
        "if a text file has a value of another type, repair it or convert the file to Parquet.",
    )
