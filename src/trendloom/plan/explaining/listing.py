"""What `explain` tells of a query that lists trends: graph, search, detection, worst cases.

The dataclasses are the JSON, as those of `facts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trendloom.language.nodes import Semantics
from trendloom.plan.explaining.columns import BOUNDS
from trendloom.plan.explaining.facts import (
    FORMAT,
    AutomatonFacts,
    ScanFacts,
    WindowFacts,
    automaton_facts,
    scan_facts,
    window_facts,
)
from trendloom.plan.explaining.local import LISTING, OrderFacts, ThreadFacts, order_facts
from trendloom.plan.explaining.text import (
    SKIPPING,
    automaton_lines,
    scan_lines,
    table_lines,
    windows_words,
    wrapped,
)
from trendloom.plan.explaining.wording import canonical, pattern_text
from trendloom.plan.plan import WindowStrategy
from trendloom.plan.predecessors import Search, is_plain, predecessors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trendloom.plan.plan import Plan

SIZES = (12, 24, 48, 96)
"""Events of a window, for which the worst case is told."""
SEARCHES = {
    Search.EQUAL: "looked up by equal values, linear memory",
    Search.STAIRS: "looked up in the order of values, O(log n) each, linear memory",
    Search.SCAN: "searched among all earlier events, quadratic; n²/16 bytes for ancestors",
}
DETECTION = (
    ("m", "one path", "every step of every trend is walked"),
    ("t", "every path to every node", "every edge is passed once; if that fits"),
    ("h", "paths inside of graphlets", "cuts of least work whose paths fit, by branch and bound"),
)


@dataclass(frozen=True, slots=True)
class WorstCase:
    """Layers of three events that may follow each other: the most trends (CET Theorem 1)."""

    events: int
    trends: float
    walked_steps: float
    """M-CET's."""
    kept_bytes: float
    """T-CET's."""


@dataclass(frozen=True, slots=True)
class ListingFacts:
    """Everything `explain` knows before there are events."""

    format: int
    query: str
    pattern: str
    semantics: str
    scan: ScanFacts
    order: OrderFacts
    window: WindowFacts
    automaton: AutomatonFacts
    predecessors: str
    """How the edges of the graph are found: equal, stairs, scan."""
    shared: bool
    """Whether windows that overlap share the search."""
    exponential: bool
    worst_cases: tuple[WorstCase, ...]
    columns: tuple[tuple[str, str], ...]
    threads: ThreadFacts


def gather_listing(plan: Plan) -> ListingFacts:
    """Reads the facts off the plan."""
    part = plan.parts[0]
    window = window_facts(plan)
    return ListingFacts(
        FORMAT,
        canonical(plan.query),
        pattern_text(plan, part),
        plan.semantics.value,
        scan_facts(plan),
        order_facts(plan),
        window,
        automaton_facts(plan, part),
        predecessors(part, plan.semantics).search.value,
        is_plain(part) and plan.semantics is Semantics.ANY and window.windows_per_event != 1,
        plan.exponential,
        tuple(_worst(size) for size in SIZES) if plan.exponential else (),
        _columns(plan),
        LISTING,
    )


def _worst(events: int) -> WorstCase:
    layers = events // 3
    ending = [3.0**layer for layer in range(1, layers + 1)]
    nodes = sum(paths * layer for layer, paths in enumerate(ending, 1))
    return WorstCase(events, 3.0**layers, sum(ending), 8 * sum(ending) + 4 * nodes)


def _columns(plan: Plan) -> tuple[tuple[str, str], ...]:
    kind = "int64" if plan.strategy is WindowStrategy.COUNTED else "as the time column"
    start, end = BOUNDS[plan.strategy]
    return (
        ("window_start", f"{kind}, {start}"),
        ("window_end", f"{kind}, {end}"),
        *((name, f"as {name}") for name in plan.scan.partition),
        ("trend", "int64, from 0"),
        ("length", "int64, events of the trend"),
        ("events", "list of int64, rows of the input, from 0"),
        ("variables", "list of texts, what each event is in the pattern"),
    )


def listing_text(facts: ListingFacts) -> str:
    """Paragraphs; the first is the summary."""
    paragraphs = [
        list(_summary(facts)),
        ["Query", *(f"  {line}" for line in facts.query.splitlines())],
        list(scan_lines(facts.scan, facts.order)),
        list(automaton_lines(facts.automaton)),
        [
            "Detection: chosen per window, once its trends are counted; on one core",
            *table_lines(DETECTION),
        ],
        *([list(_worst_lines(facts))] if facts.worst_cases else []),
        ["Result", *table_lines(facts.columns)],
    ]
    return "\n\n".join("\n".join(lines) for lines in paragraphs)


def _summary(facts: ListingFacts) -> Iterator[str]:
    every = facts.semantics != Semantics.ANY.value
    which = f"{SKIPPING[facts.semantics]}, with all" if every else "those that no other contains"
    graph = "a node per event and state, edges from the latest events that it may follow"
    shared = "; once for windows that overlap" if facts.shared else ""
    many = "exponentially" if facts.exponential else "polynomially"
    rows = [
        ("Pattern", f"{facts.pattern}, {facts.semantics}: {which}"),
        ("Windows", windows_words(facts.window, facts.scan)),
        ("Graph", graph),
        ("Edges", SEARCHES[Search(facts.predecessors)] + shared),
        ("Trends", f"{many} many in a window's events; counted before the first is built"),
        ("Memory", "a window's graph and kept paths within memory_limit; batches of bounded size"),
        ("Rows", "one per trend"),
    ]
    for label, words in rows:
        yield from wrapped(f"{label:<11}", words)


def _worst_lines(facts: ListingFacts) -> Iterator[str]:
    yield "Worst case of a window (CET Theorem 1)"
    header = ("events", "trends", "steps of M-CET", "bytes of T-CET")
    cells = [
        (f"{w.events}", f"{w.trends:,.3g}", f"{w.walked_steps:,.3g}", f"{w.kept_bytes:,.3g}")
        for w in facts.worst_cases
    ]
    yield from table_lines([header, *cells])
