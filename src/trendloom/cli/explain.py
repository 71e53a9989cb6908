"""`trendloom explain`: how a query would run."""

from typing import Annotated, Literal

import typer

from trendloom.cli.options import (
    DateFormat,
    EventType,
    HivePartitioning,
    Json,
    MemoryLimit,
    Overwrite,
    QueryFile,
    QueryText,
    Strict,
    Tick,
    Tiebreak,
    Type,
    check_target,
    events_of,
    misuse,
    read_query,
    source_options,
    words,
)
from trendloom.cli.pictures import check_picture, write_chart
from trendloom.cli.trends import Algorithm, Optimizer


def explain(
    query: QueryFile = None,
    query_text: QueryText = None,
    format: Annotated[  # noqa: A002
        Literal["text", "json", "mermaid"] | None,
        typer.Option("--format", "-f", help="mermaid: a picture of the automaton. Default: text."),
    ] = None,
    json: Json = False,
    inputs: Annotated[
        list[str] | None,
        typer.Option("--input", "-i", metavar="PATH", help="Events, as for `trendloom trends`."),
    ] = None,
    time: Annotated[
        str | None, typer.Option("--time", "-t", metavar="COLUMN", help="With --input: the time.")
    ] = None,
    type: Type = None,  # noqa: A002
    event_type: EventType = None,
    tick: Tick = "s",
    tiebreak: Tiebreak = None,
    date_format: DateFormat = None,
    hive_partitioning: HivePartitioning = False,
    memory_limit: MemoryLimit = None,
    algorithm: Algorithm = "auto",
    optimizer: Optimizer = "bnb",
    picture: Annotated[
        str | None,
        typer.Option(
            "--picture",
            metavar="PATH",
            help="With --input: draw the graph of trends and its cuts; .svg, .png or .html.",
        ),
    ] = None,
    graphlets: Annotated[
        int | None,
        typer.Option(
            "--graphlets", metavar="K", min=1, help="Of --picture: cut into so many, as if asked."
        ),
    ] = None,
    overwrite: Overwrite = False,
    strict: Strict = False,
    acel: Annotated[
        bool, typer.Option("--acel", help="The query as a formula of the logic ACEL instead.")
    ] = False,
    types: Annotated[
        list[str] | None,
        typer.Option("--types", metavar="NAME", help="With --acel: other types of the stream."),
    ] = None,
) -> None:
    """Explain how a query runs, and what it keeps.

    Of a query without RETURN, with --input and --time: also how many trends these events have,
    which algorithm would list them, where it would cut, and what that would hold. None is listed.
    """
    if picture is None and graphlets is not None:
        misuse("--graphlets is about a picture: add --picture PATH.", "--graphlets")
    if picture is not None:
        if inputs is None:
            misuse("A picture is of events: add --input and --time.", "--picture")
        check_picture(picture, "--picture")
        check_target(picture, overwrite=overwrite)
    text = read_query(query, query_text)
    if acel:
        if json or format not in (None, "text"):
            misuse("A formula is text.", "--acel")
        from trendloom.acel.from_trends import as_text
        from trendloom.language import parse

        typer.echo(as_text(parse(text), words(types)))
        return
    if json and format not in (None, "json"):
        misuse(f"--json and --format {format} contradict each other.", "--json")

    from trendloom import api
    from trendloom.cli.output import refuse_warned

    asked = api.query(text)
    chosen = "json" if json else format or "text"
    if inputs is None:
        typer.echo(asked.explain(chosen))
        return
    if time is None:
        misuse("Events need a time column: add --time.", "--input")
    options = source_options(time, type, event_type, tick, tiebreak, date_format, hive_partitioning)
    limits = {"memory_limit": memory_limit, "algorithm": algorithm, "optimizer": optimizer}
    events = events_of(inputs)
    typer.echo(asked.explain(chosen, events, **options, **limits))
    if picture is not None:
        drawn = asked.picture(events, graphlets=graphlets, **options, **limits)
        write_chart(drawn, picture, overwrite=overwrite)
        typer.echo(f"\nWrote {picture}.", err=True)
    refuse_warned(strict=strict)
