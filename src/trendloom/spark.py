"""Trendloom on Spark: the same queries over a DataFrame, Parquet files or a stream.

    import trendloom as tl

    tl.spark.run("RETURN COUNT(*) PATTERN Stock S+ …", df, time="ts", type="kind")
    df.transform(tl.aggregate, query="…", time="ts", type="kind")

    tl.spark.register(spark)
    spark.sql("SELECT * FROM trends(TABLE(events), 'RETURN COUNT(*) …', 'ts', 'kind')")

Needs the extra: pip install 'trendloom[spark]'. Works over Spark Connect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trendloom.api import TrendQuery, aggregation, formula_of, listing_of, query_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from trendloom.hosts.spark.metrics import TrendMetrics
    from trendloom.language import Query
    from trendloom.plan.plan import Plan
    from trendloom.several import Workload

__all__ = ["aggregate_matches", "matches", "metrics", "register", "run", "trends"]


def run(
    query: str | Query | TrendQuery | Mapping[str, str | Query | TrendQuery] | Workload,
    events: DataFrame | str | Sequence[str],
    spark: SparkSession | None = None,
    **options: Any,
) -> DataFrame:
    """The rows of a query as a DataFrame; nothing runs before somebody asks for them.

    `events`: a DataFrame, bounded or streaming, or paths of Parquet files, which the workers then
    read themselves (in `spark`, else in the active session). Options:

    `time`, `type`, `event_type`, `tick`, `tiebreak`, `numbers`, `bad_rows` as for `trendloom.run`.
    `plan`: "combine", "exchange" or "direct" instead of the planner's choice.

    On a stream: `watermark` is how late events may be ("10 minutes"), unless the DataFrame has a
    watermark on its time already; `mode` is "append" (a row when its window is over) or "update"
    (whenever it changes; write it in update mode, too); `late` a directory for the events that came
    too late; `shards` how many pieces the state is cut into. Several queries, by name, share one
    pass: their rows have a column `query`.
    """
    from trendloom.hosts.spark.host import run_spark

    if isinstance(query, str | TrendQuery) or not hasattr(query, "items"):
        return run_spark(_plan(query), events, spark, **options)
    plans = {name: _plan(one) for name, one in query.items()}
    return run_spark(plans, events, spark, **options)


def trends(
    query: str | Query | TrendQuery,
    events: DataFrame | str | Sequence[str],
    spark: SparkSession | None = None,
    *,
    id: str,  # noqa: A002
    **options: Any,
) -> DataFrame:
    """The complete trends of a query without RETURN, a row each; see `trendloom.trends`.

    Partitions ([attributes], plain GROUP-BY) are listed side by side, one whole partition by one
    task; without any, all events travel to one. Rows of a DataFrame have no numbers: `id` names an
    integer column, whose values `events` are then lists of. Options as for `trendloom.trends`, less
    `after` and bad_rows="drop"; `memory_limit` holds for each task, and `max_results` counts by a
    job of its own. Numbers of trends have gaps.
    """
    from trendloom.hosts.spark.listing import list_spark

    asked, wanted, reading = listing_of(query, options)
    return list_spark(asked, events, spark, wanted, id, reading)


def matches(
    formula: str,
    events: DataFrame | str | Sequence[str],
    spark: SparkSession | None = None,
    *,
    id: str,  # noqa: A002
    **options: Any,
) -> DataFrame:
    """The complex events of a formula of the logic, a row each; see `trendloom.matches`.

    Partitions (`partition_by`) are matched side by side, one whole partition by one task; without
    any, all events travel to one. `id` names an integer column: `start`, `end` and the events of
    variables are its values, and it orders simultaneous events. Options as for `trendloom.matches`.
    """
    from trendloom.hosts.spark.matching import match_spark

    asked, reading = formula_of(formula, options)
    return match_spark(asked, events, spark, id, reading)


def aggregate_matches(
    formula: str,
    returns: str,
    events: DataFrame | str | Sequence[str],
    spark: SparkSession | None = None,
    **options: Any,
) -> DataFrame:
    """The complex events of a formula, aggregated; see `trendloom.aggregate_matches`."""
    query, rest = query_of(formula, returns, options)
    return run(query, events, spark, **rest)


def register(spark: SparkSession, name: str = "trends") -> None:
    """Make queries a table function of the session's SQL, under this name.

    `SELECT * FROM trends(TABLE(events), 'RETURN …', 'ts', 'kind')`: the query, the time column, the
    type column. `event_type`, `tick`, `tiebreak`, `numbers` and `bad_rows` as for `run`, by name:
    `tick => 'ms'`. Rows pass through Python one by one: for many events use `run`.
    """
    from trendloom.hosts.spark.session import session_of

    session_of(None, spark)
    from trendloom.hosts.spark.sql import register_trends

    register_trends(spark, name)


def metrics(spark: SparkSession, port: int | None = None) -> TrendMetrics:
    """Count what the session's streams do, from now on: `.text()` is for Prometheus, `.tallies`
    for programs. With a port, `http://127.0.0.1:port/metrics` answers too (0: a free one, which is
    `.port`). `.stop()` ends both.
    """
    from trendloom.hosts.spark.session import session_of

    session_of(None, spark)
    from trendloom.hosts.spark.metrics import TrendMetrics

    found = TrendMetrics()
    if port is not None:
        found.serve(port)
    found.listen(spark)
    return found


def _plan(query: Any) -> Plan:
    return aggregation(query).plan
