"""A bar chart of block characters, for where there is no browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trendloom.errors import printable
from trendloom.view.cells import WINDOW, column_texts, pad, width
from trendloom.view.scale import has_window, pick_value, scale_of, to_float

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

EIGHTHS = " ▏▎▍▌▋▊▉"
BEYOND = "▶"


def bar_chart(
    table: pa.Table,
    group_columns: Sequence[str],
    value_columns: Sequence[str],
    *,
    value: str | None = None,
    columns: int = 80,
    limit: int = 20,
) -> str:
    """One bar per row: its window and group, the bar, the number.

    A bar that ends in ▶ is of a number beyond every double.
    """
    name = pick_value(table, value_columns, value)
    head = table.slice(0, limit)
    labels = _labels(head, group_columns)
    numbers = [to_float(number) for number in head.column(name).to_pylist()]
    texts = column_texts(head.column(name).to_pylist())
    scale = scale_of(numbers)
    left = max((width(label) for label in labels), default=0)
    right = max((width(text) for text in texts), default=0)
    room = max(8, columns - left - right - 4)
    title = f"{printable(name)} (log scale)" if scale.log else printable(name)
    if head.num_rows < table.num_rows:
        title += f", first {head.num_rows} of {table.num_rows:,} rows"
    lines = [title]
    for label, number, text in zip(labels, numbers, texts, strict=True):
        bar = "" if number is None else _bar(scale.share(number), room, number)
        lines.append(f"{pad(label, left)}  {pad(bar, room)}  {pad(text, right, right=True)}")
    return "\n".join(lines)


def _labels(table: pa.Table, group_columns: Sequence[str]) -> list[str]:
    names = [WINDOW[0]] if has_window(table) else []
    names += [name for name in group_columns if name in table.column_names]
    if not names:
        return ["all"] * table.num_rows
    parts = [column_texts(table.column(name).to_pylist()) for name in names]
    widths = [max((width(text) for text in part), default=0) for part in parts]
    return [
        "  ".join(pad(text, w) for text, w in zip(row, widths, strict=True)).rstrip()
        for row in zip(*parts, strict=True)
    ]


def _bar(share: float, room: int, number: float) -> str:
    if number == float("inf"):
        return "█" * (room - 1) + BEYOND
    eighths = round(share * room * 8)
    if number > 0:
        eighths = max(1, eighths)  # something is not nothing
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()
