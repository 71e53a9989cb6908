"""A formula over columns of known types, made ready for any host, and its results as shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from trendloom.acel.events import MOMENT, NUMBER, TEXT, TRUTH, TYPE, UNKNOWN
from trendloom.acel.matching import Matching
from trendloom.acel.plan import FIRST_COLUMNS, match_plan, read_formula
from trendloom.acel.windows import Span, read_window
from trendloom.hosts.scan import duck
from trendloom.hosts.scan.columns import check_attributes
from trendloom.hosts.scan.times import moment_type
from trendloom.language.nodes import CountWindow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trendloom.acel.plan import MatchPlan
    from trendloom.hosts.scan.columns import Described
    from trendloom.hosts.scan.reading import Reading
    from trendloom.hosts.scan.times import TimeAxis


@dataclass(frozen=True)
class Asked:
    """A formula as the caller gives it, and what stands beside it. Plain values."""

    formula: str
    partition_by: tuple[str, ...] = ()
    within: str | None = None
    slide: str | None = None
    limit: int | None = None


@dataclass(frozen=True)
class Ready:
    """Everything about a formula but the events."""

    plan: MatchPlan
    span: Span
    axis: TimeAxis
    event_type: str | None
    limit: int | None

    @classmethod
    def of(cls, asked: Asked, columns: Described, reading: Reading) -> Ready:
        """What is wrong with the formula, or with the columns it needs, is said here."""
        window = read_window(asked.within, asked.slide)
        roles = reading.roles(columns)
        check_attributes(columns, asked.partition_by)
        kinds, types = columns_by_kind(columns, roles.type_column)
        read, schema = read_formula(asked.formula, kinds)
        plan = match_plan(
            read, schema, text=asked.formula, partition=asked.partition_by,
            type_column=roles.type_column, types=types, counted=isinstance(window, CountWindow),
        )  # fmt: skip
        span = Span.of(window, roles.axis.nanoseconds, asked.within or "", asked.slide or "")
        return cls(plan, span, roles.axis, roles.event_type, asked.limit)

    def matching(self, partition_types: Sequence[pa.DataType]) -> Matching:
        return Matching(self.plan, self.span, partition_types, self.event_type, self.limit)

    def schema(self, own: pa.Schema) -> pa.Schema:
        """Of results, window bounds in the caller's type."""
        if self.span.counted:
            return own
        for position, name in enumerate(FIRST_COLUMNS):
            own = own.set(position, pa.field(name, self.axis.arrow_type))
        return own

    def dressed(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """A batch of results with such columns."""
        bounds = batch.columns[:2]
        if not self.span.counted:
            bounds = [self.axis.to_arrow(column) for column in bounds]
        schema = self.schema(batch.schema)
        return pa.RecordBatch.from_arrays([*bounds, *batch.columns[2:]], schema=schema)


def columns_by_kind(
    columns: Described, type_column: str | None
) -> tuple[dict[str, str], dict[str, pa.DataType]]:
    """The columns that formulas can read: their kinds, and what they are in results."""
    kinds: dict[str, str] = {}
    types: dict[str, pa.DataType] = {}
    for name, found in columns.schema.items():
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
        elif (moment := moment_type(found)) is not None:
            kinds[name], types[name] = MOMENT, moment
    return kinds, types
