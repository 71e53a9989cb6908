"""The result object: every way out of it."""

import sys
from datetime import datetime
from typing import Any

import pyarrow as pa
import pytest

from trendloom.errors import MissingExtraError
from trendloom.result import Result

ROWS: list[dict[str, Any]] = [
    {"window_start": None, "window_end": None, "sector": "food", "COUNT(*)": 3},
    {"window_start": None, "window_end": None, "sector": "tech", "COUNT(*)": 2**60 + 1},
]


def result(rows: list[dict[str, Any]] = ROWS) -> Result:
    return Result(pa.Table.from_pylist(rows), ("sector",), ("COUNT(*)",), 9, 0, 0.5)


def test_rows_and_length() -> None:
    assert result().rows() == ROWS
    assert len(result()) == 2
    assert result().to_arrow().column_names == ["window_start", "window_end", "sector", "COUNT(*)"]


def test_how_it_prints(capsys: pytest.CaptureFixture[str]) -> None:
    result().show(1)
    assert (
        capsys.readouterr().out
        == "sector  COUNT(*)\n──────  ────────\nfood           3\n1 of 2 rows\n"
    )
    assert str(result()) == result().to_text()
    assert repr(result()) == "<Result: 2 rows of window_start, window_end, sector, COUNT(*)>"
    assert "<table>" in result()._repr_html_()


def test_frames_keep_large_integers() -> None:
    assert result().to_pandas()["COUNT(*)"].tolist() == [3, 2**60 + 1]
    assert result().to_polars()["COUNT(*)"].to_list() == [3, 2**60 + 1]


@pytest.mark.parametrize(
    ("library", "method", "package"),
    [
        ("pandas", "to_pandas", "pandas"),
        ("polars", "to_polars", "polars"),
        ("altair", "plot", r"trendloom\[plot\]"),
    ],
)
def test_a_missing_library_is_named_with_its_command(
    library: str, method: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=f"pip install '{package}'"):
        getattr(result(), method)()


def test_equal_but_for_the_time_it_took() -> None:
    slower = Result(result().table, ("sector",), ("COUNT(*)",), 9, 0, 99.0)
    assert slower == result()
    assert Result(result().table.slice(1), ("sector",), ("COUNT(*)",), 9, 0, 0.5) != result()


def test_plot_draws_what_was_asked() -> None:
    rows = [
        {
            "window_start": datetime(2024, 1, d),
            "window_end": datetime(2024, 1, d + 1),
            "a": "x",
            "n": d,
            "m": d * 2,
        }
        for d in (1, 2, 3)
    ]
    drawn = Result(pa.Table.from_pylist(rows), ("a",), ("n", "m"), 3, 0, 0.1).plot("m", title="M")
    spec = drawn.to_dict()
    assert spec["title"]["text"] == "M"
    assert [row["value"] for (data,) in [spec["datasets"].values()] for row in data] == [
        2.0,
        4.0,
        6.0,
    ]
