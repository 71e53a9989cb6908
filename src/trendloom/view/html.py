"""A table for a notebook: small, and safe whatever the events hold."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from trendloom.view.text import grid

if TYPE_CHECKING:
    import pyarrow as pa


def html_table(table: pa.Table, limit: int = 20) -> str:
    """The first rows; every text is escaped."""
    cells = grid(table, limit)
    styles = ["text-align:right" if numeric else "text-align:left" for numeric in cells.numeric]
    head = _row("th", cells.names, styles)
    body = "".join(_row("td", row, styles) for row in cells.rows)
    return (
        f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"
        f"<p><small>{escape(cells.footer)}</small></p>"
    )


def _row(tag: str, texts: list[str] | tuple[str, ...], styles: list[str]) -> str:
    cells = (
        f'<{tag} style="{style}">{escape(text)}</{tag}>'
        for text, style in zip(texts, styles, strict=True)
    )
    return f"<tr>{''.join(cells)}</tr>"
