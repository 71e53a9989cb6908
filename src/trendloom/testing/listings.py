"""Hypothesis strategies for listings: a query without RETURN, events, and the oracle's trends.

@given(listings())
def test_listing(case):
    assert sorted(case.found(trends(case.query, case.events, …).rows())) == case.expected
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from trendloom.language.nodes import Query, Semantics
from trendloom.testing.conditions import equivalences
from trendloom.testing.oracle import Trend, trends
from trendloom.testing.strategies import TIEBREAK, productive, queries

if TYPE_CHECKING:
    from trendloom.testing.records import Row

WINDOWS = ("none", "time", "count")
Listed = tuple[Any, ...]
"""Window bounds, the partition's values by name, the elements."""


@dataclass(frozen=True, slots=True)
class ListingCase:
    """A query without RETURN over events, and the trends that the oracle finds."""

    query: Query
    events: list[Row]
    tiebreak: str | None
    trends: list[Trend]

    @property
    def expected(self) -> list[Listed]:
        names = self._partition
        return sorted(
            (
                (*trend.window, *sorted(zip(names, trend.partition, strict=True)), trend.elements)
                for trend in self.trends
            ),
            key=repr,
        )

    def found(self, rows: list[Row]) -> list[Listed]:
        """The rows of a listing in the same form."""
        names = self._partition
        return sorted(
            (
                (
                    row["window_start"],
                    row["window_end"],
                    *sorted((name, row[name]) for name in names),
                    tuple(zip(row["events"], row["variables"], strict=True)),
                )
                for row in rows
            ),
            key=repr,
        )

    @property
    def _partition(self) -> tuple[str, ...]:
        plain = [key.attribute for key in self.query.group_by]
        return tuple(dict.fromkeys((*equivalences(self.query), *plain)))


@st.composite
def listings(
    draw: st.DrawFn,
    /,
    *,
    complete: bool = True,
    semantics: tuple[Semantics, ...] = (Semantics.ANY,),
    window_kinds: tuple[str, ...] = WINDOWS,
    max_size: int = 9,
    limit: int = 300,
    **knobs: Any,
) -> ListingCase:
    """Complete trends, or all. Where there are over `limit` the last events are cut off."""
    asked = draw(
        queries(
            semantics=semantics,
            window_kinds=window_kinds,
            allow_aggregates=False,
            allow_having=False,
            allow_conjunction=False,
            **{"composed": True, **knobs},
        )
    )
    plain = tuple(key for key in asked.group_by if key.variable is None)
    asked = replace(asked, returns=(), group_by=plain)
    tiebreak = TIEBREAK if draw(st.integers(0, 3)) == 3 else None

    def find(events: list[Row]) -> ListingCase:
        found = trends(
            asked, events, type="type", tiebreak=tiebreak, complete=complete, limit=limit
        )
        return ListingCase(asked, events, tiebreak, found)

    return draw(
        productive([asked], find, lambda case: len(case.trends), max_size, tiebreak=bool(tiebreak))
    )
