"""Streams against the naive oracle: random micro-batches, arrival shuffled within the watermark.

A stream costs seconds to start, so many queries share one, over the same events.
"""

from __future__ import annotations

import itertools
import os
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

import trendloom as tl
from spark.cases import arrow_events, ddl, drawn
from trendloom.errors import LimitError
from trendloom.language import Query, to_text
from trendloom.testing import naive, same_rows
from trendloom.testing.compare import group_columns
from trendloom.testing.strategies import queries, streams

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

DELAY = 6
"""Seconds by which events may come out of order."""
QUERIES = 14
FAR = 10_000
"""A time after every window: its event moves the watermark past them."""


def many_queries(window: str, seed: int) -> tuple[list[dict[str, Any]], dict[str, Query]]:
    """Events, and queries over them that the oracle can answer."""
    events = max(drawn(streams(max_size=9), 30 + seed), key=len)
    found: dict[str, Query] = {}
    for query in drawn(queries(window_kinds=(window,)), 60):
        try:
            naive(query, events, time="time", type="type", limit=300)
        except LimitError:
            continue
        name = f"q{len(found)}"
        if query.having is None:
            # Columns of one name must have one type in all queries of a stream.
            items = [
                i if i.alias is None else replace(i, alias=name + i.alias) for i in query.returns
            ]
            query = replace(query, returns=tuple(items))
            found[name] = query
        if len(found) == QUERIES:
            break
    return events, found


def write_arrivals(events: list[dict[str, Any]], folder: Path, seed: int) -> None:
    """Each file is a micro-batch; nobody comes more than DELAY after a later one."""
    chance = random.Random(seed)
    arriving = sorted(events, key=lambda event: event["time"] + chance.uniform(0, DELAY - 1))
    cuts = sorted(chance.sample(range(1, len(arriving)), k=min(3, len(arriving) - 1)))
    bounds = [0, *cuts, len(arriving)]
    batches = [arriving[a:b] for a, b in itertools.pairwise(bounds)]
    last = {**dict.fromkeys(events[0]), "type": "end", "time": FAR}
    for number, batch in enumerate([*batches, [last]]):
        path = folder / f"{number}.parquet"
        pq.write_table(arrow_events(batch), path)
        os.utime(path, (1_000 + number, 1_000 + number))


def read_stream(spark: SparkSession, folder: Path, events: list[dict[str, Any]]) -> DataFrame:
    reader = spark.readStream.schema(ddl(arrow_events(events)))
    return reader.option("maxFilesPerTrigger", 1).parquet(str(folder))


def run_to_end(frame: DataFrame, home: Path, mode: str) -> list[dict[str, Any]]:
    """Everything that the stream emits, in the order of its micro-batches."""
    emitted: list[dict[str, Any]] = []

    def keep(batch: DataFrame, _: int) -> None:
        emitted.extend(batch.toArrow().to_pylist())

    query = (
        frame.writeStream.foreachBatch(keep)
        .outputMode(mode)
        .option("checkpointLocation", str(home / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return emitted


@pytest.mark.parametrize("window", ["time", "change"])
def test_a_stream_gives_the_rows_of_a_batch(
    spark: SparkSession, tmp_path: Path, window: str
) -> None:
    events, asked = many_queries(window, 1)
    assert len(asked) >= 10
    source = tmp_path / "events"
    source.mkdir()
    write_arrivals(events, source, seed=5)
    stream = read_stream(spark, source, events)
    rows = run_to_end(
        tl.spark.run(
            {name: tl.query(query) for name, query in asked.items()},
            stream, time="time", type="type", watermark=f"{DELAY} seconds", shards=2,
        ),
        tmp_path, "append",
    )  # fmt: skip
    for name, query in asked.items():
        compare(query, events, [row for row in rows if row["query"] == name])


def test_an_updating_stream_ends_with_the_rows_of_a_batch(
    spark: SparkSession, tmp_path: Path
) -> None:
    events, asked = many_queries("time", 2)
    source = tmp_path / "events"
    source.mkdir()
    write_arrivals(events, source, seed=6)
    plain = {name: tl.query(query) for name, query in asked.items() if query.having is None}
    frame = tl.spark.run(
        plain, read_stream(spark, source, events),
        time="time", type="type", watermark=f"{DELAY} seconds", mode="update", shards=2,
    )  # fmt: skip
    rows = run_to_end(frame, tmp_path, "update")
    for name in plain:
        query = asked[name]
        keys = ("window_start", *group_columns(query))
        last = {tuple(row[key] for key in keys): row for row in rows if row["query"] == name}
        compare(query, events, list(last.values()))


def compare(query: Query, events: list[dict[str, Any]], rows: list[dict[str, Any]]) -> None:
    expected = naive(query, events, time="time", type="type", limit=300)
    names = list(expected[0]) if expected else []
    own = [{name: row[name] for name in names} for row in rows] if names else rows
    difference = same_rows(expected, own, keys=group_columns(query))
    assert difference is None, f"{to_text(query)}\n{events}\n{difference}"
