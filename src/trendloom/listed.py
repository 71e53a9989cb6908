"""What a listing returns: trends, or complex events, in record batches while they are found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from trendloom.errors import collecting_warnings

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    import pandas
    import polars
    import pyarrow as pa

    from trendloom.cet.happened import Happened
    from trendloom.errors import TrendloomWarning
    from trendloom.plan.plan import Plan
    from trendloom.result import Result


class Batches:
    """Rows to be taken once: batch by batch, or all of them."""

    def __init__(
        self,
        schema: pa.Schema,
        batches: Iterator[pa.RecordBatch],
        warnings: list[TrendloomWarning] | None = None,
    ) -> None:
        """`warnings`: what was told before the first batch; more may come with each."""
        self.schema = schema
        self._told: list[TrendloomWarning] = [] if warnings is None else warnings
        self._batches = _collecting(batches, self._told)

    @property
    def warnings(self) -> tuple[TrendloomWarning, ...]:
        """What is probably not as it was meant; whole once the first batch was taken."""
        return tuple(self._told)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self._batches

    def close(self) -> None:
        """Stops the search and frees what it holds."""
        self._batches.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {', '.join(self.schema.names)}>"

    def reader(self) -> pa.RecordBatchReader:
        """For whatever reads Arrow streams; one batch at a time is in memory."""
        import pyarrow as pa

        return pa.RecordBatchReader.from_batches(self.schema, self._batches)

    def to_arrow(self) -> pa.Table:
        """All that are left, in one table."""
        import pyarrow as pa

        return pa.Table.from_batches(list(self._batches), self.schema)

    def rows(self) -> list[dict[str, Any]]:
        """All that are left, as dicts."""
        rows: list[dict[str, Any]] = self.to_arrow().to_pylist()
        return rows

    def to_pandas(self) -> pandas.DataFrame:
        return self._result().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        return self._result().to_polars()

    def _result(self) -> Result:
        from trendloom.result import Result

        return Result(self.to_arrow(), (), (), 0, 0, 0.0, warnings=self.warnings)


def _collecting(
    batches: Iterator[pa.RecordBatch], told: list[TrendloomWarning]
) -> Generator[pa.RecordBatch]:
    """The same batches; what is told while one is found goes to `told`.

    The collector is in force only while a batch is made: between two the caller runs.
    """
    try:
        while True:
            with collecting_warnings(told):
                batch = next(batches, None)
            if batch is None:
                return
            yield batch
    finally:
        close = getattr(batches, "close", None)
        if close is not None:
            close()


class Trends(Batches):
    """Trends.

    Columns: `window_start` and `window_end` (null without a window), the partition's attributes,
    `trend` (a number), `length`, `events` (the rows of the input, from 0, in order) and `variables`
    (what each of them is in the pattern). `happened` tells graphs, counts and memory so far.
    """

    def __init__(
        self,
        plan: Plan,
        schema: pa.Schema,
        batches: Iterator[pa.RecordBatch],
        happened: Happened,
        warnings: list[TrendloomWarning] | None = None,
    ) -> None:
        super().__init__(schema, batches, warnings)
        self.happened = happened
        self._plan = plan

    @property
    def order(self) -> str:
        """How the events were brought into order, as of `Result`; known once they are read."""
        return self.happened.order

    def explain(self) -> str:
        """How the query lists trends, and behind it what it did so far beside what it expected."""
        from trendloom.plan.explain import explain

        return "\n".join([explain(self._plan), "", *self.happened.lines()])


class Matches(Batches):
    """Complex events, in the order of their ends.

    Columns: `window_start` and `window_end` (null without a window), the partition's attributes,
    `start` and `end` (rows of the input, from 0), and for each variable the list of its events:
    rows of the input, or structs where AGG made the events or PROJECT left some attributes.
    """
