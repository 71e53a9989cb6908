"""A stream with a state per shard, beside Spark's own count and one Python state per key.

Files as micro-batches, in the order of time, 1,000 keys, `local[2]`, RocksDB, as many tasks as
cores.
"""

from __future__ import annotations

import shutil
import tempfile
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import trendloom as tl
from benchmarks import charts
from benchmarks.harness import Figure, Samples, Size, at_least, at_most, take_turns
from benchmarks.on_spark import COLUMNS, session

if TYPE_CHECKING:
    from collections.abc import Iterator

    import altair as alt
    import pandas as pd
    from pyspark.sql import DataFrame

EVENTS = {Size.FULL: 5_000_000, Size.QUICK: 1_000_000, Size.TINY: 10_000}
KEYS = 1_000
BATCHES = 10
WINDOWS = 20
SETTINGS = {
    "spark.sql.shuffle.partitions": 2,
    # Else Spark adds up the bytes of its Arrow batch after every row.
    "spark.sql.execution.arrow.maxBytesPerBatch": (1 << 31) - 1,
}
"""As docs/spark-streaming.md advises, for every contender alike."""
TURNS = {Size.FULL: 2, Size.QUICK: 1, Size.TINY: 1}


@cache
def micro_batches(count: int) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="trendloom-stream-"))
    chance = np.random.default_rng(7)
    each = count // BATCHES
    for number in range(BATCHES):
        ticks = np.arange(number * each, (number + 1) * each, dtype=np.int64)
        kinds = np.array(["A", "B"])[chance.integers(0, 2, each)]
        table = pa.table(
            {
                "key": chance.integers(0, KEYS, each),
                "ts": pa.array(ticks * 1_000, pa.timestamp("us", "UTC")),
                "type": pa.array(kinds),
                "value": chance.random(each),
            }
        )
        pq.write_table(table, folder / f"{number:02}.parquet")
    return folder


def stream(count: int) -> DataFrame:
    reader = session().readStream.schema("key long, ts timestamp, type string, value double")
    given = reader.option("maxFilesPerTrigger", 1).parquet(str(micro_batches(count)))
    return given.select(*COLUMNS).withWatermark("ts", "0 seconds")


def to_end(rows: DataFrame, mode: str) -> list[Any]:
    """Runs all micro-batches; the progress of each."""
    settings = session().conf
    before = {name: settings.get(name) for name in SETTINGS}
    for name, value in SETTINGS.items():
        settings.set(name, value)
    home = tempfile.mkdtemp(prefix="trendloom-checkpoint-")
    query = (
        rows.writeStream.format("noop").outputMode(mode)
        .option("checkpointLocation", home).trigger(availableNow=True).start()
    )  # fmt: skip
    query.awaitTermination()
    for name, was in before.items():
        settings.set(name, was)
    progress = list(query.recentProgress)
    shutil.rmtree(home, ignore_errors=True)
    return progress


def windowed(count: int) -> str:
    """A query with a few windows per micro-batch."""
    return (
        "RETURN key, COUNT(*) AS trends, SUM(A.value) AS total PATTERN SEQ(A+, B) "
        f"WHERE [key] GROUP-BY key WITHIN {count // WINDOWS} ms SLIDE {count // WINDOWS} ms"
    )


def trends(count: int) -> list[Any]:
    rows = tl.spark.run(windowed(count), stream(count), time="ts", type="type", shards=8)
    return to_end(rows, "append")


def count_by_spark(count: int) -> list[Any]:
    return to_end(stream(count).groupBy("key").count(), "update")


def state_per_key(count: int) -> list[Any]:
    """The least that a Python state per key can do: count its rows."""
    from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

    def step(
        key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: GroupState
    ) -> Iterator[pd.DataFrame]:
        import pandas

        seen = (state.get[0] if state.exists else 0) + sum(len(frame) for frame in frames)
        state.update((seen,))
        yield pandas.DataFrame({"key": [key[0]], "n": [seen]})

    rows = stream(count).groupBy("key").applyInPandasWithState(
        step, "key long, n long", "n long", "update", GroupStateTimeout.NoTimeout
    )  # fmt: skip
    return to_end(rows, "update")


CAUSES = {
    "speed beside Spark": "of 16 s of processor time 12 are the JVM's (rows to Arrow in one task,"
    " planning, state) and 4 the workers'; Spark's count takes 6 in all",
    "speed beside one Python state": "the JVM's work for a micro-batch is most of both",
}
"""Measured in one run on an AMD EPYC with many other tasks."""


def run(size: Size) -> list[Figure]:
    count = EVENTS[size]
    print(f"  {count:,} events, {KEYS:,} keys, {BATCHES} micro-batches", flush=True)
    contenders = {
        "trends, state per shard": partial(trends, count),
        "Spark's groupBy(key).count()": partial(count_by_spark, count),
        "one Python state per key": partial(state_per_key, count),
    }
    s = take_turns(contenders, TURNS[size])
    ours, spark, per_key = s.values()
    return [
        Figure("speed beside Spark's own count", spark / ours, "×", at_least(0.5)),
        Figure("speed beside one Python state per key", per_key / ours, "×", at_least(2)),
        _state(count),
        *(Figure(who, t, "s", label=who) for who, t in s.items()),
    ]


def _state(count: int) -> Figure:
    """Bytes at rest, without the events that wait, per key and open window, beside the bound."""
    from trendloom.engine.live.live import Live
    from trendloom.engine.setting import Setting
    from trendloom.hosts.scan.project import Projector
    from trendloom.hosts.scan.reading import Reading

    table = pq.read_table(micro_batches(count) / "00.parquet")
    plan = tl.query(windowed(count)).plan
    projector = Projector(plan.scan, table.schema, Reading("ts", "type"))
    types = projector.operand_types, projector.partition_types
    setting = Setting(plan, *types, projector.axis.nanoseconds)
    events = projector(table).table
    live = Live(setting)
    live.advance(events, None)
    # Half of the first window is over: nothing waits, one window per key is open.
    last = int(np.max(events.column("time").to_numpy())) + 1
    live.advance(None, last)
    keys = len(set(events.column("p0").to_pylist()))
    states = 1 + len(plan.parts[0].automaton.states)
    share = len(live.save()) / keys / (4 * states**2 * 8)
    claim = "state per key and window, of 4 × d² × 8 bytes"
    return Figure(claim, Samples((share,)), "×", at_most(1))


def draw(figures: list[Figure]) -> alt.LayerChart:
    return charts.bars(
        figures,
        title="A stream of trends beside Spark's own count",
        subtitle="1,000 keys, 10 micro-batches, local[2], RocksDB",
        axis="seconds",
    )
