"""What can be tested of the comparison with other systems where none of them is installed."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from benchmarks.against_peers import same
from benchmarks.peers import data, processes
from benchmarks.peers.contests import CONTESTS, Contest

from trendloom import query


def test_both_files_hold_the_same_events(tmp_path: Path) -> None:
    path = data.write(tmp_path, 500, 7)
    table = pq.read_table(path)
    flat = path.with_suffix(".bin").read_bytes()
    assert np.frombuffer(flat[:2000], "<i4").tolist() == table["key"].to_pylist()
    assert ["CAB"[k] for k in flat[2000:]] == table["type"].to_pylist()
    assert table["ts"].to_numpy().argsort(kind="stable").tolist() == list(range(500))


def test_other_counts_are_told_with_the_first_key() -> None:
    same("here", "Peer", {1: 5}, {1: 5})
    same("here", "Peer", {1: 10**20 + 1}, {1: 1e20})
    with pytest.raises(AssertionError, match="here: of key 2 Peer counts 0 trends, Trendloom 4"):
        same("here", "Peer", {1: 5}, {1: 5, 2: 4})
    with pytest.raises(AssertionError, match="of key 1 Peer counts 1000000000001 trends"):
        same("here", "Peer", {1: 10**12 + 1}, {1: 10**12})


def test_an_absent_environment_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "ENVIRONMENT", tmp_path / "none")
    with pytest.raises(FileNotFoundError, match="is missing; `make bench-peers` makes it"):
        processes.database("duckdb", tmp_path / "events.parquet", limit=1)


def test_versions_are_those_of_the_lock_file() -> None:
    assert processes.version("apache-flink-libraries").startswith("2.3")
    with pytest.raises(LookupError, match="pins no siddhi; run `make lock-peers`"):
        processes.version("siddhi")


@pytest.mark.parametrize("contest", CONTESTS, ids=lambda contest: contest.name)
def test_every_query_counts_per_key(contest: Contest) -> None:
    assert query(contest.text).plan.scan.partition == ("key",)
