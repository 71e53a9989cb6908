"""`trendloom check`: is this a query?"""

import typer

from trendloom.cli.options import Json, QueryFile, QueryText, read_query


def check(query: QueryFile = None, query_text: QueryText = None, json: Json = False) -> None:
    """Check a query and print it in its canonical form."""
    text = read_query(query, query_text)

    from trendloom import api
    from trendloom.cli.output import show_json
    from trendloom.errors import QueryError
    from trendloom.language import parse, to_text

    try:
        api.query(text)
    except QueryError as error:
        if json:
            place = {"line": error.line, "column": error.column}
            show_json({"ok": False, "error": error.cause, **place, "remedy": error.remedy})
        raise
    # As parsed, not as checked: the checked one has a name for every variable.
    canonical = to_text(parse(text))
    if json:
        show_json({"ok": True, "query": canonical})
    else:
        typer.echo(f"ok\n{canonical}")
