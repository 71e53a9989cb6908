"""Integers of any size in an Arrow table: decimal text in a field that says so.

Arrow's widest integer is decimal(38, 0), and an exact count may have thousands of digits. Inside,
such columns travel as text with this mark; at the door they become Python integers or decimals.
"""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa

from trendloom.errors import NumberError

MARK = {b"trendloom": b"integer of any size"}
TYPE = pa.large_string()
DIGITS = 38


def is_marked(field: pa.Field) -> bool:
    return field.metadata is not None and field.metadata.get(b"trendloom") == MARK[b"trendloom"]


def marked_columns(table: pa.Table) -> list[int]:
    return [i for i, field in enumerate(table.schema) if is_marked(field)]


def as_decimals(table: pa.Table) -> pa.Table:
    """Marked columns as decimal(38, 0), or an error where a value has more digits."""
    for i in marked_columns(table):
        name = table.schema.field(i).name
        column = table.column(i)
        longest = max((len(text.lstrip("-")) for text in column.to_pylist() if text), default=0)
        if longest > DIGITS:
            raise NumberError(
                f"'{name}' has a value of {longest} digits; a decimal holds {DIGITS}.",
                remedy="Take rows() or JSON lines, which hold integers of any size, or LOG2 of it.",
            )
        decimals = column.cast(pa.string()).cast(pa.decimal128(DIGITS, 0))
        table = table.set_column(i, pa.field(name, pa.decimal128(DIGITS, 0)), decimals)
    return table


def as_text(value: int) -> str:
    """Decimal digits. By way of Decimal: `str` refuses integers of more than 4,300 digits."""
    return str(Decimal(value))


def as_integers(column: pa.ChunkedArray | pa.Array) -> list[int | None]:
    """A marked column's values."""
    return [None if text is None else int(Decimal(text)) for text in column.to_pylist()]
