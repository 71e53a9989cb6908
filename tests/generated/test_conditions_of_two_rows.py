"""Conditions of two rows in whole queries: what every path of the engine makes of them."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

import trendloom as tl
from against_oracle import EACH
from trendloom.testing import naive, same_rows

if TYPE_CHECKING:
    from trendloom.language import Semantics

LONG = 1_700_000_000_000_000_000
FAR = [LONG, LONG + 100, LONG + 50, LONG + 150]
DAYS = [date(2024, 2, 28), date(2024, 2, 29), date(2024, 3, 1), None]
FOUND = [
    ("A+", "A.x > 0 OR NEXT(A).x > 0", {"x": [1, 2, 0, 0]}),
    ("A+", "COALESCE(A.x > 0, NEXT(A).x > 0)", {"x": [1, None, 2, 0]}),
    ("A+", "A.b OR NEXT(A).b", {"b": [True, False, False, None]}),
    (
        "A+",
        "(A.x < NEXT(A).x) = (A.b AND NEXT(A).b)",
        {"x": [1, 2, 3, 1], "b": [True, True, False, False]},
    ),
    ("A+", "NEXT(A).i - A.i = 100", {"i": FAR}),
    ("SEQ(A a, A b)", "NEXT(b).i - a.i = 100", {"i": FAR}),
    ("SEQ(A a, A b+)", "ABS(a.i - b.i) < 101", {"i": FAR}),
    ("A+", "NEXT(A).e - A.e = 1", {"e": DAYS}),
    ("SEQ(A a, A+ b)", "b.e - a.e > 0", {"e": DAYS}),
    ("A+", "ROUND(A.i + NEXT(A).i) > 0 AND COALESCE(A.i - NEXT(A).i, 0) <> 100", {"i": FAR}),
]
RETURNS = ("COUNT(*)", "COUNT(DISTINCT {v}) AS c", "COUNT(*), SUM({v}.n) AS s, MAX({v}.n) AS m")


def events_of(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    names = list(columns)
    return [
        {"time": k, "type": "A", "n": k, **dict(zip(names, row, strict=True))}
        for k, row in enumerate(zip(*columns.values(), strict=True))
    ]


@EACH
@pytest.mark.parametrize(("pattern", "condition", "columns"), FOUND, ids=[c for _, c, _ in FOUND])
def test_found_once(
    semantics: Semantics, pattern: str, condition: str, columns: dict[str, list[Any]]
) -> None:
    """Aggregated, exactly, with DISTINCT, listed, in a workload and while events come."""
    events = events_of(columns)
    variable = "A" if pattern == "A+" else "a"
    rest = f"PATTERN {pattern} SEMANTICS {semantics.value} WHERE {condition}"
    texts = [f"RETURN {one.format(v=variable)} {rest}" for one in RETURNS]
    options = {"time": "time", "type": "type"}
    for text in texts:
        expected = naive(text, events)
        for numbers in ("auto", "exact"):
            rows = tl.run(text, events, numbers=numbers, **options).rows()
            assert same_rows(expected, rows) is None, text
    listed = tl.trends(rest, events, all=True, **options).rows()
    (count,) = (row["COUNT(*)"] for row in naive(texts[0], events))
    assert len(listed) == count > 1
    live = tl.workload({"q": f"{texts[0]} WITHIN 10 s SLIDE 10 s"}).live(time="time", type="type")
    steps = [*(live.push([event]) for event in events), live.finish()]
    assert [row["COUNT(*)"] for step in steps for row in step["q"].rows()] == [count]
