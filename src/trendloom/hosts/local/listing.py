"""The local host for listings: scan with DuckDB, hand out trends while they are found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from trendloom.cet.happened import Happened
from trendloom.cet.listing import Listing, carried
from trendloom.cet.memory import ONE_THREAD, scan_share
from trendloom.cet.rows import schema_of
from trendloom.errors import LimitError
from trendloom.hosts.local.beginning import begin_scan
from trendloom.hosts.local.order import Order
from trendloom.hosts.local.running import known_order
from trendloom.hosts.local.sources import open_events
from trendloom.hosts.scan.dress import dressed_listing, listing_schema
from trendloom.hosts.scan.duck import use_threads
from trendloom.hosts.scan.failures import within_memory
from trendloom.hosts.scan.gaps import tell_gap
from trendloom.hosts.scan.type_names import TypeNames
from trendloom.language import TimeWindow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trendloom.cet.sketch import Sketch
    from trendloom.cet.wanted import Wanted
    from trendloom.hosts.local.scanned import Batches
    from trendloom.hosts.scan.reading import Reading
    from trendloom.plan.plan import Plan

    Progress = Callable[[int, int | None], None]


HELD = "the events of open windows, the graph of one of them, and paths that are kept"


@dataclass(frozen=True)
class Listed:
    """Batches of trends, to be taken once, and what they look like."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]
    happened: Happened
    survey: Callable[[], None]
    """Instead of taking the batches: counts, and chooses how they would be found."""
    sketch: Callable[[int | None], Sketch]
    """Instead: a graph and the ways to cut it, into so many graphlets if that is said."""


def list_local(
    plan: Plan,
    events: object,
    wanted: Wanted,
    reading: Reading,
    *,
    progress: Progress | None = None,
) -> Listed:
    """What is wrong with the events is said at once; the trends come when they are asked for."""
    tell_gap(plan.window)
    scan_memory, batch_rows = scan_share(wanted.memory)
    source = open_events(events, reading, memory_limit=scan_memory)
    try:
        if wanted.memory < ONE_THREAD:
            use_threads(source.connection, 1)
        names = TypeNames.of_one(plan)
        timed = isinstance(plan.window, TimeWindow)
        begun = begin_scan(
            source, plan.scan, reading, names, timed=timed, sort=False, batch_rows=batch_rows
        )
        if begun is None:
            unknown = [pa.null() for _ in plan.scan.partition]
            source.close()
            types = [pa.null() for _ in plan.scan.operands]
            nothing = schema_of(plan.scan.partition, unknown, carried(plan, wanted, types))
            return Listed(nothing, iter(()), Happened(), lambda: None, _nothing_to_draw)
        scanned, axis = begun
        listing = Listing(
            plan, wanted, scanned.partition_types, axis.nanoseconds, scanned.operand_types
        )
        schema = listing_schema(listing.schema, plan, axis)
    except BaseException:
        source.close()
        raise

    def arranged() -> Batches:
        rows, order = known_order(scanned, wanted.memory // 6, tell=True)
        listing.happened.order = order.value
        return rows

    def counted() -> Batches:
        """The scan, from its first row, once it is known that there are not too many trends."""
        rows = arranged()
        if wanted.most is None:
            return rows
        replace(listing).refuse_more(rows.rows())
        as_read = listing.happened.order == Order.AS_READ.value
        listing.happened.order = (Order.AS_READ if as_read else Order.BY_DUCKDB).value
        return rows.again(sort=not as_read)

    def batches() -> Iterator[pa.RecordBatch]:
        with within_memory(lambda: HELD), source, counted() as rows:
            reported = Reported(rows, listing, progress)
            for batch in listing.over(reported):
                reported.tell()
                yield dressed_listing(batch, schema, plan, axis)
            reported.tell()

    def survey() -> None:
        with source, arranged() as rows:
            listing.survey(rows)

    def sketch(graphlets: int | None) -> Sketch:
        with source, arranged() as rows:
            return listing.sketch(rows, graphlets)

    return Listed(schema, batches(), listing.happened, survey, sketch)


def _nothing_to_draw(_: int | None) -> Sketch:
    raise LimitError("There are no events to draw.", remedy="Look at the input.")


@dataclass
class Reported:
    """The scan's batches on their way in; progress in rows of which all trends are listed."""

    scanned: Batches
    listing: Listing
    progress: Progress | None
    _read: int = 0
    _listed: int = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in self.scanned:
            # Whoever asks for more has listed what is complete so far.
            self._listed = self._read
            self.listing.share = 0.0
            self._read += batch.num_rows
            yield batch

    def tell(self) -> None:
        """Inside of a window by its number of trends, which is known."""
        if self.progress is not None:
            done = self._listed + (self._read - self._listed) * self.listing.share
            self.progress(int(done), self.scanned.total_rows)
