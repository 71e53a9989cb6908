"""A translation as text: the formula, and in comments what stands beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trendloom.acel.printer import to_text
from trendloom.language import nodes as t

if TYPE_CHECKING:
    from trendloom.acel.from_trends import Translation


def text_of(query: t.Query, made: Translation) -> str:
    every = "every trend"
    if isinstance(query.pattern, t.Both):
        every = "every choice of a trend of each part"
    if made.in_no_order:
        every = "every two different trends, one of each part, in no order"
    lines = [f"-- One complex event for {every}."]
    if made.types:
        lines.append(f"-- For streams of the types {', '.join(made.types)} only.")
    if made.partition_by:
        lines.append(f"-- Partition by {', '.join(made.partition_by)}.")
    lines += (f"-- Group by {attribute} of {name}." for name, attribute in made.groups)
    if made.window is not None:
        lines.append(f"-- Window: {window_text(made.window)}.")
    edges = ["begin with the window's first event"] if made.at_start else []
    edges += ["end with the window's last event"] if made.at_end else []
    if edges:
        lines.append(f"-- Only complex events that {' and '.join(edges)}.")
    lines += [
        f"-- {item.name}: {_folded(item.value)}."
        for item in query.returns
        if isinstance(item.value, t.Aggregate)
    ]
    if query.having is not None:
        lines.append("-- HAVING chooses among the rows that this makes.")
    return "\n".join([*lines, to_text(made.formula)])


def _folded(asked: t.Aggregate) -> str:
    match asked.argument:
        case t.Trends():
            told = "the number of complex events"
        case t.Length():
            told = f"{asked.function.value} of how many events they have"
        case t.Occurrences(variable):
            told = f"the number of events of {variable} in them all"
        case t.Values(variable, attribute):
            told = (
                f"{asked.function.value} of {attribute} over the events of {variable} in them all"
            )
    if asked.distinct:
        told += ", each event once"
    return f"the logarithm of {told}" if asked.log2 else told


def window_text(window: t.TimeWindow | t.CountWindow) -> str:
    """As in the trend language."""
    if isinstance(window, t.CountWindow):
        return f"within {window.within} events, slide {window.slide} events"
    parts = [("within", window.within), ("slide", window.slide)]
    return ", ".join(
        f"{word} {float(span.amount):g} {span.unit.name.lower()}s" for word, span in parts if span
    )
