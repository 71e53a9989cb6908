"""What a Python worker must know of a query. Plain data: Spark sends it along with the function."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa

from trendloom import bigint
from trendloom.engine.layout import Numbers
from trendloom.engine.setting import Setting
from trendloom.hosts.scan.dress import dressed, result_schema
from trendloom.language import parse, to_text
from trendloom.plan.planner import plan

if TYPE_CHECKING:
    from trendloom.hosts.scan.times import TimeAxis
    from trendloom.language.nodes import Query
    from trendloom.plan.plan import Plan


@dataclass(frozen=True)
class Task:
    """A query over columns of known types. Workers plan it again, once per process."""

    query: str
    numbers: str
    axis: TimeAxis
    operand_types: tuple[pa.DataType, ...]
    partition_types: tuple[pa.DataType, ...]

    @classmethod
    def of(
        cls,
        plan: Plan,
        numbers: Numbers,
        axis: TimeAxis,
        operand_types: tuple[pa.DataType, ...],
        partition_types: tuple[pa.DataType, ...],
    ) -> Task:
        return cls(_text_of(plan.query), numbers.value, axis, operand_types, partition_types)

    @property
    def setting(self) -> Setting:
        return _setting(self)

    @property
    def partition(self) -> list[str]:
        """Names of the partition columns."""
        return [f"p{k}" for k in range(len(self.partition_types))]

    @property
    def group(self) -> list[str]:
        """Names of those that are grouping attributes."""
        return self.partition[: self.setting.plan.plain_groups]

    @property
    def schema(self) -> pa.Schema:
        """The result's columns, in types that Spark has."""
        return _spark_types(result_schema(self.setting, self.axis).empty_table()).schema

    def dress(self, table: pa.Table) -> pa.Table:
        """An engine's result as the caller's rows."""
        return _spark_types(dressed(self.setting.plan, table, self.axis))


def _text_of(query: Query) -> str:
    """As it was written, if it has not been changed since: outputs are named by their text."""
    written = query.text
    return written if written and plan(parse(written)).query == query else to_text(query)


@cache
def _setting(task: Task) -> Setting:
    return Setting(
        plan(parse(task.query)),
        task.operand_types,
        task.partition_types,
        task.axis.nanoseconds,
        Numbers(task.numbers),
    )


def _spark_types(table: pa.Table) -> pa.Table:
    """Exact integers become decimal(38, 0): an error where one does not fit."""
    table = bigint.as_decimals(table)
    fields = [field.with_type(spark_type(field.type)) for field in table.schema]
    return table.cast(pa.schema(fields).remove_metadata())


def spark_type(kind: pa.DataType) -> pa.DataType:
    """The nearest type that Spark has: no unsigned integers, no dictionaries, microseconds."""
    if pa.types.is_dictionary(kind):
        return spark_type(kind.value_type)
    if pa.types.is_unsigned_integer(kind):
        return {8: pa.int16(), 16: pa.int32(), 32: pa.int64()}.get(
            kind.bit_width, pa.decimal128(20, 0)
        )
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", None if kind.tz is None else "UTC")
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_null(kind):
        return pa.string()
    return kind
