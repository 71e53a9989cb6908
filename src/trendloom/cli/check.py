"""`trendloom check`: is this a query?"""

import typer

from trendloom.cli.options import Json, QueryFile, QueryText, read_query


def check(query: QueryFile = None, query_text: QueryText = None, json: Json = False) -> None:
    """Check a query and print it in its canonical form."""
    text = read_query(query, query_text)

    from trendloom import api
    from trendloom.cli.output import refused_in_json, show_json
    from trendloom.language import parse, to_text

    with refused_in_json(json):
        api.query(text)
    # As parsed, not as checked: the checked one has a name for every variable.
    canonical = to_text(parse(text))
    if json:
        show_json({"ok": True, "query": canonical})
    else:
        typer.echo(f"ok\n{canonical}")
