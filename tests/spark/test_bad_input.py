"""Events, options and sessions that are not what a query needs, on Spark.

What can be known without running is refused before Spark hears of the query; what only workers
find out arrives with our words inside Spark's.
"""

from __future__ import annotations

import json
import math
import shutil
from collections import Counter
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PythonException, StreamingQueryException
from pyspark.sql import SparkSession

import trendloom as tl
from trendloom.errors import InputError, QueryMeaningError, TrendloomError
from trendloom.hosts.scan.reading import Reading
from trendloom.hosts.spark import stream
from trendloom.hosts.spark.columns import spark_scan
from trendloom.hosts.spark.failed import plain
from trendloom.hosts.spark.processor import Shards
from trendloom.hosts.spark.session import ANSI, STORE, check_version
from trendloom.hosts.spark.watermark import EVENT_TIME, with_watermark
from trendloom.testing import same_rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame

    from trendloom.engine.live.live import Live

COUNT = "RETURN COUNT(*) AS n PATTERN A+"
SUMS = "RETURN k, COUNT(*) AS n, COUNT(A) AS a, SUM(A.x) AS s PATTERN SEQ(A+, B) GROUP-BY k"
WINDOWS = "RETURN k, COUNT(*) AS n PATTERN SEQ(A+, B) WHERE [k] GROUP-BY k WITHIN 20 s SLIDE 10 s"
OPTIONS: dict[str, Any] = {"time": "t", "type": "type"}
SCHEMA = pa.schema(
    [("t", pa.int64()), ("type", pa.string()), ("k", pa.string()), ("x", pa.float64())]
)
DDL = "t BIGINT, type STRING, k STRING, x DOUBLE"


def table(times: list[int | None], x: float | None = None) -> pa.Table:
    """A, A, B, A, A, B, … of the groups u and v, the latter a third as often."""
    rows = [
        {"t": t, "type": "AAB"[i % 3], "k": "uuv"[i // 3 % 3], "x": float(i) if x is None else x}
        for i, t in enumerate(times)
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def in_folder(folder: Path, *tables: pa.Table) -> str:
    folder.mkdir(exist_ok=True)
    for number, one in enumerate(tables):
        pq.write_table(one, folder / f"{number}.parquet")
    return str(folder)


@pytest.fixture(scope="module")
def frame(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(table([1, 2, 3, 4, 5, 6])).coalesce(1)


@pytest.fixture
def setting(spark: SparkSession) -> Iterator[Any]:
    """Changes a setting of the session for one test."""
    before: dict[str, str] = {}

    def change(key: str, value: str) -> None:
        before[key] = spark.conf.get(key)
        spark.conf.set(key, value)

    yield change
    for key, value in before.items():
        spark.conf.set(key, value)


# ── refused before anything runs ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("query", "options", "kind", "message"),
    [
        (COUNT, {"time": "tt"}, InputError, r"(?s)tt.*Did you mean 't'"),
        ("RETURN SUM(A.xx) PATTERN A+", {}, TrendloomError, r"(?s)xx.*Did you mean 'x'"),
        (COUNT, {"time": "k"}, InputError, "'k' is VARCHAR; it must be an integer, a timestamp"),
        (COUNT, {"time": "x"}, InputError, "'x' is DOUBLE; it must be an integer, a timestamp"),
        (COUNT, {"plan": "combin"}, TrendloomError, "Unknown plan 'combin'.\nDid you mean 'comb"),
        (COUNT, {"plan": "direct"}, InputError, "reads Parquet files, but these events are a Dat"),
        (f"{COUNT} WITHIN 3 EVENTS SLIDE 3 EVENTS", {}, InputError, r"(?s)order.*tiebreak=…"),
        (
            f"{COUNT} WITHIN 3 EVENTS SLIDE 3 EVENTS",
            {"tiebreak": "x", "plan": "combine"},
            InputError,
            "cannot be combined from maps, for a window of events.\nLeave the plan to",
        ),
        (COUNT, {"bad_rows": "skip"}, TrendloomError, "Unknown bad_rows 'skip'"),
        (COUNT, {"numbers": "big"}, TrendloomError, "Unknown numbers 'big'"),
        (COUNT, {"mode": "complete"}, TrendloomError, "Unknown mode 'complete'"),
    ],
)
def test_what_the_caller_asks_for_is_refused_at_once(
    frame: DataFrame, query: str, options: dict[str, Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        tl.spark.run(query, frame, **{**OPTIONS, **options})


def test_files_of_different_schemas_are_refused_by_name(
    spark: SparkSession, tmp_path: Path
) -> None:
    one = table([1, 2, 3])
    whole = one.set_column(3, "x", one.column("x").cast(pa.int64()))
    folder = in_folder(tmp_path / "types", one, whole)
    with pytest.raises(
        InputError, match=r"(?s)column 'x': double and int64 in '.*0.parquet' and '.*1.parquet'"
    ):
        tl.spark.run(COUNT, folder, spark, **OPTIONS)
    folder = in_folder(tmp_path / "names", one, one.drop_columns(["k"]))
    with pytest.raises(InputError, match=r"column 'k': string and missing in .*\nName files of"):
        tl.spark.run(COUNT, folder, spark, **OPTIONS)


def test_paths_that_hold_no_plain_files_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    in_folder(tmp_path / "kind=a", table([1]))
    with pytest.raises(InputError, match=r"partitioned into directories \('kind=a'\)"):
        tl.spark.run(COUNT, str(tmp_path), spark, **OPTIONS)
    with pytest.raises(InputError, match="No file or directory '/nowhere'"):
        tl.spark.run(COUNT, "/nowhere", spark, **OPTIONS)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="No Parquet files in"):
        tl.spark.run(COUNT, str(tmp_path / "empty"), spark, **OPTIONS)
    cut = tmp_path / "cut.parquet"
    cut.write_bytes((tmp_path / "kind=a" / "0.parquet").read_bytes()[:-40])
    with pytest.raises(InputError, match=r"cut.parquet' cannot be read as Parquet.*\nCheck that"):
        tl.spark.run(COUNT, str(cut), spark, **OPTIONS)


def test_a_session_is_needed_of_a_version_that_works(
    spark: SparkSession,  # noqa: ARG001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(InputError, match=r"This is Spark 3.5.1; .* needs 4.1 or later.\nUpgrade"):
        check_version("3.5.1")
    check_version("4.1.0")
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    with pytest.raises(InputError, match=r"no Spark session to run in.\nPass spark=…"):
        tl.spark.run(COUNT, "/anywhere.parquet", **OPTIONS)


def test_integers_that_could_wrap_are_refused_outside_of_ansi_mode(
    spark: SparkSession, setting: Any, frame: DataFrame, tmp_path: Path
) -> None:
    computes = f"{COUNT} WHERE A.t * 2 > 3 WITHIN 10 s SLIDE 10 s"
    setting(ANSI, "false")
    message = r"not in ANSI mode: .* overflows .*\nSet it: spark.conf.set\(\"spark.sql.ansi"
    with pytest.raises(InputError, match=message):
        tl.spark.run(computes, frame, **OPTIONS)
    folder = in_folder(tmp_path / "events", table([1, 2, 3]))
    endless = spark.readStream.schema(DDL).parquet(folder)
    with pytest.raises(InputError, match=message):
        tl.spark.run(computes, endless, watermark="1 second", **OPTIONS)
    # Nothing is computed by Spark here, and there by the workers.
    assert tl.spark.run(COUNT, frame, **OPTIONS).columns[-1] == "n"
    assert tl.spark.run(computes, folder, spark, **OPTIONS).columns[-1] == "n"


def test_streams_that_cannot_be_are_refused(
    spark: SparkSession, setting: Any, tmp_path: Path
) -> None:
    folder = in_folder(tmp_path / "events", table([1, 2, 3]))
    endless = spark.readStream.schema(DDL).parquet(folder)
    with pytest.raises(QueryMeaningError, match=r"(?s)over a stream needs a WITHIN.*Add a window"):
        tl.spark.run(COUNT, endless, **OPTIONS)
    counted = f"{COUNT} WITHIN 3 EVENTS SLIDE 3 EVENTS"
    with pytest.raises(InputError, match=r"(?s)window of events needs an order.*tiebreak=…"):
        tl.spark.run(counted, endless, watermark="1 second", **OPTIONS)
    of_partitions = counted.replace("WITHIN", "WHERE [k] WITHIN")
    with pytest.raises(QueryMeaningError, match=r"(?s)windows of events must be of groups"):
        tl.spark.run(of_partitions, endless, tiebreak="x", **OPTIONS)
    setting(STORE, "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider")
    with pytest.raises(InputError, match=r"(?s)state in RocksDB.*spark.conf.set\(\"spark.sql.str"):
        tl.spark.run(WINDOWS, endless, watermark="1 second", **OPTIONS)


# ── found out by workers ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("plan", ["combine", "exchange", "direct"])
def test_rows_without_a_time_are_counted_or_dropped(
    spark: SparkSession, tmp_path: Path, plan: str
) -> None:
    events = table([1, 2, None, 4, None, 6, 7, 8, 9])
    folder = in_folder(tmp_path / "events", events)
    # Two stages read the events at once; when both have failed, Spark says so in Java's words.
    with pytest.raises((PythonException, Py4JJavaError)) as caught:
        tl.spark.run(SUMS, folder, spark, plan=plan, **OPTIONS).collect()
    assert "2 rows have no time ('t' is null or infinite)" in str(caught.value) or (
        "2 of 9 rows have no time ('t' is null or infinite)" in str(caught.value)
    )
    error = plain(caught.value)
    assert isinstance(error, InputError)
    assert "bad_rows='drop'" in str(error)
    kept = tl.spark.run(SUMS, folder, spark, plan=plan, bad_rows="drop", **OPTIONS)
    expected = tl.run(SUMS, events, bad_rows="drop", **OPTIONS).rows()
    assert len(expected) == 2
    assert same_rows(expected, kept.toArrow().to_pylist(), keys=["k"]) is None


@pytest.mark.parametrize("plan", ["combine", "exchange", "direct"])
def test_events_twice_and_values_that_are_no_numbers_are_events_too(
    spark: SparkSession, tmp_path: Path, plan: str
) -> None:
    """Two rows that are alike are two events; a NaN, an infinity and a null count as locally."""
    odd = [math.nan, math.inf, 3.0, -1.0, None, 5.0]
    one = table([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
    one = one.set_column(3, "x", pa.array(odd * 2, pa.float64()))
    events = pa.concat_tables([one, one])
    folder = in_folder(tmp_path / "events", one, one)
    rows = tl.spark.run(SUMS, folder, spark, plan=plan, **OPTIONS).toArrow().to_pylist()
    expected = tl.run(SUMS, events, **OPTIONS).rows()
    once = tl.run(SUMS, one, **OPTIONS).rows()
    assert same_rows(expected, rows, keys=["k"]) is None
    assert all(two["n"] > 2 * single["n"] for two, single in zip(expected, once, strict=True))


# ── found out by streams ─────────────────────────────────────────────────────────────────────────


def step(
    spark: SparkSession, home: Path, query: Any = WINDOWS, checkpoint: str = "kept", **more: Any
) -> None:
    """A stream over the folder goes on from its checkpoint, and stops where the folder ends."""
    reader = spark.readStream.schema(DDL).option("maxFilesPerTrigger", 1)
    options = {**OPTIONS, "watermark": "5 seconds", "shards": 2, **more}
    rows = tl.spark.run(query, reader.parquet(str(home / "events")), **options)
    running = (
        rows.writeStream.format("parquet")
        .option("path", str(home / "rows"))
        .option("checkpointLocation", str(home / checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    running.awaitTermination()


def written(spark: SparkSession, home: Path) -> list[dict[str, Any]]:
    return spark.read.parquet(str(home / "rows")).toArrow().to_pylist()


class Careless(Shards):
    """Leaves one bit of every state wrong."""

    def _rest(self, live: Live) -> int:
        size = super()._rest(live)
        shards, data = self._state.get()
        spoilt = bytearray(data)
        spoilt[-1] ^= 1
        self._state.update((shards, spoilt))
        return size


def refusal(spark: SparkSession, home: Path, **more: Any) -> str:
    """What the state itself says, as those of older versions do that have no record beside it."""
    shutil.rmtree(home / "kept" / "trendloom", ignore_errors=True)
    with pytest.raises(StreamingQueryException) as caught:
        step(spark, home, **more)
    assert "StateError" in str(caught.value)
    return str(plain(caught.value))


def test_a_checkpoint_is_of_one_query_and_one_number_of_shards(
    spark: SparkSession, tmp_path: Path
) -> None:
    first, second = table([*range(10, 34)]), table([*range(34, 60), 10_000])
    in_folder(tmp_path / "events", first)
    step(spark, tmp_path)
    in_folder(tmp_path / "events", first, second)
    name = json.loads((tmp_path / "kept" / "metadata").read_text())["id"]

    said = refusal(spark, tmp_path, query=WINDOWS.replace("SEQ(A+, B)", "SEQ(A, B+)"))
    assert said.startswith(f"Stream {name}")
    assert (
        "The state is of another query.\nState: RETURN k, COUNT(*) AS n PATTERN SEQ(A A+, B B"
        in said
    )
    assert "\nNow:   RETURN k, COUNT(*) AS n PATTERN SEQ(A A, B B+" in said
    assert said.endswith("or start the stream with a new checkpoint.")

    said = refusal(spark, tmp_path, shards=3)
    assert f"Stream {name}" in said
    assert (
        "the checkpoint was written with 2 shards, this stream has 3.\nGo on with shards=2" in said
    )

    # What was refused has left nothing behind.
    step(spark, tmp_path)
    expected = tl.run(WINDOWS, pa.concat_tables([first, second]), **OPTIONS).rows()
    assert same_rows(expected, written(spark, tmp_path), keys=["k"]) is None


def test_shards_that_were_never_touched_are_refused_too(
    spark: SparkSession, tmp_path: Path
) -> None:
    """With other numbers of shards, one group's events would miss the state that it has."""
    first, second = table([*range(10, 13)]), table([*range(34, 37)])
    in_folder(tmp_path / "events", first)
    step(spark, tmp_path, shards=7)
    in_folder(tmp_path / "events", first, second)
    for shards in range(1, 7):
        said = refusal(spark, tmp_path, shards=shards)
        assert f"was written with 7 shards, this stream has {shards}" in said
    in_folder(tmp_path / "events", first, second, table([10_000]))
    step(spark, tmp_path, shards=7)
    expected = tl.run(WINDOWS, pa.concat_tables([first, second]), **OPTIONS).rows()
    assert same_rows(expected, written(spark, tmp_path), keys=["k"]) is None


def test_queries_of_a_stream_keep_their_places(spark: SparkSession, tmp_path: Path) -> None:
    in_folder(tmp_path / "events", table([*range(10, 22)]))
    counts, sums = WINDOWS, WINDOWS.replace("COUNT(*)", "COUNT(A)")
    step(spark, tmp_path, {"one": counts, "two": sums})
    in_folder(tmp_path / "events", table([*range(10, 22)]), table([*range(22, 34)]))
    said = refusal(spark, tmp_path, query={"one": sums, "two": counts})
    assert "The state is of another query" in said
    said = refusal(spark, tmp_path, query=counts)
    assert "Now:   " in said


def test_spoilt_state_ends_the_stream(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_folder(tmp_path / "events", table([*range(10, 22)]))
    with monkeypatch.context() as patch:
        patch.setattr(stream, "Shards", Careless)
        step(spark, tmp_path)
    in_folder(tmp_path / "events", table([*range(10, 22)]), table([*range(22, 34)]))
    said = refusal(spark, tmp_path)
    assert "The state's bytes are damaged: their checksum is wrong.\nRestore the checkpoint" in said


def test_windows_of_events_have_rows_as_they_fill(spark: SparkSession, tmp_path: Path) -> None:
    """Through a checkpoint: what was counted goes on."""
    counted = "RETURN k, COUNT(*) AS n PATTERN A+ GROUP-BY k WITHIN 3 EVENTS SLIDE 2 EVENTS"
    first, second = table([*range(10, 34)]), table([*range(34, 60), 10_000])
    in_folder(tmp_path / "events", first)
    step(spark, tmp_path, counted, tiebreak="x")
    in_folder(tmp_path / "events", first, second)
    step(spark, tmp_path, counted, tiebreak="x")
    events = pa.concat_tables([first, second])
    # The last event moves the watermark past all others, and has not been passed itself.
    counts = Counter(events.slice(0, events.num_rows - 1).column("k").to_pylist())
    rows = tl.run(counted, events, tiebreak="x", **OPTIONS).rows()
    expected = [row for row in rows if row["window_end"] <= counts[row["k"]]]
    assert len(expected) > 5
    assert same_rows(expected, written(spark, tmp_path), keys=["k"]) is None


def test_a_stream_counts_or_drops_rows_without_a_time(spark: SparkSession, tmp_path: Path) -> None:
    events = table([10, 11, None, 13, None, 15, 16, 17, 18, 10_000])
    in_folder(tmp_path / "events", events)
    with pytest.raises(StreamingQueryException) as caught:
        step(spark, tmp_path, checkpoint="refused")
    assert "2 rows have no time ('t' is null or infinite)" in str(plain(caught.value))
    step(spark, tmp_path, bad_rows="drop")
    expected = tl.run(WINDOWS, events, bad_rows="drop", **OPTIONS).rows()
    assert len(expected) > 2
    assert same_rows(expected, written(spark, tmp_path), keys=["k"]) is None


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_watermarks_of_times_without_a_zone(spark: SparkSession, setting: Any, zone: str) -> None:
    """Spark takes none of them: they are made into instants, whatever the session's zone.

    One of the times does not exist in New York.
    """
    setting("spark.sql.session.timeZone", zone)
    times = [datetime(2024, 3, 10, 2, 30, 0, 123456), datetime(1969, 12, 31, 23, 59, 59, 999999)]
    table = pa.table(
        {
            "t": pa.array(times, pa.timestamp("us")),
            "day": pa.array([time.date() for time in times]),
            "type": ["A", "A"],
            "k": ["u", "v"],
        }
    )
    events = spark.createDataFrame(table, "t TIMESTAMP_NTZ, day DATE, type STRING, k STRING")
    plan = tl.query(WINDOWS).plan
    zero = datetime(1970, 1, 1)
    days = [datetime.combine(time.date(), zero.time()) for time in times]
    for name, wanted in (("t", times), ("day", days)):
        scan = spark_scan(events.schema, plan.scan, Reading(name, "type"))
        marked = with_watermark(events, scan.axis, name, "1 second")
        rows = marked.selectExpr(f"unix_micros({EVENT_TIME}) AS us").collect()
        assert [row.us for row in rows] == [(t - zero) // timedelta(microseconds=1) for t in wanted]
