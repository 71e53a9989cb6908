"""Lookups by value against the router's scan, on more events than can be enumerated."""

from __future__ import annotations

import numpy as np
import pytest
from lookup_runs import VALUES, both_ways, events

import trendloom as tl
from trendloom.errors import NumberError
from trendloom.kernels.forest import SPREAD
from trendloom.kernels.prefix import (
    WIDE,
    add_checked,
    add_extreme,
    add_scaled,
    before_checked,
    before_extreme,
    before_scaled,
    blocks_needed,
)

OPERATORS = ("<", "<=", ">", ">=", "=", "<>")


@pytest.mark.parametrize(
    ("semantics", "numbers", "ties"),
    [
        ("skip-till-any-match", "auto", 0.2),
        ("skip-till-next-match", "auto", 0.0),
        # With ties the trends are too many for 64 bits.
        ("skip-till-next-match", "exact", 0.2),
    ],
)
@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize(
    ("pattern", "condition"),
    [
        ("A+", "A.x {op} NEXT(A).x"),
        ("A+", "A.y * 1.05 {op} NEXT(A).y"),
        ("(SEQ(A+, B))+", "A.x {op} NEXT(A).x AND A.y < NEXT(B).y"),
        ("(SEQ(A+, B))+", "A.x {op} NEXT(B).x AND B.k = NEXT(A).k"),
        ("A+", "A.k = NEXT(A).k AND A.y {op} NEXT(A).y"),
        ("A+", "A.g = NEXT(A).g AND A.x {op} NEXT(A).x"),
        ("A+", "A.k {op} NEXT(A).k"),
        ("SEQ(A, B)", "A.x {op} NEXT(B).x"),
    ],
)
def test_a_lookup_is_a_scan(
    semantics: str,
    numbers: str,
    ties: float,
    op: str,
    pattern: str,
    condition: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = (
        f"RETURN {VALUES} PATTERN {pattern} SEMANTICS {semantics} WHERE {condition.format(op=op)}"
    )
    both_ways(text, events(900, 5, ties=ties), monkeypatch, numbers)


@pytest.mark.parametrize("window", ["WITHIN 60 s SLIDE 20 s", "WITHIN 90 EVENTS SLIDE 50 EVENTS"])
@pytest.mark.parametrize("where", ["A.x > NEXT(A).x", "A.k = NEXT(A).k AND A.y <= NEXT(A).y"])
def test_short_windows_get_places_of_their_own(
    window: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"RETURN g, {VALUES} PATTERN A+ WHERE {where} GROUP-BY g {window}"
    rows = [row | {"g": row["g"] % 2} for row in events(900, 6)]
    assert len(both_ways(text, rows, monkeypatch)) > 10


def test_counts_beyond_doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"time": i, "type": "A", "x": -i, "y": 1.0} for i in range(2_000)]
    text = f"RETURN {VALUES} PATTERN A+ WHERE A.x > NEXT(A).x"
    [found] = both_ways(text, rows, monkeypatch)
    assert found["l"] == pytest.approx(2_000)


def test_a_huge_count_that_never_finishes_hides_no_small_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """2**3000 partial trends end near the one A that B may follow."""
    small = {"time": 0, "type": "A", "x": 5, "y": 7.0}
    huge = [{"time": i, "type": "A", "x": 10, "y": 1.0} for i in range(1, 3_000)]
    end = {"time": 4_000, "type": "B", "x": 7, "y": 0.0}
    text = f"RETURN {VALUES} PATTERN SEQ(A+, B) WHERE A.x < NEXT(B).x AND A.x >= NEXT(A).x"
    [found] = both_ways(text, [small, *huge, end], monkeypatch)
    assert found["COUNT(*)"] == 1
    assert found["s"] == 5


def test_infinite_values(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = events(300, 8)
    rows[40] |= {"type": "A", "x": 3, "y": np.inf}
    text = "RETURN COUNT(*), SUM(A.y) AS s PATTERN A+ WHERE A.x < NEXT(A).x"
    assert both_ways(text, rows, monkeypatch)[0]["s"] == np.inf


def test_a_sum_that_no_trend_asks_for_may_overflow() -> None:
    """The tree adds up all A; B follows one of them."""
    rows = [{"time": i, "type": "A", "x": i, "y": 1 << 62} for i in range(40)]
    end = {"time": 50, "type": "B", "x": 1, "y": 0}
    text = "RETURN SUM(A.y) AS s PATTERN SEQ(A, B) WHERE A.x {op} NEXT(B).x"
    found = tl.run(text.format(op="<"), [*rows, end], time="time", type="type").rows()
    assert found[0]["s"] == 1 << 62
    with pytest.raises(NumberError, match="64-bit"):
        tl.run(text.format(op=">"), [*rows, end], time="time", type="type")


@pytest.mark.parametrize("semantics", ["skip-till-any-match", "skip-till-next-match"])
@pytest.mark.parametrize("op", ["<", "<=", ">", ">="])
@pytest.mark.parametrize(
    "spread", [(1.0, 0.0), (1e-9, 1.0), (2.0**-52, 1.0), (1e300, 0.0), (2.0**-50, 2.0**40)]
)
def test_values_that_differ_in_their_last_bits(
    semantics: str, op: str, spread: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words have room for the first bits only; both zeros are one value, infinities are some."""
    rng = np.random.default_rng(4)
    scale, middle = spread
    values = middle + scale * rng.integers(-9, 10, 200) * rng.choice([1.0, 2.0**-30], 200)
    values = np.where(rng.random(200) < 0.05, rng.choice([-0.0, 0.0, np.inf, -np.inf], 200), values)
    rows = [{"time": i, "type": "A", "y": float(y)} for i, y in enumerate(values)]
    text = f"RETURN COUNT(*) PATTERN A+ SEMANTICS {semantics} WHERE A.y {op} NEXT(A).y"
    both_ways(text, rows, monkeypatch, "auto" if "any" in semantics else "exact")


@pytest.mark.parametrize("window", ["", "WITHIN 60 s SLIDE 20 s"])
@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("pattern", ["A+", "(SEQ(A+, B))+", "SEQ(A A+, B?, A C+)"])
def test_only_counts(pattern: str, op: str, window: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where = f"A.x {op} NEXT(A).x" + (" AND A.y < NEXT(B).y" if "B" in pattern else "")
    text = f"RETURN COUNT(*), LOG2(COUNT(*)) AS l PATTERN {pattern} WHERE {where} {window}"
    both_ways(text, events(600, 9), monkeypatch)


@pytest.mark.parametrize("size", [1, 15, 16, 17, 255, 256, 257, 4_100])
def test_prefixes_of_a_tree(size: int) -> None:
    rng = np.random.default_rng(size)
    blocks = blocks_needed(size)
    doubles, whole = np.zeros(2 * WIDE * blocks), np.zeros(WIDE * blocks, np.int64)
    keys = np.full(WIDE * blocks, np.iinfo(np.int64).max)
    overflow = np.zeros(1, np.int64)
    entered = np.zeros(size, np.int64)
    smallest = np.full(size, np.iinfo(np.int64).max)
    for _ in range(200):
        place, value = int(rng.integers(size)), int(rng.integers(-50, 50))
        entered[place] += value
        smallest[place] = min(smallest[place], value)
        add_scaled(doubles, 0, size, place, float(value), 0)
        add_checked(whole, 0, size, place, value, overflow)
        add_extreme(keys, 0, size, place, value)
        reach = int(rng.integers(size + 1))
        total = int(entered[:reach].sum())
        assert before_scaled(doubles, 0, size, reach) == (total, 0)
        assert before_checked(whole, 0, size, reach, overflow) == total
        least = smallest[:reach].min(initial=np.iinfo(np.int64).max)
        assert before_extreme(keys, 0, size, reach) == least
    assert overflow[0] == 0


def test_trees_of_groups_have_room() -> None:
    sizes = [*range(WIDE, 5_000), 1 << 16, (1 << 16) + 1, 1_000_003]
    assert all(blocks_needed(size) <= SPREAD * size // WIDE for size in sizes)


def test_a_tree_notices_an_overflow() -> None:
    cells, overflow = np.zeros(WIDE * blocks_needed(20), np.int64), np.zeros(1, np.int64)
    add_checked(cells, 0, 20, 3, 1 << 62, overflow)
    assert overflow[0] == 0
    add_checked(cells, 0, 20, 4, 1 << 62, overflow)
    assert overflow[0] < 0
