"""The local host for listings: scan with DuckDB, hand out trends while they are found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from trendloom.cet.listing import Listing
from trendloom.cet.rows import schema_of
from trendloom.hosts.local.beginning import begin_scan
from trendloom.hosts.local.sources import open_events
from trendloom.hosts.scan.dress import window_bounds
from trendloom.plan.plan import WindowStrategy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trendloom.cet.wanted import Wanted
    from trendloom.hosts.local.scan import Batches
    from trendloom.hosts.scan.times import TimeAxis
    from trendloom.plan.plan import Plan

    Progress = Callable[[int, int | None], None]


@dataclass(frozen=True)
class Listed:
    """Batches of trends, to be taken once, and what they look like."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


def list_local(
    plan: Plan,
    events: object,
    wanted: Wanted,
    *,
    time: str,
    type: str | None = None,  # noqa: A002
    event_type: str | None = None,
    tick: str = "s",
    tiebreak: str | None = None,
    bad_rows: Literal["error", "drop"] = "error",
    progress: Progress | None = None,
) -> Listed:
    """What is wrong with the events is said at once; the trends come when they are asked for."""
    source = open_events(events)
    try:
        begun = begin_scan(
            source,
            plan.scan,
            time=time,
            type=type,
            event_type=event_type,
            tick=tick,
            tiebreak=tiebreak,
            bad_rows=bad_rows,
        )
        if begun is None:
            unknown = [pa.null() for _ in plan.scan.partition]
            source.close()
            return Listed(schema_of(plan.scan.partition, unknown), iter(()))
        scanned, axis = begun
        listing = Listing(plan, wanted, scanned.partition_types, axis.nanoseconds)
        schema = _dressed_schema(listing.schema, plan, axis)
    except BaseException:
        source.close()
        raise

    def batches() -> Iterator[pa.RecordBatch]:
        with source, scanned:
            for batch in listing.over(reported(scanned, progress)):
                yield _dressed(batch, schema, plan, axis)

    return Listed(schema, batches())


def reported(scanned: Batches, progress: Progress | None) -> Iterator[pa.RecordBatch]:
    """The batches of a scan, and how far it is, to whoever wants to know."""
    rows = 0
    for batch in scanned:
        yield batch
        rows += batch.num_rows
        if progress is not None:
            progress(rows, scanned.total_rows)


def _dressed_schema(schema: pa.Schema, plan: Plan, axis: TimeAxis) -> pa.Schema:
    if plan.strategy is WindowStrategy.COUNTED:
        return schema
    for position, name in enumerate(("window_start", "window_end")):
        schema = schema.set(position, pa.field(name, axis.arrow_type))
    return schema


def _dressed(
    batch: pa.RecordBatch, schema: pa.Schema, plan: Plan, axis: TimeAxis
) -> pa.RecordBatch:
    """Window bounds in the caller's type."""
    bounds = [window_bounds(plan, ticks, axis) for ticks in batch.columns[:2]]
    return pa.RecordBatch.from_arrays([*bounds, *batch.columns[2:]], schema=schema)
