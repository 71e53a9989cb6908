"""Interrupts and cancelling while rows are read, sorted, folded, searched and listed."""

import asyncio
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import trendloom as tl
from interrupting import Interrupted, interrupted_after

# That they take minutes is told before they begin.
pytestmark = pytest.mark.filterwarnings("ignore:No index serves")

EVENTS = 400_000
CPU_AFTER = 0.2
"""Seconds of processor time that may pass in half a second after an interrupt."""
SCANNED = "PATTERN A+ WHERE A.x + NEXT(A).x < 1"


def events(count: int) -> pa.Table:
    draw = np.random.default_rng(1)
    return pa.table({"t": np.arange(count), "x": draw.random(count) * 2, "k": draw.random(count)})


def endless() -> pa.RecordBatchReader:
    """DuckDB reads it until it is interrupted."""
    some = events(2_048).to_batches()[0]

    def batches() -> Iterator[pa.RecordBatch]:
        while True:
            yield some

    return pa.RecordBatchReader.from_batches(some.schema, batches())


def pair_scan(given: object, **options: object) -> None:
    tl.run(f"RETURN COUNT(*) {SCANNED}", given, time="t", event_type="A", **options)  # type: ignore[arg-type]


def anchored(given: object) -> None:
    text = "RETURN COUNT(*) PATTERN SEQ(A a, A+ b) WHERE a.x + b.x < 1"
    tl.run(text, given, time="t", event_type="A")


def distinct(given: object) -> None:
    tl.run("RETURN COUNT(DISTINCT A) PATTERN A+", given, time="t", event_type="A")


def exact(given: object) -> None:
    tl.run(f"RETURN COUNT(*) {SCANNED}", given, time="t", event_type="A", numbers="exact")


def workload(given: object) -> None:
    tl.workload([f"RETURN COUNT(*) {SCANNED}"]).run(given, time="t", event_type="A")


def listing(given: object) -> None:
    text = "PATTERN A+ WHERE A.x + NEXT(A).x < 0.0001"
    for _ in tl.trends(text, given, time="t", event_type="A", all=True):
        pass


def by_value(given: object) -> None:
    text = "RETURN COUNT(*), SUM(A.x), MAX(A.k) PATTERN A+ WHERE A.x < NEXT(A).x"
    tl.run(text, given, time="t", event_type="A")


def by_two_values(given: object) -> None:
    text = "RETURN SUM(A.x) PATTERN A+ WHERE A.x < NEXT(A).x AND A.k < NEXT(A).k"
    tl.run(text, given, time="t", event_type="A")


LONG: dict[str, Callable[[object], None]] = {
    "pair scan": pair_scan,
    "anchored": anchored,
    "distinct": distinct,
    "exact": exact,
    "workload": workload,
    "listing": listing,
    "by value": by_value,
    "by two values": by_two_values,
}
SIZES = {"anchored": 4_000, "by value": 2_000_000, "by two values": 2_000_000}


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary directories are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", LONG)
def test_an_interrupt_stops_what_would_take_minutes(name: str, scratch: Path) -> None:
    LONG[name](events(20))  # compiled before the clock runs
    large = events(SIZES.get(name, EVENTS))
    with interrupted_after(0.5) as took, pytest.raises(Interrupted):
        LONG[name](large)
    assert took() < 1
    before = time.process_time()
    time.sleep(0.5)
    assert time.process_time() - before < CPU_AFTER, "the kernel goes on"
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("lists", [False, True])
def test_an_interrupt_stops_duckdb(lists: bool, scratch: Path) -> None:
    with interrupted_after(0.5) as took, pytest.raises(Interrupted):
        (listing if lists else pair_scan)(endless())
    assert took() < 1
    assert list(scratch.iterdir()) == []


def test_a_cancelled_run_ends_in_whichever_thread_it_is(scratch: Path) -> None:
    pair_scan(events(20))
    cancel = threading.Event()

    async def give_up() -> None:
        running = asyncio.to_thread(pair_scan, events(EVENTS), cancel=cancel)
        try:
            await asyncio.wait_for(asyncio.shield(running), 0.5)
        except TimeoutError:
            cancel.set()

    started = time.monotonic()
    asyncio.run(give_up())  # ends its threads before it returns
    assert time.monotonic() - started < 1.5
    assert list(scratch.iterdir()) == []


def test_a_listing_is_cancelled_between_and_inside_of_batches() -> None:
    cancel = threading.Event()
    found = tl.trends("PATTERN A+", events(20), time="t", event_type="A", all=True, cancel=cancel)
    batches = iter(found)
    next(batches)
    cancel.set()
    with pytest.raises(tl.errors.CancelledError):
        next(batches)
