"""Amounts of memory: as users write them, and as they read them."""

from __future__ import annotations

import re

from trendloom.engine.machine import usable_memory
from trendloom.errors import LimitError, TrendloomError

UNITS = {"B": 0, "KB": 1, "MB": 2, "GB": 3, "TB": 4, "KIB": 1, "MIB": 2, "GIB": 3, "TIB": 4}
LEAST = 1 << 20
LEAST_SCAN = 192 << 20
"""Below, DuckDB hardly sorts."""
ONE_THREAD = 1 << 30
"""Below, the scan has one thread: each holds blocks of its own while it sorts."""
LEAST_ROWS, MOST_ROWS = 1 << 11, 1 << 17
"""Of a batch of the scan."""
SHARE = 4
"""Of the memory that there is one part in so many is taken, unless the caller says otherwise."""


def read_limit(given: str | int | None) -> int:
    """Bytes: `"512 MB"`, a number of bytes, or None for a share of the machine."""
    if given is None:
        return max(LEAST, usable_memory() // SHARE)
    if isinstance(given, bool) or not isinstance(given, int | str):
        raise _unreadable(given)
    if isinstance(given, int):
        amount = given
    else:
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", given)
        unit = "" if found is None else found[2].upper() or "B"
        if found is None or unit not in UNITS:
            raise _unreadable(given)
        # Powers of 1,024 for either spelling: a limit is about memory, not about disks.
        amount = int(float(found[1]) * 1024 ** UNITS[unit])
    if amount < LEAST:
        raise TrendloomError(
            f"A memory limit of {in_words(amount)} is too small.",
            remedy=f"Give at least {in_words(LEAST)}; the default is a fourth of what there is.",
        )
    return amount


def in_words(amount: float) -> str:
    """`3.5 MB`."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:,.1f} TB"


def too_large(events: int, needed: float, limit: float) -> LimitError:
    return LimitError(
        f"A window of {events:,} events needs {in_words(needed)} to find which of them follow one "
        f"another directly; the limit is {in_words(limit)}.",
        remedy="Use a shorter WITHIN, partition by an attribute ([attribute]), or raise "
        "memory_limit.",
    )


def too_many(events: int, limit: float) -> LimitError:
    return LimitError(
        f"A window of {events:,} events has more steps between them than {in_words(limit)} hold.",
        remedy="Use a shorter WITHIN, more conditions between events (NEXT), or raise "
        "memory_limit.",
    )


def open_windows(events: int, held: float, limit: float) -> LimitError:
    return LimitError(
        f"{events:,} events of windows that are not over take {in_words(held)}; the limit is "
        f"{in_words(limit)}, and a fourth of it is for them.",
        remedy="Use a shorter WITHIN, fewer attributes, or raise memory_limit.",
    )


def scan_share(limit: int) -> tuple[str, int]:
    """Of a listing's limit, what its scan may hold: DuckDB's own memory, and rows of a batch."""
    megabytes = max(LEAST_SCAN, limit // 2) >> 20
    rows = min(max(limit >> 16, LEAST_ROWS), MOST_ROWS)
    return f"{megabytes}MiB", rows


def _unreadable(given: object) -> TrendloomError:
    return TrendloomError(
        f"Cannot read the memory limit {given!r}.",
        remedy='Write an amount and a unit, as in "512 MB" or "2 GB".',
    )
