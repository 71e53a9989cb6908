"""One host against the oracle, on as many events as the oracle can bear.

1. Run the host on the whole slice: it finds everything that is wrong with the input.
2. Let the oracle try, within a number of trends and a time.
3. Where it gives up, take fewer events of each partition, and both run again.
"""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from trendloom.cli.slicing import first_of_each, partition_of, short_tick
from trendloom.errors import LimitError, QueryMeaningError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from trendloom.language import Query

MOST_TRENDS = 10_000
FEWER = (None, 24, 16, 12, 8, 5, 3)
"""Events of each partition: what to try, one after another."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What came out: the first difference, if any, and on what it was found."""

    difference: str | None
    rows: int
    events: int
    each: int | None
    """Events of each partition, where not all were taken."""

    @property
    def is_void(self) -> bool:
        """Whether nothing was compared: neither side has a row."""
        return self.rows == 0 and self.difference is None


def compare(
    query: Query, table: pa.Table, options: dict[str, Any], *, host: str, seconds: float
) -> Comparison:
    """Host and oracle on the same events."""
    from trendloom import api
    from trendloom.testing import naive, same_rows
    from trendloom.testing.compare import group_columns

    if not query.returns:
        raise QueryMeaningError(
            "The query has no RETURN, so there are no aggregates to compare",
            text=query.text,
            remedy="Add one, for example RETURN COUNT(*).",
        )
    if not table.num_rows:
        return Comparison(None, 0, 0, None)  # the columns of no rows have no types to check
    query = _with_groups(query)
    oracle_options = options | {"tick": short_tick(options["tick"])}
    result = api.run(query, table, **options, host=host)
    rows = table.to_pylist()
    tried = 0
    for each in FEWER:
        kept = list(range(len(rows)))
        if each is not None:
            kept = first_of_each(rows, partition_of(query), each)
        if len(kept) == tried:
            continue
        tried = len(kept)
        given = [rows[number] for number in kept]
        try:
            with _time_limit(seconds):
                expected = naive(query, given, **oracle_options, limit=MOST_TRENDS)
        except LimitError:
            continue
        if each is not None:
            result = api.run(query, table.take(kept), **options, host=host)
        difference = same_rows(
            _legible(expected),
            _legible(result.rows()),
            keys=group_columns(query),
            scale=_scale(query, given),
        )
        return Comparison(difference, len(expected), len(given), each)
    raise LimitError(
        f"Even {tried} events have too many trends to build one by one.",
        remedy="Name fewer events with --events, or give more time with --seconds.",
    )


def _legible(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Times as they are written elsewhere, so that a difference can be read."""
    return [
        {name: str(value) if isinstance(value, datetime) else value for name, value in row.items()}
        for row in rows
    ]


def _with_groups(query: Query) -> Query:
    """Every group key in RETURN, so that each row says which group it is of."""
    from trendloom.language import Item

    returned = [item.value for item in query.returns]
    missing = [key for key in query.group_by if key not in returned]
    items = [
        Item(key, text=key.attribute if key.variable is None else f"{key.variable}.{key.attribute}")
        for key in missing
    ]
    return replace(query, returns=(*query.returns, *items))


def _scale(query: Query, rows: list[dict[str, Any]]) -> float:
    """The size of what is summed up: sums that cancel out are exact up to that only."""
    from trendloom.language import Aggregate, Function, Values

    largest, squared = 1.0, False
    for item in query.returns:
        if isinstance(item.value, Aggregate) and isinstance(item.value.argument, Values):
            squared |= item.value.function in (Function.VARIANCE, Function.STDDEV)
            found = (row[item.value.argument.attribute] for row in rows)
            numbers = [abs(float(v)) for v in found if isinstance(v, int | float)]
            largest = max([largest, *(number for number in numbers if number < float("inf"))])
    return 100 * (largest**2 if squared else largest)


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Interrupt what takes longer. The oracle is plain Python, so a signal reaches it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def give_up(*_: object) -> None:
        raise LimitError(f"It takes more than {seconds} seconds.")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
