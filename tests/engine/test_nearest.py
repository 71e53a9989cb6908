"""Ends that wait on a stack: skip-till-next-match of `S+` under one comparison."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from trendloom import query
from trendloom.engine import one_order
from trendloom.engine.layout import Numbers
from trendloom.engine.run import Run
from trendloom.engine.setting import Setting
from trendloom.errors import NumberError

if TYPE_CHECKING:
    from numpy.typing import NDArray

COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
SEEN: list[str] = []


@pytest.fixture(autouse=True)
def seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which kernels were taken."""
    SEEN.clear()
    for name in ("count_nearest", "take_nearest"):
        taken = getattr(one_order, name)

        def noted(*given: Any, name: str = name, taken: Any = taken) -> None:
            SEEN.append(name)
            taken(*given)

        monkeypatch.setattr(one_order, name, noted)


def _run(
    returned: str,
    op: str,
    times: NDArray[np.int64],
    values: NDArray[np.float64],
    numbers: Numbers = Numbers.AUTO,
) -> dict[str, Any]:
    text = f"RETURN {returned} PATTERN S+ SEMANTICS next WHERE S.x {op} NEXT(S).x"
    setting = Setting(query(text).plan, [pa.float64()], [], nanoseconds=1, numbers=numbers)
    run = Run(setting)
    columns = [times, np.ones(len(times), np.uint8), values]
    run.push(pa.RecordBatch.from_arrays(list(map(pa.array, columns)), ["time", "mask", "x0"]))
    (row,) = run.finish().to_pylist()
    return dict(row)


def _by_hand(op: str, times: NDArray[np.int64], values: NDArray[np.float64]) -> int:
    """Every end goes on at the first later time point that has an event for it."""
    total, waiting = 0, []
    for time in np.unique(times):
        here = values[times == time]
        new = [(x, 1 + sum(n for y, n in waiting if COMPARE[op](y, x))) for x in here]
        waiting = [(y, n) for y, n in waiting if not any(COMPARE[op](y, x) for x in here)] + new
        total += sum(n for _, n in new)
    return total


@pytest.mark.parametrize("op", list(COMPARE))
@pytest.mark.parametrize("points", [400, 130, 12])
@pytest.mark.parametrize("distinct", [4, 1_000_000])
def test_counts_and_sums(op: str, points: int, distinct: int) -> None:
    draw = np.random.default_rng(points)
    times = np.sort(draw.integers(0, points, 400))
    values = draw.integers(0, distinct, 400).astype(np.float64)
    odd = draw.random(400) < 0.1
    values[odd] = draw.choice([np.nan, np.inf, -np.inf, -0.0, 0.0], odd.sum())
    expected = _by_hand(op, times, values)
    exact = _run("COUNT(*) AS n", op, times, values, Numbers.EXACT)
    assert int(exact["n"]) == expected
    assert set(SEEN) == {"take_nearest"}
    if expected < 1 << 63:
        SEEN.clear()
        assert _run("COUNT(*) AS n", op, times, values)["n"] == expected
        assert SEEN == ["count_nearest"]


def test_a_count_beyond_64_bits_is_noticed() -> None:
    times, values = np.repeat(np.arange(70), 2), np.repeat(-np.arange(70.0), 2)
    assert _by_hand(">", times, values) > 1 << 63
    with pytest.raises(NumberError, match="64-bit"):
        _run("COUNT(*) AS n", ">", times, values)


def test_a_long_stack_is_taken_at_once() -> None:
    """Rising values wait for one that is smaller than all."""
    values = np.append(np.arange(5_000.0), -1.0)
    row = _run("COUNT(*) AS n, MAX(LENGTH(*)) AS long", ">", np.arange(5_001), values)
    assert (row["n"], row["long"]) == (10_001, 2)
