"""From a source and how it is read to batches, checked at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
from sqlglot import exp

from trendloom.hosts.local.scan import BATCH_ROWS, scan_batches
from trendloom.hosts.scan import duck
from trendloom.hosts.scan.columns import check_attributes
from trendloom.hosts.scan.failures import failed

if TYPE_CHECKING:
    from trendloom.hosts.local.scanned import Batches
    from trendloom.hosts.local.sources import Source
    from trendloom.hosts.scan.reading import Reading
    from trendloom.hosts.scan.times import TimeAxis
    from trendloom.hosts.scan.type_names import TypeNames
    from trendloom.plan.scan import Scan

LOOKED_AT = 1000


def begin_scan(
    source: Source,
    scan: Scan,
    reading: Reading,
    names: TypeNames | None = None,
    *,
    timed: bool = False,
    sort: bool = True,
    batch_rows: int = BATCH_ROWS,
) -> tuple[Batches, TimeAxis] | None:
    """None if there are no rows, so that no column has a type.

    `names` are held against the events' types. `timed`: whether the length of time matters, not
    only its order.
    """
    if source.is_empty:
        # Names are known (a header) or not (an empty list); types are not.
        check_attributes(source, [*reading.columns(source), *scan.attributes])
        return None
    roles = reading.roles(source)
    if timed and roles.axis.arrow_type == pa.int64():
        _look_at_ticks(source, roles.axis)
    batches = scan_batches(
        source, scan, roles, drop=reading.drops, sort=sort, batch_rows=batch_rows, names=names
    )
    return batches, roles.axis


def _look_at_ticks(source: Source, axis: TimeAxis) -> None:
    """The first rows tell in which unit all of them are."""
    first = exp.select(exp.alias_(axis.expression, "tick")).from_(source.name).limit(LOOKED_AT)
    latest = exp.select(exp.Max(this=exp.column("tick"))).from_(first.subquery("first"))
    try:
        (ticks,) = duck.first_row(source.connection, latest)
    except duckdb.Error as error:
        raise failed(error) from error
    axis.warn_of_ticks(ticks)
