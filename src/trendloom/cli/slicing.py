"""A slice of events that is small enough to check by hand, or by the oracle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trendloom.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from trendloom.hosts.scan.reading import Reading
    from trendloom.language import Query

NANOSECONDS = {
    1: "ns",
    1_000: "us",
    1_000_000: "ms",
    1_000_000_000: "s",
    60_000_000_000: "min",
    3_600_000_000_000: "h",
    86_400_000_000_000: "d",
}
"""Short names of ticks, which is how the oracle knows them."""


def first_events(events: str | list[str], count: int, reading: Reading) -> pa.Table:
    """The first `count` events in time order, all columns."""
    from sqlglot import exp

    from trendloom.hosts.local.sources import open_events
    from trendloom.hosts.scan import duck
    from trendloom.hosts.scan.columns import check_tiebreak, check_time

    with open_events(events, reading) as source:
        axis = check_time(source, reading.time, tick=reading.tick)
        order: list[exp.Expr] = [duck.column(reading.time)]
        needed = [axis.expression]
        if reading.is_by_row(source):
            order.append(exp.Window(this=exp.Anonymous(this="row_number")))
        elif reading.tiebreak is not None:
            check_tiebreak(source, reading.tiebreak)
            order.append(duck.column(reading.tiebreak))
            needed.append(duck.column(reading.tiebreak))
        wanted = exp.select("*").from_(source.name).order_by(*order).limit(count)
        if reading.drops:
            for key in needed:
                known = exp.Not(this=exp.Is(this=key.copy(), expression=exp.null()))
                wanted = wanted.where(known)
        table = source.connection.sql(duck.text(wanted)).to_arrow_table()
    return _readable_times(table, reading.time)


def short_tick(tick: str) -> str:
    """The oracle's name of a tick."""
    from trendloom.hosts.scan.times import TICKS

    return NANOSECONDS.get(TICKS.get(tick, 0), tick)


def partition_of(query: Query) -> list[str]:
    """The attributes that partition the stream."""
    from trendloom.language import Equivalence

    named = [a for part in query.where if isinstance(part, Equivalence) for a in part.attributes]
    named += [key.attribute for key in query.group_by if key.variable is None]
    return list(dict.fromkeys(named))


def first_of_each(rows: list[dict[str, Any]], attributes: Sequence[str], each: int) -> list[int]:
    """The numbers of the first rows of each partition."""
    seen: dict[tuple[Any, ...], int] = {}
    kept = []
    for number, row in enumerate(rows):
        key = tuple(row[attribute] for attribute in attributes)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] <= each:
            kept.append(number)
    return kept


def _readable_times(table: pa.Table, time: str) -> pa.Table:
    """Python's own times end at microseconds and know dates as another kind."""
    import pyarrow as pa

    for i, field in enumerate(table.schema):
        wanted = None
        if field.name == time and pa.types.is_date(field.type):
            wanted = pa.timestamp("us")
        if pa.types.is_timestamp(field.type) and field.type.unit == "ns":
            wanted = pa.timestamp("us", field.type.tz)
        if wanted is None:
            continue
        try:
            table = table.set_column(i, field.name, table.column(i).cast(wanted))
        except pa.ArrowInvalid:
            raise InputError(
                f"The column '{field.name}' holds nanoseconds, which the oracle cannot tell apart.",
                remedy="Verify on events in microseconds, or with the time as an integer.",
            ) from None
    return table
