"""Overlapping windows as lanes of one tree, against the naive oracle and window by window."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from against_oracle import compare, compare_in_batches, examples
from looked_up import is_looked_up, looked_up
from trendloom.api import run
from trendloom.engine import lanes_of_windows, ranked, searching
from trendloom.language import Semantics
from trendloom.language.nodes import Duration, Query, TimeWindow, Unit
from trendloom.plan.explaining import costs
from trendloom.testing.strategies import Case, cases

if TYPE_CHECKING:
    from collections.abc import Iterator

KERNELS = {"count_in_lanes": ranked.count_in_lanes, "sum_in_lanes": ranked.sum_in_lanes}
KINDS = pytest.mark.parametrize("kind", ["time", "change", "count"])
NUMBERS = pytest.mark.parametrize("exponents", [False, True], ids=["plain", "exponents"])


@pytest.fixture
def lanes(monkeypatch: pytest.MonkeyPatch, exponents: bool) -> Iterator[None]:
    """Lanes for all windows that overlap, however few; of plain doubles, or with exponents."""
    seen: list[int] = []
    monkeypatch.setattr(lanes_of_windows, "LEAST_SHARED", 0.0)
    for name in KERNELS:

        def noted(*arguments: Any, name: str = name) -> bool:
            seen.append(int(np.diff(arguments[6]).max()))
            if exponents and not arguments[8]:
                return False
            return bool(KERNELS[name](*arguments))

        monkeypatch.setattr(ranked, name, noted)
    yield
    assert max(seen) > 2


def overlapping(kind: str) -> st.SearchStrategy[Query]:
    """WITHIN is two to twelve times SLIDE, where there is one in time."""
    asked = looked_up(Semantics.ANY, window_kinds=(kind,)).filter(is_looked_up)
    if kind != "time":
        return asked
    windows = st.builds(
        lambda slide, times: TimeWindow(_seconds(slide * times), _seconds(slide)),
        st.integers(1, 2),
        st.integers(2, 12),
    )
    return st.builds(lambda query, window: replace(query, window=window), asked, windows)


def _seconds(amount: int) -> Duration:
    return Duration(Fraction(amount), Unit.SECOND)


@KINDS
@NUMBERS
@pytest.mark.usefixtures("lanes")
def test_lanes_against_the_oracle(kind: str) -> None:
    @examples(80)
    @given(cases(query=overlapping(kind)), st.sampled_from((1, 2)))
    def check(case: Case, threads: int) -> None:
        compare(case, threads=threads)

    check()


@NUMBERS
@pytest.mark.usefixtures("lanes")
def test_any_batching_gives_the_same_rows() -> None:
    @examples(60)
    @given(cases(query=overlapping("time")), st.lists(st.integers(1, 5), min_size=1, max_size=3))
    def check(case: Case, sizes: list[int]) -> None:
        compare_in_batches(case, sizes)

    check()


def test_explain_tells_when_windows_share() -> None:
    """As many windows at a stroke, from as many that overlap, as are chosen for even events."""
    assert costs.LANES == lanes_of_windows.LANES

    def shared(overlap: int) -> float:
        return costs.LANES * overlap / (costs.LANES - 1 + overlap)

    assert shared(costs.SHARED) >= lanes_of_windows.LEAST_SHARED > shared(costs.SHARED - 1)


QUERY = "RETURN {} PATTERN {} WHERE {} WITHIN 600 s SLIDE 50 s"
RETURNS = "COUNT(*), SUM(A.x), AVG(A.x), VARIANCE(A.x), MIN(A.x), MAX(A.x), MAX(LENGTH(*))"


@pytest.mark.parametrize("returned", ["COUNT(*)", RETURNS])
@pytest.mark.parametrize(
    ("pattern", "condition"),
    [
        ("A+", "A.x < NEXT(A).x"),
        ("A+", "A.x <> NEXT(A).x"),
        ("SEQ(A+, B)", "A.x > NEXT(A).x AND A.k = NEXT(A).k AND A.x <= NEXT(B).x"),
        ("SEQ(A, B)", "A.x < NEXT(B).x"),
    ],
)
def test_many_events_as_window_by_window(
    returned: str, pattern: str, condition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where counts go beyond every double; lanes are what is chosen."""
    random = np.random.default_rng(7)
    count = 5_000
    events = pa.table(
        {
            "time": np.sort(random.integers(0, 4_000, count)),
            "type": random.choice(["A", "A", "A", "B"], count),
            "x": random.integers(0, 40, count) / 2,
            "k": random.integers(0, 3, count),
        }
    )
    chosen = []
    choose = searching.stretches_of

    def noted(*arguments: Any) -> Any:
        chosen.append(choose(*arguments))
        return chosen[-1]

    monkeypatch.setattr(searching, "stretches_of", noted)
    text = QUERY.format(returned, pattern, condition)
    together = run(text, events, time="time", type="type").rows()
    assert chosen
    assert all(one is not None for one in chosen)
    monkeypatch.setattr(searching, "stretches_of", lambda *_: None)
    apart = run(text, events, time="time", type="type").rows()
    assert len(together) == len(apart) > 80
    for one, other in zip(together, apart, strict=True):
        assert one.keys() == other.keys()
        for name, value in one.items():
            if isinstance(value, float) and np.isfinite(value):
                assert value == pytest.approx(other[name], rel=1e-9), name
            else:
                assert str(value)[:9] == str(other[name])[:9], name
