"""From a source and the words that tell how to read it to batches, checked at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from trendloom.hosts.local.scan import BATCH_ROWS, scan_batches
from trendloom.hosts.scan.columns import check_attributes, check_time, check_type

if TYPE_CHECKING:
    from trendloom.hosts.local.scanned import Batches
    from trendloom.hosts.local.sources import Source
    from trendloom.hosts.scan.times import TimeAxis
    from trendloom.plan.scan import Scan


def begin_scan(
    source: Source,
    scan: Scan,
    *,
    time: str,
    type: str | None,  # noqa: A002
    event_type: str | None,
    tick: str,
    tiebreak: str | None,
    bad_rows: Literal["error", "drop"],
    sort: bool = True,
    batch_rows: int = BATCH_ROWS,
) -> tuple[Batches, TimeAxis] | None:
    """None if there are no rows, so that no column has a type."""
    if source.is_empty:
        # Names are known (a header) or not (an empty list); types are not.
        named = [name for name in (time, type, tiebreak) if name is not None]
        check_attributes(source, [*named, *scan.attributes])
        return None
    axis = check_time(source, time, tick=tick)
    type_column, one_type = check_type(source, type, event_type)
    batches = scan_batches(
        source,
        scan,
        axis,
        type_column=type_column,
        event_type=one_type,
        tiebreak=tiebreak,
        bad_rows=bad_rows,
        sort=sort,
        batch_rows=batch_rows,
    )
    return batches, axis
