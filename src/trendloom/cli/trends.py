"""`trendloom trends`: the trends themselves, in batches while they are found."""

import sys
from typing import Annotated, Literal

import typer

from trendloom.cli.options import (
    BadRows,
    EventType,
    Inputs,
    Overwrite,
    QueryFile,
    QueryText,
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
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="Stop after so many trends.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Every trend, also those that another one contains.")
    ] = False,
    best: Annotated[
        int | None,
        typer.Option(
            "--best", metavar="K", min=1, help="The K best of each window and partition only."
        ),
    ] = None,
    by: Annotated[
        str,
        typer.Option("--by", metavar="WHAT", help="What best means: length, or the sum of V.attr."),
    ] = "length",
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample", metavar="K", min=1, help="K of each window and partition, drawn uniformly."
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of the sample.")] = 0,
    memory_limit: Annotated[
        str | None,
        typer.Option(
            "--memory-limit",
            metavar="AMOUNT",
            help="What may be held at once, as in '512 MB'; default: a fourth of the machine's.",
        ),
    ] = None,
    algorithm: Annotated[
        Literal["auto", "m", "t", "h", "baseline"],
        typer.Option("--algorithm", help="m: least memory; t: keeps all paths; h: between."),
    ] = "auto",
    bad_rows: BadRows = "error",
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
    options = source_options(time, type, event_type, tick, tiebreak)
    events = events_of(inputs)
    chosen = batch_format(format, output)
    if output is not None:
        check_target(output, overwrite=overwrite)

    from trendloom import api
    from trendloom.cli.output import note, some
    from trendloom.cli.progress import progress_bar
    from trendloom.hosts.local.batches import write_batches

    with progress_bar("Listing") as report:
        found = api.trends(
            text,
            events,
            **options,
            memory_limit=memory_limit,
            algorithm=algorithm,
            limit=limit,
            all=every,
            best=best,
            by=by,
            sample=sample,
            seed=seed,
            bad_rows=bad_rows,
            progress=report,
        )
        with found:
            target = sys.stdout.buffer if output is None else output
            written = write_batches(found.reader(), target, chosen, overwrite=overwrite)
            sys.stdout.flush()
    if output is not None:
        note(f"Wrote {some(written, 'trend')} to {output}.")
