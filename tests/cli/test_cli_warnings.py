"""Warnings on the command line: a block on the standard error, and --strict."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from cli_command import COUNT, LETTERS
from typer.testing import CliRunner

from trendloom.cli.main import app

if TYPE_CHECKING:
    from pathlib import Path

TIED = '{"time":1,"type":"A"}\n{"time":1,"type":"B"}\n{"time":2,"type":"B"}\n'
PAIR = "PATTERN SEQ(A, B)"
BLOCK = (
    "Warning: 2 events that the pattern can use share their time with another one, so that none "
    "of them comes before the other.\n"
    "  If they have an order, name the column that tells it with tiebreak= (--tiebreak), or take "
    "that of the rows: tiebreak='row' (--tiebreak @row).\n"
)
STRICT = (
    "Error: There is a warning, and --strict takes warnings for errors.\n"
    "Follow what is said above, or leave --strict out.\n"
)


def call(*words: str) -> Any:
    return CliRunner().invoke(app, list(words), catch_exceptions=False)


@pytest.fixture
def tied(tmp_path: Path) -> list[str]:
    (tmp_path / "tied.jsonl").write_text(TIED)
    return ["--input", str(tmp_path / "tied.jsonl"), "--time", "time"]


def commands(tmp_path: Path) -> list[list[str]]:
    """Every command that runs something over events."""
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries/pair.tq").write_text(f"RETURN COUNT(*) {PAIR}")
    return [
        ["run", "-q", f"RETURN COUNT(*) {PAIR}", "--json"],
        ["trends", "-q", PAIR],
        ["workload", str(tmp_path / "queries"), "--json"],
        ["verify", "-q", f"RETURN COUNT(*) {PAIR}"],
        ["explain", "-q", PAIR],
    ]


def test_every_command_tells_warnings_and_takes_them_for_errors(
    tied: list[str], tmp_path: Path
) -> None:
    for words in commands(tmp_path):
        loose = call(*words, *tied)
        assert loose.exit_code == 0, words
        assert loose.stdout
        block = BLOCK.replace("Warning: ", "Warning: pair: ") if words[0] == "workload" else BLOCK
        assert loose.stderr == block, words
        strict = call(*words, *tied, "--strict")
        assert strict.exit_code == 1, words
        assert strict.stderr == block + STRICT, words
        if words[0] in ("run", "trends", "workload"):
            assert strict.stdout == ""
        ordered = call(*words, *tied, "--strict", "--tiebreak", "@row")
        assert (ordered.exit_code, ordered.stderr) == (0, ""), words


def test_formulas_too(tied: list[str]) -> None:
    assert "No event is of type 'Bee' in 3." in call("acel", "run", "A ; Bee", *tied).stderr
    strict = call("acel", "run", "A ; Bee", *tied, "--strict")
    assert (strict.exit_code, strict.stdout) == (1, "")
    counted = call("acel", "run", "A ; Bee", "--return", "COUNT(*)", *tied, "--strict")
    assert counted.exit_code == 1
    assert call("acel", "run", "A ; B", *tied, "--strict").exit_code == 0


def test_strict_leaves_no_file(tied: list[str], tmp_path: Path) -> None:
    for words in (["run", "-q", f"RETURN COUNT(*) {PAIR}"], ["trends", "-q", PAIR]):
        target = tmp_path / f"{words[0]}.jsonl"
        assert call(*words, *tied, "--strict", "-o", str(target)).exit_code == 1
        assert not target.exists()
        assert call(*words, *tied, "-o", str(target)).exit_code == 0
        assert target.exists()


def test_without_warnings_strict_changes_nothing() -> None:
    assert call("run", "-q", COUNT, *LETTERS, "--strict", "--json").exit_code == 0


def test_verify_says_when_it_compared_nothing(tied: list[str], tmp_path: Path) -> None:
    query = "RETURN COUNT(*) PATTERN SEQ(B, A)"
    done = call("verify", "-q", query, *tied, "--tiebreak", "@row")
    assert done.exit_code == 1
    assert done.stdout == "nothing compared: no rows over 3 events\n"
    assert "--events" in done.stderr
    in_json = call("verify", "-q", query, *tied, "--tiebreak", "@row", "--json")
    assert in_json.exit_code == 1
    assert json.loads(in_json.stdout) == {"same": None, "rows": 0, "events": 3, "difference": None}
    (tmp_path / "empty.csv").write_text("time,type\n")
    empty = call("verify", "-q", query, "--input", str(tmp_path / "empty.csv"), "--time", "time")
    assert (empty.exit_code, empty.stdout) == (1, "nothing compared: no rows over 0 events\n")


def test_verify_takes_the_order_of_the_rows(tied: list[str]) -> None:
    done = call("verify", "-q", f"RETURN COUNT(*) {PAIR}", *tied, "--tiebreak", "@row")
    assert (done.exit_code, done.stdout) == (0, "same rows: 1 row over 3 events\n")
