"""What the command line says of Spark before Spark runs, and how it tells what Spark says."""

import json
import re
import signal
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from cli_command import COUNT, LETTERS, trendloom
from pyspark.errors import PySparkException
from pyspark.sql.streaming.listener import QueryProgressEvent
from typer.testing import CliRunner

from trendloom import errors
from trendloom.cli.main import app
from trendloom.cli.stream import _wait
from trendloom.engine import wire
from trendloom.errors import (
    InputError,
    MissingExtraError,
    OutputError,
    StateError,
    TrendloomError,
)
from trendloom.hosts.spark.failed import going_on_from, not_started, plain
from trendloom.hosts.spark.metrics import FAMILIES, TrendMetrics
from trendloom.hosts.spark.places import Place
from trendloom.hosts.spark.sinks import HIDDEN, Keyed, Sink

DASHBOARD = Path(__file__).parents[2] / "docs/grafana/trendloom.json"
TIME = ("--time", "ts")
EPOCH = "1970-01-01T00:00:00.000Z"


def call(*words: str) -> Any:
    return CliRunner().invoke(app, list(words), catch_exceptions=False)


def progress(name: str, **changes: Any) -> QueryProgressEvent:
    """As Spark tells a micro-batch."""
    operator = {
        "operatorName": "transformWithStateExec",
        "numRowsTotal": 3,
        "numRowsUpdated": 3,
        "numRowsRemoved": 0,
        "allUpdatesTimeMs": 1,
        "allRemovalsTimeMs": 1,
        "commitTimeMs": 1,
        "memoryUsedBytes": 5000,
        "numRowsDroppedByWatermark": 0,
        "numShufflePartitions": 2,
        "numStateStoreInstances": 2,
        "customMetrics": {},
    }
    counts = {"events": 40, "late": 2, "rows": 6, "state_bytes": 1200}
    told = {
        "id": "6f2f4a3e-0000-4000-8000-000000000001",
        "runId": "6f2f4a3e-0000-4000-8000-000000000002",
        "name": name,
        "timestamp": "2024-01-01T00:01:00.000Z",
        "batchId": 1,
        "batchDuration": 10,
        "durationMs": {},
        "eventTime": {"watermark": "2024-01-01T00:00:30.000Z"},
        "stateOperators": [operator],
        "sources": [],
        "sink": {"description": "none", "numOutputRows": -1, "metrics": {}},
        "numInputRows": 41,
        "inputRowsPerSecond": 1.0,
        "processedRowsPerSecond": 1.0,
        "observedMetrics": {"trendloom": counts},
    }
    return QueryProgressEvent.fromJson({"progress": told | changes})


# ── Metrics ──────────────────────────────────────────────────────────────────────────────────


def test_counters_add_up_and_gauges_are_the_latest() -> None:
    metrics = TrendMetrics()
    metrics.onQueryProgress(progress("falls"))
    metrics.onQueryProgress(progress("falls", timestamp="2024-01-01T00:02:00.000Z"))
    lines = metrics.text().splitlines()
    assert 'trendloom_events_total{query="falls"} 80' in lines
    assert 'trendloom_rows_total{query="falls"} 12' in lines
    assert 'trendloom_late_events_total{query="falls"} 4' in lines
    assert 'trendloom_batches_total{query="falls"} 2' in lines
    assert 'trendloom_state_bytes{query="falls"} 1200' in lines
    assert 'trendloom_state_store_bytes{query="falls"} 5000' in lines
    assert 'trendloom_state_rows{query="falls"} 3' in lines
    assert 'trendloom_watermark_lag_seconds{query="falls"} 90.0' in lines
    assert "# TYPE trendloom_events_total counter" in lines


def test_streams_of_others_are_left_out_and_names_are_escaped() -> None:
    metrics = TrendMetrics()
    metrics.onQueryProgress(progress("other", observedMetrics={}))
    metrics.onQueryProgress(progress('a "b"\\', eventTime={"watermark": EPOCH}))
    assert list(metrics.tallies) == ['a "b"\\']
    assert 'trendloom_events_total{query="a \\"b\\"\\\\"} 40' in metrics.text().splitlines()
    assert "watermark_lag_seconds{" not in metrics.text()


def test_the_metrics_are_served_on_this_machine() -> None:
    metrics = TrendMetrics()
    metrics.onQueryProgress(progress("falls"))
    metrics.serve(0)
    try:
        at = f"http://127.0.0.1:{metrics.port}"
        with urllib.request.urlopen(f"{at}/metrics", timeout=10) as answer:
            assert answer.read().decode() == metrics.text()
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{at}/", timeout=10)
    finally:
        metrics.stop()
    assert metrics.port is None


def test_the_dashboard_asks_for_metrics_that_exist() -> None:
    dashboard = json.loads(DASHBOARD.read_text())
    asked = {
        name
        for panel in dashboard["panels"]
        for target in panel["targets"]
        for name in re.findall(r"trendloom_\w+", target["expr"])
    }
    metrics = TrendMetrics()
    metrics.onQueryProgress(progress("falls"))
    told = set(re.findall(r"^(trendloom_\w+)\{", metrics.text(), re.MULTILINE))
    assert asked == told == {name for _, name, _, _ in FAMILIES}


# ── Failures ─────────────────────────────────────────────────────────────────────────────────

WORKER = """[STREAM_FAILED] Query [id = 6f2f, runId = 6f2e] terminated with exception: Job aborted \
due to stage failure: Task 0 in stage 4.0 failed 1 times, most recent failure: Lost task 0.0 in \
stage 4.0 (TID 4) (127.0.0.1 executor driver): org.apache.spark.api.python.PythonException: \
Traceback (most recent call last):
  File "/venv/trendloom/hosts/spark/arrive.py", line 53, in arrive
    raise without_order(dropped, None, arrival.time, arrival.tiebreak)
trendloom.errors.InputError: 1 row has no time.
Pass bad_rows="drop".

\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handle(PythonRunner.scala:1)
\tat java.base/java.lang.Thread.run(Thread.java:840)

Driver stacktrace: SQLSTATE: XXKST
=== Streaming Query ===
Identifier: trends"""


NEWER = b"TLOOM\x02\x00" + bytes(8)


def test_a_refusal_in_a_worker_is_dug_out() -> None:
    told = plain(PySparkException(WORKER))
    assert type(told) is InputError
    assert str(told) == '1 row has no time.\nPass bad_rows="drop".'


def test_stages_that_fail_together_say_the_refusal_once() -> None:
    first = WORKER.split("Driver stacktrace")[0]
    told = plain(
        PySparkException(
            "org.apache.spark.SparkException: [STAGE_MATERIALIZATION_MULTIPLE_FAILURES] Multiple "
            f"failures (2) in stage materialization: \n  1. {first}\n  2. {first}"
        )
    )
    assert type(told) is InputError
    assert str(told) == '1 row has no time.\nPass bad_rows="drop".'


@pytest.mark.parametrize("name", ["LimitError", "StateError", "NumberError", "QueryMeaningError"])
def test_every_refusal_is_dug_out(name: str) -> None:
    told = plain(PySparkException(WORKER.replace("InputError", name)))
    assert str(told).startswith("1 row has no time.")
    assert isinstance(told, TrendloomError)
    assert issubclass(getattr(errors, name), type(told))


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (b"TLOOM", "The state's bytes are damaged: they do not begin as Trendloom's bytes do."),
        (NEWER, "The state was written by a newer Trendloom (format 2; this one reads up to 1)."),
    ],
)
def test_state_that_is_refused_is_told_with_its_directory(state: bytes, said: str) -> None:
    with pytest.raises(StateError) as refused:
        wire.unpack("events", state)
    failed = WORKER.replace("InputError: 1 row has no time.", f"StateError: {refused.value.cause}")
    with pytest.raises(StateError) as told, going_on_from("/kept/here"):
        raise PySparkException(failed)
    assert str(told.value).startswith(f"Cannot go on from the checkpoint '/kept/here'.\n{said}\n")
    with pytest.raises(StateError) as told, going_on_from(None):
        raise PySparkException(failed)
    assert str(told.value).startswith(said)
    with pytest.raises(InputError) as other, going_on_from("/kept/here"):
        raise PySparkException(WORKER)
    assert "/kept" not in str(other.value)


def test_state_that_is_not_there_is_told_with_its_directory() -> None:
    told = "[STREAM_FAILED] Query [id = 1] terminated with exception: [CANNOT_LOAD_STATE_STORE.CAN"
    told += "NOT_READ_STREAMING_STATE_FILE] An error occurred during loading state. SQLSTATE: 58030"
    with pytest.raises(StateError) as caught, going_on_from("/kept"):
        raise PySparkException(f"{told}\n\tat org.apache.spark.sql.Some(Some.scala:1)")
    said = "Cannot go on from the checkpoint '/kept'.\nSpark cannot read the state: An error occur"
    assert str(caught.value).startswith(said)
    assert str(caught.value).endswith(
        "loading state.\nRestore the checkpoint's files, or start the stream with a new checkpoint."
    )


def test_other_failures_lose_the_java_stack_only() -> None:
    told = str(plain(PySparkException(WORKER.replace("trendloom.errors.InputError", "KeyError"))))
    assert told.startswith("Spark failed: [STREAM_FAILED]")
    assert "KeyError: 1 row" in told
    assert "\tat " not in told
    assert "--log warn" in told


def test_without_a_connector_the_packages_are_named() -> None:
    told = plain(PySparkException("Failed to find data source: kafka. Please deploy …"))
    assert type(told) is MissingExtraError
    assert "`make jars` in a checkout fetches (4.2.0, tested with Spark 4.3), or" in str(told)
    assert "--packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0 where" in str(told)


def test_packages_that_are_not_found_are_named() -> None:
    said = "RuntimeException: [unresolved dependency: org.apache.spark#x_2.13;4.2.0: not found]"
    told = not_started(["…", said, "\tat org.apache.spark.util.…"], "Install Java.")
    assert type(told) is MissingExtraError
    assert str(told).startswith("Spark did not find org.apache.spark:x_2.13:4.2.0, which")
    assert "--jars" in str(told)
    assert "Java" not in str(told)
    other = str(not_started(["no such option"], "Install Java."))
    assert other == "Spark's Java process did not start.\nno such option\nInstall Java."


# ── Places, sinks, wrong words ───────────────────────────────────────────────────────────────


def test_places() -> None:
    assert Place.read("kafka:a:1,b:2/t", ("kafka",)).topic == ("a:1,b:2", "t")
    assert Place.read("socket:::1:99", ("socket",)).address == ("::1", "99")
    assert Place.read("parquet:s3://x/y", ("parquet",)).where == "s3://x/y"
    with pytest.raises(InputError, match="Did you mean 'kafka'"):
        Place.read("kafak:x", ("kafka", "rate"))
    with pytest.raises(InputError, match="kafka:HOST:PORT/TOPIC"):
        _ = Place.read("kafka:host/t", ("kafka",)).topic
    with pytest.raises(InputError, match="parquet:DIRECTORY"):
        Place.read("parquet", ("parquet",))


def test_a_group_that_is_not_returned_still_tells_rows_apart() -> None:
    text = "RETURN COUNT(*) AS n PATTERN A+ WHERE [k] GROUP-BY k WITHIN 1 s SLIDE 1 s"
    keyed = Keyed.of(text)
    assert keyed.groups == (f"{HIDDEN}0",)
    assert f"k AS {HIDDEN}0" in keyed.text
    assert Keyed.of(text.replace("COUNT", "k AS key, COUNT")).groups == ("key",)


def test_sinks_refuse_what_they_cannot_keep() -> None:
    with pytest.raises(OutputError, match="--mode append"):
        Sink(Place("parquet", "/x"), "q", "update", "/c")
    with pytest.raises(OutputError, match="--checkpoint"):
        Sink(Place("parquet", "/x"), "q")
    with pytest.raises(MissingExtraError, match="pip install delta-spark"):
        Sink(Place("delta", "/x"), "q", checkpoint="/c")


def test_without_java_the_version_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a process of its own: a session that is active already is used as it is."""
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    done = trendloom("run", "-q", COUNT, *LETTERS, "--host", "spark", "--log", "error")
    assert done.returncode == 1
    assert b"Spark needs Java 17, and there is no java in JAVA_HOME (/nowhere)" in done.stderr


def test_wrong_words_are_refused_before_spark_starts(tmp_path: Path) -> None:
    taken = call("run", "-q", COUNT, *LETTERS, "--host", "spark", "-o", f"{tmp_path}", "-f", "csv")
    assert taken.exit_code == 1
    assert "--overwrite" in taken.stderr
    assert call("run", "-q", COUNT, *LETTERS, "--master", "local[1]").exit_code == 2
    assert call("run", "-q", COUNT, "-i", "-", *TIME, "--host", "spark").exit_code == 2
    both = call("stream", "-q", COUNT, "--source", "rate", *TIME, "--once", "--trigger", "1 second")
    assert both.exit_code == 2
    query = call("stream", "-q", "RETURN COUNT(*) PATERN A+", "--source", "rate", *TIME)
    assert query.exit_code == 1
    assert "Did you mean 'PATTERN'?" in query.stderr
    early = call("stream", "-q", COUNT, "--source", "socket:127.0.0.1:1", *TIME, "--once")
    assert early.exit_code == 2
    sink = call("stream", "-q", COUNT, "--source", "rate", "--sink", "json:/x", *TIME)
    assert "Name a directory: --checkpoint DIR." in sink.stderr


class Endless:
    """A stream that somebody terminates twice."""

    def __init__(self) -> None:
        self.over = threading.Event()

    def awaitTermination(self) -> None:
        signal.pthread_kill(threading.main_thread().ident, signal.SIGTERM)
        assert self.over.wait(30)

    def stop(self) -> None:
        signal.raise_signal(signal.SIGTERM)
        self.over.set()


def test_a_stream_that_is_terminated_twice_is_stopped_once() -> None:
    assert threading.current_thread() is threading.main_thread()
    before, running = signal.getsignal(signal.SIGTERM), Endless()
    with pytest.raises(KeyboardInterrupt):
        _wait(running)
    assert running.over.is_set()
    assert signal.getsignal(signal.SIGTERM) is before


def test_without_delta_the_package_is_named() -> None:
    words = ["stream", "-q", COUNT, "--source", "rate", *TIME, "--checkpoint", "/c"]
    done = call(*words, "--sink", "delta:/x")
    assert done.exit_code == 1
    assert "pip install delta-spark, and add --packages io.delta:delta-spark_2.13:" in done.stderr
    told = plain(PySparkException("[DATA_SOURCE_NOT_FOUND] Failed to find the data source: delta."))
    assert type(told) is MissingExtraError
    assert "pip install delta-spark" in str(told)


def test_a_connect_server_that_is_not_there_is_told_at_once() -> None:
    words = ["run", "-q", COUNT, *LETTERS, "--host", "spark", "--remote"]
    done = trendloom(*words, "sc://127.0.0.1:1")
    assert done.returncode == 1
    assert b"No Connect server answers at sc://127.0.0.1:1: Connection refused." in done.stderr
    for wrong in ("127.0.0.1:1", "sc://127.0.0.1:port"):
        assert b"It is written sc://HOST:PORT." in trendloom(*words, wrong).stderr
