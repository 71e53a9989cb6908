"""Names and values from data that terminals and browsers would take for orders of their own."""

import io
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import trendloom as tl
from trendloom.cli.output import note, show_table
from trendloom.result import Result
from trendloom.view.cells import label
from trendloom.view.chart import chart
from trendloom.view.terminal import bar_chart

STRANGE = "a\x1b[2Jb\nc\u202ed</script><script>alert(1)</script>"
HARMLESS = r"a\x1b[2Jb\nc\u202ed</script>"
SCRIPTS = "<script>alert"


def table() -> pa.Table:
    empty = pa.array([None], pa.int64())
    columns = {"window_start": empty, "window_end": empty, STRANGE: [STRANGE], "n": [3]}
    return pa.table(columns)


def result() -> Result:
    return Result(table(), (STRANGE,), ("n",), 1, 0, 0.0)


def no_orders(text: str) -> None:
    assert not {"\x1b", "\u202e"} & set(text)
    assert HARMLESS in text.replace("\u2060", "").replace("&lt;", "<").replace("&gt;", ">")


def test_tables_as_text() -> None:
    text = result().to_text()
    no_orders(text)
    assert len(text.splitlines()) == 4  # names, a rule, one row, its number
    no_orders(repr(result()))


def test_tables_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    show_table(table())
    no_orders(capsys.readouterr().out)


def test_notes_and_bars(capsys: Any) -> None:
    note(f"Wrote 1 row to {STRANGE}.")
    told = capsys.readouterr().err
    assert not {"\x1b", "\u202e"} & set(told)
    no_orders(bar_chart(table(), [STRANGE], ["n"]))


def test_pages_hold_no_script_of_the_data() -> None:
    page = result()._repr_html_()
    assert "<script" not in page
    no_orders(page)


@pytest.mark.parametrize("kind", ["bar", "line", "heat"])
def test_charts_end_no_script_of_their_page(kind: str) -> None:
    drawn = chart(table(), [STRANGE], ["n"], kind=kind, title=STRANGE)
    renamed = chart(table().rename_columns(["window_start", "window_end", "g", STRANGE]),
                    ["g"], [STRANGE], kind=kind)  # fmt: skip
    for one in (drawn, renamed):
        page = io.StringIO()
        one.save(page, format="html")
        clean = chart(pa.table({"n": [1]}), [], ["n"], kind="bar")
        plain = io.StringIO()
        clean.save(plain, format="html")
        assert page.getvalue().count("</script>") == plain.getvalue().count("</script>")
        assert SCRIPTS not in page.getvalue()


def test_labels_look_as_they_are_written() -> None:
    assert label("a < b, 1<2, <3") == "a < b, 1<2, <3"
    assert label("</b>").replace("\u2060", "") == "</b>"


def test_mermaid_pictures_of_strange_names() -> None:
    quoted = '"</script><script>alert(1)</script>"'
    picture = tl.query(f"RETURN COUNT(*) PATTERN {quoted} A+").explain("mermaid")
    assert "<script" not in picture
    assert "\n" in picture


def test_paths_in_messages(tmp_path: Path) -> None:
    with pytest.raises(tl.errors.InputError) as caught:
        tl.run("RETURN COUNT(*) PATTERN A+", str(tmp_path / "a\x1b[2Jb\nc.csv"), time="t")
    assert r"a\x1b[2Jb\nc.csv" in str(caught.value)
