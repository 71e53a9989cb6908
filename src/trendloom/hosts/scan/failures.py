"""Failures that only show while rows are read, in words for the caller."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import duckdb

from trendloom.cet.memory import in_words
from trendloom.errors import InputError, LimitError
from trendloom.hosts.scan import duck

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def without_order(bad: int, total: int | None, time: str, tiebreak: str | None) -> InputError:
    """Rows that have no place in the order; `total` is None where nobody counted all rows."""
    missing = f"time ('{time}' is null or infinite)"
    if tiebreak is not None:
        missing += f" or no tiebreak ('{tiebreak}')"
    return InputError(
        f"{bad}{'' if total is None else f' of {total}'} rows have no {missing}.",
        remedy="Repair them, or leave them out with bad_rows='drop' (--bad-rows drop).",
    )


def beyond_limit(events: int, rows: int, limit: int) -> LimitError:
    """What the engine holds, in bytes, is more than half of the caller's limit."""
    larger = "Events of windows that are not over" if events >= rows else "The rows of the result"
    remedy = (
        "Use a shorter WITHIN, partition by an attribute ([attribute])"
        if events >= rows
        else "Group by fewer attributes, use a longer SLIDE"
    )
    return LimitError(
        f"{larger} take some {in_words(max(events, rows))}; the limit is {in_words(limit)}, and "
        "half of it is for them.",
        remedy=f"{remedy}, or raise memory_limit (--memory-limit).",
    )


def ran_out(error: BaseException, holds: str) -> LimitError:
    """There is no more memory to have; `holds`: what the plan keeps in it."""
    told = f" ({error})" if str(error) else ""
    return LimitError(
        f"Memory ran out{told}. What grows is {holds}.",
        remedy="Use a shorter WITHIN, partition by an attribute ([attribute]), or run it where "
        "more memory is free.",
    )


@contextmanager
def within_memory(holds: Callable[[], str]) -> Iterator[None]:
    """Out of memory, as an error that names what the plan keeps in it."""
    try:
        yield
    except MemoryError as error:
        raise ran_out(error, holds()) from error


def failed(error: Exception) -> Exception:
    """What DuckDB ran into, as an error of ours; the same error if it is nobody's input."""
    if isinstance(error, duckdb.ResourceInUseException):
        return error  # two scans at once: a bug of the caller, not of the events
    if isinstance(error, MemoryError):
        return ran_out(error, "the rows of the scan")
    if isinstance(error, duckdb.OutOfMemoryException) or "Out of Memory" in str(error):
        return LimitError(
            f"The events do not fit while they are read and sorted: {duck.first_line(error)}",
            remedy="Free memory or disk space in the temporary directory (TMPDIR), or raise "
            "memory_limit if there is one.",
        )
    if "has duplicate key" in str(error):
        return InputError(
            f"The events could not be read: {duck.first_line(error)}",
            remedy="Give every field of an object a name of its own.",
        )
    return InputError(
        f"The events could not be read or computed: {duck.first_line(error)}",
        remedy="If a number is out of range, convert the column to DOUBLE before the query; "
        "if a text file has a value of another type, repair it or convert the file to Parquet.",
    )
