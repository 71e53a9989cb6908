"""What a workload returns: a result per query, and all rows in one table."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from trendloom.result import Result, load

if TYPE_CHECKING:
    from collections.abc import Iterator

    import altair
    import pandas
    import polars
    import pyarrow as pa

    from trendloom.errors import TrendloomWarning
    from trendloom.workloads.hamlet.metrics import Metrics


@dataclass(frozen=True, repr=False, eq=False)
class Results(Mapping[str, Result]):
    """`results["q1"]` is that query's `Result`; `results.union` has the rows of all.

    The union has a column `query` in front, then every column of every query once; a query leaves
    those of others null. Where two queries return different types under one name there is none,
    and asking for it says so.
    """

    queries: Mapping[str, Result]
    events: int
    """Rows of the input that were read."""
    dropped_rows: int
    """Rows without a time that were left out, as asked."""
    elapsed: float = field(compare=False)
    """Seconds."""
    metrics: Metrics = field(compare=False)
    """What sharing of bursts did: how many, snapshots, events processed once, time of decisions."""
    late: pa.Table | None = field(default=None, compare=False)
    """Of a live workload: the events that came behind the watermark, as they were."""
    warnings: tuple[TrendloomWarning, ...] = field(default=(), compare=False)
    """Of all queries; each query's `Result` has those that are about it."""

    def __getitem__(self, name: str) -> Result:
        try:
            return self.queries[name]
        except KeyError:
            from trendloom.errors import did_you_mean

            raise KeyError(f"No query '{name}'. {did_you_mean(name, self.queries)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.queries)

    def __len__(self) -> int:
        """How many queries."""
        return len(self.queries)

    @cached_property
    def union(self) -> Result:
        """All rows, query after query."""
        from trendloom.workloads.union import NAME, union

        groups = dict.fromkeys(name for one in self.values() for name in one.group_columns)
        values = dict.fromkeys(name for one in self.values() for name in one.value_columns)
        table = union({name: result.table for name, result in self.items()})
        counts = self.events, self.dropped_rows, self.elapsed
        return Result(table, (NAME, *groups), tuple(values), *counts, warnings=self.warnings)

    @property
    def table(self) -> pa.Table:
        return self.union.table

    def rows(self) -> list[dict[str, Any]]:
        """Every row of every query as a dict of `query` and the query's own columns."""
        return [{"query": name} | row for name, one in self.items() for row in one.rows()]

    def timeline(self, *, title: str | None = None, width: int = 900) -> altair.TopLevelMixin:
        """A chart of the bursts over time, by type: who shared them, all, some or nobody."""
        load("altair", "trendloom[plot]", "A timeline")
        from trendloom.view.timeline import timeline

        trace = self.metrics.trace
        return timeline(trace.bursts, trace.left_out, title=title, width=width)

    def to_arrow(self) -> pa.Table:
        return self.union.to_arrow()

    def to_pandas(self) -> pandas.DataFrame:
        return self.union.to_pandas()

    def to_polars(self) -> polars.DataFrame:
        return self.union.to_polars()

    def to_text(self, limit: int | None = 20) -> str:
        """A plain table of the first rows of all; None for all."""
        return self.union.to_text(limit)

    def show(self, limit: int | None = 20) -> None:
        """Write the first rows to the standard output."""
        sys.stdout.write(self.to_text(limit) + "\n")

    def __repr__(self) -> str:
        told = ", ".join(f"{name}: {len(one):,}" for name, one in self.items())
        return f"<Results of {len(self)} queries; rows: {told}>"

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.union._repr_html_()
