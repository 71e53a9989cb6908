"""A plan's `Scan` as Spark SQL over a DataFrame: the projection below the exchange.

Bound by DuckDB against the DataFrame's schema, as for every host, and spelled for Spark.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from trendloom.errors import InputError
from trendloom.hosts.scan import duck
from trendloom.hosts.scan.bound import GIVEN, Bound, bind_schema
from trendloom.hosts.scan.columns import refuse_repeated
from trendloom.hosts.scan.projection import Bit, Projection
from trendloom.hosts.spark.arrive import Arrival
from trendloom.hosts.spark.dialect import Spark, text

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

    from trendloom.hosts.scan.reading import Reading
    from trendloom.hosts.scan.times import TimeAxis
    from trendloom.plan.scan import Scan

_Type = exp.DataType.Type
_MASKS = ((8, _Type.TINYINT), (16, _Type.SMALLINT), (32, _Type.INT), (64, _Type.BIGINT))
_ARROW = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "void": pa.null(),
}


@dataclass(frozen=True, slots=True)
class SparkScan:
    """What to select from a DataFrame, and what will come of it."""

    columns: tuple[str, ...]
    """Expressions with their names: p0, …, time, tie, mask, x0, … Time and tiebreak in their own
    types, the mask signed."""
    condition: str | None
    """Which rows are wanted, over the DataFrame's columns; None: all of them.

    Rows without a time or tiebreak pass, so that whoever receives them can count them.
    """
    axis: TimeAxis
    operand_types: tuple[pa.DataType, ...]
    """As the engine sees them."""
    partition_types: tuple[pa.DataType, ...]
    arrival: Arrival
    """For the workers: how to turn what they receive into the engine's types."""
    may_overflow: bool
    """Whether integers are computed with: only in ANSI mode does Spark say that one overflowed."""


def spark_scan(
    schema: StructType,
    scan: Scan,
    reading: Reading,
) -> SparkScan:
    """Errors in names and types are raised here, before Spark hears of the query."""
    refuse_repeated([field.name for field in schema.fields])
    named = {*reading.named, reading.type or "type", *scan.attributes}
    fields = [_field(field, needed=field.name in named) for field in schema.fields]
    bound = bind_schema(scan, pa.schema(fields), reading)
    with bound.connection:
        collated = [field.name for field in schema.fields if _is_collated(field.dataType)]
        spelled = _spelled(bound, Spark(bound.connection, GIVEN, collated))
    nullable = {field.name for field in schema.fields if field.nullable}
    order = [
        tree
        for tree, name in zip(spelled.order, (reading.time, reading.tiebreak), strict=False)
        if name in nullable or not isinstance(tree, exp.Column)
    ]
    return SparkScan(
        tuple(text(column) for column in _columns(spelled)),
        _condition(spelled, order),
        bound.axis,
        tuple(bound.operand_types),
        tuple(bound.partition_types),
        Arrival(bound.contract.serialize().to_pybytes(), reading.time, reading.tiebreak),
        _may_overflow(bound.projection),
    )


def _may_overflow(given: Projection) -> bool:
    conditions = [bit.condition for bit in given.bits if bit.condition is not None]
    return any(
        isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Abs)
        or (isinstance(node, exp.Neg) and not isinstance(node.this, exp.Literal))
        for tree in (*conditions, *given.operands)
        for node in tree.walk()
    )


def arrow_type(data_type: DataType) -> pa.DataType | None:
    """What Spark delivers the type as, where expressions can be made of it."""
    name = data_type.simpleString()
    if name.startswith("decimal("):
        decimal: Any = data_type
        return pa.decimal128(decimal.precision, decimal.scale)
    if name.startswith(("string", "varchar(", "char(")):
        return pa.string()
    return _ARROW.get(name)


def readable(schema: StructType) -> pa.Schema:
    """The columns that expressions can be made of."""
    found = [(field.name, arrow_type(field.dataType)) for field in schema.fields]
    return pa.schema([(name, kind) for name, kind in found if kind is not None])


def _field(field: Any, *, needed: bool) -> pa.Field:
    found = arrow_type(field.dataType)
    if found is None and needed:
        raise InputError(
            f"The column '{field.name}' is {field.dataType.simpleString()}, "
            "which a query cannot work with.",
            remedy="Select a value of it as a column of its own before the query.",
        )
    # Nothing is asked of the others but their names.
    return pa.field(field.name, found or pa.null())


def _is_collated(data_type: DataType) -> bool:
    return getattr(data_type, "collation", "UTF8_BINARY") != "UTF8_BINARY"


def _spelled(bound: Bound, spark: Spark) -> Projection:
    """The projection in Spark's words, the time as it is."""
    given = bound.projection

    def condition(tree: exp.Expr | None) -> exp.Expr | None:
        return None if tree is None else spark.condition(tree)

    return Projection(
        tuple(spark.spell(key) for key in given.keys),
        duck.column(bound.axis.column),
        None if given.tie is None else spark.spell(given.tie),
        given.letters,
        tuple(
            Bit(bit.position, condition(bit.is_type), condition(bit.condition))
            for bit in given.bits
        ),
        tuple(spark.spell(operand) for operand in given.operands),
        condition(given.types),
        given.keep_unmatched,
    )


def _columns(spelled: Projection) -> list[exp.Expr]:
    columns = spelled.columns
    for column in columns:
        if column.alias == "mask":
            column.set("this", _mask(spelled))
    return columns


def _mask(spelled: Projection) -> exp.Expr:
    """The bits of the unsigned mask in the signed type of its width: Spark has no other."""
    width, kind = next(mask for mask in _MASKS if spelled.letters <= mask[0])

    def number(value: int) -> exp.Expr:
        signed = value - (1 << width) if value >> (width - 1) else value
        return exp.cast(exp.Literal.number(signed), kind)

    return spelled.mask_in(number)


def _condition(spelled: Projection, order: list[exp.Expr]) -> str | None:
    wanted = spelled.conditions
    by_type_alone = all(bit.condition is None for bit in spelled.bits)
    if not spelled.keep_unmatched and not (by_type_alone and spelled.types is not None):
        zero = exp.Literal.number(0)
        wanted.append(exp.NEQ(this=exp.paren(_mask(spelled)), expression=zero))
    if not wanted:
        return None
    unordered = [exp.Is(this=tree.copy(), expression=exp.null()) for tree in order]
    return text(exp.or_(exp.and_(*wanted), *unordered))
