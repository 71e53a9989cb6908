"""Streams that would lose events or give rows twice: refused at the start, or counted and told."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as f

import trendloom as tl
from spark.test_bad_input import DDL, OPTIONS, WINDOWS, in_folder, step, table
from spark.test_cli import call
from trendloom.errors import InputError, OutputError, StateError
from trendloom.hosts.spark import origins
from trendloom.hosts.spark.failed import plain
from trendloom.testing import same_rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from trendloom.hosts.spark.metrics import Tally, TrendMetrics

LINES = "t BIGINT, type STRING, k STRING, x DOUBLE"


@pytest.fixture
def endless(spark: SparkSession, tmp_path: Path) -> DataFrame:
    folder = in_folder(tmp_path / "events", table([*range(10, 34)]), table([*range(34, 60)]))
    for number in range(2):
        os.utime(f"{folder}/{number}.parquet", (1_000 + number, 1_000 + number))
    reader = spark.readStream.schema(DDL).option("maxFilesPerTrigger", 1)
    return reader.parquet(folder).withColumn("ts", f.expr("timestamp_seconds(t)"))


@pytest.fixture
def counted(spark: SparkSession) -> Iterator[TrendMetrics]:
    metrics = tl.spark.metrics(spark)
    yield metrics
    metrics.stop()


# ── watermarks ───────────────────────────────────────────────────────────────────────────────────


def test_a_stream_has_one_watermark_and_it_is_on_its_time(endless: DataFrame) -> None:
    def run(frame: DataFrame, time: str = "ts", **more: Any) -> DataFrame:
        return tl.spark.run(WINDOWS, frame, time=time, type="type", **more)

    for time in ("ts", "t"):
        with pytest.raises(InputError, match=r"no watermark.*\n.*watermark='10 minutes', or df.wi"):
            run(endless, time)
    sent = endless.withColumn("sent", f.expr("ts + INTERVAL 1 HOUR"))
    other = sent.withWatermark("sent", "5 seconds")
    for time, more in (("ts", {}), ("t", {}), ("ts", {"watermark": "5 seconds"})):
        with pytest.raises(InputError, match=rf"on the column 'sent', and the .* is '{time}'"):
            run(other, time, **more)
    marked = endless.withWatermark("ts", "5 seconds")
    with pytest.raises(InputError, match=r"watermark on 'ts' already, .*\nLeave one of the two"):
        run(marked, watermark="10 seconds")
    with pytest.raises(InputError, match="on the column 'ts', and the time of its events is 't'"):
        run(marked, "t")
    # An instant that is computed from the marked one is another column.
    with pytest.raises(InputError, match="no watermark"):
        run(marked.withColumn("ts", f.expr("ts + INTERVAL 1 HOUR")))
    for delay in ("soon", "-1 second", "3"):
        with pytest.raises(InputError, match=rf"'{delay}' is no delay of a watermark.\nWrite a"):
            run(endless, watermark=delay)
    with pytest.raises(InputError, match="no watermark"):
        tl.spark.run({"a": WINDOWS, "b": WINDOWS}, endless, **OPTIONS)

    assert run(marked).columns == run(endless, "t", watermark="5 seconds").columns
    renamed = marked.select(f.col("ts").alias("at"), "type", "k", "x")
    assert run(renamed, "at").isStreaming
    assert run(
        endless.withColumnRenamed("ts", "the.time"), "the.time", watermark="5 seconds"
    ).isStreaming


# ── rows that change ─────────────────────────────────────────────────────────────────────────────


def test_rows_that_change_are_not_appended(
    spark: SparkSession, endless: DataFrame, tmp_path: Path
) -> None:
    options = {**OPTIONS, "watermark": "5 seconds", "shards": 2}
    changing = tl.spark.run(WINDOWS, endless, mode="update", **options)
    message = r'(?s)mode="update".*every one of them.*append mode.*\.outputMode\("update"\)'
    kept = str(tmp_path / "kept")
    derived = changing.select("k", "n").where("n > 0").withColumn("m", f.lit(1)).drop("k")
    for rows in (changing, derived, changing.transform(lambda given: given.limit(3))):
        writers = rows.writeStream, rows.writeStream.outputMode("append")
        for writer in writers:
            with pytest.raises(OutputError, match=message):
                writer.format("parquet").option("checkpointLocation", kept).start(str(tmp_path))
        with pytest.raises(OutputError, match=message):
            rows.writeStream.start(format="memory", queryName="rows", outputMode="append")
        with pytest.raises(OutputError, match=message):
            rows.writeStream.foreachBatch(lambda *_: None).start()
        with pytest.raises(OutputError, match=message):
            rows.writeStream.toTable("rows")
    assert not spark.streams.active
    assert not (tmp_path / "kept").exists()

    # The newest row of a window and group counts, for whoever replaces the others.
    newest: dict[tuple[Any, ...], dict[str, Any]] = {}
    came = 0

    def replace(batch: DataFrame, _: int) -> None:
        nonlocal came
        for row in batch.toArrow().to_pylist():
            newest[row["window_start"], row["k"]] = row
            came += 1

    writer = changing.writeStream.foreachBatch(replace).trigger(availableNow=True)
    writer.start(outputMode="update", checkpointLocation=kept).awaitTermination()
    events = pa.concat_tables([table([*range(10, 34)]), table([*range(34, 60)])])
    once = tl.run(WINDOWS, events, **OPTIONS).rows()
    passed = [row for row in once if row["window_end"] <= 55]
    assert came > len(newest)
    assert {(row["window_start"], row["k"]) for row in passed} <= newest.keys()
    final = [newest[row["window_start"], row["k"]] for row in passed]
    assert same_rows(passed, final, keys=["k"]) is None


# ── rows that cannot be read ─────────────────────────────────────────────────────────────────────


def run_once(rows: DataFrame, metrics: TrendMetrics, name: str) -> Tally:
    """Runs a stream to its end; what it counted."""
    writer = rows.writeStream.format("memory").queryName(name).trigger(availableNow=True)
    writer.start().awaitTermination()
    assert metrics.wait_for_end(30)
    return metrics.tallies[name]


def test_a_row_without_a_time_is_never_just_gone(
    spark: SparkSession, tmp_path: Path, counted: TrendMetrics
) -> None:
    """Whatever else it lacks: its key, its type, all of it."""
    good = table([*range(10, 40), 10_000])
    rows = [
        {"t": None, "type": "A", "k": None, "x": 1.0},
        {"t": None, "type": None, "k": None, "x": None},
        {"t": None, "type": "other", "k": "u", "x": 1.0},
        {"t": 12, "type": "A", "k": None, "x": 1.0},
        {"t": 12, "type": "A", "k": "u", "x": None},
    ]
    for number, bad in enumerate(rows):
        folder = tmp_path / str(number)
        folder.mkdir()
        in_folder(folder / "events", good, pa.Table.from_pylist([bad], good.schema))
        more = {"tiebreak": "x"} if number >= 3 else {}
        if number == 3:  # A known time, and no key: the event is in no group.
            step(spark, folder, **more)
            continue
        with pytest.raises(StreamingQueryException) as caught:
            step(spark, folder, **more)
        assert "1 rows have no time ('t' is null" in str(plain(caught.value))
    in_folder(tmp_path / "all", pa.concat_tables([good, pa.Table.from_pylist(rows, good.schema)]))
    stream = spark.readStream.schema(DDL).parquet(str(tmp_path / "all"))
    options = {**OPTIONS, "watermark": "5 seconds", "shards": 2, "bad_rows": "drop"}
    two = {"one": WINDOWS, "two": WINDOWS.replace("SEQ(A+, B)", "SEQ(A, B+)")}
    for name, query in (("alone", WINDOWS), ("two", two)):
        told = run_once(tl.spark.run(query, stream, **options), counted, name)
        assert told.dropped == 3, name
    assert 'trendloom_dropped_rows_total{query="alone"} 3\n' in counted.text()


GOOD = [{"t": t, "type": "AAB"[t % 3], "k": "u", "x": 1.5} for t in range(10, 40)]
ODD = [
    '{"t": "x", "type": "A", "k": "u", "x": 1.5}',
    '{"t": 12, "type": "A", "k": "u", "x": "much"}',
    '{"t": 12.5, "type": "B", "k": "u", "x": 1}',
    '{"t": 99999999999999999999, "type": "A", "k": "u", "x": 1}',
    "no JSON at all",
    "[1, 2]",
]


def test_fields_of_another_type_are_told(
    spark: SparkSession, tmp_path: Path, counted: TrendMetrics
) -> None:
    """As files of JSON, and as the messages of Kafka and sockets."""
    query = WINDOWS.replace("COUNT(*) AS n", "COUNT(*) AS n, SUM(A.x) AS s")
    options = {**OPTIONS, "watermark": "5 seconds", "shards": 1}
    folder = tmp_path / "in"
    folder.mkdir()

    def sources() -> dict[str, DataFrame]:
        lines = spark.readStream.text(str(folder))
        unpacked = origins._unpacked(lines, origins._with_unread(spark, LINES))
        return {"files": origins.read_stream(spark, f"json:{folder}", LINES), "lines": unpacked}

    good = [json.dumps(row) for row in GOOD]
    (folder / "a.json").write_text("\n".join([*good, *ODD]))
    for name, events in sources().items():
        with pytest.raises(StreamingQueryException) as caught:
            run_once(tl.spark.run(query, events, **options), counted, name)
        said = str(plain(caught.value))
        assert f'{len(ODD)} rows do not fit the schema. The first: \'{{"t": "x"' in said, name
        assert said.endswith("or leave them out with bad_rows='drop' (--bad-rows drop).")
        dropping = tl.spark.run(query, events, bad_rows="drop", **options)
        told = run_once(dropping, counted, f"dropping_{name}")
        assert (told.events, told.dropped) == (len(GOOD), len(ODD)), name


def test_the_command_line_tells_of_what_it_cannot_read(spark: SparkSession, tmp_path: Path) -> None:
    assert spark.range(1).count() == 1

    def stream(kind: str, schema: str = LINES, *more: str) -> Any:
        words = ["stream", "-q", WINDOWS, "--source", f"{kind}:{tmp_path / kind}", "--time", "t"]
        words += ["--schema", schema, "--shards", "1", "--once", *more]
        return call(*words)

    for kind in ("json", "csv"):
        (tmp_path / kind).mkdir()
    other = [{**row, "t": str(row["t"])} for row in GOOD]
    (tmp_path / "json" / "a.json").write_text("\n".join(map(json.dumps, other)))
    done = stream("json")
    assert done.exit_code == 1
    assert f"Error: {len(GOOD)} rows do not fit the schema. The first: " in done.stderr
    done = stream("json", LINES, "--bad-rows", "drop")
    assert done.exit_code == 0
    assert f"0 events, 0 rows, 0 late, {len(GOOD)} dropped" in done.stderr

    lines = [",".join(map(str, row.values())) for row in GOOD]
    (tmp_path / "csv" / "a.csv").write_text("\n".join(["t,type,k,x", *lines, "many,A,u,1", "7,A"]))
    assert "Error: 2 rows do not fit the schema. The first: 'many,A,u,1'" in stream("csv").stderr
    done = stream("csv", "type STRING, t BIGINT, k STRING, x DOUBLE")
    assert done.exit_code == 1
    assert done.stderr.startswith(
        f"Error: The file '{tmp_path}/csv/a.csv' has other columns than the schema: 't' where "
        "the schema has 'type'.\n"
    )


# ── checkpoints ──────────────────────────────────────────────────────────────────────────────────


def test_another_query_is_refused_before_events_come(spark: SparkSession, tmp_path: Path) -> None:
    """Nothing new is in the folder: only the checkpoint can tell."""
    first = table([*range(10, 34)])
    in_folder(tmp_path / "events", first)
    step(spark, tmp_path)
    refused = [
        ({"query": WINDOWS.replace("A+", "A")}, "The state is of another query.\nState: RETURN k"),
        ({"query": {"a": WINDOWS, "b": WINDOWS}}, "The state is of another query.\nState: none"),
        ({"shards": 3}, "was written with 2 shards, this stream has 3.\nGo on with shards=2"),
        ({"numbers": "exact"}, 'The state was kept with numbers="auto"'),
        ({"tick": "ms"}, "A tick of the state's times is"),
    ]
    for more, message in refused:
        with pytest.raises(StateError) as caught:
            step(spark, tmp_path, **more)
        assert f"Cannot go on from the checkpoint '{tmp_path / 'kept'}'.\n" in str(caught.value)
        assert message in str(caught.value)
    assert not spark.streams.active
    step(spark, tmp_path)

    # Checkpoints of older versions have no such record; their state refuses when events come.
    shutil.rmtree(tmp_path / "kept" / "trendloom")
    step(spark, tmp_path, query=WINDOWS.replace("A+", "A"))
    assert not (tmp_path / "kept" / "trendloom").exists()
    in_folder(tmp_path / "events", first, table([*range(34, 60)]))
    with pytest.raises(StreamingQueryException, match="The state is of another query"):
        step(spark, tmp_path, query=WINDOWS.replace("A+", "A"))
    step(spark, tmp_path)


def test_a_checkpoint_becomes_a_streams_with_its_first_micro_batch(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Who failed before that has left nothing that another query could spoil."""
    in_folder(tmp_path / "events", table([10, None]))
    odd = "kept [1]{a}*"
    with pytest.raises(StreamingQueryException, match="have no time"):
        step(spark, tmp_path, checkpoint=odd)
    step(spark, tmp_path, WINDOWS.replace("A+", "A"), odd, bad_rows="drop")
    with pytest.raises(StateError, match="another query"):
        step(spark, tmp_path, checkpoint=odd)
    (record,) = (tmp_path / odd / "trendloom").glob("part-*")
    record.write_text("{")
    os.remove(record.with_name(f".{record.name}.crc"))
    with pytest.raises(StateError, match=r"(?s)query \('trendloom'\) is damaged.*Restore"):
        step(spark, tmp_path, checkpoint=odd)
