"""`trendloom stream`: a query over a stream on Spark, until it ends or somebody ends it."""

import os
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from trendloom.cli.options import (
    BadRows,
    EventType,
    Jars,
    Master,
    Packages,
    QueryFile,
    QueryText,
    SparkLog,
    Strict,
    Tick,
    Tiebreak,
    Time,
    Type,
    misuse,
    read_query,
    source_options,
    words,
)

if TYPE_CHECKING:
    from trendloom.hosts.spark.metrics import Tally

PATIENCE = 30.0
"""Seconds for Spark to tell the last micro-batch after the stream has ended."""


def stream(
    *,
    query: QueryFile = None,
    query_text: QueryText = None,
    source: Annotated[
        str,
        typer.Option(
            "--source",
            metavar="PLACE",
            help="parquet:DIR, json:DIR, csv:DIR, kafka:HOST:PORT/TOPIC, socket:HOST:PORT (JSON "
            "lines) or rate:ROWS_PER_SECOND.",
        ),
    ],
    sink: Annotated[
        str,
        typer.Option(
            "--sink",
            metavar="PLACE",
            help="console, parquet:DIR, json:DIR, kafka:HOST:PORT/TOPIC or delta:DIR.",
        ),
    ] = "console",
    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--checkpoint", metavar="DIR", help="Where the stream remembers how far it got."
        ),
    ] = None,
    time: Time,
    type: Type = None,  # noqa: A002
    event_type: EventType = None,
    tick: Tick = "s",
    tiebreak: Tiebreak = None,
    schema: Annotated[
        str | None,
        typer.Option(
            "--schema",
            metavar="DDL",
            help="Columns of the events: 'ts TIMESTAMP, type STRING'. Parquet knows its own.",
        ),
    ] = None,
    watermark: Annotated[
        str, typer.Option("--watermark", metavar="DELAY", help="How late events may come.")
    ] = "10 minutes",
    mode: Annotated[
        Literal["append", "update"],
        typer.Option("--mode", help="append: a row when its window is over; update: as it grows."),
    ] = "append",
    late: Annotated[
        str | None,
        typer.Option("--late", metavar="DIR", help="Keep events here that came too late."),
    ] = None,
    shards: Annotated[
        int, typer.Option("--shards", min=1, help="Pieces that the state is cut into.")
    ] = 16,
    bad_rows: BadRows = "error",
    strict: Strict = False,
    numbers: Annotated[
        Literal["auto", "exact"],
        typer.Option("--numbers", help="exact: counts as whole numbers of up to 38 digits."),
    ] = "auto",
    trigger: Annotated[
        str | None,
        typer.Option(
            "--trigger", metavar="INTERVAL", help="How often to look for events: '5 seconds'."
        ),
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="Read what there is, go no further.")
    ] = False,
    name: Annotated[
        str | None,
        typer.Option(
            "--name", help="Of the stream, in metrics and row ids; default: the file's, or trends."
        ),
    ] = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            "--metrics-port",
            min=0,
            max=65535,
            metavar="PORT",
            help="Serve http://127.0.0.1:PORT/metrics; 0 takes a free port.",
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No line per micro-batch.")] = False,
    master: Master = None,
    packages: Packages = None,
    jars: Jars = None,
    log: SparkLog = "off",
    ui: Annotated[bool, typer.Option("--ui", help="Spark: its web pages on this machine.")] = False,
) -> None:
    """Run a query over a stream on Spark.

    Stop it with Ctrl-C; the same command then goes on where it stopped.
    """
    text = read_query(query, query_text)
    options = source_options(time, type, event_type, tick, tiebreak)
    if once and trigger is not None:
        misuse("--once reads what there is; --trigger reads again and again.", "--once")

    from trendloom import api, spark
    from trendloom.cli.output import note, refuse_warned, show_table
    from trendloom.hosts.spark.failed import going_on_from
    from trendloom.hosts.spark.jobs import Wanted, job_session
    from trendloom.hosts.spark.origins import ORIGINS, read_stream
    from trendloom.hosts.spark.places import Place
    from trendloom.hosts.spark.session import require_pyspark
    from trendloom.hosts.spark.sinks import SINKS, Keyed, Sink

    called = name or (Path(query).stem if query is not None else "trends")
    api.aggregation(text)
    if Place.read(source, ORIGINS).kind == "socket" and once:
        misuse("A socket has nothing before somebody listens; leave --once out.", "--once")
    target = Sink(Place.read(sink, SINKS), called, mode, checkpoint, trigger, once)
    keyed = Keyed.of(text) if target.place.kind == "kafka" else Keyed(text, ())
    options |= {"watermark": watermark, "mode": mode, "shards": shards}
    options |= {"bad_rows": bad_rows, "numbers": numbers}
    options |= {"late": late if late is None or "://" in late else os.path.abspath(late)}
    require_pyspark()
    from trendloom.hosts.spark.metrics import TrendMetrics

    wanted = Wanted(master, None, words(packages), words(jars), log, ui, partitions=shards)
    with job_session(wanted) as session, going_on_from(checkpoint):
        events = read_stream(session, source, schema)
        rows = spark.run(keyed.text, events, **options)
        refuse_warned(strict=strict)
        metrics = TrendMetrics(None if quiet else lambda _, batch: note(told(batch)))
        metrics.listen(session)
        try:
            if metrics_port is not None:
                metrics.serve(metrics_port)
                note(f"Metrics: http://127.0.0.1:{metrics.port}/metrics")
            running = target.start(rows, keyed.groups, show_table)
            _wait(running)
            metrics.wait_for_end(PATIENCE)
        finally:
            metrics.stop()


def told(batch: "Tally") -> str:
    """One micro-batch in a line."""
    lag = "no watermark yet" if batch.lag is None else f"watermark {batch.lag:,.1f} s behind"
    dropped = f"{batch.dropped:,} dropped, " if batch.dropped else ""
    return (
        f"{batch.events:,} events, {batch.rows:,} rows, {batch.late:,} late, {dropped}"
        f"state {batch.state_bytes:,} bytes, {lag}"
    )


def _wait(running: Any) -> None:
    """Until the stream ends. An interrupt finds this thread idle, and its line to the JVM free."""
    failures: list[BaseException] = []

    def wait() -> None:
        try:
            running.awaitTermination()
        except BaseException as error:
            failures.append(error)

    waiter = threading.Thread(target=wait, daemon=True)
    before = _stop_on_terminate()
    try:
        waiter.start()
        while waiter.is_alive():
            waiter.join(0.5)
    except KeyboardInterrupt:
        running.stop()
        waiter.join(PATIENCE)
        raise
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)
    if failures:
        raise failures[0]


def _stop_on_terminate() -> Any:
    """SIGTERM, as service managers send it, stops a stream as Ctrl-C does.

    Some send it twice, to the process and to its group; the second must not end the stopping.
    """
    if threading.current_thread() is not threading.main_thread():
        return None

    def stop(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise KeyboardInterrupt

    return signal.signal(signal.SIGTERM, stop)
