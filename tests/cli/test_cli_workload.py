"""`trendloom workload`: rows, files, explanations and refusals."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from cli_command import LETTERS
from typer.testing import CliRunner

from trendloom.cli.main import app


def call(*words: str) -> Any:
    return CliRunner().invoke(app, list(words), catch_exceptions=False)


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """Over a1 b2 a3 a4 c5 b6 a7 b8."""
    queries = tmp_path / "queries"
    queries.mkdir()
    (queries / "pairs.tq").write_text("RETURN COUNT(*) AS n PATTERN SEQ(A, B)\n")
    (queries / "close.tq").write_text("RETURN COUNT(*) AS n PATTERN SEQ(A, C)\n")
    return str(queries)


def test_rows_of_all_queries(folder: str) -> None:
    done = call("workload", folder, *LETTERS, "--json")
    assert done.exit_code == 0
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["query"], row["n"]) for row in rows] == [("close", 3), ("pairs", 8)]
    table = call("workload", folder, *LETTERS, "--mode", "never").stdout
    assert table.splitlines()[0].split() == ["query", "n"]


def test_one_file_and_one_per_query(folder: str, tmp_path: Path) -> None:
    path = tmp_path / "all.parquet"
    assert call("workload", folder, *LETTERS, "-o", str(path)).exit_code == 0
    assert pq.read_table(path)["n"].to_pylist() == [3, 8]
    out = f"{tmp_path}/out/"
    done = call("workload", folder, *LETTERS, "-o", out, "-f", "csv")
    assert done.stderr == f"Wrote 1 row to {out}close.csv.\nWrote 1 row to {out}pairs.csv.\n"
    assert (tmp_path / "out" / "pairs.csv").read_text().splitlines()[1] == ",,8"
    again = call("workload", folder, *LETTERS, "-o", out, "-f", "csv")
    assert again.exit_code == 1
    assert "exists" in again.stderr
    assert call("workload", folder, *LETTERS, "-o", out, "--json", "--overwrite").exit_code == 0
    assert call("workload", folder, *LETTERS, "-o", out).exit_code == 2


def test_explain_runs_nothing(folder: str) -> None:
    assert "A shared by close, pairs" in call("workload", folder, "--explain").stdout
    facts = json.loads(call("workload", folder, "--explain", "--json", "--mode", "never").stdout)
    assert facts["groups"][0]["families"] == []


def test_what_sharing_did_is_kept_and_drawn(tmp_path: Path) -> None:
    for name in "AC":
        text = f"RETURN COUNT(*) PATTERN SEQ({name}, B+) WITHIN 9 s SLIDE 9 s"
        (tmp_path / f"{name}.tq").write_text(text)
    metrics, drawn = tmp_path / "sharing.json", tmp_path / "bursts.svg"
    words = ["workload", str(tmp_path), *LETTERS, "--mode", "always"]
    words += ["--metrics", str(metrics), "--timeline", str(drawn)]
    assert call(*words, "--json").exit_code == 0
    told = json.loads(metrics.read_text())
    assert (told["bursts"], told["shared"]) == (3, 3)
    assert drawn.read_text().startswith("<svg")
    assert call(*words).exit_code == 1
    for suffix, start in ((".png", b"\x89PNG"), (".html", b"<!DOCTYPE html>")):
        assert call(*words[:-1], str(tmp_path / f"b{suffix}"), "--overwrite").exit_code == 0
        assert (tmp_path / f"b{suffix}").read_bytes().lstrip().startswith(start)
    assert call(*words[:-1], "bursts.gif").exit_code == 2


def test_refusals(folder: str, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    done = call("workload", str(empty), *LETTERS)
    assert done.exit_code == 1
    assert "There are no queries in" in done.stderr
    (Path(folder) / "wrong.tq").write_text("RETURN COUNT(*) PATTERN SEQ(A,\n")
    done = call("workload", folder, *LETTERS)
    assert done.exit_code == 1
    assert "1 of 3 queries is wrong; nothing was run." in done.stderr
    assert "wrong.tq: " in done.stderr
    assert call("workload", folder).exit_code == 2
    assert call("workload", folder, "-i", "events.csv").exit_code == 2
    assert call("workload", folder, *LETTERS, "--mode", "often").exit_code == 2
