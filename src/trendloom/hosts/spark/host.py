"""The Spark host's door: checks what the caller asked for, and picks batch or stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trendloom.engine.layout import Numbers
from trendloom.engine.live.mode import Mode
from trendloom.errors import one_of
from trendloom.hosts.scan.reading import Reading
from trendloom.hosts.spark.session import is_dataframe, require_pyspark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

    from trendloom.plan.plan import Plan


def run_spark(
    plans: Plan | dict[str, Plan],
    events: DataFrame | str | Sequence[str],
    spark: SparkSession | None = None,
    *,
    time: str,
    type: str | None = None,  # noqa: A002
    event_type: str | None = None,
    tick: str = "s",
    tiebreak: str | None = None,
    numbers: str = "auto",
    bad_rows: str = "error",
    plan: str = "auto",
    watermark: str | None = None,
    mode: str = "append",
    late: str | None = None,
    shards: int | None = None,
) -> DataFrame:
    """One query's rows, or several queries' with a column `query`. See `trendloom.spark.run`."""
    require_pyspark()
    from trendloom.hosts.spark.batch import How, run_batch
    from trendloom.hosts.spark.several import union
    from trendloom.hosts.spark.stream import SHARDS, Streaming, run_stream

    one_of("numbers", numbers, [one.value for one in Numbers])
    reading = Reading(time, type, event_type, tick, tiebreak, bad_rows)
    one_of("plan", plan, [one.value for one in How])
    one_of("mode", mode, [one.value for one in Mode])
    several = isinstance(plans, dict)
    queries = plans if isinstance(plans, dict) else {"": plans}
    if is_dataframe(events) and events.isStreaming:
        streaming = Streaming(mode, watermark, late, SHARDS if shards is None else shards)
        return run_stream(queries, events, reading, Numbers(numbers), streaming, several=several)
    frames = {
        name: run_batch(one, events, reading, spark=spark, numbers=Numbers(numbers), how=How(plan))
        for name, one in queries.items()
    }
    return union(frames) if several else frames[""]
