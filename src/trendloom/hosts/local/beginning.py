"""From a source and how it is read to batches, checked at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trendloom.hosts.local.scan import BATCH_ROWS, scan_batches
from trendloom.hosts.scan.columns import check_attributes

if TYPE_CHECKING:
    from trendloom.hosts.local.scanned import Batches
    from trendloom.hosts.local.sources import Source
    from trendloom.hosts.scan.reading import Reading
    from trendloom.hosts.scan.times import TimeAxis
    from trendloom.plan.scan import Scan


def begin_scan(
    source: Source,
    scan: Scan,
    reading: Reading,
    *,
    sort: bool = True,
    batch_rows: int = BATCH_ROWS,
) -> tuple[Batches, TimeAxis] | None:
    """None if there are no rows, so that no column has a type."""
    if source.is_empty:
        # Names are known (a header) or not (an empty list); types are not.
        check_attributes(source, [*reading.named, *scan.attributes])
        return None
    roles = reading.roles(source)
    batches = scan_batches(
        source, scan, roles, drop=reading.drops, sort=sort, batch_rows=batch_rows
    )
    return batches, roles.axis
