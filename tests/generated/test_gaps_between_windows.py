"""SLIDE greater than WITHIN: times that no window has, in every path, against the oracle."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trendloom as tl
from against_oracle import examples
from trendloom.errors import LimitError
from trendloom.language import Semantics
from trendloom.language.nodes import CountWindow, Duration, TimeWindow, Unit, events_of
from trendloom.testing import naive, same_rows, trends
from trendloom.testing.compare import group_columns
from trendloom.testing.strategies import queries

if TYPE_CHECKING:
    from trendloom.language import Query

READ = {"time": "time", "type": "type"}
pytestmark = pytest.mark.filterwarnings("ignore::trendloom.errors.GapWarning")


def seconds(number: int) -> Duration:
    return Duration(Fraction(number), Unit.SECOND)


def gap(query: Query, draw: random.Random, *, counted: bool = False) -> Query:
    within = draw.randrange(4, 10)
    slide = within + draw.randrange(1, 4)
    if counted:
        return replace(query, window=CountWindow(within, slide))
    return replace(query, window=TimeWindow(seconds(within), seconds(slide)))


def drawn(query: Query, draw: random.Random) -> list[dict[str, Any]]:
    types = [event.type for event in events_of(query.pattern)]
    return [
        {
            "time": draw.randrange(-6, 16),
            "type": draw.choice(types),
            "x": draw.randrange(4),
            "y": draw.choice([0.25, 1.0, 2.5]),
            "k": draw.choice("uuuv"),
            "g": draw.choice([1, 1, 1, 2]),
        }
        for _ in range(11)
    ]


@pytest.mark.parametrize("semantics", list(Semantics))
def test_runs_workloads_and_live_pushes(semantics: Semantics) -> None:
    found = []

    @examples(120)
    @given(queries(semantics=(semantics,), window_kinds=("time",)), st.integers(0, 1 << 30))
    def check(query: Query, seed: int) -> None:
        draw = random.Random(seed)
        query = gap(query, draw)
        events = drawn(query, draw)
        try:
            expected = naive(query, events, **READ, limit=4000)
        except LimitError:
            return
        found.append(bool(expected))
        keys = group_columns(query)
        assert same_rows(expected, tl.run(query, events, **READ).rows(), keys=keys) is None
        both = tl.workload([query, query]).run(events, **READ, mode="always")
        assert same_rows(expected, both["q2"].rows(), keys=keys) is None
        live = tl.workload([query]).live(**READ, watermark="30 s")
        rows = [*live.push(events[:5])["q1"].rows(), *live.push(events[5:])["q1"].rows()]
        rows += live.finish()["q1"].rows()
        assert same_rows(expected, rows, keys=keys) is None
        in_time = sorted(events, key=lambda one: one["time"])
        live = tl.workload([query]).live(**READ, watermark="0 s")
        pushed = [live.push([one])["q1"].rows() for one in in_time] + [live.finish()["q1"].rows()]
        assert same_rows(expected, list(itertools.chain(*pushed)), keys=keys) is None

    check()
    assert sum(found) >= len(found) // 2


def test_windows_of_events() -> None:
    @examples(80)
    @given(queries(window_kinds=("time",)), st.integers(0, 1 << 30))
    def check(query: Query, seed: int) -> None:
        draw = random.Random(seed)
        query = gap(query, draw, counted=True)
        events = drawn(query, draw)
        try:
            expected = naive(query, events, **READ, limit=4000)
        except LimitError:
            return
        given = tl.run(query, events, **READ).rows()
        assert same_rows(expected, given, keys=group_columns(query)) is None

    check()


def test_listings() -> None:
    sizes = []

    @examples(60)
    @given(
        queries(allow_conjunction=False, window_kinds=("time",), allow_anchored=False),
        st.integers(0, 1 << 30),
    )
    def check(query: Query, seed: int) -> None:
        draw = random.Random(seed)
        query = gap(replace(query, returns=(), group_by=(), having=None), draw)
        for _ in range(5):
            events = drawn(query, draw)
            try:
                expected = trends(query, events, **READ, limit=4000)
            except LimitError:
                return
            if expected:
                break
        found = tl.trends(query, events, **READ, all=True).rows()
        listed = [
            (r["window_start"], *zip(r["events"], r["variables"], strict=True)) for r in found
        ]
        assert sorted(listed) == sorted((one.window[0], *one.elements) for one in expected)
        sizes.append(len(expected))

    check()
    assert sum(size > 0 for size in sizes) >= len(sizes) // 2
