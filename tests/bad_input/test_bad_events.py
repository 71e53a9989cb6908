"""Events that are not what a query needs: columns, values, files; and where results may go."""

import itertools
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import LETTERS, call, letters_in, refused, written

from trendloom.api import run
from trendloom.errors import InputError, NumberError, OutputError
from trendloom.hosts.local.sinks import write_table
from trendloom.testing import naive

COUNT = "RETURN COUNT(*) AS n PATTERN A+"


# ── columns ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("options", "cause", "remedy"),
    [
        ({"time": "tme"}, "Unknown time column 'tme'", "Did you mean 'time'?"),
        ({"time": "Time"}, "Unknown time column 'Time'", "Did you mean 'time'?"),
        ({"time": "when"}, "Unknown time column 'when'", "Known: time, type, word, x"),
        ({"type": "typ"}, "Unknown type column 'typ'", "Did you mean 'type'?"),
        ({"tiebreak": "rank"}, "Unknown tiebreak column 'rank'", "Known: "),
        ({"time": "word"}, "time column 'word' is VARCHAR", "CAST(word AS TIMESTAMP)"),
    ],
)
def test_a_column_that_is_not_there(
    options: dict[str, str], cause: str, remedy: str, tmp_path: Path
) -> None:
    error = refused(letters_in(tmp_path), COUNT, InputError, **options)
    assert cause in error.cause
    assert remedy in str(error.remedy)


@pytest.mark.parametrize(
    ("text", "cause", "remedy"),
    [
        ("time,x\n1,2\n", "no column 'type'", "event_type="),
        ("time,type\n1.5,A\n", "time column 'time' is DOUBLE", "AS BIGINT"),
        ("time,type\nsoon,A\n", "time column 'time' is VARCHAR", "AS TIMESTAMP"),
        ("time,type\ntrue,A\n", "time column 'time' is BOOLEAN", "convert this one"),
        ("time,type\n1,2.5\n", "type column 'type' is DOUBLE", "event_type="),
        # One bad value among many makes the whole column text.
        ("time,type\n" + "1,A\n" * 100 + "oops,A\n", "'time' is VARCHAR", "AS TIMESTAMP"),
    ],
)
def test_a_column_of_the_wrong_type(text: str, cause: str, remedy: str, tmp_path: Path) -> None:
    error = refused(written(tmp_path, text), COUNT, InputError)
    assert cause in error.cause
    assert remedy in str(error.remedy)


def test_both_a_type_column_and_a_type() -> None:
    with pytest.raises(InputError, match="not both"):
        run(COUNT, LETTERS, time="time", type="type", event_type="A")


@pytest.mark.parametrize(
    ("events", "cause", "remedy"),
    [
        (None, "Events of type NoneType", "Give a path"),
        (7, "Events of type int", "a list of dicts"),
        (b"time,type\n1,A\n", "Events of type bytes", "an open binary file"),
        ({"time": [1, 2], "type": ["A"]}, "length", "columns of one length"),
        ([{"time": 1, "type": "A"}, {"time": "b", "type": "A"}], "'b'", "values of one type"),
        ([{"time": 2**64, "type": "A"}], "too large", "values of one type"),
    ],
)
def test_events_of_no_known_kind(events: Any, cause: str, remedy: str) -> None:
    with pytest.raises(InputError) as caught:
        run(COUNT, events, time="time")
    assert cause in caught.value.cause
    assert remedy in str(caught.value.remedy)


# ── rows ────────────────────────────────────────────────────────────────────────────────────────

GAPS = "time,type\n1,A\n,A\n3,A\n,B\n"


def test_null_times_are_refused(tmp_path: Path) -> None:
    error = refused(written(tmp_path, GAPS), COUNT, InputError)
    assert "2 of 4 rows have no time" in error.cause
    assert "bad_rows='drop' (--bad-rows drop)" in str(error.remedy)


def test_null_times_are_dropped_and_counted(tmp_path: Path) -> None:
    path = written(tmp_path, GAPS)
    result = run(COUNT, path, time="time", bad_rows="drop")
    assert [row["n"] for row in result.rows()] == [3]
    assert (result.events, result.dropped_rows) == (4, 2)
    done = call("run", "-q", COUNT, "-i", path, "-t", "time", "--bad-rows", "drop", "-f", "csv")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[1:] == [",,3"]
    assert done.stderr == "Dropped 2 rows without a time.\n"


def test_a_null_tiebreak_is_a_bad_row() -> None:
    events = [{"time": 1, "type": "A", "rank": 1}, {"time": 1, "type": "A", "rank": None}]
    with pytest.raises(InputError, match=r"1 of 2 rows have no time .* or no tiebreak"):
        run(COUNT, events, time="time", tiebreak="rank")
    result = run(COUNT, events, time="time", tiebreak="rank", bad_rows="drop")
    assert (result.rows()[0]["n"], result.dropped_rows) == (1, 1)


@pytest.mark.parametrize(
    "query",
    [
        "RETURN COUNT(*), SUM(A.x) PATTERN (SEQ(A+, B?))+",
        "RETURN COUNT(*) PATTERN SEQ(A, B?) SEMANTICS skip-till-next-match",
        "RETURN COUNT(*) PATTERN A+ SEMANTICS contiguous",
        "RETURN COUNT(*) PATTERN A+ WHERE A.x < NEXT(A).x WITHIN 3 s SLIDE 1 s",
        "RETURN word, COUNT(*) PATTERN SEQ(A, NOT C) GROUP-BY word WITHIN 2 s",
        "RETURN COUNT(*) PATTERN A+ WITHIN 2 EVENTS SLIDE 1 EVENTS",
    ],
)
def test_the_order_of_rows_does_not_matter(query: str) -> None:
    sorted_rows = run(query, LETTERS, time="time").rows()
    assert sorted_rows
    for shuffled in itertools.islice(itertools.permutations(LETTERS), 1, None, 5):
        assert run(query, list(shuffled), time="time").rows() == sorted_rows


@pytest.mark.filterwarnings("ignore::trendloom.errors.TypeNameWarning")
def test_rows_that_match_nothing_give_no_rows() -> None:
    assert run("RETURN COUNT(*) PATTERN Unheard", LETTERS, time="time").rows() == []
    assert run(COUNT, [], time="time").rows() == []
    untyped = [{"time": 1, "type": None}, {"time": 2, "type": "B"}]
    assert run(COUNT, untyped, time="time").rows() == []


def test_null_and_nan_satisfy_no_condition() -> None:
    events = [{"time": n, "type": "A", "x": x} for n, x in enumerate([1.0, None, math.nan, 2.0])]
    for condition in ("A.x <= 1 OR A.x > 1", "NOT (A.x > 5)", "A.x = A.x"):
        query = f"RETURN COUNT(*) AS n PATTERN A WHERE {condition}"
        assert [row["n"] for row in run(query, events, time="time").rows()] == [2], condition


# ── numbers ─────────────────────────────────────────────────────────────────────────────────────


def test_integer_overflow(tmp_path: Path) -> None:
    lines = "".join(f"{n},A,{2**62}\n" for n in range(4))
    path = written(tmp_path, f"time,type,x\n{lines}")
    query = "RETURN SUM(A.x) AS s PATTERN A"
    error = refused(path, query, NumberError)
    assert "does not fit a 64-bit integer" in error.cause
    assert "--numbers exact" in str(error.remedy)
    done = call("run", "-q", query, "-i", path, "-t", "time", "--numbers", "exact", "--json")
    assert done.exit_code == 0
    assert f'"s": {2**64}' in done.stdout


def test_overflow_inside_a_condition(tmp_path: Path) -> None:
    path = written(tmp_path, f"time,type,x\n1,A,{2**62}\n")
    error = refused(path, f"{COUNT} WHERE A.x * 4 > 1", InputError)
    assert "Overflow in multiplication" in error.cause


def test_a_division_by_zero_is_null() -> None:
    query = "RETURN COUNT(*) AS n PATTERN A WHERE A.x / 0 > 1"
    assert naive(query, LETTERS) == []
    assert run(query, LETTERS, time="time").rows() == []


@pytest.mark.parametrize(
    ("window", "moment"), [("WITHIN 5 s SLIDE 5 s", -(2**63)), ("WITHIN 5 s", 2**63 - 1)]
)
def test_windows_at_the_ends_of_time(window: str, moment: int) -> None:
    """Rows, or a refusal; never silence."""
    try:
        rows = run(f"{COUNT} {window}", [{"time": moment, "type": "A"}], time="time").rows()
    except (InputError, NumberError):
        return
    assert rows


# ── files ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["events.csv", "events.parquet", "events.jsonl"])
def test_an_empty_file(name: str, tmp_path: Path) -> None:
    error = refused(written(tmp_path, "", name), COUNT, InputError)
    assert f"{name}' is empty (0 bytes)" in error.cause
    assert "header or a schema" in str(error.remedy)


def test_a_header_without_events_is_no_error(tmp_path: Path) -> None:
    path = written(tmp_path, "time,type\n")
    assert run(COUNT, path, time="time").rows() == []
    assert call("run", "-q", COUNT, "-i", path, "-t", "time", "--json").stdout == ""


def test_a_header_without_the_columns(tmp_path: Path) -> None:
    refused(written(tmp_path, "time,type\n"), COUNT, InputError, time="tme")


def test_a_header_with_a_name_twice(tmp_path: Path) -> None:
    refused(written(tmp_path, "time,type,type\n1,A,B\n"), COUNT, InputError)


@pytest.mark.parametrize("kept", [4, 100, 0.5, 0.99])
def test_a_truncated_parquet_file(kept: float, tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    pq.write_table(pa.table({"time": range(1000), "type": ["A"] * 1000}), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(kept if kept >= 1 else kept * len(whole))])
    error = refused(str(path), COUNT, InputError)
    assert "events.parquet" in error.cause
    assert "whole" in str(error.remedy)


def test_a_damaged_parquet_file(tmp_path: Path) -> None:
    """The footer is there, the pages are not."""
    path = tmp_path / "events.parquet"
    table = pa.table({"time": range(1000), "type": ["A"] * 1000})
    pq.write_table(table, path, compression="zstd")
    whole = path.read_bytes()
    path.write_bytes(whole[:4] + b"\xff" * 2000 + whole[2004:])
    error = refused(str(path), COUNT, InputError)
    assert "cannot be read" in error.cause or "could not be read" in error.cause


@pytest.mark.parametrize(
    ("name", "text", "cause"),
    [
        ("half.jsonl", '{"time": 1, "type": "A"}\n{"time": 2, "ty', "half.jsonl"),
        ("ragged.csv", "time,type\n1,A\n2,A,9\n3,A\n", "Line 3 of"),
        ("text.parquet", "time,type\n1,A\n", "text.parquet"),
    ],
)
def test_a_broken_file(name: str, text: str, cause: str, tmp_path: Path) -> None:
    error = refused(written(tmp_path, text, name), COUNT, InputError)
    assert cause in error.cause
    assert error.remedy


@pytest.mark.parametrize(
    ("text", "cause", "remedy"),
    [
        ("time,type\n03/04/2024,A\n05/06/2024,A\n", "day from the month", "--date-format"),
        ("a note\ntime,type\n1,A\n", "Line 2 of", "before the header"),
        ("time,type\n#1,A\n2,A\n", "time column 'time' is VARCHAR", "AS TIMESTAMP"),
        ("time,type\nsoon,A\n", "time column 'time' is VARCHAR", "--date-format"),
    ],
)
def test_a_file_that_could_be_read_in_two_ways(
    text: str, cause: str, remedy: str, tmp_path: Path
) -> None:
    error = refused(written(tmp_path, text), COUNT, InputError)
    assert cause in error.cause
    assert remedy in str(error.remedy)


def test_the_options_of_files(tmp_path: Path) -> None:
    text = "time,type\n03/04/2024,A\n05/06/2024,A\n"
    path = Path(written(tmp_path, text, "x[1].csv"))
    path = path.rename(path.parent / "x[1].csv")
    written(tmp_path, text, "x1.csv")
    options = {"date_format": "%d/%m/%Y"}
    assert run(COUNT, str(path), time="time", **options).events == 2
    words = ["-q", COUNT, "-i", str(path), "-t", "time", "--date-format", "%d/%m/%Y"]
    assert '"n": 3' in call("run", *words, "--json").stdout
    assert "same rows" in call("verify", *words).stdout
    (tmp_path / "day=1").mkdir()
    path.rename(tmp_path / "day=1" / "x.csv")
    (tmp_path / "x1.csv").unlink()
    query = "RETURN day, COUNT(*) AS n PATTERN A+ GROUP-BY day"
    words = ["-q", query, "-i", str(tmp_path), "-t", "time", "--date-format", "%d/%m/%Y"]
    assert '"day": 1, "n": 3' in call("run", *words, "--hive-partitioning", "--json").stdout
    assert call("run", *words, "--host", "spark").exit_code == 2
    assert call("run", *words).exit_code == 1


def test_a_directory_of_mixed_schemas(tmp_path: Path) -> None:
    for number, times in enumerate(([1], ["one"])):
        pq.write_table(pa.table({"time": times, "type": ["A"]}), tmp_path / f"{number}.parquet")
    error = refused(str(tmp_path), COUNT, InputError)
    assert "differ in column 'time'" in error.cause
    assert "BIGINT in" in error.cause
    assert "VARCHAR in" in error.cause
    assert "one schema" in str(error.remedy)


def test_a_directory_where_a_column_is_missing(tmp_path: Path) -> None:
    written(tmp_path, "time,type\n1,A\n", "1.csv")
    written(tmp_path, "when,type\n2,A\n", "2.csv")
    error = refused(str(tmp_path), COUNT, InputError)
    assert "differ in column 'time'" in error.cause
    assert "missing in" in error.cause


def test_a_directory_of_mixed_formats(tmp_path: Path) -> None:
    written(tmp_path, "time,type\n1,A\n", "1.csv")
    written(tmp_path, '{"time": 2, "type": "A"}\n', "2.jsonl")
    error = refused(str(tmp_path), COUNT, InputError)
    assert "mixed formats" in error.cause
    assert "glob" in str(error.remedy)


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("", "holds no event files"),
        ("*.parquet", "No file matches"),
        ("events.csv", "There is no file"),
    ],
)
def test_no_file(name: str, cause: str, tmp_path: Path) -> None:
    error = refused(str(tmp_path / name), COUNT, InputError)
    assert cause in error.cause
    assert str(tmp_path) in error.cause


def test_a_file_of_unknown_format(tmp_path: Path) -> None:
    error = refused(written(tmp_path, "1 A", "events.txt"), COUNT, InputError)
    assert "Cannot tell the format" in error.cause
    assert ".parquet, .csv and .jsonl" in str(error.remedy)


# ── output ──────────────────────────────────────────────────────────────────────────────────────


def test_an_output_that_exists(tmp_path: Path) -> None:
    events, target = letters_in(tmp_path), tmp_path / "rows.csv"
    target.write_text("precious")
    words = ["run", "-q", COUNT, "-i", events, "-t", "time", "-o", str(target)]
    refusal = call(*words)
    assert (refusal.exit_code, refusal.stdout) == (1, "")
    assert refusal.stderr == f"Error: '{target}' exists.\nReplace it with --overwrite.\n"
    assert target.read_text() == "precious"
    done = call(*words, "--overwrite")
    assert (done.exit_code, done.stdout) == (0, "")
    assert target.read_text().splitlines()[1:] == [",,3"]


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_file_is_whole_or_not_there(
    overwrite: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows go to a temporary name beside the target, which is renamed at the end."""
    target = tmp_path / "rows.csv"
    if overwrite:
        target.write_text("precious")
    seen: list[str] = []

    def stop(_: pa.Table, stream: Any) -> None:
        stream.write(b"half a ro")
        stream.flush()
        seen.extend(path.name for path in tmp_path.iterdir() if path != target)
        raise RuntimeError

    monkeypatch.setitem(sys.modules[write_table.__module__]._WRITERS, "csv", stop)
    with pytest.raises(RuntimeError):
        write_table(pa.table({"n": [1]}), str(target), "csv", overwrite=overwrite)
    assert len(seen) == 1
    left = [target] if overwrite else []
    assert list(tmp_path.iterdir()) == left
    assert not overwrite or target.read_text() == "precious"


def test_a_file_that_appears_meanwhile_stays(tmp_path: Path) -> None:
    target = tmp_path / "rows.csv"
    target.write_text("precious")
    with pytest.raises(OutputError):
        write_table(pa.table({"n": [1]}), str(target), "csv", overwrite=False)
    assert target.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [target]


# ── a real process ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("query", "name", "message"),
    [
        (f"{COUNT} WHERE Z.x > 1", "letters", "Unknown variable 'Z'"),
        ("RETURN SUM(A.none) PATTERN A", "letters", "Unknown attribute 'none'"),
        ("RETURN COUNT(*) PATTERN A{1,5000}", "letters", "more than 1000 positions"),
        (COUNT, "broken", "whole"),
    ],
)
def test_a_process_says_it_on_stderr(query: str, name: str, message: str, tmp_path: Path) -> None:
    path = letters_in(tmp_path) if name == "letters" else written(tmp_path, "x", "broken.parquet")
    done = subprocess.run(
        [sys.executable, "-m", "trendloom.cli.main", "run", "-q", query, "-i", path, "-t", "time"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
