"""`trendloom`: the application and its commands.

Exit codes: 0 done, 1 refused or failed (the message is on the standard error), 2 wrong usage,
130 interrupted, 143 terminated.
"""

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from trendloom.cli.acel import acel
from trendloom.cli.boundary import boundary
from trendloom.cli.calibrate import calibrate
from trendloom.cli.check import check
from trendloom.cli.demo import demo
from trendloom.cli.explain import explain
from trendloom.cli.generate import generate
from trendloom.cli.output import telling_warnings
from trendloom.cli.run import run
from trendloom.cli.stream import stream
from trendloom.cli.trends import trends
from trendloom.cli.verify import verify
from trendloom.cli.warm_up import warm_up
from trendloom.cli.workload import workload


class Commands(TyperGroup):
    """Turns whatever ends a command into a message and an exit code."""

    def main(self, *given: Any, **options: Any) -> Any:
        with boundary(), telling_warnings():
            return super().main(*given, **options)


app = typer.Typer(
    name="trendloom",
    cls=Commands,
    help="Aggregate every match of a Kleene pattern, without building the matches.",
    epilog="Start with `trendloom demo`.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # drawing boxes would take longer than most queries
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"trendloom {version('trendloom')}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Aggregate every match of a Kleene pattern, without building the matches."""


app.command()(run)
app.command()(stream)
app.command()(trends)
app.command()(workload)
app.add_typer(acel)
app.command()(check)
app.command()(explain)
app.command()(verify)
app.command()(generate)
app.command()(demo)
app.command()(warm_up)
app.command()(calibrate)


if __name__ == "__main__":
    sys.exit(app())
