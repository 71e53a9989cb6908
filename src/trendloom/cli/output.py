"""Rows on their way out: a table for people, lines for programs, files that are whole."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from trendloom.cli.options import Suffix
from trendloom.errors import printable

if TYPE_CHECKING:
    import pyarrow as pa

Item = TypeVar("Item")
ON_SCREEN = 100
"""Rows that a terminal shows; a pipe gets all of them."""


_told: ContextVar[Sequence[str]] = ContextVar("told", default=())
"""The warnings that the command at hand has told."""


def note(text: str) -> None:
    """Something a person wants to know, and a program reading the rows does not."""
    typer.echo("\n".join(map(printable, text.split("\n"))), err=True)


@contextmanager
def telling_warnings() -> Iterator[None]:
    """Warnings as notes when they are issued, once each, without a line of the library's code."""
    import warnings

    from trendloom.errors import TrendloomWarning

    told: list[str] = []
    token = _told.set(told)
    with warnings.catch_warnings():
        otherwise = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if not issubclass(category, TrendloomWarning):
                otherwise(message, category, *place, **more)
            elif (text := str(message)) not in told:
                told.append(text)
                note("Warning: " + text.replace("\n", "\n  "))

        warnings.simplefilter("always", TrendloomWarning)
        warnings.showwarning = show
        try:
            yield
        finally:
            _told.reset(token)


def refuse_warned(*, strict: bool) -> None:
    """Where `--strict` is given and something was warned of: nothing more is done."""
    from trendloom.errors import TrendloomError

    told = _told.get()
    if strict and told:
        raise TrendloomError(
            f"There {'is a warning' if len(told) == 1 else f'are {len(told)} warnings'}, "
            "and --strict takes warnings for errors.",
            remedy="Follow what is said above, or leave --strict out.",
        )


def unless_warned(items: Iterable[Item], *, strict: bool) -> Iterator[Item]:
    """The same, refused where `refuse_warned` does; asked again before each and at the end."""
    for item in items:
        refuse_warned(strict=strict)
        yield item
    refuse_warned(strict=strict)


def some(count: int, thing: str) -> str:
    """`1 row`, `1,234 rows`."""
    return f"1 {thing}" if count == 1 else f"{count:,} {thing}s"


def write_rows(table: "pa.Table", format: Suffix) -> None:  # noqa: A002
    """Machine-readable rows to the standard output."""
    from trendloom.hosts.local.sinks import write_table

    sys.stdout.flush()
    write_table(flat(table, format), sys.stdout.buffer, format)
    sys.stdout.buffer.flush()


def write_file(table: "pa.Table", path: str, format: Suffix, *, overwrite: bool) -> None:  # noqa: A002
    """The rows in a file that is either whole or not there."""
    from trendloom.hosts.local.sinks import write_table

    write_table(flat(table, format), path, format, overwrite=overwrite)


def flat(table: "pa.Table", format: str) -> "pa.Table":  # noqa: A002
    """CSV has no lists: they are written as JSON."""
    import pyarrow as pa

    if format != "csv":
        return table
    for i, field in enumerate(table.schema):
        if pa.types.is_nested(field.type):
            import json

            texts = [
                None if value is None else json.dumps(value, default=str, ensure_ascii=False)
                for value in table.column(i).to_pylist()
            ]
            table = table.set_column(i, field.name, pa.array(texts, pa.string()))
    return table


def show_table(table: "pa.Table", limit: int | None = None) -> None:
    """A table for people: drawn by rich on a terminal, plain in a pipe."""
    from trendloom.view.text import grid, text_table

    if not sys.stdout.isatty():
        typer.echo(text_table(table, limit))
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    cells = grid(table, ON_SCREEN if limit is None else limit)
    drawn = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name, numeric in zip(cells.names, cells.numeric, strict=True):
        drawn.add_column(Text(name), justify="right" if numeric else "left", overflow="fold")
    for row in cells.rows:
        # As Text: brackets in the data are not rich's markup.
        drawn.add_row(*map(Text, row))
    console = Console(highlight=False)
    console.print(drawn, end="")
    more = cells.shown < cells.total and limit is None
    console.print(cells.footer + ("; all of them: --format csv or --output" if more else ""))


@contextmanager
def refused_in_json(wanted: bool) -> Iterator[None]:
    """What a text is refused for, as a JSON document too, if that is wanted."""
    from trendloom.errors import QueryError

    try:
        yield
    except QueryError as error:
        if wanted:
            place = {"line": error.line, "column": error.column}
            show_json({"ok": False, "error": error.cause, **place, "remedy": error.remedy})
        raise


def show_json(value: Any) -> None:
    """One JSON document."""
    import json

    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, default=str))
