from __future__ import annotations

import datetime as dt
import io
import json
import os
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
import pytest

from trendloom.errors import InputError, OutputError
from trendloom.hosts.local import sinks
from trendloom.hosts.local.sinks import write_table
from trendloom.hosts.scan.having import filter_rows, sort_rows

from .scans import sql

if TYPE_CHECKING:
    from pathlib import Path

MOMENT = dt.datetime(2020, 1, 2, 3, 4, 5, 600_000)
TABLE = pa.table(
    {
        "window_start": pa.array([MOMENT, None], pa.timestamp("us", "UTC")),
        "plain": pa.array([MOMENT, MOMENT], pa.timestamp("ms")),
        "day": [dt.date(2020, 1, 2), None],
        "k": ['ä,"', None],
        "COUNT(*)": [2**53 + 1, None],
        "exact": pa.array([Decimal(10**37), None], pa.decimal128(38, 0)),
        "SUM(x)": [float("inf"), 1.5],
        "low": [float("-inf"), float("nan")],
    }
)


def test_json_lines() -> None:
    stream = io.BytesIO()
    write_table(TABLE, stream, "jsonl")
    one, two = stream.getvalue().decode().splitlines()
    assert json.loads(one) == {
        "window_start": "2020-01-02T03:04:05.600000Z",
        "plain": "2020-01-02T03:04:05.600",
        "day": "2020-01-02",
        "k": 'ä,"',
        "COUNT(*)": 2**53 + 1,
        "exact": 10**37,
        "SUM(x)": "Infinity",
        "low": "-Infinity",
    }
    assert list(json.loads(one)) == TABLE.column_names
    assert json.loads(two)["SUM(x)"] == 1.5
    assert json.loads(two)["low"] == "NaN"
    assert json.loads(two)["exact"] is None


def test_csv_and_parquet(tmp_path: Path) -> None:
    write_table(TABLE, tmp_path / "r.parquet", "parquet")
    # NaN is not equal to itself.
    assert pq.read_table(tmp_path / "r.parquet").drop("low").equals(TABLE.drop("low"))
    write_table(TABLE, str(tmp_path / "r.csv"), "csv")
    lines = (tmp_path / "r.csv").read_text().splitlines()
    assert lines[1].startswith('"2020-01-02T03:04:05.600000Z","2020-01-02T03:04:05.600",2020-01-02')
    assert pcsv.read_csv(tmp_path / "r.csv")["exact"].to_pylist()[0] in (10**37, 1e37)
    write_table(TABLE[:0], tmp_path / "r.csv", "csv", overwrite=True)
    assert len((tmp_path / "r.csv").read_text().splitlines()) == 1


def test_a_result_is_as_readable_as_any_new_file(tmp_path: Path) -> None:
    write_table(TABLE, tmp_path / "r.csv", "csv")
    (tmp_path / "other").write_text("")
    assert (tmp_path / "r.csv").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("old")
    with pytest.raises(OutputError, match=r"r\.csv' exists.\n.*--overwrite"):
        write_table(TABLE, tmp_path / "r.csv", "csv")
    with pytest.raises(OutputError, match=r"There is no directory .*no'"):
        write_table(TABLE, tmp_path / "no" / "r.csv", "csv")
    with pytest.raises(OutputError, match="is a directory"):
        write_table(TABLE, tmp_path, "csv")
    with pytest.raises(OutputError, match=r"Unknown output format 'xml'"):
        write_table(TABLE, tmp_path / "r.xml", "xml")  # type: ignore[arg-type]
    assert (tmp_path / "r.csv").read_text() == "old"
    assert os.listdir(tmp_path) == ["r.csv"]


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failed_write_leaves_the_old_file_and_no_other(
    failure: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(table: pa.Table, stream: Any) -> None:  # noqa: ARG001
        stream.write(b"half")
        raise failure

    (tmp_path / "r.csv").write_text("old")
    monkeypatch.setitem(sinks._WRITERS, "csv", fail)
    expected = OutputError if isinstance(failure, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        write_table(TABLE, tmp_path / "r.csv", "csv", overwrite=True)
    assert os.listdir(tmp_path) == ["r.csv"]
    assert (tmp_path / "r.csv").read_text() == "old"


def test_a_file_that_appears_meanwhile_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(table: pa.Table, stream: Any) -> None:  # noqa: ARG001
        (tmp_path / "r.csv").write_text("other")

    monkeypatch.setitem(sinks._WRITERS, "csv", slow)
    with pytest.raises(OutputError, match="File exists"):
        write_table(TABLE, tmp_path / "r.csv", "csv")
    assert (tmp_path / "r.csv").read_text() == "other"
    assert os.listdir(tmp_path) == ["r.csv"]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("n > 1", [3, 2]),
        ('"COUNT(*)" >= 10 AND N = 0', [1, 2]),
        ("f > 0", [3]),
        ("k IS NULL", [1]),
        ("1 = 1", [3, 1, 2]),
        ("NULL", []),
    ],
)
def test_having(condition: str, expected: list[int]) -> None:
    table = pa.table(
        {
            "n": [3, 1, 2],
            "N": [1, 0, 0],
            "COUNT(*)": [9, 10, 11],
            "f": [1.0, float("nan"), -1.0],
            "k": pa.array(["a", None, "b"]).dictionary_encode(),
        }
    )
    found = filter_rows(table, sql(condition))
    assert found.schema == table.schema
    assert found["n"].to_pylist() == expected


def test_having_of_wrong_types() -> None:
    with pytest.raises(InputError, match=r"HAVING 'k > 5' does not fit.*\n.*k \(string\)"):
        filter_rows(pa.table({"k": ["a"]}), sql("k > 5"))


def test_rows_are_sorted_stably_with_nulls_last() -> None:
    table = pa.table({"w": [2, 1, 2, 1], "k": ["b", None, "a", "x"], "n": [0, 1, 2, 3]})
    assert sort_rows(table, ["w", "k"])["n"].to_pylist() == [3, 1, 2, 0]
    assert sort_rows(table, ["w"])["n"].to_pylist() == [1, 3, 0, 2]
    assert sort_rows(table, []) is table
