"""`trendloom trends`: lines, files, limits and refusals."""

import csv
import json
import signal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from cli_command import LETTERS
from typer.testing import CliRunner

from trendloom.cet.rows import Sheet
from trendloom.cli.main import app

QUERY = ("trends", "-q", "PATTERN A{2,2}", *LETTERS)
"""Over a1 b2 a3 a4 c5 b6 a7 b8: every pair of the four A."""


def call(*words: str) -> Any:
    return CliRunner().invoke(app, list(words), catch_exceptions=False)


def test_lines() -> None:
    done = call(*QUERY)
    assert done.exit_code == 0
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(row["events"] for row in rows) == [
        [0, 2], [0, 3], [0, 6], [2, 3], [2, 6], [3, 6]
    ]  # fmt: skip
    assert list(rows[0]) == [
        "window_start", "window_end", "trend", "length", "events", "variables"
    ]  # fmt: skip
    assert rows[0]["variables"] == ["A", "A"]


def test_limit_and_all() -> None:
    assert len(call(*QUERY, "--limit", "2").stdout.splitlines()) == 2
    every = ("trends", "-q", "PATTERN (SEQ(A+, B))+", *LETTERS, "--all")
    assert len(call(*every).stdout.splitlines()) == 43


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_files(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"trends.{suffix}"
    done = call(*QUERY, "-o", str(path), "--algorithm", "h", "--memory-limit", "10 MB")
    assert done.exit_code == 0
    assert done.stderr == f"Wrote 6 trends to {path}.\n"
    if suffix == "parquet":
        events = pq.read_table(path)["events"].to_pylist()
    elif suffix == "csv":
        with path.open() as lines:
            events = [json.loads(row["events"]) for row in csv.DictReader(lines)]
    else:
        events = [json.loads(line)["events"] for line in path.read_text().splitlines()]
    assert [0, 2] in events
    assert len(events) == 6
    again = call(*QUERY, "-o", str(path))
    assert again.exit_code == 1
    assert "exists" in again.stderr


def test_an_empty_listing_is_a_file_too(tmp_path: Path) -> None:
    path = tmp_path / "none.csv"
    assert call("trends", "-q", "PATTERN Z+", *LETTERS, "-o", str(path)).exit_code == 0
    assert path.read_text().splitlines()[0].startswith('"window_start","window_end","trend"')


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("-q", "RETURN COUNT(*) PATTERN A+"), 1, "RETURN aggregates trends"),
        (("-q", "PATTERN A+ SEMANTICS next"), 1, "--all"),
        (("-q", "PATTERN A+", "--memory-limit", "much"), 1, "Cannot read the memory limit"),
        (("-q", "PATTERN A+", "--limit", "0"), 2, "--limit"),
        (("-q", "PATTERN A{2,2}", "--max-results", "5"), 1, "There are 6 trends to list"),
        (("-q", "PATTERN A+", "--format", "parquet"), 2, "Parquet needs a file"),
        (("-q", "PATTERN A+", "--top", "2"), 1, "SUM(S.price)"),
        (("-q", "PATTERN A+", "--algorithm", "baseline"), 2, "--algorithm"),
        (("-q", "PATTERN A+", "--optimizer", "best"), 2, "--optimizer"),
    ],
)
def test_refusals(words: tuple[str, ...], code: int, message: str) -> None:
    done = call("trends", *words, *LETTERS)
    assert done.exit_code == code
    assert done.stdout == ""
    assert message in done.stderr


def test_run_says_who_lists_trends() -> None:
    done = call("run", "-q", "PATTERN A+", *LETTERS)
    assert done.exit_code == 1
    assert "trendloom trends" in done.stderr


def test_longest_top_and_sample() -> None:
    query = ("trends", "-q", "PATTERN SEQ(A+, B)", *LETTERS)
    assert len(call(*query, "--longest", "1").stdout.splitlines()) == 1
    assert len(call(*query, "--sample", "5", "--seed", "3").stdout.splitlines()) == 5
    top = call(*query, "--top", "1", "--by", "SUM(B.time)").stdout.splitlines()
    assert [json.loads(line)["events"][-1] for line in top] == [7]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_attributes(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"trends.{suffix}"
    assert call(*QUERY, "--attribute", "time", "--limit", "1", "-o", str(path)).exit_code == 0
    if suffix == "parquet":
        (row,) = pq.read_table(path).to_pylist()
    elif suffix == "csv":
        with path.open() as lines:
            (told,) = csv.DictReader(lines)
        row = {name: json.loads(told[name]) for name in ("events", "attributes")}
    else:
        row = json.loads(path.read_text())
    # The letters come at times 1 to 8.
    assert row["attributes"] == [{"time": event + 1} for event in row["events"]]


def test_going_on_after_a_trend() -> None:
    whole = call(*QUERY).stdout.splitlines()
    for algorithm in ("m", "t", "h"):
        same = call(*QUERY, "--algorithm", algorithm).stdout.splitlines()
        rest = call(*QUERY, "--algorithm", algorithm, "--after", "1", "--limit", "3")
        assert rest.stdout.splitlines() == same[2:5]
    assert call(*QUERY, "--after", str(len(whole) - 1)).stdout == ""


def test_interrupted_output_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C between two batches: what is there can be read, and the message says where it ends."""
    monkeypatch.setattr("trendloom.cet.detection.MOST_TRENDS", 2)
    monkeypatch.setattr("trendloom.cet.rows.MOST_TRENDS", 2)
    taken = Sheet.take

    def take(sheet: Sheet) -> Any:
        signal.raise_signal(signal.SIGINT)
        return taken(sheet)

    monkeypatch.setattr(Sheet, "take", take)
    path = tmp_path / "some.parquet"
    before = signal.getsignal(signal.SIGINT)
    done = call(*QUERY, "-o", str(path))
    assert signal.getsignal(signal.SIGINT) is before
    assert done.exit_code == 130
    table = pq.read_table(path)
    last = table["trend"].to_pylist()[-1]
    assert 0 < table.num_rows < 6
    assert f"Go on with --after {last}." in done.stderr
    monkeypatch.setattr(Sheet, "take", taken)
    rest = call(*QUERY, "--after", str(last)).stdout.splitlines()
    assert table.num_rows + len(rest) == 6


def test_explain_without_and_with_events() -> None:
    words = ("explain", "-q", "PATTERN A{2,2}")
    assert "Detection: chosen per window" in call(*words).stdout
    told = call(*words, *LETTERS).stdout
    assert "Trends     6 counted, 0 listed" in told
    assert json.loads(call(*words, "--json").stdout)["predecessors"] == "scan"
    assert call(*words, "--input", LETTERS[1]).exit_code == 2
    refused = call("explain", "-q", "RETURN COUNT(*) PATTERN A+", *LETTERS)
    assert "Events are looked at only to explain" in refused.stderr
