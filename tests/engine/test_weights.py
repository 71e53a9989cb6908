"""A value times a count of trends: what every sum is made of."""

from __future__ import annotations

import numpy as np
import pytest

from trendloom.api import run
from trendloom.engine.evaluate import Evaluator
from trendloom.errors import NumberError
from trendloom.kernels.checked import times_checked

LEAST, LARGEST = -(1 << 63), (1 << 63) - 1
BOTH_PATHS = pytest.mark.parametrize("folds", [True, False], ids=["fold", "route"])


@pytest.mark.parametrize("count", [0, 1, 2, 3, 1 << 16, (1 << 31) - 1, 1 << 31, 1 << 62, LARGEST])
@pytest.mark.parametrize(
    "x", [0, 1, -1, 7, 1 << 31, -(1 << 31) - 1, 1 << 47, -(1 << 47), 1 << 62, LARGEST, LEAST]
)
def test_a_product_is_right_or_noticed(x: int, count: int) -> None:
    overflow = np.zeros(1, np.int64)
    product = times_checked(x, count, overflow)
    assert (overflow[0] < 0) == (not LEAST <= x * count <= LARGEST)
    assert overflow[0] < 0 or product == x * count


@BOTH_PATHS
@pytest.mark.parametrize("x", [1 << 60, LEAST])
def test_a_sum_whose_products_wrap_is_refused(
    x: int, folds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """16 trends add 2^60 each: 2^64, which 64 bits take for 0."""
    if not folds:
        monkeypatch.setattr(Evaluator, "folds", property(lambda _: False))
    events = [{"time": t, "type": "A", "x": 0} for t in range(16)]
    events.append({"time": 16, "type": "B", "x": x})
    with pytest.raises(NumberError, match="64-bit"):
        run("RETURN SUM(B.x) AS s PATTERN SEQ(A, B)", events, time="time", type="type")


@BOTH_PATHS
@pytest.mark.parametrize("pattern", ["SEQ(A, B)", "SEQ(A+, B)"])
def test_an_infinite_value_in_no_trend_adds_nothing(
    pattern: str, folds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not folds:
        monkeypatch.setattr(Evaluator, "folds", property(lambda _: False))
    values = [("B", float("inf")), ("A", 1.0), ("B", 2.5)]
    events = [{"time": t, "type": kind, "x": x} for t, (kind, x) in enumerate(values)]
    (row,) = run(f"RETURN SUM(B.x) AS s PATTERN {pattern}", events, time="time", type="type").rows()
    assert row["s"] == 2.5
