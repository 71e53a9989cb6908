"""`trendloom workload`: a folder of queries over events, in one pass."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from trendloom.cli.options import (
    BadRows,
    DateFormat,
    EventType,
    Format,
    HivePartitioning,
    NumbersKind,
    Overwrite,
    RowFormat,
    Strict,
    Suffix,
    Threads,
    Tick,
    Tiebreak,
    Type,
    check_target,
    events_of,
    misuse,
    source_options,
)
from trendloom.cli.pictures import check_picture, write_chart, write_json
from trendloom.cli.run import row_format

if TYPE_CHECKING:
    from trendloom.results import Results


def workload(
    *,
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="Folder of .tq files, one query each.")
    ],
    inputs: Annotated[
        list[str] | None,
        typer.Option("--input", "-i", metavar="PATH", help="Events, as for run."),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option("--time", "-t", metavar="COLUMN", help="Column that holds the time."),
    ] = None,
    type: Type = None,  # noqa: A002
    event_type: EventType = None,
    tick: Tick = "s",
    tiebreak: Tiebreak = None,
    numbers: NumbersKind = "auto",
    bad_rows: BadRows = "error",
    strict: Strict = False,
    date_format: DateFormat = None,
    hive_partitioning: HivePartitioning = False,
    threads: Threads = None,
    mode: Annotated[
        Literal["dynamic", "always", "never"],
        typer.Option("--mode", help="When queries share work: where it pays, or as said."),
    ] = "dynamic",
    explain: Annotated[
        bool, typer.Option("--explain", help="Say who would share what, and run nothing.")
    ] = False,
    format: RowFormat = None,  # noqa: A002
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="File for all rows, or a folder for a file per query; default: here.",
        ),
    ] = None,
    overwrite: Overwrite = False,
    json: Annotated[
        bool, typer.Option("--json", help="Same as --format jsonl; of --explain: JSON.")
    ] = False,
    metrics: Annotated[
        str | None,
        typer.Option("--metrics", metavar="FILE", help="JSON file for what sharing did."),
    ] = None,
    timeline: Annotated[
        str | None,
        typer.Option(
            "--timeline", metavar="FILE", help="Chart of the bursts over time: .svg, .png or .html."
        ),
    ] = None,
) -> None:
    """Run all queries of a folder over events, in one pass.

    Rows are those that each query has alone, with the query's name (its file's) in a column
    `query`. If any query is wrong, all that are wrong are named and nothing runs.
    """
    from trendloom import several

    if explain:
        typer.echo(several.workload(folder).explain("json" if json else "text", mode=mode))
        return
    if not inputs:
        misuse("Say where the events are, or --explain.", "--input")
    if time is None:
        misuse("Name the column that holds the time.", "--time")
    options = source_options(time, type, event_type, tick, tiebreak, date_format, hive_partitioning)
    events = events_of(inputs)
    split = output is not None and (output.endswith("/") or Path(output).is_dir())
    chosen = _each_format(format, json=json) if split else row_format(format, output, json=json)
    if output is not None and not split:
        check_target(output, overwrite=overwrite)

    if timeline is not None:
        check_picture(timeline, "--timeline")
    for path in (metrics, timeline):
        if path is not None:
            check_target(path, overwrite=overwrite)

    from trendloom.cli.output import note, refuse_warned, show_table, some, write_file, write_rows
    from trendloom.cli.progress import progress_bar

    asked = several.workload(folder)
    if split and chosen != "table":
        _check_targets(str(output), asked.names, chosen, overwrite=overwrite)
    with progress_bar("Running") as report:
        results = asked.run(
            events,
            **options,
            numbers=numbers,
            bad_rows=bad_rows,
            threads=threads,
            mode=mode,
            progress=report,
        )
    refuse_warned(strict=strict)
    if results.dropped_rows:
        note(f"Dropped {some(results.dropped_rows, 'row')} without a time.")
    if split and chosen != "table":
        _write_each(results, str(output), chosen, overwrite=overwrite)
    elif chosen == "table":
        show_table(results.table)
    elif output is None:
        write_rows(results.table, chosen)
    else:
        write_file(results.table, output, chosen, overwrite=overwrite)
        note(f"Wrote {some(len(results.union), 'row')} to {output}.")
    if metrics is not None:
        write_json(results.metrics.as_dict(), metrics, overwrite=overwrite)
        note(f"Wrote what sharing did to {metrics}.")
    if timeline is not None:
        write_chart(results.timeline(), timeline, overwrite=overwrite)
        note(f"Wrote the timeline to {timeline}.")
    if sys.stderr.isatty():
        rows = some(sum(len(one) for one in results.values()), "row")
        note(f"{rows} from {some(results.events, 'event')} in {results.elapsed:.2f} s")


def _each_format(asked: Format | None, *, json: bool) -> Suffix:
    if json and asked not in (None, "jsonl"):
        misuse(f"--json and --format {asked} contradict each other.", "--json")
    if asked == "table" or (asked is None and not json):
        misuse("For a file per query, say csv, jsonl or parquet.", "--format")
    return "jsonl" if json else asked or "jsonl"


def _check_targets(folder: str, names: tuple[str, ...], format: str, *, overwrite: bool) -> None:  # noqa: A002
    Path(folder).mkdir(exist_ok=True)
    for name in names:
        check_target(str(Path(folder) / f"{name}.{format}"), overwrite=overwrite)


def _write_each(results: "Results", folder: str, format: Suffix, *, overwrite: bool) -> None:  # noqa: A002
    from trendloom.cli.output import note, some, write_file

    for name, result in results.items():
        path = str(Path(folder) / f"{name}.{format}")
        write_file(result.table, path, format, overwrite=overwrite)
        note(f"Wrote {some(len(result), 'row')} to {path}.")
