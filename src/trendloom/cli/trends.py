"""`trendloom trends`: the trends themselves, in batches while they are found."""

import sys
from typing import Annotated, Literal

import typer

from trendloom.cli.options import (
    BadRows,
    DateFormat,
    EventType,
    HivePartitioning,
    Inputs,
    MemoryLimit,
    Overwrite,
    QueryFile,
    QueryText,
    Strict,
    Suffix,
    Tick,
    Tiebreak,
    Time,
    Type,
    batch_format,
    check_target,
    events_of,
    read_query,
    source_options,
)

Algorithm = Annotated[
    Literal["auto", "m", "t", "h"],
    typer.Option("--algorithm", help="m: least memory; t: keeps all paths; h: between."),
]
Optimizer = Annotated[
    Literal["bnb", "greedy"],
    typer.Option("--optimizer", help="Of h: branch and bound, or the first cut that fits."),
]


def trends(
    *,
    query: QueryFile = None,
    query_text: QueryText = None,
    inputs: Inputs,
    time: Time,
    type: Type = None,  # noqa: A002
    event_type: EventType = None,
    tick: Tick = "s",
    tiebreak: Tiebreak = None,
    memory_limit: MemoryLimit = None,
    algorithm: Algorithm = "auto",
    optimizer: Optimizer = "bnb",
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="Stop after so many trends.")
    ] = None,
    max_results: Annotated[
        int | None,
        typer.Option(
            "--max-results",
            metavar="N",
            min=1,
            help="Count first, and list nothing if there are more.",
        ),
    ] = None,
    after: Annotated[
        int | None,
        typer.Option(
            "--after",
            metavar="ID",
            min=0,
            help="Go on behind the trend of this number, with the same events and options.",
        ),
    ] = None,
    longest: Annotated[
        int | None,
        typer.Option(
            "--longest", metavar="K", min=1, help="The K longest of each window and partition only."
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            "--top", metavar="K", min=1, help="The K of each window and partition by --by only."
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="SUM", help="Of --top: the largest sum, as SUM(S.price)."),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample", metavar="K", min=1, help="K of each window and partition, drawn uniformly."
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Of the sample.")] = 0,
    every: Annotated[
        bool, typer.Option("--all", help="Every trend, also those that another one contains.")
    ] = False,
    attributes: Annotated[
        list[str] | None,
        typer.Option(
            "--attribute",
            metavar="COLUMN",
            help="List this attribute of the events too. May be repeated.",
        ),
    ] = None,
    bad_rows: BadRows = "error",
    strict: Strict = False,
    date_format: DateFormat = None,
    hive_partitioning: HivePartitioning = False,
    format: Annotated[  # noqa: A002
        Suffix | None,
        typer.Option(
            "--format", "-f", help="Of the trends; default: by the output's name, else jsonl."
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="PATH", help="File for the trends; default: here."),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """List the complete trends of a query without RETURN: those that no other trend contains.

    Each has the rows of its events in the input, from 0, and what each is in the pattern.
    """
    text = read_query(query, query_text)
    options = source_options(time, type, event_type, tick, tiebreak, date_format, hive_partitioning)
    events = events_of(inputs)
    chosen = batch_format(format, output)
    if output is not None:
        check_target(output, overwrite=overwrite)

    import pyarrow as pa

    from trendloom import api
    from trendloom.cli.output import note, some, unless_warned
    from trendloom.cli.progress import progress_bar
    from trendloom.cli.stopping import stopper
    from trendloom.hosts.local.batches import write_batches

    with progress_bar("Listing", unit="%") as report, stopper() as stop:
        found = api.trends(
            text,
            events,
            **options,
            memory_limit=memory_limit,
            algorithm=algorithm,
            optimizer=optimizer,
            limit=limit,
            max_results=max_results,
            after=after,
            all=every,
            longest=longest,
            top=top,
            by=by,
            sample=sample,
            seed=seed,
            attributes=attributes or (),
            bad_rows=bad_rows,
            progress=report,
        )
        with found:
            target = sys.stdout.buffer if output is None else output
            whole = stop.until_asked(unless_warned(found, strict=strict))
            batches = pa.RecordBatchReader.from_batches(found.schema, whole)
            written = write_batches(batches, target, chosen, overwrite=overwrite)
            sys.stdout.flush()
    if output is not None:
        note(f"Wrote {some(written, 'trend')} to {output}.")
    if stop.asked:
        # What is written is whole, and the last number in it says where to go on.
        known = (0 if after is None else after + 1) + written
        note(
            f"Interrupted after {some(written, 'trend')}, all of them written whole."
            + (f" Go on with --after {known - 1}." if known else "")
        )
        raise typer.Exit(130)
