"""What the tests of several folders share."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import against_oracle
from trendloom.hosts.local import running
from trendloom.hosts.local.scanned import Batches
from trendloom.hosts.scan import duck

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import duckdb
    import pyarrow as pa

HERE = Path(__file__).parent
CASES = "generated cases"
MANY_CASES = ("engine", "generated", "workload")
"""Folders whose tests are about what comes after the scan."""
DRAWN = (
    *("acel", "benchmarks", "engine", "examples", "generated", "oracle", "papers", "spark"),
    *("trends", "workload"),
)
"""Folders whose streams have ties, and patterns without events, by design."""
EXPECTED = ("TieWarning", "TypeNameWarning")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.relative_to(HERE).parts[0] in DRAWN:
            for name in EXPECTED:
                item.add_marker(pytest.mark.filterwarnings(f"ignore::trendloom.errors.{name}"))


def pytest_configure() -> None:
    """In the long run every seed is new, the same for all workers, and told: it repeats the run."""
    if "TRENDLOOM_FUZZ" in os.environ:
        os.environ.setdefault("TRENDLOOM_SEED", str(random.SystemRandom().randrange(1 << 32)))


@pytest.fixture(autouse=True)
def counted_cases(record_property: Callable[[str, object], None]) -> Iterator[None]:
    """Tells how many cases a test draws, to whichever process sums them up."""
    before = against_oracle.drawn_cases
    yield
    if against_oracle.drawn_cases > before:
        record_property(CASES, against_oracle.drawn_cases - before)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reports = [one for some in terminalreporter.stats.values() for one in some]
    drawn = sum(
        value
        for report in reports
        if getattr(report, "when", None) == "teardown"
        for name, value in report.user_properties
        if name == CASES
    )
    if drawn:
        terminalreporter.write_line(f"{drawn:,} {CASES}")
    if "TRENDLOOM_SEED" in os.environ:
        told = f"TRENDLOOM_SEED={os.environ['TRENDLOOM_SEED']} repeats this run"
        terminalreporter.write_line(told)


@pytest.fixture(scope="session")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with duck.connect() as made:
        duck.use_threads(made, 1)
        yield made


@pytest.fixture(autouse=True)
def one_database(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of generated cases share a database, each with a connection of its own.

    To make and remove one took a fourth of a case's time. Registered events and the time zone are
    a connection's; in all other folders every query has its own database, as users' queries do.
    """
    if request.path.relative_to(HERE).parts[0] not in MANY_CASES:
        return
    shared: duckdb.DuckDBPyConnection = request.getfixturevalue("database")

    def connect(*_: object) -> duckdb.DuckDBPyConnection:
        own = shared.cursor()
        own.execute("SET TimeZone = 'UTC'")
        return own

    monkeypatch.setattr(duck, "connect", connect)


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of batches, in turn; no input is few rows, and none can be held."""
    sizes: list[int] = []
    rows = Batches.rows

    def slices(batches: Batches) -> Iterator[pa.RecordBatch]:
        turn = 0
        for batch in rows(batches):
            at = 0
            while at < batch.num_rows:
                size = sizes[turn % len(sizes)]
                yield batch.slice(at, size)
                at, turn = at + size, turn + 1

    monkeypatch.setattr(Batches, "rows", slices)
    monkeypatch.setattr(running, "FEW", 0)
    monkeypatch.setattr(running, "HELD", 0)
    return sizes
