"""Queries as a table function of Spark SQL: SELECT * FROM trends(TABLE(events), '…', 'ts').

Which columns come out depends on the query's text. Of Spark's table functions only those that take
a row at a time can say so, hence:

1. `analyze` runs before the statement does: it plans the query over the table's columns, and asks
   for whole groups in one place and for no column that is not needed.
2. `eval` keeps rows; every so many become the engine's columns.
3. `terminate`, when a place has seen its last row, sorts them, runs the engine and gives the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.types import DateType, StructType, TimestampType
from pyspark.sql.udtf import AnalyzeResult, PartitioningColumn, SelectedColumn

from trendloom.engine.layout import Numbers
from trendloom.errors import InputError, one_of
from trendloom.hosts.scan.columns import refuse_repeated
from trendloom.hosts.scan.gaps import refuse_gap
from trendloom.hosts.scan.project import Projector
from trendloom.hosts.scan.reading import Reading
from trendloom.hosts.spark.columns import arrow_type
from trendloom.hosts.spark.schema import struct_of
from trendloom.hosts.spark.stages import sorted_run
from trendloom.hosts.spark.task import Task
from trendloom.language import parse
from trendloom.plan.planner import plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType
    from pyspark.sql.udtf import AnalyzeArgument

    from trendloom.plan.plan import Plan

PLACES = 16
"""Groups share so many places. Each costs a run of the engine, so a group has none of its own."""
CHUNK_ROWS = 100_000
"""Rows that are kept as Python objects."""


@dataclass
class Prepared(AnalyzeResult):
    """What Spark is told of a statement, and what its workers must know."""

    task: Task = field(kw_only=True)
    projector: Projector = field(kw_only=True)
    integers: tuple[pa.DataType | None, ...] = field(kw_only=True)
    """Of each selected column that arrives as integers: of which type they are."""


class Trends:
    """The table function; Spark makes one for each place."""

    def __init__(self, prepared: Prepared) -> None:
        self._task = prepared.task
        self._projector = prepared.projector
        self._integers = prepared.integers
        self._rows: list[Sequence[Any]] = []
        self._chunks: list[pa.Table] = []

    @staticmethod
    def analyze(
        events: AnalyzeArgument,
        query: AnalyzeArgument,
        time: AnalyzeArgument,
        type: AnalyzeArgument | None = None,  # noqa: A002
        event_type: AnalyzeArgument | None = None,
        tick: AnalyzeArgument | None = None,
        tiebreak: AnalyzeArgument | None = None,
        numbers: AnalyzeArgument | None = None,
        bad_rows: AnalyzeArgument | None = None,
    ) -> Prepared:
        """The names are those of the function's arguments in SQL."""
        if not isinstance(events.dataType, StructType) or not events.isTable:
            raise InputError(
                "The first argument must be a table.",
                remedy="Write TABLE(name), or TABLE(SELECT …) in parentheses.",
            )
        planned = plan(parse(_required("query", query)))
        chosen = _text("numbers", numbers) or "auto"
        one_of("numbers", chosen, [one.value for one in Numbers])
        reading = Reading(
            _required("time", time),
            _text("type", type),
            _text("event_type", event_type),
            _text("tick", tick) or "s",
            _text("tiebreak", tiebreak),
            _text("bad_rows", bad_rows) or "error",
        )
        _refuse_input_order(planned, reading.tiebreak)
        needed = {*reading.named, reading.type or "type", *planned.scan.attributes}
        projector = Projector(planned.scan, _arrow_schema(events.dataType, needed), reading)
        return _prepared(planned, projector, Numbers(chosen), events.dataType)

    def eval(self, events: Sequence[Any], *_: Any, **__: Any) -> None:
        self._rows.append(events)
        if len(self._rows) >= CHUNK_ROWS:
            self._project()

    def terminate(self) -> Iterator[tuple[Any, ...]]:
        self._project()
        run = sorted_run(self._task, self._chunks)
        if run is not None:
            rows = self._task.dress(run.finish())
            yield from zip(*[column.to_pylist() for column in rows.columns], strict=True)

    def _project(self) -> None:
        """Rows so far as scan columns, those that the query does not want left out."""
        if not self._rows:
            return
        schema = pa.schema([self._projector.schema.field(name) for name in self._projector.needed])
        columns = [
            pa.array(values, wanted) if counted is None else pa.array(values, counted).cast(wanted)
            for values, wanted, counted in zip(
                zip(*self._rows, strict=True), schema.types, self._integers, strict=True
            )
        ]
        self._rows = []
        self._chunks.append(self._projector(pa.Table.from_arrays(columns, schema=schema)).table)


def register_trends(spark: SparkSession, name: str) -> None:
    from pyspark.sql.functions import udtf

    # Not by Arrow, whatever the session prefers: it would make a batch of every row.
    function: Any = udtf(Trends, useArrow=False)
    spark.udtf.register(name, function)


def _prepared(planned: Plan, projector: Projector, numbers: Numbers, given: StructType) -> Prepared:
    task = Task.of(
        planned,
        numbers,
        projector.axis,
        tuple(projector.operand_types),
        tuple(projector.partition_types),
    )
    types = [given[name].dataType for name in projector.needed]
    groups = [_quoted(name) for name in planned.scan.partition[: planned.plain_groups]]
    # Even one place by an expression: rows are sorted by it, and so Spark refuses streams, whose
    # batches would each be taken for everything.
    place = f"pmod(hash({', '.join(groups)}), {PLACES})" if groups else "0"
    return Prepared(
        struct_of(task.schema),
        partitionBy=[PartitioningColumn(place)],
        select=[
            SelectedColumn(_sent(name, kind), f"c{k}")
            for k, (name, kind) in enumerate(zip(projector.needed, types, strict=True))
        ],
        task=task,
        projector=projector,
        integers=tuple(_integer(kind) for kind in types),
    )


def _sent(name: str, kind: DataType) -> str:
    """As integers where Spark would make objects, of times even in the worker's own zone."""
    if isinstance(kind, TimestampType):
        return f"unix_micros({_quoted(name)})"
    return f"unix_date({_quoted(name)})" if isinstance(kind, DateType) else _quoted(name)


def _integer(kind: DataType) -> pa.DataType | None:
    if isinstance(kind, TimestampType):
        return pa.int64()
    return pa.int32() if isinstance(kind, DateType) else None


def _arrow_schema(given: StructType, needed: set[str]) -> pa.Schema:
    names = [one.name for one in given.fields]
    refuse_repeated(names)
    types = [arrow_type(one.dataType) for one in given.fields]
    for one, found in zip(given.fields, types, strict=True):
        if found is None and one.name in needed:
            raise InputError(
                f"The column '{one.name}' is {one.dataType.simpleString()}, "
                "which a query cannot work with.",
                remedy="Select a value of it as a column of its own: TABLE(SELECT …).",
            )
    # Nothing is asked of columns without a type but their names.
    return pa.schema([(name, found or pa.null()) for name, found in zip(names, types, strict=True)])


def _required(name: str, argument: AnalyzeArgument) -> str:
    found = _text(name, argument)
    if found is None:
        raise InputError(f"The argument '{name}' is NULL.", remedy=f"Write a text: {name} => '…'.")
    return found


def _text(name: str, argument: AnalyzeArgument | None) -> str | None:
    """What an argument says; it must be known before there is a row."""
    if argument is None or (argument.isConstantExpression and argument.value is None):
        return None
    if not isinstance(argument.value, str):
        raise InputError(
            f"The argument '{name}' must be a constant text.",
            remedy=f"Write it in quotes: {name} => '…'.",
        )
    return argument.value


def _refuse_input_order(planned: Plan, tiebreak: str | None) -> None:
    refuse_gap(planned)
    if planned.scan.input_order and tiebreak is None:
        raise InputError(
            "A window of events needs an order of simultaneous events, and Spark's rows have none.",
            remedy="Name a column that orders them: tiebreak => '…'.",
        )


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
