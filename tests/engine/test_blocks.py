"""Conditions told of blocks of pairs are those told pair by pair."""

from __future__ import annotations

import numpy as np
import pytest

from trendloom.api import query
from trendloom.engine.program import compile_predicates
from trendloom.kernels.blocks import select
from trendloom.kernels.neighbours import of_neighbours
from trendloom.kernels.predicates import BLOCK, Predicates, holds, is_comparison

CONDITIONS = (
    "A.x + NEXT(A).x < A.y * NEXT(A).y",
    "A.x - NEXT(A).y >= 2 OR A.y = NEXT(A).x",
    "NOT (A.x <= NEXT(A).x AND A.y > NEXT(A).y)",
    "ABS(A.x - NEXT(A).x) <> ROUND(A.y + NEXT(A).y)",
    "A.x / NEXT(A).x < 1 OR A.x % NEXT(A).y = 0",
    "COALESCE(A.x + NEXT(A).x, 1) > 0 OR A.y - NEXT(A).y IS NULL",
    "-(A.x + NEXT(A).x) BETWEEN A.y AND NEXT(A).y",
    "A.x < NEXT(A).x",
)
VALUES = np.array([np.nan, 0.0, -0.0, 0.5, -0.5, 1.5, 1.0, 2.0, -3.0, np.inf, -np.inf, 7.25])


def compiled(condition: str, count: int) -> Predicates:
    (part,) = query(f"RETURN COUNT(*) PATTERN A+ WHERE {condition}").plan.parts
    rng = np.random.default_rng(count)
    column = VALUES[rng.integers(len(VALUES), size=(len(part.columns), count))]
    return compile_predicates(part, column)


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("count", [1, 7, BLOCK - 1, BLOCK, 2 * BLOCK + 3])
def test_blocks(condition: str, count: int) -> None:
    predicates = compiled(condition, count)
    assert is_comparison(predicates, 0) == (condition == CONDITIONS[-1])
    later = count // 2
    events = np.random.default_rng(1).permutation(count)
    hits = np.empty(count + 1, np.int64)
    found = select(predicates, 0, events, count, later, hits)
    told = [k for k in range(count) if holds(predicates, 0, events[k], later)]
    assert hits[:found].tolist() == told
    out = np.zeros(count - 1, np.bool_)
    of_neighbours(predicates, 0, out)
    assert out.tolist() == [holds(predicates, 0, k, k + 1) for k in range(count - 1)]


def test_some_hold_and_some_do_not() -> None:
    for condition in CONDITIONS:
        predicates = compiled(condition, 500)
        out = np.zeros(499, np.bool_)
        of_neighbours(predicates, 0, out)
        assert 0 < out.sum() < 499, condition
