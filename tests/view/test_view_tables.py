"""Tables and bars as text: what a person sees, character by character."""

from datetime import date, datetime
from decimal import Decimal
from math import inf, nan

import pyarrow as pa
import pytest

from trendloom.errors import InputError
from trendloom.view.cells import cell, column_texts
from trendloom.view.html import html_table
from trendloom.view.scale import scale_of
from trendloom.view.terminal import bar_chart
from trendloom.view.text import text_table

DAY = [datetime(2013, 3, day) for day in (7, 8, 9)]
TABLE = pa.table(
    {
        "window_start": DAY,
        "window_end": [*DAY[1:], datetime(2013, 3, 10)],
        "carrier": ["EV", "B6", None],
        "COUNT(*)": [12.0, 4096.0, inf],
        "AVG(F.delay)": [1.5, None, 20.25],
    }
)
WHOLE = pa.table(
    {
        "window_start": pa.nulls(2),
        "window_end": pa.nulls(2),
        "sector": ["food", "tech"],
        "COUNT(*)": [3, 12],
    }
)


def test_a_table_reads_like_a_table() -> None:
    assert text_table(TABLE) == (
        "window_start  window_end  carrier  COUNT(*)  AVG(F.delay)\n"
        "────────────  ──────────  ───────  ────────  ────────────\n"
        "2013-03-07    2013-03-08  EV             12          1.50\n"
        "2013-03-08    2013-03-09  B6           4096          null\n"
        "2013-03-09    2013-03-10  null          inf         20.25\n"
        "3 rows"
    )


def test_without_a_window_there_are_no_window_columns() -> None:
    assert text_table(WHOLE) == (
        "sector  COUNT(*)\n──────  ────────\nfood           3\ntech          12\n2 rows"
    )


@pytest.mark.parametrize(
    ("limit", "footer", "lines"),
    [(0, "0 of 3 rows", 3), (1, "1 of 3 rows", 4), (None, "3 rows", 6)],
)
def test_the_footer_says_what_is_left_out(limit: int | None, footer: str, lines: int) -> None:
    text = text_table(TABLE, limit).splitlines()
    assert text[-1] == footer
    assert len(text) == lines


def test_no_rows() -> None:
    assert text_table(TABLE.slice(0, 0)).splitlines()[-1] == "0 rows"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (7, "7"),
        (2.0**53, "9007199254740992"),
        (2.0**60, "1.15292e+18"),
        (0.1 + 0.2, "0.3"),
        (1234567.25, "1234567.2"),
        (nan, "nan"),
        (-inf, "-inf"),
        (10**40, "1" + "0" * 40),
        (Decimal(10**37), "1" + "0" * 37),
        (date(2024, 1, 2), "2024-01-02"),
        (datetime(2024, 1, 2, 3, 4), "2024-01-02 03:04"),
        ("two\nlines\x1b[31m", "two\\nlines\\x1b[31m"),
        ("x" * 100, "x" * 59 + "…"),
        ([1, {"a": "é"}], '[1, {"a": "é"}]'),
    ],
)
def test_one_value(value: object, text: str) -> None:
    assert cell(value) == text


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([1.0, 2.5, None], ["1.0", "2.5", "null"]),
        ([1.0, 20.0], ["1", "20"]),
        ([1 / 3, 2 / 3], ["0.333333", "0.666667"]),
        ([0.001, 12345.678], ["0.001", "12345.7"]),
        ([0.0, 0.5], ["0.0", "0.5"]),
        ([nan, inf, 0.5], ["nan", "inf", "0.5"]),
        ([inf], ["inf"]),
        ([], []),
    ],
)
def test_a_column_is_written_alike(values: list[float | None], texts: list[str]) -> None:
    assert column_texts(values) == texts


def test_times_are_as_short_as_the_whole_column_allows() -> None:
    noon = datetime(2024, 1, 1, 12, 30)
    assert column_texts([DAY[0], noon]) == ["2013-03-07 00:00", "2024-01-01 12:30"]
    assert column_texts([noon, noon.replace(microsecond=5)])[0] == "2024-01-01 12:30:00.000000"


def test_wide_characters_keep_the_columns_straight() -> None:
    table = pa.table({"name": ["東京", "x"], "n": [1, 2]})
    assert text_table(table).splitlines()[2:4] == ["東京  1", "x     2"]


def test_bars_of_a_linear_scale() -> None:
    assert bar_chart(WHOLE, ["sector"], ["COUNT(*)"], columns=26) == (
        "COUNT(*)\nfood  ████               3\ntech  ████████████████  12"
    )


def test_bars_of_many_decades_and_beyond() -> None:
    table = pa.table({"g": ["a", "b", "c", "d"], "n": [0.0, 1.0, 1e6, inf]})
    assert bar_chart(table, ["g"], ["n"], columns=22) == (
        "n (log scale)\n"
        "a                    0\n"
        "b  █▍                1\n"
        "c  ██████████  1000000\n"
        "d  █████████▶      inf"
    )


def test_bars_say_how_many_they_leave_out() -> None:
    text = bar_chart(TABLE, ["carrier"], ["COUNT(*)"], limit=1)
    assert text.splitlines()[0] == "COUNT(*), first 1 of 3 rows"
    assert text.splitlines()[1].startswith("2013-03-07  EV  ")


def test_a_bar_chart_needs_numbers() -> None:
    with pytest.raises(InputError, match="no column of numbers to draw"):
        bar_chart(WHOLE, [], ["sector"])
    with pytest.raises(InputError, match=r"Did you mean 'COUNT\(\*\)'"):
        bar_chart(WHOLE, [], ["COUNT(*)"], value="COUNT")


@pytest.mark.parametrize(
    ("values", "log"),
    [
        ([1, 1000], False),
        ([1, 1001], True),
        ([0, 5], False),
        ([5, inf], True),
        ([-1, 1e9], False),
        ([], False),
    ],
)
def test_when_the_scale_is_logarithmic(values: list[float], log: bool) -> None:
    assert scale_of(values).log is log


def test_html_is_escaped() -> None:
    table = pa.table({"<b>": ["<script>alert(1)</script>"], "n": [1]})
    html = html_table(table)
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "&lt;b&gt;" in html
    assert "1 row" in html
