"""Limits of memory, and warnings of time: what is refused or told, before it happens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import trendloom as tl
from trendloom.cli.main import app
from trendloom.engine import estimate
from trendloom.engine.run import Run
from trendloom.errors import LimitError, TrendloomError, TrendloomWarning
from trendloom.hosts.local.order import Order
from trendloom.hosts.local.scanned import Batches
from trendloom.hosts.scan import duck

if TYPE_CHECKING:
    from pathlib import Path

FOLDED = "RETURN COUNT(*) PATTERN A+"
LOOKED_UP = "RETURN COUNT(*), SUM(A.x) PATTERN A+ WHERE A.x < NEXT(A).x"
SCANNED = "RETURN COUNT(*) PATTERN A+ WHERE A.x + NEXT(A).x < 1"
ANCHORED = "RETURN COUNT(*) PATTERN SEQ(A a, A+ b) WHERE a.x < b.x"
DISTINCT = "RETURN COUNT(DISTINCT A) PATTERN A+ WHERE A.x < NEXT(A).x"
PER_KEY = "RETURN k, COUNT(*) PATTERN A+ GROUP-BY k"


def events(count: int, keys: int = 7) -> pa.Table:
    draw = np.random.default_rng(1)
    return pa.table(
        {"t": np.arange(count), "x": draw.random(count), "k": draw.integers(0, keys, count)}
    )


def run(text: str, given: pa.Table, **options: object) -> tl.Result:
    return tl.run(text, given, time="t", event_type="A", **options)  # type: ignore[arg-type]


# ── memory ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text", [FOLDED, LOOKED_UP, PER_KEY, f"{LOOKED_UP} WITHIN 50 s SLIDE 25 s"]
)
def test_a_limit_changes_no_row(text: str) -> None:
    given = events(30_000)
    assert run(text, given, memory_limit="64 MB").rows() == run(text, given).rows()
    shuffled = given.take(np.random.default_rng(2).permutation(len(given)))
    assert run(text, shuffled, memory_limit="64 MB").rows() == run(text, given).rows()


def test_events_that_wait_are_refused_beyond_the_limit() -> None:
    with pytest.raises(LimitError, match="Events of windows that are not over take some") as caught:
        run(LOOKED_UP, events(60_000), memory_limit="8 MB")
    assert "the limit is 8.0 MB, and half of it is for them" in str(caught.value)
    assert "shorter WITHIN" in str(caught.value)
    # What is folded, or over soon, does not wait.
    run(FOLDED, events(60_000), memory_limit="8 MB")
    run(f"{LOOKED_UP} WITHIN 50 s", events(20_000), memory_limit="8 MB")


def test_result_rows_are_refused_beyond_the_limit() -> None:
    with pytest.raises(LimitError, match="The rows of the result take some"):
        run(PER_KEY, events(60_000, keys=50_000).sort_by("k"), memory_limit="4 MB")


def test_rows_are_not_sorted_in_memory_that_is_not_there() -> None:
    given = events(60_000).sort_by("x")
    assert run(FOLDED, given).order == Order.IN_MEMORY.value
    assert run(FOLDED, given, memory_limit="2 MB").order == Order.BY_DUCKDB.value


@pytest.mark.parametrize("limit", ["much", "1 KB", True, 1.5])
def test_limits_that_say_nothing(limit: object) -> None:
    with pytest.raises(TrendloomError, match="memory limit"):
        run(FOLDED, events(5), memory_limit=limit)


def test_the_option_of_the_command_line(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    path = tmp_path / "events.parquet"
    pq.write_table(events(60_000), path)
    given = ["-i", str(path), "-t", "t", "--event-type", "A", "--memory-limit", "8 MB"]
    assert CliRunner().invoke(app, ["run", "-q", FOLDED, *given]).exit_code == 0
    refused = CliRunner().invoke(app, ["run", "-q", LOOKED_UP, *given])
    assert refused.exit_code == 1
    assert "--memory-limit" in refused.stderr


@pytest.mark.parametrize(
    "error", [MemoryError("Unable to allocate 9 GiB"), pa.ArrowMemoryError("malloc of 9")]
)
def test_memory_that_runs_out_is_an_error_that_names_what_grew(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(Run, "finish", fail)
        with pytest.raises(LimitError) as caught:
            run(LOOKED_UP, events(100))
    assert str(caught.value).splitlines()[0] == (
        f"Memory ran out ({error}). What grows is all events of a partition, single ones "
        "with their sums."
    )
    with monkeypatch.context() as patch:
        patch.setattr("trendloom.cet.graphs.steps_of", fail)
        found = tl.trends("PATTERN A+", events(9), time="t", event_type="A", all=True)
        with pytest.raises(LimitError, match="What grows is the events of open windows"):
            found.to_arrow()


def test_memory_that_runs_out_while_rows_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    class Reader:
        def read_next_batch(self) -> None:
            raise pa.ArrowMemoryError("malloc of 9")

        def close(self) -> None: ...

    rows = Batches.rows

    def fail(batches: Batches) -> object:
        batches._reader = Reader()  # type: ignore[assignment]
        return rows(batches)

    monkeypatch.setattr(Batches, "rows", fail)
    with pytest.raises(LimitError, match="the rows of the scan"):
        run(FOLDED, events(10))


def test_duckdb_without_memory_or_disk_to_spill_to(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = duck.connect

    def small(*_: object) -> object:
        made = connect(None, "8MiB")
        made.execute("SET max_temp_directory_size = '0KiB'")
        return made

    monkeypatch.setattr(duck, "connect", small)
    reader = events(2_000_000).to_reader()
    with pytest.raises(LimitError, match="do not fit while they are read and sorted"):
        run(FOLDED, reader)  # type: ignore[arg-type]


# ── time ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("text", [SCANNED, ANCHORED, DISTINCT])
def test_quadratic_plans_warn_before_they_begin(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[bool] = []
    evaluate = estimate.seconds
    monkeypatch.setattr(estimate, "LONG", 1e-5)
    monkeypatch.setattr(estimate, "seconds", lambda *given: begun.append(True) or evaluate(*given))
    with pytest.warns(TrendloomWarning, match="No index serves the conditions") as caught:
        result = run(text, events(100))
    assert len(caught) == len(result.warnings) == len(begun) == 1
    assert "100 events will take about 0 seconds" in str(caught[0].message)


@pytest.mark.parametrize("text", [FOLDED, LOOKED_UP, PER_KEY, f"{SCANNED} SEMANTICS contiguous"])
def test_plans_that_are_not_quadratic_do_not_warn(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimate, "LONG", 1e-9)
    run(text, events(300))  # warnings are errors


def test_the_estimate_grows_with_the_square_of_windows_and_not_of_the_input(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[float] = []
    seconds = estimate.seconds

    def note(*given: object) -> float:
        found.append(seconds(*given))  # type: ignore[arg-type]
        return found[-1]

    monkeypatch.setattr(estimate, "seconds", note)

    def expected(text: str, count: int) -> float:
        found.clear()
        run(text, events(count), threads=1)
        return sum(found)

    assert expected(SCANNED, 4_000) == pytest.approx(4 * expected(SCANNED, 2_000), rel=0.2)
    windowed = f"{SCANNED} WITHIN 100 s SLIDE 100 s"
    assert expected(windowed, 4_000) == pytest.approx(2 * expected(windowed, 2_000), rel=0.2)
    keyed = f"{SCANNED} GROUP-BY k"
    assert expected(keyed, 4_000) < expected(SCANNED, 4_000) / 3


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (12, "about 12 seconds"),
        (89, "about 89 seconds"),
        (100, "about 2 minutes"),
        (7_300, "about 2 hours"),
        (3e8, "about 3,472 days"),
    ],
)
def test_times_in_words(seconds: float, words: str) -> None:
    assert estimate.in_words(seconds) == words
