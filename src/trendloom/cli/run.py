"""`trendloom run`: a query over events, rows out."""

import sys
from typing import Annotated, Literal

import typer

from trendloom.cli.options import (
    BadRows,
    DateFormat,
    EventType,
    Format,
    HivePartitioning,
    Host,
    Inputs,
    Jars,
    Master,
    MemoryLimit,
    NumbersKind,
    Overwrite,
    Packages,
    QueryFile,
    QueryText,
    Remote,
    RowFormat,
    SparkLog,
    Strict,
    Suffix,
    Threads,
    Tick,
    Tiebreak,
    Time,
    Type,
    check_target,
    events_of,
    format_for,
    misuse,
    read_query,
    refuse_spark_options,
    source_options,
)


def run(
    *,
    query: QueryFile = None,
    query_text: QueryText = None,
    inputs: Inputs,
    time: Time,
    type: Type = None,  # noqa: A002
    event_type: EventType = None,
    tick: Tick = "s",
    tiebreak: Tiebreak = None,
    host: Host = "local",
    numbers: NumbersKind = "auto",
    bad_rows: BadRows = "error",
    strict: Strict = False,
    date_format: DateFormat = None,
    hive_partitioning: HivePartitioning = False,
    threads: Threads = None,
    memory_limit: MemoryLimit = None,
    format: RowFormat = None,  # noqa: A002
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="PATH", help="File for the rows; default: here."),
    ] = None,
    overwrite: Overwrite = False,
    json: Annotated[bool, typer.Option("--json", help="Same as --format jsonl.")] = False,
    master: Master = None,
    remote: Remote = None,
    packages: Packages = None,
    jars: Jars = None,
    log: SparkLog = "off",
) -> None:
    """Run a query over events and give the rows.

    Each row holds window_start and window_end (null without a window) and the RETURN items,
    under their aliases, else as written.
    """
    text = read_query(query, query_text)
    options = source_options(
        time, type, event_type, tick, tiebreak, date_format, hive_partitioning, host=host
    )
    events = events_of(inputs)
    chosen = row_format(format, output, json=json)
    if host == "spark":
        from trendloom.cli.spark_run import SparkRun, by_window, spark_session

        if threads is not None:
            misuse("Spark knows its own cores: --master 'local[N]', or the cluster's.", "--threads")
        if memory_limit is not None:
            misuse("Spark has limits of its own, as spark.executor.memory.", "--memory-limit")
        wanted = spark_session(master, remote, packages, jars, log)
        job = SparkRun(inputs, chosen, output, overwrite=overwrite)
        job.check()

        from trendloom import api, spark

        asked = api.aggregation(text)
        options |= {"numbers": numbers, "bad_rows": bad_rows}
        job.run(
            wanted,
            lambda events, session: spark.run(asked, events, session, **options),
            by_window(asked),
            strict=strict,
        )
        return
    refuse_spark_options(master, remote, packages, jars)
    if output is not None:
        check_target(output, overwrite=overwrite)

    from trendloom import api
    from trendloom.cli.output import note, refuse_warned, show_table, some, write_file, write_rows
    from trendloom.cli.progress import progress_bar

    with progress_bar("Running") as report:
        result = api.run(
            text,
            events,
            **options,
            numbers=numbers,
            host=host,
            bad_rows=bad_rows,
            threads=threads,
            memory_limit=memory_limit,
            progress=report,
        )
    refuse_warned(strict=strict)
    if result.dropped_rows:
        note(f"Dropped {some(result.dropped_rows, 'row')} without a time.")
    if chosen == "table":
        show_table(result.table)
    elif output is None:
        write_rows(result.table, chosen)
    else:
        write_file(result.table, output, chosen, overwrite=overwrite)
        note(f"Wrote {some(len(result), 'row')} to {output}.")
    if sys.stderr.isatty():
        rows, read = some(len(result), "row"), some(result.events, "event")
        note(f"{rows} from {read} in {result.elapsed:.2f} s; {result.order}")


def row_format(
    asked: Format | None, output: str | None, *, json: bool
) -> Literal["table"] | Suffix:
    """What the options say together."""
    if json and asked not in (None, "jsonl"):
        misuse(f"--json and --format {asked} contradict each other.", "--json")
    if json:
        return "jsonl"
    if asked is None:
        return "table" if output is None else format_for(output)
    if asked == "table" and output is not None:
        misuse("A table is for reading; write csv, jsonl or parquet.", "--format")
    if asked == "parquet" and output is None:
        misuse("Parquet needs a file: add --output.", "--format")
    return asked
