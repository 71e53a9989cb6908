"""`trendloom generate`: streams to try queries on."""

from typing import Annotated

import typer

from trendloom.cli.options import Json, Overwrite, check_target, format_for, misuse


def generate(
    name: Annotated[
        str | None, typer.Argument(help="The stream; --list shows them.", show_default=False)
    ] = None,
    events: Annotated[
        int, typer.Option("--events", "-n", min=0, help="Number of events.")
    ] = 10_000,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="The same seed gives the same stream.")
    ] = 0,
    knob: Annotated[
        list[str] | None,
        typer.Option("--knob", "-k", metavar="NAME=VALUE", help="A setting. May be repeated."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="A .parquet, .csv or .jsonl file; default: CSV to the standard output.",
        ),
    ] = None,
    overwrite: Overwrite = False,
    list_them: Annotated[
        bool, typer.Option("--list", help="List the streams and their knobs.")
    ] = False,
    json: Json = False,
) -> None:
    """Generate a stream of events as the papers describe theirs."""
    if list_them:
        _list(json=json)
        return
    if name is None:
        misuse("Name a stream, or see them all with --list.", "NAME")
    if json and output is not None:
        misuse("--json writes to the standard output; name a .jsonl file instead.", "--json")
    knobs = dict(map(_knob, knob or []))
    kind = "jsonl" if json else "csv" if output is None else format_for(output)
    if output is not None:
        check_target(output, overwrite=overwrite)

    from trendloom import generators
    from trendloom.cli.output import note, some, write_file, write_rows

    table = generators.generate(name, events, seed=seed, **knobs)
    if output is None:
        write_rows(table, kind)
    else:
        write_file(table, output, kind, overwrite=overwrite)
        note(f"Wrote {some(table.num_rows, 'event')} to {output}.")


def _knob(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name.isidentifier() or name in ("name", "events", "seed"):
        misuse(f"'{text}' is not a knob; write --knob keys=50.", "--knob")
    return name, value


def _list(*, json: bool) -> None:
    from trendloom.cli.output import show_json
    from trendloom.generators import STREAMS

    if json:
        show_json(
            {
                stream.name: {
                    "description": stream.description,
                    "types": list(stream.types),
                    "knobs": {
                        knob.name: {
                            "default": knob.default,
                            "low": knob.low,
                            "high": knob.high,
                            "meaning": knob.meaning,
                        }
                        for knob in stream.knobs
                    },
                }
                for stream in STREAMS.values()
            }
        )
        return
    for stream in STREAMS.values():
        typer.echo(f"{stream.name}: {stream.description}")
        typer.echo(f"  types: {', '.join(stream.types)}")
        for knob in stream.knobs:
            default = f"{knob.default:,.6g}"
            typer.echo(f"  {knob.name:<12} {knob.meaning} (default {default}, {knob.range})")
