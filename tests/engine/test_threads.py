"""Shares of runs over threads: how they are cut, and that they change nothing."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from trendloom.api import query, run
from trendloom.engine import evaluate, pieces, searching
from trendloom.engine.machine import usable_cores
from trendloom.engine.pieces import Vectors
from trendloom.engine.run import Run
from trendloom.engine.setting import Setting
from trendloom.engine.shares import Cut, cut_runs, cut_windows
from trendloom.engine.threads import together
from trendloom.engine.windows import Runs
from trendloom.errors import NumberError, TrendloomError

EACH = pytest.mark.parametrize("semantics", ["any", "next", "contiguous"])


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads for the smallest chunk."""
    monkeypatch.setattr(pieces, "LEAST_EVENTS", 1)
    monkeypatch.setattr(evaluate, "LEAST_EVENTS", 1)
    monkeypatch.setattr(searching, "LEAST_SEARCHED", 1)


# ── threads ──────────────────────────────────────────────────────────────────────────────────


def test_jobs_run_side_by_side_and_answer_in_order() -> None:
    meeting = threading.Barrier(3, timeout=30)

    def job(number: int) -> tuple[int, int]:
        meeting.wait()
        return number, threading.get_ident()

    answers = together([lambda k=k: job(k) for k in range(3)])
    assert [number for number, _ in answers] == [0, 1, 2]
    assert len({thread for _, thread in answers}) == 3
    assert answers[0][1] == threading.get_ident()


@pytest.mark.parametrize("who", [0, 1])
def test_an_error_reaches_the_caller_as_it_is(who: int) -> None:
    error = NumberError("too large", remedy="none")

    def job(number: int) -> None:
        if number == who:
            raise error

    with pytest.raises(NumberError) as told:
        together([lambda k=k: job(k) for k in range(2)])
    assert told.value is error


def test_what_numpy_does_about_bad_numbers_is_the_same_in_every_thread() -> None:
    with np.errstate(divide="raise"):
        assert [e["divide"] for e in together([np.geterr] * 2)] == ["raise"] * 2


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="Linux says which cores")
def test_cores_are_those_that_may_be_used() -> None:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        assert usable_cores() == 1
    finally:
        os.sched_setaffinity(0, before)
    assert usable_cores() == len(before)


# ── cuts ─────────────────────────────────────────────────────────────────────────────────────


def sizes(*events: int) -> Any:
    return np.array(events, np.int64)


def test_many_runs_are_cut_between_them() -> None:
    assert cut_runs(sizes(*[10] * 1000), 2) == [Cut(500, 0)]
    assert cut_runs(sizes(*[10] * 1000), 2, dearer=1.5) == [Cut(500, 0)]
    assert cut_runs(sizes(*[10] * 1000), 4) == [Cut(250, 0), Cut(500, 0), Cut(750, 0)]
    assert cut_runs(sizes(90, 1, 1, 8), 2) == [Cut(1, 0)]


def test_one_run_is_cut_by_what_its_pieces_cost() -> None:
    """A vector of 600 events takes as long as a map of 400 at 1.5 times the price."""
    (cut,) = cut_runs(sizes(1000), 2, dearer=1.5)
    assert cut.run == 0
    assert cut.offset == pytest.approx(600, abs=2)
    first, second = cut_runs(sizes(1000), 3, dearer=2.0)
    assert (first.offset, second.offset) == pytest.approx((500, 750), abs=3)


def test_one_run_stays_whole_where_runs_only_are_shared() -> None:
    assert cut_runs(sizes(1000), 2) == []
    assert cut_runs(sizes(), 2) == []
    assert cut_runs(sizes(0, 0), 2) == []
    assert cut_runs(sizes(5, 5), 1) == []


def test_a_little_is_not_worth_a_map() -> None:
    assert cut_runs(sizes(52, 48), 2, dearer=1.5) == [Cut(1, 0)]
    (cut,) = cut_runs(sizes(10, 90), 2, dearer=1.5)
    assert cut.run == 1
    assert 10 + cut.offset == pytest.approx((100 - 10 - cut.offset) * 1.5, abs=3)


def windows(*bounds: tuple[int, int, int]) -> Runs:
    lo, hi, partition = (np.array(column, np.int64) for column in zip(*bounds, strict=True))
    return Runs(lo, hi, partition, np.arange(len(bounds)))


def test_windows_are_cut_between_partitions_else_where_they_overlap_least() -> None:
    two = [(lo + 50 * p, lo + 50 * p + 10, p) for p in range(2) for lo in range(0, 41, 5)]
    assert cut_windows(windows(*two), 2) == [Cut(9, 0)]
    one = [(lo, lo + 10, 0) for lo in range(0, 191, 5)]
    (cut,) = cut_windows(windows(*one), 2)
    assert 15 <= cut.run <= 23
    # Every window holds nearly everything: two threads would both do nearly everything.
    assert cut_windows(windows(*[(lo, lo + 95, 0) for lo in range(6)]), 2) == []


# ── results ──────────────────────────────────────────────────────────────────────────────────


def table_of(text: str, batch: pa.RecordBatch, keys: int, threads: int, size: int) -> pa.Table:
    plan = query(text).plan
    operands = [pa.float64()] * len(plan.scan.operands)
    running = Run(Setting(plan, operands, [pa.int64()] * keys, 1_000_000_000, threads=threads))
    for at in range(0, batch.num_rows, size):
        running.push(batch.slice(at, size))
    return running.finish()


def batch_of(keys: int, operands: int, count: int = 3_000) -> pa.RecordBatch:
    """Sorted by key and time, with ties."""
    rng = np.random.default_rng(5)
    columns = {"p0": pa.array(np.sort(rng.integers(0, keys, count)))} if keys > 1 else {}
    columns |= {
        "time": pa.array(np.cumsum(rng.random(count) > 0.3)),
        "mask": pa.array(rng.integers(0, 3, count, np.uint8)),
    }
    columns |= {f"x{k}": pa.array(rng.normal(size=count)) for k in range(operands)}
    return pa.RecordBatch.from_pydict(columns)


LANES = "COUNT(*) AS n, SUM(A.x) AS s, MIN(A.x) AS low, VARIANCE(B.x) AS v"


@EACH
@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("window", ["", "WITHIN 40 s SLIDE 40 s", "WITHIN 60 s SLIDE 20 s"])
def test_many_keys_give_the_same_to_the_last_bit(semantics: str, window: str) -> None:
    text = f"""RETURN key, {LANES} PATTERN (SEQ(A+, B))+ SEMANTICS {semantics}
        WHERE [key] GROUP-BY key {window}"""
    batch = batch_of(keys=150, operands=len(query(text).plan.scan.operands))
    one = table_of(text, batch, 1, 1, 2_000)
    assert one.num_rows > 50
    for threads in (2, 3):
        assert table_of(text, batch, 1, threads, 2_000).equals(one)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("semantics", ["any", "next"])
def test_lookups_of_many_keys_give_the_same_to_the_last_bit(semantics: str) -> None:
    text = f"""RETURN key, COUNT(*) AS n, AVG(A.x) AS mean PATTERN SEQ(A+, B)
        SEMANTICS {semantics} WHERE [key] AND A.x < NEXT(A).x GROUP-BY key"""
    batch = batch_of(keys=9, operands=len(query(text).plan.scan.operands), count=900)
    one = table_of(text, batch, 1, 1, 900)
    assert one.num_rows == 9
    for threads in (2, 3):
        assert table_of(text, batch, 1, threads, 900).equals(one)


@EACH
@pytest.mark.usefixtures("few")
def test_one_key_gives_the_same_but_for_rounding(semantics: str) -> None:
    text = f"RETURN {LANES} PATTERN (SEQ(A+, B))+ SEMANTICS {semantics} WITHIN 120 s SLIDE 120 s"
    batch = batch_of(keys=1, operands=len(query(text).plan.scan.operands))
    one = table_of(text, batch, 0, 1, 150)
    assert one.num_rows > 3
    for threads in (2, 3):
        several = table_of(text, batch, 0, threads, 150)
        for name in ("window_start", "low", *(["n"] if semantics != "any" else [])):
            assert several[name].equals(one[name])
        for name in ("n", "s", "v"):
            found, expected = several[name].to_pylist(), one[name].to_pylist()
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.usefixtures("few")
def test_what_overflows_in_a_map_only_is_left_to_the_vector(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The second piece alone adds up 2^63; the run has 2^62 less to begin with."""
    made = []
    make = Vectors._map

    def noted(*arguments: Any) -> Any:
        made.append(make(*arguments))
        return made[-1]

    monkeypatch.setattr(Vectors, "_map", noted)
    huge = 1 << 62
    rows = [("A", 0), ("B", -huge), *[("B", 0)] * 12, ("B", huge), ("B", huge)]
    rows.append(("B", 0))  # The last time point of a batch waits for more of it.
    events = [{"time": t, "type": kind, "x": x} for t, (kind, x) in enumerate(rows)]
    text = "RETURN SUM(B.x) AS s PATTERN SEQ(A, B) SEMANTICS any"
    assert run(text, events, time="time", type="type", threads=2).rows()[0]["s"] == huge
    assert any(piece.maps.integers[1].any() for piece in made)
    with pytest.raises(NumberError, match="64-bit"):
        run(text, [events[0], *events[2:]], time="time", type="type", threads=2)


def test_small_inputs_start_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> None:
        pytest.fail("a thread was started")

    monkeypatch.setattr(threading.Thread, "start", refused)
    text = "RETURN COUNT(*) AS n PATTERN (SEQ(A+, B))+"
    assert table_of(text, batch_of(keys=1, operands=0), 0, 8, 3_000).num_rows == 1


# ── who says how many ────────────────────────────────────────────────────────────────────────


def test_a_task_has_one_thread_and_the_local_host_all_cores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from trendloom.hosts.local import host

    asked = []
    setting = Setting

    def noted(*arguments: Any) -> Setting:
        asked.append(setting(*arguments))
        return asked[-1]

    monkeypatch.setattr(host, "Setting", noted)
    events = [{"time": 1, "type": "A"}]
    for threads in (None, 3):
        run("RETURN COUNT(*) PATTERN A+", events, time="time", type="type", threads=threads)
    assert [one.threads for one in asked] == [usable_cores(), 3]
    assert Setting(query("RETURN COUNT(*) PATTERN A+").plan, [], [], 1).threads == 1


def test_no_thread_at_all_is_refused() -> None:
    with pytest.raises(TrendloomError) as told:
        run("RETURN COUNT(*) PATTERN A+", [], time="time", threads=0)
    assert str(told.value) == (
        "A query cannot run on 0 threads.\n"
        "Give threads=1 or more, or leave it out to use all cores."
    )
