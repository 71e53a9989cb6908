"""The facts for a reader: a summary, then the details, aligned."""

from __future__ import annotations

from itertools import accumulate
from textwrap import wrap
from typing import TYPE_CHECKING

from trendloom.language.nodes import Semantics
from trendloom.plan.explaining.algorithm import RANK, ROUTE
from trendloom.plan.explaining.columns import INTEGER
from trendloom.plan.explaining.local import order_words, thread_words
from trendloom.plan.explaining.spark import COMBINE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trendloom.plan.explaining.facts import (
        ArrowFacts,
        AutomatonFacts,
        Facts,
        PartFacts,
        ScanFacts,
        WindowFacts,
    )
    from trendloom.plan.explaining.local import OrderFacts

WIDTH = 100
MAX_ARROWS = 16
SKIPPING = {
    "skip-till-any-match": "every trend",
    "skip-till-next-match": "every step to the earliest possible event",
    "contiguous": "every step to the very next time point",
}


def to_text(facts: Facts) -> str:
    """Paragraphs; the first is the summary."""
    paragraphs = [
        list(_summary(facts)),
        ["Query", *(f"  {line}" for line in facts.query.splitlines())],
        list(scan_lines(facts.scan, facts.order)),
        *(list(_part(part)) for part in facts.parts),
        list(_result(facts)),
        list(_spark(facts)),
    ]
    return "\n\n".join("\n".join(lines) for lines in paragraphs)


def _summary(facts: Facts) -> Iterator[str]:
    pattern = " AND ".join(part.pattern for part in facts.parts if part.role != "overlap")
    exponential = facts.result.trends == "exponential"
    rows = [
        ("Pattern", f"{pattern}, {facts.semantics}: {SKIPPING[facts.semantics]}"),
        ("Windows", windows_words(facts.window, facts.scan)),
        ("Algorithm", "; ".join(_algorithm(part) for part in facts.parts)),
        ("Time", facts.cost.time),
        ("Memory", facts.cost.memory),
        (
            "Numbers",
            "exponentially many trends: doubles with an extended exponent, exact up to 2^53"
            if exponential
            else "polynomially many trends: 64-bit integers, overflow checked",
        ),
        ("Rows", facts.result.rows),
    ]
    for label, words in rows:
        yield from wrapped(f"{label:<11}", words)


def windows_words(window: WindowFacts, scan: ScanFacts) -> str:
    by = f"; partitioned by {', '.join(scan.partition_by)}" if scan.partition_by else ""
    if window.within is None:
        return f"{window.strategy}{by}"
    if window.slide is None:
        return f"the last {window.within}: {window.strategy}{by}"
    every = "tumbling" if window.slide == window.within else f"every {window.slide}"
    return f"{window.within}, {every}: {window.strategy}{by}"


def _algorithm(part: PartFacts) -> str:
    words = f"{part.algorithm} at {part.grain} grain"
    if part.role != "pattern":
        return f"{words} for {_name(part)}"
    if part.algorithm == "fold":
        return f"{words}: events go into vectors and are forgotten"
    causes = [one.cause for one in part.because]
    lengths = accumulate(len(cause) + 2 for cause in causes)
    fit = sum(length <= WIDTH - 45 for length in lengths)
    return f"{words}, for {', '.join(_few(causes, max(fit, 1)))}"


def _name(part: PartFacts) -> str:
    return "the trends of both sides" if part.role == "overlap" else part.pattern


def scan_lines(scan: ScanFacts, order: OrderFacts) -> Iterator[str]:
    unmatched = "all rows" if scan.reads_unmatched_rows else "only rows that are a letter"
    yield f"Scan: {unmatched}, {order_words(order)}"
    yield from table_lines(
        (
            ("NOT " if letter.negated else "") + letter.variable,
            letter.type,
            f"where {letter.condition}" if letter.condition is not None else "",
        )
        for letter in scan.letters
    )


def automaton_lines(automaton: AutomatonFacts, name: str = "") -> Iterator[str]:
    count = len(automaton.states)
    shape = f"{count} state{'s' * (count != 1)}, {'cyclic' if automaton.cyclic else 'acyclic'}"
    yield f"Automaton{name}: {shape}"
    yield from table_lines(
        (arrow.source or "start", f"→ {arrow.target or 'no trend'}", _label(arrow))
        for arrow in automaton.arrows[:MAX_ARROWS]
    )
    more = len(automaton.arrows) - MAX_ARROWS
    if more > 0:
        yield f"  … {more} more arrow{'s' * (more != 1)} in the json format"
    ends = [
        state.name + (f" (if {' or '.join(state.ends_if)})" if state.ends_if else "")
        for state in automaton.states
        if state.ends_if is not None
    ]
    yield from wrapped("  ends in ", ", ".join(_few(ends)))


def _part(part: PartFacts) -> Iterator[str]:
    automaton = part.automaton
    name = "" if part.role == "pattern" else f" of {_name(part)}"
    yield from automaton_lines(automaton, name)
    yield ""
    threads = thread_words(part.threads)
    yield from wrapped(f"Algorithm{name}: ", f"{part.algorithm}, {part.grain} grain, {threads}", 2)
    sums = [state.name for state in automaton.states if state.keeps == "sums"]
    if sums:
        bands = f", each in {part.bands} bands" if part.bands > 1 else ""
        yield from wrapped("  sums in ", ", ".join(_few(sums)) + bands)
    yield from table_lines((one.cause, one.effect) for one in (*part.because, *part.folded_guards))
    if part.role != "pattern":
        yield from wrapped("  ", "; ".join(part.time))


def _label(arrow: ArrowFacts) -> str:
    words = [" or ".join(arrow.guards)] if arrow.guards else []
    if arrow.condition is not None:
        words.append(arrow.condition)
    label = "if " + ", ".join(words) if words else ""
    return label if arrow.target is not None else f"on {arrow.variable} {label}".rstrip()


def _result(facts: Facts) -> Iterator[str]:
    yield "Result"
    yield from table_lines(
        (column.name, column.type, column.value if column.value != column.name else "")
        for column in facts.result.columns
    )
    if facts.result.having is not None:
        yield f"  having {facts.result.having}"
    exact = [
        column.name + (" (of integers)" if column.exact_type != INTEGER else "")
        for column in facts.result.columns
        if column.exact_type.startswith(INTEGER)
    ]
    if exact:
        waits = ", and the events wait in memory" if facts.cost.streams else ""
        waits += (
            "; on Spark as maps of fewer events" if facts.spark.dataframe.plan == COMBINE else ""
        )
        ranked = [part.algorithm == RANK for part in facts.parts]
        by_rank = all(ranked) and facts.semantics == Semantics.NEXT.value
        way = RANK if by_rank else ROUTE
        scans = any(ranked) and not by_rank
        waits += "; conditions are scans there, quadratic in the events" if scans else ""
        yield from wrapped(
            "  ",
            f'numbers="exact": {", ".join(exact)} as integers of any size, by {way}, as residues '
            f"modulo primes{waits}",
        )


def _spark(facts: Facts) -> Iterator[str]:
    frame, files, stream = facts.spark.dataframe, facts.spark.parquet, facts.spark.stream
    by = _by(frame.by, "to one task")
    if frame.plan == COMBINE:
        # Files are exchanged where simultaneous events may ask for it: nobody reads them twice.
        ties = "" if files.then == COMBINE else " or events are simultaneous"
        words = f"maps travel{by}, {frame.map}; events do where tasks interleave in time{ties}"
    else:
        tie = ", with a tiebreak" if frame.needs_tiebreak else ""
        words = f"events travel{by}{tie}, for {', '.join(_few(list(frame.because), 3))}"
    then = f", then {files.then}"
    if files.then == COMBINE:
        then = "; combine if these follow in time, else exchange"
    kept = f"keeps {stream.keeps},{_by(stream.by, 'in one shard')}"
    yield "On Spark"
    for events, told in (
        ("DataFrame", f"{frame.plan}: {words}"),
        ("Parquet", f"{files.plan}: workers read row groups{then}"),
        ("stream", kept if stream.refused is None else f"refused: {stream.refused}"),
    ):
        yield from wrapped(f"  {events:<9}  ", told)


def _by(names: tuple[str, ...], without: str) -> str:
    return f" by {', '.join(names)}" if names else f" {without}"


def _few(words: list[str], limit: int = 8) -> list[str]:
    rest = len(words) - limit
    return [*words[:limit], f"{rest} more"] if rest > 0 else list(words)


def table_lines(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    cells = list(rows)
    if not cells:
        return
    widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
    for row in cells:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"  {line}".rstrip()


def wrapped(start: str, words: str, indent: int | None = None) -> Iterator[str]:
    hang = " " * (len(start) if indent is None else indent)
    yield from wrap(
        start + words, WIDTH, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False
    )
