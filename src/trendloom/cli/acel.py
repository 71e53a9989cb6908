"""`trendloom acel run|check|explain`: formulas of the logic."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from trendloom.cli.options import (
    BadRows,
    DateFormat,
    EventType,
    HivePartitioning,
    Host,
    Inputs,
    Jars,
    Json,
    Master,
    Overwrite,
    Packages,
    Remote,
    SparkLog,
    Strict,
    Suffix,
    Tick,
    Tiebreak,
    Time,
    Type,
    batch_format,
    check_target,
    events_of,
    misuse,
    read_query,
    refuse_spark_options,
    source_options,
    words,
)

acel = typer.Typer(
    name="acel",
    help="Formulas of the logic ACEL: complex events with aggregates of their own.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

FormulaText = Annotated[
    str,
    typer.Argument(metavar="FORMULA", help="The formula, or a file that holds it (.acel)."),
]


@acel.command()
def run(
    formula: FormulaText,
    *,
    inputs: Inputs,
    time: Time,
    type: Type = None,  # noqa: A002
    event_type: EventType = None,
    tick: Tick = "s",
    tiebreak: Tiebreak = None,
    partition_by: Annotated[
        list[str] | None,
        typer.Option(
            "--partition-by", metavar="COLUMN", help="All events of a result agree on it."
        ),
    ] = None,
    within: Annotated[
        str | None,
        typer.Option("--within", metavar="AMOUNT", help="Window: '10 min' or '100 events'."),
    ] = None,
    slide: Annotated[
        str | None,
        typer.Option("--slide", metavar="AMOUNT", help="How far apart windows begin."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="Stop after so many results.")
    ] = None,
    returns: Annotated[
        str | None,
        typer.Option(
            "--return",
            metavar="AGGREGATES",
            help="Aggregate the results instead of listing them, as in 'COUNT(*), SUM(X.price)'.",
        ),
    ] = None,
    bad_rows: BadRows = "error",
    strict: Strict = False,
    date_format: DateFormat = None,
    hive_partitioning: HivePartitioning = False,
    format: Annotated[  # noqa: A002
        Suffix | None,
        typer.Option("--format", "-f", help="Default: by the output's name, else jsonl."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="PATH", help="File for the results; default: here."),
    ] = None,
    overwrite: Overwrite = False,
    host: Host = "local",
    id: Annotated[  # noqa: A002
        str | None,
        typer.Option("--id", metavar="COLUMN", help="Spark: a column of integers that names rows."),
    ] = None,
    master: Master = None,
    remote: Remote = None,
    packages: Packages = None,
    jars: Jars = None,
    log: SparkLog = "off",
) -> None:
    """List the complex events of a formula, as they end.

    Each has the rows of its start and end in the input, from 0, and the events of every variable.
    On Spark, rows are called by --id, and an output is a directory.
    """
    text = read_formula(formula)
    options = source_options(
        time, type, event_type, tick, tiebreak, date_format, hive_partitioning, host=host
    )
    events = events_of(inputs)
    chosen = batch_format(format, output)
    options |= {"partition_by": words(partition_by), "within": within, "slide": slide}
    options |= {"bad_rows": bad_rows}
    if returns is not None and limit is not None:
        misuse("--limit is for results that are listed, not aggregated.", "--limit")
    if host == "spark":
        from trendloom.cli.spark_acel import run_formula
        from trendloom.cli.spark_run import SparkRun, spark_session

        wanted = spark_session(master, remote, packages, jars, log)
        job = SparkRun(inputs, chosen, output, overwrite=overwrite)
        run_formula(job, wanted, text, returns, id, {**options, "limit": limit}, strict=strict)
        return
    if host != "local":
        misuse(f"There is no host '{host}': local or spark.", "--host")
    refuse_spark_options(master, remote, packages, jars)
    if id is not None:
        misuse("--id is for --host spark; here rows have numbers.", "--id")
    if output is not None:
        check_target(output, overwrite=overwrite)

    import pyarrow as pa

    from trendloom import api
    from trendloom.cli.output import (
        note,
        refuse_warned,
        some,
        unless_warned,
        write_file,
        write_rows,
    )
    from trendloom.cli.progress import progress_bar
    from trendloom.hosts.local.batches import write_batches

    if returns is not None:
        with progress_bar("Aggregating") as report:
            made = api.aggregate_matches(text, returns, events, **options, progress=report)
        refuse_warned(strict=strict)
        if output is None:
            write_rows(made.to_arrow(), chosen)
        else:
            write_file(made.to_arrow(), output, chosen, overwrite=overwrite)
            note(f"Wrote {some(len(made), 'row')} to {output}.")
        return
    with progress_bar("Matching") as report:
        found = api.matches(text, events, **options, limit=limit, progress=report)
        with found:
            target = sys.stdout.buffer if output is None else output
            results = pa.RecordBatchReader.from_batches(
                found.schema, unless_warned(found, strict=strict)
            )
            written = write_batches(results, target, chosen, overwrite=overwrite)
            sys.stdout.flush()
    if output is not None:
        note(f"Wrote {some(written, 'result')} to {output}.")


@acel.command()
def check(formula: FormulaText, json: Json = False) -> None:
    """Check a formula and print it in its canonical form."""
    text = read_formula(formula)

    from trendloom.acel.parser import parse
    from trendloom.acel.printer import to_text
    from trendloom.cli.output import refused_in_json, show_json

    with refused_in_json(json):
        canonical = to_text(parse(text))
    if json:
        show_json({"ok": True, "formula": canonical})
    else:
        typer.echo(f"ok\n{canonical}")


@acel.command()
def explain(
    formula: FormulaText,
    format: Annotated[  # noqa: A002
        Literal["text", "json", "mermaid"],
        typer.Option("--format", "-f", help="mermaid: a picture of the automaton."),
    ] = "text",
    json: Json = False,
) -> None:
    """Explain how a formula is evaluated, and as which trend query it can be aggregated."""
    if json and format == "mermaid":
        misuse("--json and --format mermaid contradict each other.", "--json")
    text = read_formula(formula)

    from trendloom.acel.explain import explain as explained

    typer.echo(explained(text, "json" if json else format))


def read_formula(given: str) -> str:
    """The text of the formula, or of the file that is named."""
    names_file = given.endswith(".acel") or (len(given) < 256 and Path(given).is_file())
    return read_query(given if names_file else None, None if names_file else given)
