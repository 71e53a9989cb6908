"""The commands, in one process: what they say and what they refuse."""

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_command import COUNT, EXAMPLES, LETTERS
from typer.testing import CliRunner

from trendloom.cli import comparing
from trendloom.cli.main import app
from trendloom.hosts.local import host
from trendloom.language import parse

STOCK = ("--input", str(EXAMPLES / "streams/stock.csv"), "--time", "ts", "--event-type", "Stock")


def call(*words: str, stdin: bytes | None = None) -> Any:
    return CliRunner().invoke(app, list(words), input=stdin, catch_exceptions=False)


def test_run_from_a_file() -> None:
    done = call("run", str(EXAMPLES / "cogra/figure2-next.tq"), *LETTERS)
    assert done.exit_code == 0
    assert done.stdout == "COUNT(*)\n────────\n       8\n1 row\n"


def test_run_names_the_columns_as_the_query_does() -> None:
    query = (
        "RETURN sector, COUNT(*) AS trends, MAX(S.price) PATTERN Stock S+ "
        "GROUP-BY sector WITHIN 10 s SLIDE 10 s"
    )
    done = call("run", "-q", query, *STOCK, "--json")
    row = json.loads(done.stdout.splitlines()[0])
    assert list(row) == ["window_start", "window_end", "sector", "trends", "MAX(S.price)"]
    assert row["window_start"].startswith("2024-01-01T00:00:00")


def test_run_over_several_files(tmp_path: Path) -> None:
    lines = (EXAMPLES / "streams/letters.csv").read_text().splitlines()
    for name, part in (("one", lines[1:4]), ("two", lines[4:])):
        (tmp_path / f"{name}.csv").write_text("\n".join([lines[0], *part]) + "\n")
    paths = ["--input", str(tmp_path / "one.csv"), "--input", str(tmp_path / "two.csv")]
    done = call("run", "-q", COUNT, *paths, "--time", "time", "--type", "type", "--json")
    assert json.loads(done.stdout)["COUNT(*)"] == 43


def test_threads_are_those_that_were_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    setting = host.Setting

    def noted(*arguments: Any) -> Any:
        asked.append(setting(*arguments))
        return asked[-1]

    monkeypatch.setattr(host, "Setting", noted)
    done = call("run", "-q", COUNT, *LETTERS, "--threads", "1", "--json")
    assert json.loads(done.stdout)["COUNT(*)"] == 43
    assert [one.threads for one in asked] == [1]


def test_dropped_rows_are_reported(tmp_path: Path) -> None:
    events = tmp_path / "events.parquet"
    pq.write_table(pa.table({"t": [1, None, 2], "type": ["A", "A", "A"]}), events)
    words = ["run", "-q", "RETURN COUNT(*) PATTERN A+", "--input", str(events), "--time", "t"]
    refused = call(*words)
    assert refused.exit_code == 1
    assert "--bad-rows drop" in refused.stderr
    done = call(*words, "--bad-rows", "drop", "--json")
    assert json.loads(done.stdout)["COUNT(*)"] == 3
    assert done.stderr == "Dropped 1 row without a time.\n"


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_output_by_the_name_of_the_file(suffix: str, tmp_path: Path) -> None:
    target = tmp_path / f"rows.{suffix}"
    done = call("run", "-q", COUNT, *LETTERS, "-o", str(target))
    assert done.exit_code == 0
    assert done.stdout == ""
    assert b"43" in target.read_bytes() or suffix == "parquet"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", *LETTERS], "one of the two"),
        (["run", "-q", COUNT, *LETTERS, "--threads", "0"], "--threads"),
        (["run", "-q", COUNT, *LETTERS, "--threads", "2", "--host", "spark"], "own cores"),
        (["run", "file.tq", "-q", COUNT, *LETTERS], "one of the two"),
        (["run", "-q", COUNT, *LETTERS, "--event-type", "A"], "not both"),
        (["run", "-q", COUNT, *LETTERS, "--input", "-"], "cannot be mixed"),
        (["run", "-q", COUNT, *LETTERS, "-f", "parquet"], "needs a file"),
        (["run", "-q", COUNT, *LETTERS, "-f", "csv", "--json"], "contradict"),
        (["run", "-q", COUNT, *LETTERS, "-o", "rows.txt"], "Cannot tell the format"),
        (["run", "-q", COUNT, *LETTERS, "-f", "table", "-o", "rows.csv"], "for reading"),
        (["run", "-q", COUNT, *LETTERS, "-f", "xml"], "xml"),
        (["run", "-q", COUNT], "--input"),
        (["explain", "-q", COUNT, "-f", "text", "--json"], "contradict"),
        (["generate"], "--list"),
        (["generate", "stock", "-k", "keys"], "is not a knob"),
        (["generate", "stock", "-o", "x.csv", "--json"], "--json writes to"),
        (["generate", "stock", "-n", "-1"], "--events"),
        (["nothing"], "nothing"),
    ],
)
def test_wrong_usage_is_exit_code_2(words: list[str], message: str) -> None:
    done = call(*words)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert message in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["check", "nowhere.tq"], "To give the query itself, use -q"),
        (["check", str(EXAMPLES)], "Cannot read the query file"),
        (["run", "-q", COUNT, "-i", "nowhere.csv", "-t", "t"], "There is no file 'nowhere.csv'"),
        (["run", "-q", COUNT, *LETTERS[:2], "-t", "tme"], "Did you mean 'time'?"),
        (["generate", "stocks"], "Did you mean 'stock'?"),
        (["generate", "stock", "-k", "keis=3"], "Did you mean 'keys'?"),
        (["generate", "stock", "-o", str(EXAMPLES / "README.csv" / "x.csv")], "no directory"),
        (["verify", "-q", "PATTERN A+", *LETTERS], "has no RETURN"),
    ],
)
def test_what_is_refused_is_exit_code_1(words: list[str], message: str) -> None:
    done = call(*words)
    assert done.exit_code == 1
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
    assert message in done.stderr


def test_a_query_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "q.tq").write_bytes(b"\xff\xfe\x00")
    done = call("check", str(tmp_path / "q.tq"))
    assert done.exit_code == 1
    assert "is not UTF-8 text" in done.stderr


def test_check_prints_the_canonical_query() -> None:
    done = call("check", "-q", "return count(*) pattern SEQ(A+,!C,B)")
    assert done.exit_code == 0
    first, _, rest = done.stdout.partition("\n")
    assert first == "ok"
    assert parse(rest) == parse("RETURN COUNT(*) PATTERN SEQ(A+, NOT C, B)")


def test_check_in_json() -> None:
    good = json.loads(call("check", "-q", COUNT, "--json").stdout)
    assert good["ok"] is True
    bad = call("check", "-q", "RETURN COUNT(*)\nPATERN A+", "--json")
    assert bad.exit_code == 1
    answer = json.loads(bad.stdout)
    assert (answer["ok"], answer["line"], answer["column"]) == (False, 2, 1)
    assert answer["remedy"] == "Did you mean 'PATTERN'?"


def test_explain() -> None:
    assert call("explain", "-q", COUNT).stdout.strip()
    assert isinstance(json.loads(call("explain", "-q", COUNT, "--json").stdout), dict)
    assert call("explain", "-q", COUNT, "-f", "mermaid").exit_code == 0


def test_generate_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    one = call("generate", "stock", "-n", "20", "--seed", "3", "-k", "keys=2").stdout
    assert one == call("generate", "stock", "-n", "20", "--seed", "3", "-k", "keys=2").stdout
    assert len(one.splitlines()) == 21
    target = tmp_path / "events.parquet"
    done = call("generate", "stock", "-n", "20", "--seed", "3", "-k", "keys=2", "-o", str(target))
    assert done.stderr == f"Wrote 20 events to {target}.\n"
    assert pq.read_table(target).num_rows == 20
    again = call("generate", "stock", "-o", str(target))
    assert again.exit_code == 1
    assert "--overwrite" in again.stderr


def test_generate_lists_what_there_is() -> None:
    text = call("generate", "--list").stdout
    assert "stock: Stock transactions" in text
    assert "selectivity" in text
    assert "keys" in json.loads(call("generate", "--list", "--json").stdout)["stock"]["knobs"]


# ── verify ───────────────────────────────────────────────────────────────────────────────────


def test_verify_says_same_rows() -> None:
    done = call("verify", "-q", COUNT, *LETTERS)
    assert (done.exit_code, done.stdout, done.stderr) == (0, "same rows: 1 row over 8 events\n", "")


def test_verify_takes_the_first_events_in_time() -> None:
    done = call("verify", "-q", COUNT, *LETTERS, "-n", "3", "--json")
    assert json.loads(done.stdout) == {"same": True, "rows": 1, "events": 3, "difference": None}


def test_verify_shrinks_what_the_oracle_cannot_bear() -> None:
    query = "RETURN sector, COUNT(*) PATTERN Stock S+ GROUP-BY sector"
    done = call("verify", "-q", query, *STOCK)
    assert done.exit_code == 0, done.stdout
    assert "too many trends" in done.stderr
    assert done.stdout.startswith("same rows: ")


def test_verify_without_the_group_in_return() -> None:
    query = "RETURN COUNT(*) PATTERN Stock S+ WHERE S.price > NEXT(S).price GROUP-BY company"
    done = call("verify", "-q", query, *STOCK, "-n", "40")
    assert done.exit_code == 0, done.stdout


def test_verify_shows_the_first_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    from trendloom import testing

    def liar(*words: Any, **options: Any) -> list[dict[str, Any]]:
        return [row | {"COUNT(*)": 44} for row in honest(*words, **options)]

    honest = testing.naive
    monkeypatch.setattr(testing, "naive", liar)
    done = call("verify", "-q", COUNT, *LETTERS)
    assert done.exit_code == 1
    assert done.stdout.startswith("different rows, over 8 events:\n")
    assert "COUNT(*) is 43" in done.stdout
    assert "expected 44" in done.stdout


def test_verify_gives_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "MOST_TRENDS", 0)
    done = call("verify", "-q", COUNT, *LETTERS)
    assert done.exit_code == 1
    assert "have too many trends" in done.stderr


def test_the_time_limit_interrupts() -> None:
    from trendloom.errors import LimitError

    def forever() -> None:
        with comparing._time_limit(0.05):
            while True:
                pass

    with pytest.raises(LimitError, match="seconds"):
        forever()


# ── demo ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("data", ["stock", "flights"])
def test_the_demo_shows_rows_bars_and_a_picture(data: str, tmp_path: Path) -> None:
    done = call("demo", "--data", data, "--folder", str(tmp_path / "demo"))
    assert done.exit_code == 0, done.stderr
    assert "PATTERN" in done.stdout
    assert "log2_trends" in done.stdout
    assert "████" in done.stdout
    picture = (tmp_path / "demo" / f"{data}.png").read_bytes()
    assert picture.startswith(b"\x89PNG")


def test_the_demo_without_altair_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    done = call("demo", "--data", "stock", "--folder", str(tmp_path / "demo"))
    assert done.exit_code == 0, done.stderr
    assert "pip install 'trendloom[plot]'" in done.stdout
    assert not (tmp_path / "demo").exists()


def test_warm_up_says_how_long_it_took() -> None:
    done = call("warm-up")
    assert done.exit_code == 0
    assert done.stdout.startswith("Kernels ready after ")
