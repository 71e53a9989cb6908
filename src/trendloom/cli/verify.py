"""`trendloom verify`: the same rows from the naive oracle?"""

from typing import Annotated

import typer

from trendloom.cli.options import (
    BadRows,
    DateFormat,
    EventType,
    HivePartitioning,
    Host,
    Inputs,
    Json,
    QueryFile,
    QueryText,
    Strict,
    Tick,
    Tiebreak,
    Time,
    Type,
    events_of,
    read_query,
    source_options,
)


def verify(
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
    bad_rows: BadRows = "error",
    strict: Strict = False,
    date_format: DateFormat = None,
    hive_partitioning: HivePartitioning = False,
    events: Annotated[
        int, typer.Option("--events", "-n", min=1, help="How many events, the first ones in time.")
    ] = 200,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.1, help="How long the oracle may try one slice.")
    ] = 5.0,
    json: Json = False,
) -> None:
    """Compare a host with the naive oracle on the first events.

    The oracle builds every trend, one by one. Where these are too many it gets fewer events of each
    partition, and the answer says so. Where neither has a row, nothing is compared: exit code 1.
    """
    text = read_query(query, query_text)
    options = source_options(time, type, event_type, tick, tiebreak, date_format, hive_partitioning)
    paths = events_of(inputs)

    from trendloom import api
    from trendloom.cli.comparing import compare
    from trendloom.cli.output import note, refuse_warned, show_json, some
    from trendloom.cli.slicing import first_events
    from trendloom.hosts.scan.reading import Reading

    asked = api.query(text)
    table = first_events(paths, events, Reading(**options, bad_rows=bad_rows))
    of_table = {k: v for k, v in options.items() if k not in ("date_format", "hive_partitioning")}
    found = compare(asked.tree, table, of_table, host=host, seconds=seconds)
    if found.each is not None:
        note(
            f"There are too many trends to build in {table.num_rows} events; "
            f"compared on the first {found.each} of each partition."
        )
    if json:
        same = None if found.is_void else found.difference is None
        counts = {"rows": found.rows, "events": found.events}
        show_json({"same": same, **counts, "difference": found.difference})
    elif found.is_void:
        typer.echo(f"nothing compared: no rows over {some(found.events, 'event')}")
    elif found.difference is None:
        typer.echo(f"same rows: {some(found.rows, 'row')} over {some(found.events, 'event')}")
    else:
        typer.echo(f"different rows, over {some(found.events, 'event')}:\n  {found.difference}")
    if found.is_void:
        note("Take more events with --events, or look at the pattern and its conditions.")
    if found.is_void or found.difference is not None:
        raise typer.Exit(1)
    refuse_warned(strict=strict)
