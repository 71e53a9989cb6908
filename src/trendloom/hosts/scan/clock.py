"""The ticks of every row of a table, whether a query looks at the row or not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
from sqlglot import exp

from trendloom.errors import InputError
from trendloom.hosts.scan import duck
from trendloom.hosts.scan.bound import GIVEN, Bound, bind_schema
from trendloom.hosts.scan.failures import failed
from trendloom.hosts.scan.projection import known
from trendloom.plan.scan import Scan

if TYPE_CHECKING:
    from trendloom.hosts.scan.reading import Reading
    from trendloom.hosts.scan.times import TimeAxis

NOTHING = Scan((), (), (), keep_unmatched=True, input_order=False)


@dataclass(frozen=True)
class Clock:
    """Over tables of one schema. It keeps its DuckDB, as a projector does."""

    schema: pa.Schema
    reading: Reading

    def bind(self) -> None:
        """Now, not at first use: whatever misfits is told."""
        _ = self._bound

    @property
    def needed(self) -> list[str]:
        """The columns of time, type and tiebreak."""
        return list(self._bound.given.names)

    @property
    def type_column(self) -> str | None:
        return self._bound.roles.type_column

    @property
    def axis(self) -> TimeAxis:
        return self._bound.axis

    def __call__(self, table: pa.Table) -> pa.Array:
        """int64; null for a row that has no time, or no tiebreak if one was named."""
        connection = self._bound.connection
        connection.register(GIVEN, table.select(self._bound.given.names))
        try:
            ticks = connection.sql(self._statement).to_arrow_table().column(0)
        except (duckdb.Error, pa.ArrowException) as error:
            raise failed(error) from error
        finally:
            connection.unregister(GIVEN)
        return pa.concat_arrays([pa.nulls(0, pa.int64()), *ticks.chunks])

    def ticks_of(self, value: Any) -> int:
        """A point in time that the caller names, in whatever type the time column has."""
        kind = self.axis.arrow_type
        try:
            point = value if isinstance(value, pa.Scalar) else pa.scalar(value)
            if pa.types.is_integer(point.type) != pa.types.is_integer(kind):
                raise TypeError(f"it is {point.type}")
            return int(point.cast(kind).cast(pa.int64()).as_py())
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"{value!r} is no time of the column '{self.reading.time}' ({kind}): {error}",
                remedy="Give the watermark as the column has its times: an integer, or a datetime.",
            ) from error

    @cached_property
    def _bound(self) -> Bound:
        return bind_schema(NOTHING, self.schema, self.reading)

    @cached_property
    def _statement(self) -> str:
        order = self._bound.projection.order
        time = exp.case().when(known(order), order[0].copy())
        return duck.text(exp.select(exp.alias_(time, "time")).from_(GIVEN))
