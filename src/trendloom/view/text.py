"""A table as plain text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trendloom.errors import printable
from trendloom.view.cells import column_texts, is_number, pad, shown_columns, width

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Grid:
    """The texts of a table, column by column, and what was left out of it."""

    names: list[str]
    columns: list[list[str]]
    numeric: list[bool]
    shown: int
    total: int

    @property
    def rows(self) -> list[tuple[str, ...]]:
        return list(zip(*self.columns, strict=True))

    @property
    def footer(self) -> str:
        words = "1 row" if self.total == 1 else f"{self.total:,} rows"
        return words if self.shown == self.total else f"{self.shown:,} of {words}"


def grid(table: pa.Table, limit: int | None) -> Grid:
    """The first rows of a table as texts."""
    names = shown_columns(table)
    head = table.select(names).slice(0, table.num_rows if limit is None else max(0, limit))
    columns = [column_texts(column.to_pylist()) for column in head.columns]
    numeric = [is_number(field.type) for field in head.schema]
    return Grid(list(map(printable, names)), columns, numeric, head.num_rows, table.num_rows)


def text_table(table: pa.Table, limit: int | None = 20) -> str:
    """The first rows under a ruled header, and how many there are."""
    cells = grid(table, limit)
    widths = [
        max(width(text) for text in (name, *column))
        for name, column in zip(cells.names, cells.columns, strict=True)
    ]
    lines = [cells.names, ["─" * columns for columns in widths], *cells.rows]
    padded = [
        "  ".join(
            pad(text, columns, right=right)
            for text, columns, right in zip(line, widths, cells.numeric, strict=True)
        ).rstrip()
        for line in lines
    ]
    return "\n".join([*padded, cells.footer])
