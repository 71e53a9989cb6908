"""The local host for formulas: scan with DuckDB, hand out complex events while they are found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from trendloom.acel.check import check
from trendloom.acel.columns import ROWS
from trendloom.acel.events import NUMBER, TEXT, TRUTH, TYPE, UNKNOWN
from trendloom.acel.matching import Matching
from trendloom.acel.parser import parse
from trendloom.acel.plan import FIRST_COLUMNS, PLACES, match_plan, read_formula
from trendloom.acel.windows import Span, read_window
from trendloom.hosts.local.running import known_order
from trendloom.hosts.local.scan import scan_batches
from trendloom.hosts.local.sources import open_events
from trendloom.hosts.scan import duck
from trendloom.hosts.scan.columns import check_attributes
from trendloom.language.nodes import CountWindow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trendloom.hosts.local.listing import Progress
    from trendloom.hosts.local.scanned import Batches
    from trendloom.hosts.local.sources import Source
    from trendloom.hosts.scan.reading import Reading
    from trendloom.hosts.scan.times import TimeAxis


@dataclass(frozen=True, slots=True)
class Found:
    """Complex events on their way; to be taken once."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


def match_local(
    formula: str,
    events: object,
    reading: Reading,
    *,
    partition_by: Sequence[str] = (),
    within: str | None = None,
    slide: str | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
) -> Found:
    """What is wrong with formula and events is said at once; results come when asked for."""
    window = read_window(within, slide)
    parse(formula)
    source = open_events(events)
    try:
        if source.is_empty:
            check_attributes(source, [*reading.named, *partition_by])
            source.close()
            return Found(_unknown(formula, partition_by), iter(()))
        roles = reading.roles(source)
        axis = roles.axis
        check_attributes(source, partition_by)
        kinds, types = columns_by_kind(source, roles.type_column)
        read, schema = read_formula(formula, kinds)
        counted = isinstance(window, CountWindow)
        plan = match_plan(
            read, schema, text=formula, partition=partition_by, type_column=roles.type_column,
            types=types, counted=counted,
        )  # fmt: skip
        span = Span.of(window, axis.nanoseconds, within or "")
        scanned = scan_batches(source, plan.scan, roles, drop=reading.drops, sort=False)
        matching = Matching(plan, span, scanned.partition_types, roles.event_type, limit)
        shown = _dressed_schema(matching.schema, axis, counted=counted)
    except BaseException:
        source.close()
        raise

    def batches() -> Iterator[pa.RecordBatch]:
        with source, known_order(scanned)[0] as rows:
            for batch in matching.over(_reported(rows, progress)):
                bounds = [
                    column if counted else axis.to_arrow(column) for column in batch.columns[:2]
                ]
                yield pa.RecordBatch.from_arrays([*bounds, *batch.columns[2:]], schema=shown)

    return Found(shown, batches())


def _reported(scanned: Batches, progress: Progress | None) -> Iterator[pa.RecordBatch]:
    """The batches of a scan, and how far it is, to whoever wants to know."""
    rows = 0
    for batch in scanned:
        yield batch
        rows += batch.num_rows
        if progress is not None:
            progress(rows, scanned.total_rows)


def columns_by_kind(
    source: Source, type_column: str | None
) -> tuple[dict[str, str], dict[str, pa.DataType]]:
    """The columns that formulas can read: their kinds, and what they are in results."""
    kinds: dict[str, str] = {}
    types: dict[str, pa.DataType] = {}
    for name, found in source.schema.items():
        if name in (type_column, TYPE):
            continue
        if duck.is_null(found):
            kinds[name], types[name] = UNKNOWN, pa.int64()
        elif duck.is_number(found):
            integer = found in duck.INTEGERS
            kinds[name], types[name] = NUMBER, pa.int64() if integer else pa.float64()
        elif duck.is_text(found):
            kinds[name], types[name] = TEXT, pa.string()
        elif found == "BOOLEAN":
            kinds[name], types[name] = TRUTH, pa.bool_()
    return kinds, types


def _dressed_schema(schema: pa.Schema, axis: TimeAxis, *, counted: bool) -> pa.Schema:
    if counted:
        return schema
    for position, name in enumerate(FIRST_COLUMNS):
        schema = schema.set(position, pa.field(name, axis.arrow_type))
    return schema


def _unknown(formula: str, partition_by: Sequence[str]) -> pa.Schema:
    """Of results over no events, whose columns have no types."""
    keys = [(name, pa.null()) for name in partition_by]
    numbers = [(name, pa.int64()) for name in FIRST_COLUMNS]
    places = [(name, pa.int64()) for name in PLACES]
    bound = [(variable, ROWS) for variable in check(parse(formula))]
    return pa.schema([*numbers, *keys, *places, *bound])
