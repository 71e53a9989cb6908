"""Two comparisons on a step, looked up by halves of time, against the router's scan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from lookup_runs import VALUES, both_ways, events

import trendloom as tl
from trendloom.engine import dominance
from trendloom.errors import NumberError
from trendloom.kernels import dominance as kernels
from trendloom.testing import same_rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

UNEQUAL = ("<", "<=", ">", ">=", "<>")


@pytest.mark.parametrize("op", UNEQUAL)
@pytest.mark.parametrize(
    ("pattern", "condition"),
    [
        ("A+", "A.x {op} NEXT(A).x AND A.y < NEXT(A).y"),
        ("A+", "A.x {op} NEXT(A).x AND A.g <> NEXT(A).g"),
        ("A+", "A.y < NEXT(A).y AND A.y * 1.5 {op} NEXT(A).y"),
        ("A+", "A.k = NEXT(A).k AND A.x {op} NEXT(A).x AND A.y > NEXT(A).y"),
        ("A+", "A.g = NEXT(A).g AND A.x {op} NEXT(A).x AND A.k <= NEXT(A).k"),
        ("(SEQ(A+, B))+", "A.x {op} NEXT(A).x AND A.y > NEXT(A).y AND A.y < NEXT(B).y"),
        ("(SEQ(A+, B))+", "A.x {op} NEXT(B).x AND A.g >= NEXT(B).x AND B.k = NEXT(A).k"),
        ("SEQ(A, B)", "A.x {op} NEXT(B).x AND A.g > NEXT(B).g"),
    ],
)
def test_a_lookup_by_two_values_is_a_scan(
    op: str, pattern: str, condition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"RETURN {VALUES} PATTERN {pattern} WHERE {condition.format(op=op)}"
    both_ways(text, events(700, 5), monkeypatch)


@pytest.mark.parametrize(
    "window", ["WITHIN 60 s SLIDE 20 s", "WITHIN 90 EVENTS SLIDE 50 EVENTS", "WITHIN 40 s"]
)
def test_windows(window: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dominance, "SCANNED", 0)
    where = "A.x > NEXT(A).x AND A.y <= NEXT(A).y"
    text = f"RETURN g, {VALUES} PATTERN A+ WHERE {where} GROUP-BY g {window}"
    rows = [row | {"g": row["g"] % 2} for row in events(500, 6)]
    assert len(both_ways(text, rows, monkeypatch)) > 10


@pytest.mark.parametrize("ties", [0.5, 0.98, 1.0])
def test_time_points_larger_than_a_half(ties: float, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"RETURN {VALUES} PATTERN A+ WHERE A.x > NEXT(A).x AND A.y <= NEXT(A).y"
    both_ways(text, events(400, 7, ties=ties), monkeypatch)


def test_one_huge_time_point_among_many(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = events(600, 8, ties=0.0)
    rows = [row | {"time": 250} if 250 <= i < 550 else row for i, row in enumerate(rows)]
    text = f"RETURN {VALUES} PATTERN A+ WHERE A.x > NEXT(A).x AND A.y <= NEXT(A).y"
    both_ways(text, rows, monkeypatch)


def test_several_states_of_one_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps without a condition and with one stand beside; an event may be two variables."""
    where = "A.x > NEXT(A).x AND A.y <= NEXT(A).y AND A.x < NEXT(B).x AND C.x >= NEXT(C).x"
    text = f"RETURN {VALUES} PATTERN SEQ(A A{{1,3}}, B?, A C+) WHERE {where}"
    both_ways(text, events(400, 9), monkeypatch)


def test_threads_share_windows() -> None:
    where = "A.x > NEXT(A).x AND A.y <= NEXT(A).y"
    text = f"RETURN {VALUES} PATTERN A+ WHERE {where} WITHIN 300 s SLIDE 200 s"
    rows = events(12_000, 10)
    one, two = (
        tl.run(text, rows, time="time", type="type", threads=threads).rows() for threads in (1, 2)
    )
    assert one == two


def test_counts_beyond_doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"time": i, "type": "A", "x": -i, "y": float(i)} for i in range(1_500)]
    text = f"RETURN {VALUES} PATTERN A+ WHERE A.x > NEXT(A).x AND A.y < NEXT(A).y"
    [found] = both_ways(text, rows, monkeypatch)
    assert found["l"] == pytest.approx(1_500)


def test_infinite_values(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = events(300, 8)
    rows[40] |= {"type": "A", "x": 3, "y": np.inf}
    text = "RETURN COUNT(*), SUM(A.y) AS s PATTERN A+ WHERE A.x < NEXT(A).x AND A.y > NEXT(A).y"
    assert both_ways(text, rows, monkeypatch)[0]["s"] == np.inf


def test_a_sum_that_no_trend_asks_for_may_overflow() -> None:
    """The tree adds up all A; B follows one of them."""
    rows = [{"time": i, "type": "A", "x": i, "y": 1 << 62} for i in range(80)]
    ends = [{"time": 200 + i, "type": "B", "x": 1, "y": 0} for i in range(80)]
    text = "RETURN SUM(A.y) AS s PATTERN SEQ(A, B) WHERE A.x {} NEXT(B).x AND A.y > NEXT(B).y"
    found = tl.run(text.format("<"), [*rows, ends[0]], time="time", type="type").rows()
    assert found[0]["s"] == 1 << 62
    with pytest.raises(NumberError, match="64-bit"):
        tl.run(text.format(">"), [*rows, *ends], time="time", type="type")


@pytest.mark.parametrize(
    ("semantics", "where", "numbers"),
    [
        ("next", "A.x > NEXT(A).x AND A.y < NEXT(A).y", "auto"),
        ("any", "A.x > NEXT(A).x AND A.y < NEXT(A).y AND A.g <= NEXT(A).g", "auto"),
        ("any", "A.x > NEXT(A).x AND A.y < NEXT(A).y", "exact"),
    ],
)
def test_what_remains_a_scan(
    semantics: str, where: str, numbers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dominance, "sum_by_two_values", None)
    text = f"RETURN COUNT(*) PATTERN A+ SEMANTICS {semantics} WHERE {where}"
    assert tl.run(text, events(60, 3, ties=0.0), time="time", type="type", numbers=numbers).rows()


def test_short_windows_are_scanned(monkeypatch: pytest.MonkeyPatch) -> None:
    where = "A.x > NEXT(A).x AND A.y <= NEXT(A).y"
    text = f"RETURN {VALUES} PATTERN A+ WHERE {where} WITHIN 16 EVENTS SLIDE 16 EVENTS"
    rows = [row | {"type": "A"} for row in events(100, 4)]
    scanned = tl.run(text, rows, time="time", type="type").rows()
    monkeypatch.setattr(dominance, "SCANNED", 0)
    assert same_rows(scanned, both_ways(text, rows, monkeypatch), keys=("window_start",)) is None


def test_growth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice the events, a little more than twice the sums, though every pair qualifies."""
    few, many = (sums_made(count, monkeypatch) for count in (1_000, 2_000))
    assert few > 1_000
    assert many / few < 2.4


def sums_made(count: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often a cell is added, an index is written or read, or a pair of events is looked at."""
    made = 0

    def noted(function: Callable[..., Any], worth: Callable[..., int]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            nonlocal made
            made += worth(*arguments)
            return function(*arguments)

        return call

    with monkeypatch.context() as patch:
        pairs = noted(kernels._pair, lambda *given: given[7] - given[6])
        for name in ("_finish", "_hand_over", "sum_by_two_values"):
            patch.setattr(kernels, name, getattr(kernels, name).py_func)
        patch.setattr(kernels, "_pair", pairs)
        for name in ("add", "enter_index", "read_index"):
            patch.setattr(kernels, name, noted(getattr(kernels, name), lambda *_: 1))
        patch.setattr(dominance, "sum_by_two_values", kernels.sum_by_two_values)
        rows = [{"time": i, "type": "A", "x": -i, "y": i} for i in range(count)]
        text = "RETURN LOG2(COUNT(*)) AS l PATTERN A+ WHERE A.x > NEXT(A).x AND A.y < NEXT(A).y"
        [row] = tl.run(text, rows, time="time", type="type").rows()
    assert row["l"] == pytest.approx(count)
    return made
