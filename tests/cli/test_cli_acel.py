"""`trendloom acel`: results, files, explanations and refusals."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from cli_command import EXAMPLES, LETTERS
from typer.testing import CliRunner

from trendloom.cli.main import app

PAIRS = ("acel", "run", "PROJECT[A](A ; A)", *LETTERS)
"""Over a1 b2 a3 a4 c5 b6 a7 b8: every pair of the four A."""


def call(*words: str) -> Any:
    return CliRunner().invoke(app, list(words), catch_exceptions=False)


def found(*words: str) -> list[Any]:
    done = call(*words)
    assert done.exit_code == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_run() -> None:
    rows = found(*PAIRS)
    assert list(rows[0]) == ["window_start", "window_end", "start", "end", "A"]
    assert sorted(row["A"] for row in rows) == [[0, 2], [0, 3], [0, 6], [2, 3], [2, 6], [3, 6]]
    assert [row["end"] for row in rows] == sorted(row["end"] for row in rows)
    assert len(found(*PAIRS, "--limit", "2")) == 2


def test_windows() -> None:
    near = found(*PAIRS, "--within", "3 s")
    assert [(row["A"], row["window_start"], row["window_end"]) for row in near] == [
        ([0, 2], 1, 4),
        ([2, 3], 3, 6),
    ]
    beside = found(*PAIRS, "--within", "4 s", "--slide", "4 s")
    assert [(row["A"], row["window_start"]) for row in beside] == [([0, 2], 0), ([3, 6], 4)]
    counted = found(*PAIRS, "--within", "3 events", "--slide", "3 events")
    assert [(row["A"], row["window_start"], row["window_end"]) for row in counted] == [
        ([0, 2], 0, 3)
    ]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_files(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"found.{suffix}"
    done = call(*PAIRS, "-o", str(path))
    assert done.exit_code == 0
    assert done.stderr == f"Wrote 6 results to {path}.\n"
    if suffix == "parquet":
        assert pq.read_table(path).num_rows == 6
    else:
        assert len(path.read_text().splitlines()) == 6 + (suffix == "csv")


def test_a_formula_in_a_file(tmp_path: Path) -> None:
    lines = (EXAMPLES / "acel/q14.csv").read_text().splitlines()
    events = tmp_path / "events.csv"
    events.write_text("\n".join(f"{k or 'time'},{line}" for k, line in enumerate(lines)) + "\n")
    rows = found(
        "acel", "run", str(EXAMPLES / "acel/q14.acel"), "-i", str(events), "-t", "time"
    )  # fmt: skip
    assert sorted((row["start"], row["end"], row["Y"][0]["average"]) for row in rows) == [
        (0, 5, 10.0), (0, 5, 15.0), (0, 5, 20.0), (1, 6, 40.0)
    ]  # fmt: skip


def test_check() -> None:
    assert call("acel", "check", "A;B FILTER B[x>1]").stdout == "ok\nA ; B FILTER B[x > 1]\n"
    done = call("acel", "check", "A FILTER Z[x > 1]", "--json")
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert (told["ok"], told["error"], told["column"]) == (False, "Unknown variable 'Z'", 10)


def test_explain() -> None:
    assert "compiled: runs only mark events" in call("acel", "explain", "A ; B").stdout
    assert "aggregates are taken of results" in call(
        "acel", "explain", "AGG[Y(n = COUNT(A.x))](A+) FILTER Y[n > 1]"
    ).stdout  # fmt: skip
    falling = call("acel", "explain", "A+ FILTER A[decreasing(x)]").stdout
    assert "compiled: runs remember the last x (if these are numbers or moments)" in falling
    text = "PROJECT[Y](AGG[Y(n = COUNT(A.x))](A+)) FILTER Y[n > 1]"
    told = json.loads(call("acel", "explain", text, "--json").stdout)
    assert told["variables"] == ["Y"]
    assert told["evaluation"].startswith("compiled: runs hold numbers")
    words = call("acel", "explain", "AGG[Y(n = MAX(A.x))](A)+ FILTER Y[increasing(n)]")
    assert "registers: a condition depends on several events" in words.stdout
    assert call("acel", "explain", "A ; B", "-f", "mermaid").stdout.startswith("flowchart LR")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("A FILTER A[price > 1]",), "No event of 'A' has an attribute 'price'"),
        (("A ; ; B",), "';' cannot stand here"),
        (("none.acel",), "Cannot read the query file 'none.acel'"),
        (("A AS start",), "'start' is the name of another column of the result"),
        (("A", "--within", "3 parsecs"), "There is no unit 'parsecs'"),
        (("A", "--within", "soon"), "This is not an amount"),
        (("A", "--slide", "3 s"), "There is a slide, but no window that slides"),
        (("A", "--within", "1 ms"), "The window is not a whole number of ticks"),
        (("A", "--partition-by", "nowhere"), "Unknown attribute 'nowhere'"),
    ],
)
def test_refusals(words: tuple[str, ...], message: str) -> None:
    done = call("acel", "run", *words, *LETTERS)
    assert done.exit_code == 1
    assert done.stderr.startswith(f"Error: {message}")


def test_aggregates_instead_of_a_listing() -> None:
    rows = found("acel", "run", "(A+ ; B)+", *LETTERS, "--return", "COUNT(*) AS n")
    assert rows == [{"window_start": None, "window_end": None, "n": 43.0}]


def test_a_query_as_a_formula() -> None:
    not_c = call("explain", "-q", "PATTERN SEQ(A, NOT C, B)", "--acel", "--types", "D,E")
    assert "-- For streams of the types A, C, B, D, E only." in not_c.stdout
    done = call("explain", "-q", "RETURN COUNT(*) PATTERN (SEQ(A+, B))+", "--acel")
    assert done.stdout.splitlines()[-1] == "PROJECT[A, B]((A+ ; B)+)"


def test_what_is_refused_before_spark_starts(tmp_path: Path) -> None:
    spark = ("acel", "run", "A ; B", *LETTERS, "--host", "spark")
    for words, told in (
        ((*spark,), "Spark's rows have no numbers"),
        ((*spark, "--id", "time", "-o", str(tmp_path / "rows.csv")), "Spark's CSV has no lists"),
        ((*spark, "--id", "time", "--master", "a", "--remote", "b"), "not both"),
        ((*PAIRS, "--host", "duck"), "There is no host 'duck'"),
        ((*PAIRS, "--id", "time"), "--id is for --host spark"),
        ((*PAIRS, "--remote", "sc://a"), "are for --host spark"),
    ):
        done = call(*words)
        assert done.exit_code == 2, done.stdout
        assert told in " ".join(done.stderr.replace("│", " ").split())
