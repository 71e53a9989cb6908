"""Queries on generated events both ways: looked up by value, and scanned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import trendloom as tl
from trendloom.engine.evaluate import Evaluator
from trendloom.engine.router import Router
from trendloom.testing import same_rows

if TYPE_CHECKING:
    import pytest

VALUES = (
    "COUNT(*), LOG2(COUNT(*)) AS l, SUM(A.x) AS s, AVG(A.y) AS a, VARIANCE(A.y) AS v, "
    "MIN(A.x) AS low, MAX(A.y) AS high, MIN(LENGTH(*)) AS short, MAX(LENGTH(*)) AS long"
)


def events(count: int, seed: int, *, ties: float = 0.2) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    time = np.cumsum(rng.random(count) >= ties)
    return [
        {
            "time": int(time[i]),
            "type": "AAB"[rng.integers(3)],
            "x": None if rng.random() < 0.05 else int(rng.integers(40)),
            "y": float(rng.random()),
            "k": "uvwxyz"[rng.integers(6) * rng.integers(2)],
            "g": int(rng.integers(60)),
        }
        for i in range(count)
    ]


def both_ways(
    text: str,
    rows: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    numbers: str = "auto",
) -> list[dict[str, Any]]:
    """The rows of a query, looked up and scanned."""
    with monkeypatch.context() as patch:
        patch.setattr(Router, "make", never)
        found = tl.run(text, rows, time="time", type="type", numbers=numbers).rows()
    with monkeypatch.context() as patch:
        patch.setattr(Evaluator, "ranks", property(lambda _: False))
        expected = tl.run(text, rows, time="time", type="type", numbers=numbers).rows()
    assert expected
    keys = ("g",) if "GROUP-BY" in text else ()
    difference = same_rows(expected, found, keys=keys)
    assert difference is None, f"{text}\n{difference}"
    return found


def never(*_: object) -> None:
    raise AssertionError("scanned")
