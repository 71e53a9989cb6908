"""What docs/concurrency.md says is safe: threads, forks and asyncio, each line a test."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import trendloom as tl
from trendloom.errors import StateError, TrendloomError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

READ = {"time": "time", "type": "type"}
EVENTS = [
    {"time": t, "type": "AABABB"[t % 6], "x": t * 7 % 5, "k": "uv"[t % 2]} for t in range(240)
]
TABLE = pa.Table.from_pylist(EVENTS)
QUERIES = {
    "rises": "RETURN k, COUNT(*) AS n, SUM(A.x) AS s PATTERN SEQ(A+, B) GROUP-BY k "
    "WITHIN 6 s SLIDE 3 s",
    "pairs": "RETURN COUNT(*) AS n PATTERN SEQ(A, B) WHERE A.x < NEXT(B).x WITHIN 5 s",
    "loops": "RETURN COUNT(*) AS n PATTERN (SEQ(A, B))+ WITHIN 4 s SLIDE 4 s",
}
TURNS = 4


@pytest.fixture(autouse=True)
def many_switches() -> Iterator[None]:
    """Threads take turns a thousand times as often as they do by default."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    return {name: tl.run(text, TABLE, **READ).rows() for name, text in QUERIES.items()}


def at_once(*jobs: Callable[[], Any]) -> list[Any]:
    """What the jobs return, all begun at the same moment."""
    ready = threading.Barrier(len(jobs))

    def begun(job: Callable[[], Any]) -> Any:
        ready.wait()
        return job()

    with ThreadPoolExecutor(len(jobs)) as pool:
        return [one.result() for one in [pool.submit(begun, job) for job in jobs]]


# ── runs ─────────────────────────────────────────────────────────────────────────────────────


def test_runs_in_many_threads_share_nothing(expected: dict[str, Any], tmp_path: Path) -> None:
    """Text, one query object, one table and one file for all."""
    file = tmp_path / "events.parquet"
    pq.write_table(TABLE, file)
    checked = {name: tl.query(text) for name, text in QUERIES.items()}

    def run(name: str, asked: Any, events: Any) -> tuple[str, Any]:
        return name, tl.run(asked, events, **READ).rows()

    jobs = [
        lambda name=name, asked=asked, events=events: run(name, asked, events)
        for name, text in QUERIES.items()
        for asked in (text, checked[name])
        for events in (TABLE, file)
    ]
    for name, rows in at_once(*jobs):
        assert rows == expected[name]


def test_one_workload_runs_in_many_threads(expected: dict[str, Any]) -> None:
    several = tl.workload(QUERIES)
    for results in at_once(*[lambda: several.run(TABLE, **READ)] * TURNS):
        assert {name: results[name].rows() for name in QUERIES} == expected


def test_a_run_that_is_cancelled_leaves_the_others_alone(expected: dict[str, Any]) -> None:
    cancel = threading.Event()
    cancel.set()

    def cancelled() -> None:
        with pytest.raises(TrendloomError, match="cancelled"):
            tl.run(QUERIES["pairs"], TABLE, **READ, cancel=cancel)

    found = at_once(cancelled, *[lambda: tl.run(QUERIES["pairs"], TABLE, **READ).rows()] * TURNS)
    assert found[1:] == [expected["pairs"]] * TURNS


def test_asyncio_runs_in_threads(expected: dict[str, Any]) -> None:
    async def all_of_them() -> list[Any]:
        jobs = [asyncio.to_thread(tl.run, text, TABLE, **READ) for text in QUERIES.values()]
        return await asyncio.gather(*jobs)

    assert [one.rows() for one in asyncio.run(all_of_them())] == list(expected.values())


PROCESSES = f"""
import multiprocessing
import trendloom as tl

QUERY = {QUERIES["rises"]!r}
EVENTS = {EVENTS!r}

def rows(_=None):
    return tl.run(QUERY, EVENTS, time="time", type="type").rows()

if __name__ == "__main__":
    here = rows()
    assert len(here) > 10
    for way in ("fork", "spawn"):
        with multiprocessing.get_context(way).Pool(2) as pool:
            assert pool.map(rows, range(4)) == [here] * 4
    assert rows() == here
"""


def test_forked_and_spawned_processes_run_queries_of_their_own(tmp_path: Path) -> None:
    script = tmp_path / "processes.py"
    script.write_text(PROCESSES)
    command = [sys.executable, str(script)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert run.returncode == 0, run.stderr


# ── live workloads ───────────────────────────────────────────────────────────────────────────


def pushed_by(live: tl.LiveWorkload, mine: list[pa.Table]) -> list[tl.Results]:
    return [live.push(events) for events in mine]


@pytest.mark.parametrize("mode", ["append", "update"])
def test_a_live_workload_is_pushed_by_many_threads(mode: str, expected: dict[str, Any]) -> None:
    """All events are within the delay, so that the rows do not depend on who comes first."""
    live = tl.workload(QUERIES).live(**READ, watermark="1000 s", mode=mode)
    slices = [TABLE.slice(at, 6) for at in range(0, 240, 6)]
    steps = at_once(*(lambda n=n: pushed_by(live, slices[n::TURNS]) for n in range(TURNS)))
    results = [*(one for found in steps for one in found), live.finish()]
    assert sum(one.events for one in results) == 240
    assert live.late_events == 0
    for name in ("rises", "loops") if mode == "update" else QUERIES:
        assert [row for one in results for row in one[name].rows()] == expected[name]


def test_events_behind_another_thread_s_watermark_are_late_and_nothing_is_lost() -> None:
    live = tl.workload(QUERIES).live(**READ, watermark="2 s")
    slices = [TABLE.slice(at, 6) for at in range(0, 240, 6)]
    steps = at_once(*(lambda n=n: pushed_by(live, slices[n::TURNS]) for n in range(TURNS)))
    results = [*(one for found in steps for one in found), live.finish()]
    late = pa.concat_tables([one.late for one in results if one.late.num_columns])
    assert late.num_rows == live.late_events
    gone = set(late.column("time").to_pylist())
    used = [row for row in EVENTS if row["time"] not in gone]
    for name, text in QUERIES.items():
        rows = [row for one in results for row in one[name].rows()]
        found = sorted(map(str, rows))
        assert found == sorted(map(str, tl.run(text, used, **READ).rows()))


def test_queries_change_and_states_are_saved_while_events_are_pushed(
    expected: dict[str, Any],
) -> None:
    asked = {name: QUERIES[name] for name in ("rises", "loops")}
    live = tl.workload(asked).live(**READ, watermark="1000 s")
    slices = [TABLE.slice(at, 6) for at in range(0, 240, 6)]

    def change() -> list[tl.Results]:
        for _ in range(6):
            live.add("pairs", QUERIES["pairs"])
            live.replace("pairs", QUERIES["loops"])
            live.remove("pairs")
        return []

    def save() -> list[tl.Results]:
        for _ in range(6):
            queries, state = live.workload, live.save()
            # Another thread may have changed the queries in between: then the state says so.
            with suppress(StateError):
                queries.live(**READ, watermark="1000 s", state=state).finish()
        return []

    jobs = [lambda n=n: pushed_by(live, slices[n::2]) for n in range(2)]
    steps = at_once(*jobs, change, save)
    results = [*(one for found in steps for one in found), live.finish()]
    for name in asked:
        assert [row for one in results for row in one[name].rows()] == expected[name]


def test_one_of_many_threads_finishes_and_the_others_are_told() -> None:
    live = tl.workload(QUERIES).live(**READ)
    live.push(EVENTS)

    def finish() -> str:
        try:
            live.finish()
        except TrendloomError as error:
            return str(error).split(":", 1)[0]
        return "finished"

    told = sorted(at_once(*[finish] * TURNS))
    assert told == ["There are no more events"] * (TURNS - 1) + ["finished"]
