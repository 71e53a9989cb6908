"""Hypothesis strategies for workloads: queries with much in common, events, every query's rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from trendloom.language.nodes import Both, Event, Query, Repeat, Semantics, Sequence
from trendloom.testing.oracle import answer
from trendloom.testing.shapes import TYPES, name, one_in, patterns
from trendloom.testing.strategies import ALL_WINDOWS, TIEBREAK, productive, queries, windows

if TYPE_CHECKING:
    from trendloom.language.nodes import Pattern
    from trendloom.testing.records import Row


@dataclass(frozen=True, slots=True)
class WorkloadCase:
    """Queries over the same events, and the rows that the oracle gives for each."""

    queries: dict[str, Query]
    events: list[Row]
    tiebreak: str | None
    expected: dict[str, list[Row]]
    trends: int | None = None
    """Of all queries together, if somebody counted them."""


@st.composite
def _siblings(draw: st.DrawFn, prefix: tuple[Pattern, ...], allow_negation: bool) -> Pattern:
    """A pattern that begins with a part of the prefix."""
    taken = prefix[: draw(st.integers(1, len(prefix)))]
    if len(taken) > 1 and draw(one_in(3)):
        # Of two such queries, one ends where the other goes on.
        return name(Sequence(taken), reuse=False)
    tail = draw(patterns(max_events=2, max_depth=1, allow_negation=allow_negation))
    return name(Sequence((*taken, tail)), reuse=False)


@st.composite
def workloads(
    draw: st.DrawFn,
    /,
    *,
    semantics: tuple[Semantics, ...] = tuple(Semantics),
    min_queries: int = 2,
    max_queries: int = 8,
    max_size: int = 8,
    limit: int = 200,
    common_windows: tuple[str, ...] = ALL_WINDOWS,
    **knobs: Any,
) -> WorkloadCase:
    """Most queries begin alike and agree on window, grouping and semantics; some do in nothing.

    `common_windows`: kinds of the window that they agree on; `knobs`: as for `queries`.
    """
    letters = st.sampled_from(TYPES).map(Event)
    looped = letters.map(lambda event: Repeat(event, 1, None))
    prefix = tuple(draw(st.lists(st.one_of(letters, looped), min_size=1, max_size=3)))
    common_window = draw(windows(kinds=common_windows))
    common_semantics = draw(st.sampled_from(semantics))
    siblings = _siblings(prefix, knobs.get("allow_negation", True))
    made: dict[str, Query] = {}
    # Drawn by hand: hypothesis likes few queries and few events, which have little in common.
    counts = [n for n in (3, 4, 4, 5, 2, 6, 7, 8) if min_queries <= n <= max_queries]
    for number in range(draw(st.sampled_from(counts))):
        kind = draw(st.sampled_from(("sibling",) * 4 + ("stranger",)))
        if kind == "stranger":
            query = draw(queries(semantics=semantics, **knobs))
        else:
            query = draw(queries(pattern=siblings, semantics=(common_semantics,), **knobs))
            query = replace(query, window=common_window)
        made[f"q{number + 1}"] = query
    tiebreak = TIEBREAK if draw(one_in(4)) else None
    size = min(max_size, 6) if any(isinstance(q.pattern, Both) for q in made.values()) else max_size

    def find(events: list[Row]) -> WorkloadCase:
        found = {
            name_: answer(query, events, time="time", type="type", tiebreak=tiebreak, limit=limit)
            for name_, query in made.items()
        }
        rows = {name_: one.rows for name_, one in found.items()}
        return WorkloadCase(made, events, tiebreak, rows, sum(one.trends for one in found.values()))

    asked = list(made.values())
    return draw(
        productive(asked, find, lambda case: case.trends or 0, size, tiebreak=bool(tiebreak))
    )
