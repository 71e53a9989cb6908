"""`trendloom explain`: how a query would run."""

from typing import Annotated, Literal

import typer

from trendloom.cli.options import Json, QueryFile, QueryText, misuse, read_query


def explain(
    query: QueryFile = None,
    query_text: QueryText = None,
    format: Annotated[  # noqa: A002
        Literal["text", "json", "mermaid"] | None,
        typer.Option("--format", "-f", help="mermaid: a picture of the automaton. Default: text."),
    ] = None,
    json: Json = False,
    acel: Annotated[
        bool, typer.Option("--acel", help="The query as a formula of the logic ACEL instead.")
    ] = False,
) -> None:
    """Explain how a query runs, and what it keeps."""
    text = read_query(query, query_text)
    if acel:
        if json or format not in (None, "text"):
            misuse("A formula is text.", "--acel")
        from trendloom.acel.from_trends import as_text
        from trendloom.language import parse

        typer.echo(as_text(parse(text)))
        return
    if json and format not in (None, "json"):
        misuse(f"--json and --format {format} contradict each other.", "--json")

    from trendloom import api

    typer.echo(api.query(text).explain("json" if json else format or "text"))
