"""`trendloom acel run --host spark`: complex events of files, in a directory or here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trendloom.cli.options import misuse

if TYPE_CHECKING:
    import pyarrow as pa

    from trendloom.cli.spark_run import SparkRun


def run_formula(
    job: SparkRun,
    wanted: dict[str, Any],
    formula: str,
    returns: str | None,
    id: str | None,  # noqa: A002
    options: dict[str, Any],
    *,
    strict: bool,
) -> None:
    """With `returns`, its complex events are aggregated instead of listed."""
    if returns is None and id is None:
        misuse("Spark's rows have no numbers: name a column of integers that tells them.", "--id")
    if returns is None and job.output is not None and job.format == "csv":
        misuse("Spark's CSV has no lists; write .jsonl or .parquet.", "--output")
    job.check()

    from trendloom import api, spark

    if returns is not None:
        from trendloom.cli.spark_run import by_window

        del options["limit"]
        query, rest = api.query_of(formula, returns, options)
        asked = api.aggregation(query)
        job.run(
            wanted,
            lambda events, session: spark.run(asked, events, session, **rest),
            by_window(asked),
            strict=strict,
        )
        return

    from trendloom.acel.parser import parse
    from trendloom.acel.windows import read_window

    parse(formula)
    read_window(options["within"], options["slide"])
    keys = ("window_start", *options["partition_by"], "end", "start")

    def in_order(table: pa.Table) -> pa.Table:
        return table.sort_by([(name, "ascending") for name in keys])

    job.run(
        wanted,
        lambda events, session: spark.matches(formula, events, session, id=str(id), **options),
        in_order,
        strict=strict,
    )
