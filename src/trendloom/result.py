"""What a query returns: rows in an Arrow table, and the ways out of it."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from trendloom.errors import MissingExtraError, printable

if TYPE_CHECKING:
    import altair
    import pandas
    import polars
    import pyarrow as pa

    from trendloom.errors import TrendloomWarning


@dataclass(frozen=True, repr=False)
class Result:
    """Rows ordered by window, then group.

    `table` holds `window_start` and `window_end` (null without a window), then the RETURN items in
    their order, under their aliases, else as written.
    """

    table: pa.Table
    group_columns: tuple[str, ...]
    value_columns: tuple[str, ...]
    events: int
    """Rows of the input that were read."""
    dropped_rows: int
    """Rows without a time that were left out, as asked."""
    elapsed: float = field(compare=False)
    """Seconds."""
    order: str = field(default="", compare=False)
    """How the events were brought into order, as in "input was in order: not sorted"."""
    warnings: tuple[TrendloomWarning, ...] = field(default=(), compare=False)
    """What is probably not as it was meant, though the rows are right."""

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        names = printable(", ".join(self.table.column_names))
        return f"<Result: {len(self):,} rows of {names}>"

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        from trendloom.view.html import html_table

        return html_table(self.table)

    def rows(self) -> list[dict[str, Any]]:
        """Every row as a dict; exact integers are Python's, of any size."""
        from trendloom import bigint

        rows: list[dict[str, Any]] = self.table.to_pylist()
        for i in bigint.marked_columns(self.table):
            name = self.table.schema.field(i).name
            for row, value in zip(rows, bigint.as_integers(self.table.column(i)), strict=True):
                row[name] = value
        return rows

    def to_arrow(self) -> pa.Table:
        """The table; exact integers as decimal(38, 0), an error where they do not fit."""
        from trendloom import bigint

        return bigint.as_decimals(self.table)

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas frame with Arrow's own types: nothing is rounded, null stays null."""
        pd = load("pandas", "pandas", "A pandas frame")
        frame: pandas.DataFrame = self.to_arrow().to_pandas(types_mapper=pd.ArrowDtype)
        return frame

    def to_polars(self) -> polars.DataFrame:
        pl = load("polars", "polars", "A polars frame")
        frame: polars.DataFrame = pl.from_arrow(self.to_arrow())
        return frame

    def to_text(self, limit: int | None = 20) -> str:
        """A plain table of the first rows; None for all."""
        from trendloom.view.text import text_table

        return text_table(self.table, limit)

    def show(self, limit: int | None = 20) -> None:
        """Write the first rows to the standard output."""
        sys.stdout.write(self.to_text(limit) + "\n")

    def plot(
        self,
        value: str | None = None,
        *,
        kind: str = "auto",
        title: str | None = None,
        width: int = 640,
        height: int = 360,
    ) -> altair.TopLevelMixin:
        """A chart of one RETURN value (the first number, unless named).

        `kind` is line, area, bar, heat or auto: over windows a line per group, or a heat map where
        there are too many groups for lines; without windows a bar per group.
        """
        load("altair", "trendloom[plot]", "A chart")
        from trendloom.view.chart import chart

        return chart(
            self.table,
            self.group_columns,
            self.value_columns,
            value=value,
            kind=kind,
            title=title,
            width=width,
            height=height,
        )


def load(module: str, package: str, what: str) -> Any:
    """A library that is not always installed; `what` needs it."""
    try:
        return import_module(module)
    except ImportError as error:
        # An import that fails inside the library is another story, and tells it itself.
        if error.name is not None and error.name.partition(".")[0] != module:
            raise
        raise MissingExtraError(
            f"{what} needs {module}, which is not installed.",
            remedy=f"Install it: pip install '{package}'",
        ) from None
