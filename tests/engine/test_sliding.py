"""Windows that overlap: maps of panes give what a vector per window gives."""

from __future__ import annotations

import random
from math import isclose
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from trendloom.api import query, run
from trendloom.engine import sliding
from trendloom.engine.chunk import make_chunk
from trendloom.engine.setting import Setting
from trendloom.engine.sliding import Panes, cut_panes
from trendloom.errors import NumberError
from trendloom.testing import same_rows

Rows = list[dict[str, Any]]
EACH = pytest.mark.parametrize("semantics", ["any", "next", "contiguous"])


def force(monkeypatch: pytest.MonkeyPatch, *, maps: bool) -> None:
    monkeypatch.setattr(Panes, "pay", lambda *_: maps)
    monkeypatch.setattr(sliding, "LEAST_VISITS", -1)


def ask(text: str, events: Rows) -> Rows:
    rows: Rows = run(text, events, time="time", type="type").rows()
    return rows


def stream(count: int, seed: int) -> Rows:
    """Ties, gaps, nulls, rows that match nothing, and several partitions."""
    chance = random.Random(seed)
    time = 0
    events = []
    for _ in range(count):
        time += chance.choice([0, 1, 1, 1, 2, 3]) if chance.random() < 0.99 else 5_000
        events.append(
            {
                "time": time,
                "type": chance.choice("AABBC"),
                "x": chance.choice([None, 1, 2, -3]),
                "y": chance.choice([None, 0.1, 0.7, -1.3]),
                "g": chance.choice("uv"),
            }
        )
    return events


@EACH
@pytest.mark.parametrize(
    "window",
    [
        "WITHIN 90 s SLIDE 7 s",
        "WITHIN 200 s SLIDE 80 s",
        "WITHIN 25 s",
        "WITHIN 9 EVENTS SLIDE 2 EVENTS",
    ],
)
@pytest.mark.parametrize("pattern", ["(SEQ(A+, B))+", "SEQ(A, B)", "SEQ(A u, A? v, B)"])
def test_maps_give_what_vectors_give(
    semantics: str, window: str, pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    variable = "u" if "u" in pattern else "A"
    text = f"""RETURN g, COUNT(*) AS n, SUM({variable}.x) AS s, AVG({variable}.y) AS a,
        VARIANCE(B.y) AS v, MIN(B.x) AS low, MAX(LENGTH(*)) AS longest
        PATTERN {pattern} SEMANTICS {semantics} GROUP-BY g {window}"""
    events = stream(500, 3)
    force(monkeypatch, maps=False)
    expected = ask(text, events)
    force(monkeypatch, maps=True)
    assert len(expected) > 20
    assert same_rows(expected, ask(text, events), keys=("g",), scale=1e3) is None


@EACH
def test_counts_alone_in_large_panes(semantics: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"""RETURN COUNT(*) AS n, LOG2(COUNT(*)) AS l PATTERN (SEQ(A+, B))+
        SEMANTICS {semantics} WITHIN 900 s SLIDE 300 s"""
    events = stream(3_000, 4)
    force(monkeypatch, maps=False)
    expected = ask(text, events)
    force(monkeypatch, maps=True)
    assert same_rows(expected, ask(text, events), keys=(), scale=1e3) is None


def test_counts_beyond_doubles_keep_their_logarithm(monkeypatch: pytest.MonkeyPatch) -> None:
    force(monkeypatch, maps=True)
    events = [{"time": t, "type": "A"} for t in range(6000)]
    text = "RETURN LOG2(COUNT(*)) AS l PATTERN A+ WITHIN 3000 s SLIDE {}"
    for slide in ("1000 s", "10 s"):
        rows = {row["window_start"]: row["l"] for row in ask(text.format(slide), events)}
        for start in (0, 1000, 3000):
            assert isclose(rows[start], 3000, rel_tol=1e-12)


def test_a_small_finished_count_survives_beside_huge_partial_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    force(monkeypatch, maps=True)
    events = [{"time": 0, "type": "A"}, {"time": 1, "type": "C"}]
    events += [{"time": t, "type": "A"} for t in range(2, 3000)]
    text = "RETURN COUNT(*) AS n PATTERN SEQ(A+, C) WITHIN 4000 s SLIDE 1000 s"
    assert [row["n"] for row in ask(text, events)] == [1] * 4


# ── integers ─────────────────────────────────────────────────────────────────────────────────

SUMS = "RETURN SUM(B.x) AS s PATTERN SEQ(A, B) SEMANTICS any WITHIN 20 s SLIDE 5 s"
HUGE = 1 << 62


def test_an_overflow_that_no_window_needs_is_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    force(monkeypatch, maps=True)
    events = [{"time": t, "type": "B", "x": HUGE} for t in range(1, 9)]
    events += [{"time": 11, "type": "A", "x": 0}, {"time": 12, "type": "B", "x": 5}]
    assert [row["s"] for row in ask(SUMS, events)] == [5] * 4
    with pytest.raises(NumberError, match="64-bit"):
        ask(SUMS, [{"time": 0, "type": "A", "x": 0}, *events])


def test_what_overflows_in_a_map_only_is_left_to_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second pane alone adds 2^63 per trend; the window has 2^62 less to begin with."""
    force(monkeypatch, maps=True)
    kinds = [(0, "A", 0), (1, "B", -HUGE), (6, "B", HUGE), (7, "B", HUGE)]
    events = [{"time": t, "type": kind, "x": x} for t, kind, x in kinds]
    assert {row["window_start"]: row["s"] for row in ask(SUMS, events)}[0] == HUGE


# ── changes ──────────────────────────────────────────────────────────────────────────────────


@EACH
def test_sums_in_another_order_are_no_change(
    semantics: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(8)
    events = [{"time": t, "type": chance.choice("AB"), "y": chance.random()} for t in range(300)]
    text = f"RETURN SUM(A.y) AS s, VARIANCE(A.y) AS v PATTERN SEQ(A, B) SEMANTICS {semantics} "
    text += "WITHIN 12 s"
    force(monkeypatch, maps=False)
    expected = [row["window_end"] for row in ask(text, events)]
    force(monkeypatch, maps=True)
    assert [row["window_end"] for row in ask(text, events)] == expected


@pytest.mark.filterwarnings("ignore:The times of column 'time'")
def test_gaps_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    force(monkeypatch, maps=True)
    events = [{"time": t, "type": "A"} for t in (0, 1, 10**12, 10**12 + 1, 10**15)]
    assert len(ask("RETURN COUNT(*) PATTERN A+ WITHIN 60 s SLIDE 1 s", events)) == 2 * 61 + 60
    assert len(ask("RETURN COUNT(*) PATTERN A+ WITHIN 60 s", events)) == 4 + 4 + 2


# ── the choice ───────────────────────────────────────────────────────────────────────────────


def letters(count: int, ties: float) -> pa.RecordBatch:
    """A and B by chance, as a host delivers them."""
    chance = np.random.default_rng(1)
    time = np.cumsum(chance.random(count) >= ties)
    mask = chance.integers(1, 3, count, np.uint8)
    return pa.RecordBatch.from_arrays([pa.array(time), pa.array(mask)], names=["time", "mask"])


@pytest.mark.parametrize(
    ("window", "maps"),
    [
        ("WITHIN 6000 ms SLIDE 6000 ms", None),
        ("WITHIN 6000 ms SLIDE 5000 ms", False),
        ("WITHIN 6000 ms SLIDE 3000 ms", True),
        ("WITHIN 6000 ms SLIDE 100 ms", True),
        ("WITHIN 6000 ms SLIDE 1 ms", True),
        ("WITHIN 2 ms SLIDE 1 ms", False),
        ("WITHIN 1000 ms", True),
        ("WITHIN 2 ms", False),
        ("WITHIN 1000 EVENTS SLIDE 10 EVENTS", True),
    ],
)
def test_the_cheaper_way_is_taken(window: str, maps: bool | None) -> None:
    plan = query(f"RETURN COUNT(*) PATTERN (SEQ(A+, B))+ {window}").plan
    setting = Setting(plan, [], [], 1_000_000)
    chunk = make_chunk(letters(20_000, ties=0.0), 0)
    panes = cut_panes(chunk, setting.windows.runs(chunk))
    assert (None if panes is None else panes.pay(setting.evaluators()[0])) is maps


def test_windows_of_events_that_part_simultaneous_ones_are_not_cut() -> None:
    plan = query("RETURN COUNT(*) PATTERN A+ WITHIN 10 EVENTS SLIDE 3 EVENTS").plan
    setting = Setting(plan, [], [], 1_000_000)
    chunk = make_chunk(letters(100, ties=0.9), 0)
    assert cut_panes(chunk, setting.windows.runs(chunk)) is None
