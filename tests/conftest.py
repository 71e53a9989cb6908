"""What the tests of several folders share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from trendloom.hosts.local import running
from trendloom.hosts.local.scanned import Batches
from trendloom.hosts.scan import duck

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb
    import pyarrow as pa

HERE = Path(__file__).parent
MANY_CASES = ("engine", "generated", "workload")
"""Folders whose tests are about what comes after the scan."""


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
