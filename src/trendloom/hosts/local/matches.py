"""The local host for formulas: scan with DuckDB, hand out complex events while they are found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from trendloom.acel.check import check
from trendloom.acel.columns import ROWS
from trendloom.acel.parser import parse
from trendloom.acel.plan import FIRST_COLUMNS, PLACES, types_of
from trendloom.acel.windows import read_window
from trendloom.hosts.local.beginning import begin_scan
from trendloom.hosts.local.running import known_order
from trendloom.hosts.local.sources import open_events
from trendloom.hosts.scan.columns import check_attributes
from trendloom.hosts.scan.formulas import Ready
from trendloom.hosts.scan.gaps import tell_gap
from trendloom.hosts.scan.type_names import TypeNames
from trendloom.language import TimeWindow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trendloom.hosts.local.listing import Progress
    from trendloom.hosts.local.scanned import Batches
    from trendloom.hosts.scan.formulas import Asked
    from trendloom.hosts.scan.reading import Reading


@dataclass(frozen=True, slots=True)
class Found:
    """Complex events on their way; to be taken once."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


def match_local(
    asked: Asked,
    events: object,
    reading: Reading,
    *,
    progress: Progress | None = None,
) -> Found:
    """What is wrong with formula and events is said at once; results come when asked for."""
    window = read_window(asked.within, asked.slide)
    tell_gap(window)
    timed = isinstance(window, TimeWindow)
    parse(asked.formula)
    source = open_events(events, reading)
    try:
        if source.is_empty:
            check_attributes(source, [*reading.columns(source), *asked.partition_by])
            source.close()
            return Found(_unknown(asked.formula, asked.partition_by), iter(()))
        ready = Ready.of(asked, source, reading)
        names = TypeNames.only(types_of(ready.plan.formula))
        begun = begin_scan(source, ready.plan.scan, reading, names, timed=timed, sort=False)
        assert begun is not None
        scanned, _ = begun
        matching = ready.matching(scanned.partition_types)
    except BaseException:
        source.close()
        raise

    def batches() -> Iterator[pa.RecordBatch]:
        with source, known_order(scanned)[0] as rows:
            yield from map(ready.dressed, matching.over(_reported(rows, progress)))

    return Found(ready.schema(matching.schema), batches())


def _reported(scanned: Batches, progress: Progress | None) -> Iterator[pa.RecordBatch]:
    """The batches of a scan, and how far it is, to whoever wants to know."""
    rows = 0
    for batch in scanned:
        yield batch
        rows += batch.num_rows
        if progress is not None:
            progress(rows, scanned.total_rows)


def _unknown(formula: str, partition_by: Sequence[str]) -> pa.Schema:
    """Of results over no events, whose columns have no types."""
    keys = [(name, pa.null()) for name in partition_by]
    numbers = [(name, pa.int64()) for name in FIRST_COLUMNS]
    places = [(name, pa.int64()) for name in PLACES]
    bound = [(variable, ROWS) for variable in check(parse(formula))]
    return pa.schema([*numbers, *keys, *places, *bound])
