"""Counting by halves of time is right, whatever ties, values and runs there are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from trendloom import query
from trendloom.engine import one_order
from trendloom.engine.run import Run
from trendloom.engine.setting import Setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

SEEN: list[int] = []


@pytest.fixture(autouse=True)
def seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many runs were counted by halves."""
    count = one_order.count_by_halves
    SEEN.clear()

    def noted(*arguments: object) -> None:
        SEEN.append(len(arguments[2]))  # type: ignore[arg-type]
        count(*arguments)

    monkeypatch.setattr(one_order, "count_by_halves", noted)


def _counts(
    op: str, times: NDArray[np.int64], values: NDArray[np.float64], within: str = ""
) -> list[float]:
    """Of every window, the binary logarithm of the number of trends."""
    text = f"RETURN LOG2(COUNT(*)) AS n PATTERN S+ WHERE S.x {op} NEXT(S).x {within}"
    run = Run(Setting(query(text).plan, [pa.float64()], [], nanoseconds=1_000_000_000))
    columns = [times, np.ones(len(times), np.uint8), values]
    run.push(pa.RecordBatch.from_arrays(list(map(pa.array, columns)), ["time", "mask", "x0"]))
    return [row["n"] for row in run.finish().to_pylist()]


def _by_hand(op: str, times: NDArray[np.int64], values: NDArray[np.float64]) -> float:
    compare: dict[str, Callable[[float, float], bool]] = {
        "<": float.__lt__, "<=": float.__le__, ">": float.__gt__, ">=": float.__ge__
    }  # fmt: skip
    counts: list[int] = []
    events = list(zip(times.tolist(), values.tolist(), strict=True))
    for time, value in events:
        before = zip(counts, events, strict=False)
        counts.append(1 + sum(n for n, (t, v) in before if t < time and compare[op](v, value)))
    return math.log2(sum(counts))


@pytest.mark.parametrize("op", ["<", "<=", ">", ">="])
@pytest.mark.parametrize("events", [1, 2, 63, 65, 129, 700])
@pytest.mark.parametrize("points", [1.0, 0.5, 0.02])
@pytest.mark.parametrize("distinct", [3, 1_000_000])
def test_ties_of_time_and_of_value(op: str, events: int, points: float, distinct: int) -> None:
    draw = np.random.default_rng(events)
    times = np.sort(draw.integers(0, max(1, int(events * points)), events))
    values = draw.integers(0, distinct, events).astype(np.float64)
    (found,) = _counts(op, times, values)
    assert found == pytest.approx(_by_hand(op, times, values), rel=1e-12, abs=1e-12)
    assert SEEN == [1]


@pytest.mark.parametrize("crowd", [(0, 500), (250, 500), (499, 500), (100, 101)])
def test_most_events_at_one_time(crowd: tuple[int, int]) -> None:
    """Halves are cut at time points, wherever those are."""
    times = np.arange(500)
    times[slice(*crowd)] = crowd[0]
    values = np.random.default_rng(1).random(500)
    (found,) = _counts("<", times, values)
    assert found == pytest.approx(_by_hand("<", times, values), rel=1e-12)


@pytest.mark.parametrize("op", ["<", ">"])
def test_counts_of_any_size(op: str) -> None:
    """2 ** 2500 in steps of 1, and beside it counts that stay small: no exponent is lost."""
    times = np.arange(2_500)
    rising = np.arange(2_500.0)
    (found,) = _counts(op, times, rising)
    assert found == pytest.approx(2_500 if op == "<" else math.log2(2_500), rel=1e-12)
    mixed = np.where(times % 2 == 0, rising, -rising)
    (found,) = _counts(op, times, mixed)
    assert found == pytest.approx(_by_hand(op, times, mixed), rel=1e-12)


def test_windows_that_do_not_overlap() -> None:
    draw = np.random.default_rng(5)
    times, values = np.sort(draw.integers(0, 200, 600)), draw.integers(0, 50, 600) / 2
    found = _counts("<", times, values, "WITHIN 20 s SLIDE 20 s")
    each = [times // 20 == k for k in range(10)]
    expected = [_by_hand("<", times[rows], values[rows]) for rows in each]
    assert found == pytest.approx(expected, rel=1e-12)
    assert sum(SEEN) == 10


def test_who_has_no_value_is_a_trend_alone() -> None:
    draw = np.random.default_rng(6)
    times, values = np.sort(draw.integers(0, 200, 300)), draw.integers(0, 50, 300) / 2
    values[draw.random(300) < 0.2] = np.nan
    values[times // 20 == 3] = np.nan
    found = _counts("<", times, values, "WITHIN 20 s SLIDE 20 s")
    each = [times // 20 == k for k in range(10)]
    assert found == pytest.approx([_by_hand("<", times[k], values[k]) for k in each], rel=1e-12)
    assert sum(SEEN) == 10


@pytest.mark.parametrize("op", ["<", "<=", ">", ">="])
def test_zeros_infinities_and_last_bits(op: str) -> None:
    draw = np.random.default_rng(7)
    odd = np.array([-0.0, 0.0, np.inf, -np.inf, 1.0, 1.0 + 2.0**-52, 1.0 - 2.0**-53, 5e-324])
    values, times = draw.choice(odd, 300), np.arange(300) // 2
    (found,) = _counts(op, times, values)
    assert found == pytest.approx(_by_hand(op, times, values), rel=1e-12)
    assert SEEN == [1]


def test_overlapping_windows_are_left_to_the_tree() -> None:
    times, values = np.arange(40), np.random.default_rng(5).random(40)
    _counts("<", times, values, "WITHIN 20 s SLIDE 10 s")
    assert SEEN == []
