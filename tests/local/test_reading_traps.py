"""Every format with every trap, against readers that have no cleverness: Python's own, per file.

A file is read as these read it, row by row and value by value, or it is refused with a remedy.
"""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import json
import math
import warnings
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import trendloom as tl
from trendloom.errors import InputError, TrendloomWarning
from trendloom.hosts.local.sources import open_events
from trendloom.hosts.scan.columns import check_attributes, check_type
from trendloom.hosts.scan.reading import Reading

from .scans import rows, scan

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FAR = 30_000
"""Rows, more than a sample would hold."""
LONG = "t,type,x\n" + "".join(f"{n},A,{n % 7}\n" for n in range(FAR))

CSV_READ = {
    "plain": "t,type\n1,A\n2,B\n",
    "rows that begin with #": "t,type\n#1,A\n2,B\n#3,C\n",
    "a header that begins with #": "#t,type\n1,A\n",
    "types that begin with #": "type,t\n#A,1\n#B,2\nC,3\n",
    "byte order mark": "\ufefft,type\n1,A\n",
    "CR LF": "t,type\r\n1,A\r\n2,B\r\n",
    "CR": "t,type\r1,A\r2,B\r",
    "empty lines": "t,type\n1,A\n\n2,B\n\n\n3,C\n\n",
    "no line end at the end": "t,type\n1,A\n2,B",
    "a header only": "t,type\n",
    "a header that looks like data": "1,A\n2,B\n3,C\n",
    "a header of texts over texts": "a,b\nx,y\nz,w\n",
    "quoted delimiters and quotes": 't,type\n1,"A, B"\n2,"say ""hi"""\n',
    "quoted line ends": 't,type\n3,"one\ntwo"\n4,"x\r\ny"\n',
    "a quoted header": '"t","the, type"\n1,A\n',
    "a quote inside of a value": 't,type\n1,A"B\n2,5"\n',
    "single quotes": "t,type\n1,'A'\n2,'B'\n",
    "leading zeros": "t,type\n007,A\n010,B\n7,C\n",
    "plus signs": "t,type\n+1,A\n2,B\n",
    "thousands": 't,type\n"1,000",A\n"2,000",B\n',
    "underscores": "t,type\n1_000,A\n2,B\n",
    "words for null": "t,type\n1,NULL\n2,null\n3,NA\n4,\n5,nan\n6,None\n7,-\n",
    "a field of spaces": "t,type\n1,  \n2,x\n",
    "spaces around": "t,type\n1, A\n2,B \n",
    "semicolons": "t;type\n1;A\n2;B\n",
    "semicolons and decimal commas": "t;x\n1;1,5\n2;2,5\n",
    "bars": "t|type\n1|A,B\n2|C,D\n",
    "tabs": "t\ttype\n1\tA B\n2\tC\n",
    "one column": "type\nA\nB\n",
    "a column without a name": "t,,type\n1,2,A\n",
    "an empty last column": "t,type,\n1,A,\n2,B,\n",
    "integers over 64 bits": "t,x\n1,99999999999999999999\n2,1\n",
    "integers and fractions": "t,x\n1,1\n2,1.5\n3,1e3\n",
    "no UTF-8 names": "zeit,größe\n1,ä\n",
    "zero bytes": "t,type\n1,a\x00b\n2,x\n",
    "a fraction far down": LONG + "1,A,1.5\n",
    "an exponent far down": LONG + "1,A,1e3\n",
    "a hexadecimal number far down": LONG + "1,A,0x10\n",
    "a leading zero far down": LONG + "1,A,007\n",
    "text far down": LONG + "1,A,oops\n",
    "# far down": LONG + "#1,A,1\n",
    "true far down": LONG + "1,A,true\n",
    "ISO dates": "t,type\n2024-03-04,A\n2024-03-05,B\n",
    "ISO times": "t,type\n2024-03-04 10:00:00,A\n2024-03-05T11:30:00.25,B\n",
    "dates, then a time": "t,type\n2024-03-04,A\n2024-03-05 10:00:00,B\n",
    "dates, then a time far down": "t\n" + "2024-03-04\n" * FAR + "2024-03-05 10:00:00\n",
    "nanoseconds": "t,type\n2024-03-04T10:00:00.123456789,A\n2024-03-04T10:00:00.123456788,B\n",
    "ISO times with offsets": "t,type\n2024-03-04T10:00:00+02:00,A\n2024-03-04T09:00:00Z,B\n",
    "two-part codes": "t,type\n1,3/4\n2,5/6\n",
}
CSV_REFUSED = {
    "a preamble": ("some text\nmore\nt,type\n1,A\n2,B\n", "Line 3 of"),
    "a longer preamble": ("one line\nt,type\n1,A\n2,B\n", "Line 2 of"),
    "a short header": ("t\n1,A\n2,B\n", "Line 2 of .* has 2 fields, and the header 1"),
    "a row too long": ("t,type\n1,A\n2,B,C\n3,A\n", "Line 3 of .* has 3 fields, and the header 2"),
    "a row too short": ("t,type\n1,A\n2\n3,A\n", "Line 3 of .* has 1 field, and the header 2"),
    "a row too long far down": (LONG + "1,A,2,3\n", f"Line {FAR + 2} of .* has 4 fields"),
    "a row too short far down": (LONG + "1,A\n", f"Line {FAR + 2} of .* has 2 fields"),
    "empty lines before the header": ("\n\nt,type\n1,A\n", "first line of .* is empty"),
    "an open quote": ('t,type\n1,"A\n2,B\n', "Line 3 of .* is no CSV"),
    "an open quote far down": (LONG + '1,"A,1\n2,B,2\n', "is no CSV"),
    "text behind a quote": ('t,type\n1,"A"B\n2,B\n', "Line 2 of .* is no CSV"),
    "delimiters in single quotes": ("t,type\n1,'A,B'\n2,'C'\n", "Line 2 of .* has 3 fields"),
    "backslashes before quotes": ('t,type\n1,"A\\"B"\n2,C\n', "is no CSV"),
    "mixed line ends": ("t,type\r\n1,A\n2,B\r\n3,C\n", "end in different ways"),
    "mixed line ends far down": (LONG + "1,A,1\r\n2,B,2\r\n", "end in different ways"),
    "two delimiters": ("t,type;x\n1,A;2\n2,B;3\n", "comma and semicolon both fit"),
    "a name twice": ("t,type,type\n1,A,B\n", "'type' occurs twice"),
    "a name in upper and lower case": ("t,type,Type\n1,A,B\n", "'Type' occurs twice"),
}


def plain_csv(text: str) -> tuple[list[str], list[list[str]]]:
    """Python's csv: the delimiter is that of the header, empty lines are no rows."""
    first = text.splitlines()[0]
    delimiter = max(",;\t|", key=first.count)
    rows = list(
        csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=delimiter)
    )
    header, *body = [row for row in rows if row]
    return header, body


def same_value(text: str, value: Any) -> bool:
    """Whether a value is what the text of its field says."""
    if value is None or text == "":
        return value is None and text == ""
    if isinstance(value, str):
        return value == text
    if isinstance(value, bool):
        return text.lower() == str(value).lower()
    if isinstance(value, int) and text.startswith("0x"):
        return int(text, 16) == value
    if isinstance(value, int | float):
        return type(value)(text) == value or float(text) == value
    if isinstance(value, dt.datetime):
        return dt.datetime.fromisoformat(text) == value
    if isinstance(value, dt.date):
        return dt.date.fromisoformat(text) == value
    return int(text) == value


def table_of(events: Any, **options: Any) -> pa.Table:
    with open_events(events, **options) as source:
        return source.connection.sql(f"SELECT * FROM {source.name}").to_arrow_table()


def gz(path: Path, data: bytes) -> Any:
    path = path.with_name(path.name + ".gz")
    path.write_bytes(gzip.compress(data))
    return path


def zst(path: Path, data: bytes) -> Any:
    path = path.with_name(path.name + ".zst")
    with pa.CompressedOutputStream(str(path), "zstd") as stream:
        stream.write(data)
    return path


def alone(path: Path, data: bytes) -> Any:
    path.write_bytes(data)
    return path


def members(path: Path, data: bytes) -> Any:
    """Two members of one compressed file, as `cat a.gz b.gz` makes them."""
    path = path.with_name(path.name + ".gz")
    half = len(data) // 2
    path.write_bytes(gzip.compress(data[:half]) + gzip.compress(data[half:]))
    return path


def folder(path: Path, data: bytes) -> Any:
    inside = path.parent / "dir[1]"
    inside.mkdir()
    (inside / "_SUCCESS").write_bytes(b"")
    return alone(inside / path.name, data).parent


WAYS: dict[str, Callable[[Path, bytes], Any]] = {
    "file": alone,
    "text path": lambda p, d: str(alone(p, d)),
    "gz": gz,
    "two members": members,
    "zst": zst,
    "folder": folder,
    "glob": lambda p, d: str(alone(p, d).parent / f"*{p.suffix}"),
    "list": lambda p, d: [alone(p, d)],
    "stream": lambda _, d: io.BytesIO(d),
    "packed stream": lambda _, d: io.BytesIO(gzip.compress(d)),
}


@pytest.mark.parametrize("way", WAYS)
def test_csv_is_read_as_plain_python_reads_it(way: str, tmp_path: Path) -> None:
    for number, (trap, text) in enumerate(CSV_READ.items()):
        if way != "file" and (number + list(WAYS).index(way)) % 4:
            continue  # each trap in some of the ways
        (tmp_path / str(number)).mkdir()
        events = WAYS[way](tmp_path / str(number) / "e.csv", text.encode())
        header, body = plain_csv(text)
        table = table_of(events)
        named = [name or f"column{i}" for i, name in enumerate(header)]
        assert table.schema.names == named, trap
        assert table.num_rows == len(body), trap
        columns = [_exact(column).to_pylist() for column in table.columns]
        for i, row in enumerate(body):
            for text_of, column in zip(row, columns, strict=True):
                assert same_value(text_of, column[i]), (trap, row, column[i])


def _exact(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Nanoseconds as text: Python's times have none."""
    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        return pa.chunked_array([[str(v).replace(" ", "T") for v in column.to_numpy()]])
    return column


@pytest.mark.parametrize("way", ["file", "gz", "folder", "stream"])
def test_csv_that_is_no_table_is_refused_with_its_line(way: str, tmp_path: Path) -> None:
    for number, (trap, (text, message)) in enumerate(CSV_REFUSED.items()):
        (tmp_path / str(number)).mkdir()
        events = WAYS[way](tmp_path / str(number) / "e.csv", text.encode())
        with pytest.raises(InputError, match=message) as caught:
            open_events(events)
        assert caught.value.remedy, trap


# ── JSON ────────────────────────────────────────────────────────────────────────────────────────

JSON_LONG = "".join(f'{{"t": {n}, "x": {n % 7}}}\n' for n in range(FAR))
JSON_READ = {
    "plain": '{"t": 1, "type": "A"}\n{"t": 2, "type": "B"}\n',
    "blank lines": '{"t": 1}\n\n  \n{"t": 2}\n\n',
    "byte order mark": '\ufeff{"t": 1}\n{"t": 2}\n',
    "CR LF": '{"t": 1}\r\n{"t": 2}\r\n',
    "an array": '[{"t": 1},\n {"t": 2}]',
    "missing fields": '{"t": 1, "x": 1}\n{"t": 2}\n{"x": 3}\n',
    "an empty object": '{"t": 1}\n{}\n',
    "nulls": '{"t": 1, "x": null}\n{"t": 2, "x": null}\n',
    "nested values": '{"t": 1, "x": {"a": 1, "b": [1, 2]}}\n{"t": 2, "x": {"a": 3, "b": []}}\n',
    "integers and fractions": '{"t": 1, "x": 1}\n{"t": 2, "x": 1.5}\n',
    "large integers": '{"t": 9007199254740993, "x": 18446744073709551615}\n{"t": 2, "x": 1}\n',
    "not a number": '{"t": 1, "x": NaN}\n{"t": 2, "x": Infinity}\n{"t": 3, "x": -1.5}\n',
    "numbers as text": '{"t": 1, "x": "007"}\n{"t": 2, "x": "7"}\n',
    "truths as text": '{"t": 1, "x": "true"}\n{"t": 2, "x": "false"}\n',
    "a field named json": '{"json": 1, "t": 2}\n',
    "many fields": "".join(json.dumps({"t": n, f"k{n}": n}) + "\n" for n in range(300)),
    "a fraction far down": JSON_LONG + '{"t": 1, "x": 1.5}\n',
    "a field far down": JSON_LONG + '{"t": 1, "x": 1, "y": 2}\n',
}
JSON_REFUSED = {
    "a number among objects": ('{"t": 1}\n5\n{"t": 2}\n', "Value 2 of .* is no object"),
    "an array among objects": ('{"t": 1}\n[1, 2]\n', "Value 2 of .* is no object"),
    "only numbers": ("1\n2\n", "Value 1 of .* is no object"),
    "a field without a name": ('{"": 1}\n', "without a name"),
    "only empty objects": ("{}\n{}\n", "have no fields"),
    "half an object": ('{"t": 1}\n{"t": 2,', "Malformed JSON"),
    "two values on a line and rubbish": ('{"t": 1}\n{"t": 2} x\n', "Malformed JSON"),
    "a name in upper and lower case": ('{"t": 1, "T": 2}\n', "occurs twice"),
    "upper and lower case in turn": ('{"t": 1}\n{"T": 2}\n', "occurs twice"),
    "no UTF-8": ('{"t": 1, "x": "\udce9"}\n', "invalid UTF-8"),
}


def plain_json(text: str) -> list[dict[str, Any]]:
    text = text.removeprefix("\ufeff")
    if text.startswith("["):
        return json.loads(text)  # type: ignore[no-any-return]
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def same_json(given: Any, read: Any) -> bool:
    if isinstance(given, dict):
        # A struct has all fields that one of its values has.
        return all(same_json(given.get(name), value) for name, value in read.items())
    if isinstance(given, float) and math.isnan(given):
        return math.isnan(read)
    return bool(given == read)


@pytest.mark.parametrize("way", ["file", "gz", "stream"])
def test_json_is_read_as_plain_python_reads_it(way: str, tmp_path: Path) -> None:
    for number, (trap, text) in enumerate(JSON_READ.items()):
        if way != "file" and number % 2:
            continue
        (tmp_path / str(number)).mkdir()
        events = WAYS[way](tmp_path / str(number) / "e.jsonl", text.encode())
        given, read = plain_json(text), table_of(events).to_pylist()
        assert len(read) == len(given), trap
        for one, other in zip(given, read, strict=True):
            assert set(other) >= set(one), (trap, one, other)
            assert all(same_json(one.get(name), other[name]) for name in other), (trap, one, other)


def test_json_that_is_no_list_of_objects_is_refused(tmp_path: Path) -> None:
    for trap, (text, message) in JSON_REFUSED.items():
        path = tmp_path / "e.jsonl"
        path.write_bytes(text.encode(errors="surrogateescape"))
        with pytest.raises(InputError, match=message) as caught:
            open_events(path)
        assert caught.value.remedy, trap


def test_json_of_no_values_has_no_rows(tmp_path: Path) -> None:
    for text in ("\n", "  \n\n", "[]"):
        with open_events(alone(tmp_path / "e.jsonl", text.encode())) as source:
            assert (source.is_empty, source.schema) == (True, {})


@pytest.mark.parametrize("other", ['"a"', "true", '{"y": 1}', '"1"'])
def test_a_field_of_changing_type_is_refused_where_it_is_used(other: str, tmp_path: Path) -> None:
    path = alone(tmp_path / "e.jsonl", f'{{"t": 1, "x": 1}}\n{{"t": 2, "x": {other}}}\n'.encode())
    with open_events(path) as source:
        check_attributes(source, ["t"])
        with pytest.raises(InputError, match="'x' has values of different types"):
            check_attributes(source, ["x"])


def test_a_field_twice_in_one_object_is_refused_where_it_is_read(tmp_path: Path) -> None:
    path = alone(tmp_path / "e.jsonl", b'{"t": 1, "type": "A"}\n{"t": 2, "t": 3, "type": "A"}\n')
    with pytest.raises(InputError, match=r"in line 2: Object .* has duplicate key \"t\""):
        rows(path, scan("A"))


# ── Parquet ─────────────────────────────────────────────────────────────────────────────────────


def test_parquet_is_read_as_arrow_reads_it(tmp_path: Path) -> None:
    table = pa.table(
        {
            "t": pa.array([1, 2**62, None]),
            "type": ["#A", "", None],
            "x_1": [1.5, math.inf, None],
            "day": pa.array([dt.date(2024, 3, 4)] * 3),
            "at": pa.array([dt.datetime(2024, 3, 4, 5)] * 3, pa.timestamp("ns")),
        }
    )
    for name in ("a[1].parquet", "a*.parquet", "a?.parquet", "a1.parquet"):
        pq.write_table(table.append_column("file", pa.array([name] * 3)), tmp_path / name)
    for name in ("a[1].parquet", "a*.parquet", "a?.parquet", "a1.parquet"):
        read = table_of(tmp_path / name)
        assert read.equals(pq.ParquetFile(tmp_path / name).read().cast(read.schema))
        assert read.num_rows == 3
    assert table_of(tmp_path).num_rows == 12


@pytest.mark.parametrize("names", [["t", "t"], ["t", "T"], ["x", "X", "t"], ["t", "t_1", "T"]])
def test_a_parquet_column_twice_is_refused(names: list[str], tmp_path: Path) -> None:
    columns = [pa.array([n]) for n in range(len(names))]
    pq.write_table(pa.Table.from_arrays(columns, names=names), tmp_path / "e.parquet")
    with pytest.raises(InputError, match="occurs twice"):
        open_events(tmp_path / "e.parquet")


def test_parquet_columns_with_numbers_behind_their_names_are_fine(tmp_path: Path) -> None:
    pq.write_table(pa.table({"t": [1], "t_1": [2]}), tmp_path / "e.parquet")
    assert table_of(tmp_path / "e.parquet").to_pylist() == [{"t": 1, "t_1": 2}]


# ── names ───────────────────────────────────────────────────────────────────────────────────────

NAMES = {
    "a[1]": "a1",
    "star*": "starry",
    "q?": "qa",
    "[!a]": "b",
    "e[[]1]": "e[1]",
    "**": "xy",
    "back\\slash": "backslash",
    "{1,2}": "1",
    "it's": "its",
}


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "csv.gz"])
def test_a_path_that_exists_is_that_file(suffix: str, tmp_path: Path) -> None:
    for folder_name in (".", "dir[1]", "dir1"):
        (tmp_path / folder_name).mkdir(exist_ok=True)
        for name in (*NAMES, *NAMES.values()):
            path = tmp_path / folder_name / f"{name}.{suffix}"
            write_one(path, f"{folder_name}/{name}")
    for folder_name in (".", "dir[1]"):
        for name in NAMES:
            path = tmp_path / folder_name / f"{name}.{suffix}"
            if "[" in folder_name and "\\" in name:
                with pytest.raises(InputError, match="both a backslash and one of"):
                    open_events(path)
                continue
            for events in (path, [str(path)]):
                assert table_of(events)["name"].to_pylist() == [f"{folder_name}/{name}"]
    both = [tmp_path / f"{name}.{suffix}" for name in ("a[1]", "star*")]
    assert table_of(both)["name"].to_pylist() == ["./a[1]", "./star*"]
    for path in (tmp_path / "dir[1]").glob("back*slash.*"):
        path.unlink()
    assert table_of(tmp_path / "dir[1]").num_rows == len({*NAMES, *NAMES.values()}) - 2
    found = table_of(str(tmp_path / f"dir[1]*/a*.{suffix}"))["name"].to_pylist()
    assert found == ["dir1/a1", "dir1/a[1]"]


def write_one(path: Path, value: str) -> None:
    if path.suffix == ".parquet":
        pq.write_table(pa.table({"t": [1], "name": [value]}), path)
    elif path.suffix == ".jsonl":
        path.write_text(json.dumps({"t": 1, "name": value}))
    else:
        text = f't,name\n1,"{value}"\n'.encode()
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


# ── packed files that are not whole ─────────────────────────────────────────────────────────────


@pytest.mark.parametrize("pack", [gz, zst])
def test_a_packed_file_that_is_cut_or_damaged_is_refused(
    pack: Callable[[Path, bytes], Path], tmp_path: Path
) -> None:
    text = "".join(f"{n},A{n * 7919 % 10007}\n" for n in range(20_000))
    path = pack(tmp_path / "e.csv", f"t,type\n{text}".encode())
    whole = path.read_bytes()
    half = len(whole) // 2
    damaged = whole[:half] + bytes(50) + whole[half + 50 :]
    # Only gzip has a sum of its contents by default.
    for broken in (whole[:half], whole[:-4], *([damaged] if pack is gz else [])):
        path.write_bytes(broken)
        with pytest.raises(InputError, match=r"compressed file .* cannot be read") as caught:
            open_events(path)
        assert "whole" in str(caught.value.remedy)


# ── tables and streams by their folder ──────────────────────────────────────────────────────────


def test_a_delta_table_is_refused_by_path_and_by_glob(tmp_path: Path) -> None:
    (tmp_path / "_delta_log").mkdir()
    write_one(tmp_path / "a.parquet", "a")
    for events in (tmp_path, str(tmp_path / "*.parquet")):
        with pytest.raises(InputError, match="is a Delta table") as caught:
            open_events(events)
        assert "DeltaTable(path).to_pyarrow_dataset()" in str(caught.value.remedy)
    assert table_of([tmp_path / "a.parquet"]).num_rows == 1


def test_of_a_stream_only_what_it_committed_is_read(tmp_path: Path) -> None:
    for name in ("a", "b", "orphan"):
        write_one(tmp_path / f"{name}.parquet", name)
    log = tmp_path / "_spark_metadata"
    log.mkdir()
    lines = [json.dumps({"path": (tmp_path / f"{n}.parquet").as_uri()}) for n in "ab"]
    (log / "0").write_text("\n".join(["v1", *lines]))
    for events in (tmp_path, str(tmp_path / "*.parquet")):
        assert table_of(events)["name"].to_pylist() == ["a", "b"]


# ── dates ───────────────────────────────────────────────────────────────────────────────────────


def reading(**options: Any) -> Reading:
    return Reading("t", **options)


def times_of(*values: str, **options: Any) -> list[Any]:
    """What a CSV column of these texts is read as, if it is used."""
    lines = "".join(f'"{value}",A\n' for value in values)
    with open_events(io.BytesIO(f"t,type\n{lines}".encode()), reading(**options)) as source:
        check_attributes(source, ["t"])
        return source.connection.sql("SELECT t FROM events").to_arrow_table()["t"].to_pylist()


DAY, MONTH = dt.date(2024, 4, 3), dt.date(2024, 3, 4)


@pytest.mark.parametrize(
    ("values", "first"),
    [
        (["03/04/2024", "13/04/2024"], DAY),
        (["03/04/2024", "04/13/2024"], MONTH),
        (["3.4.2024", "31.12.2024"], DAY),
        (["03-04-2024", "12-31-2024"], MONTH),
        (["03/04/2024 10:30", "13/04/2024 11:30"], dt.datetime(2024, 4, 3, 10, 30)),
        (["03/04/2024 10:30:15", "04/13/2024 11:30:00"], dt.datetime(2024, 3, 4, 10, 30, 15)),
        (["03/04/2024 01:30:00 PM", "04/13/2024 11:30:00 AM"], dt.datetime(2024, 3, 4, 13, 30)),
        (["2024/03/04", "2024/03/05"], MONTH),
        (["2024-3-4", "2024-3-5"], MONTH),
    ],
)
def test_a_date_that_one_value_tells_is_read_rightly(values: list[str], first: Any) -> None:
    assert times_of(*values)[0] == first


@pytest.mark.parametrize(
    "values",
    [
        ["03/04/2024", "05/06/2024"],
        ["03-04-2024", "12-12-2024"],
        ["3.4.2024"],
        ["03/04/24", "05/06/24"],
        ["03/04/2024 10:30:00", "05/06/2024 11:30:00"],
        ["03/04/2024 10:30:00 PM", "05/06/2024 11:30:00 AM"],
    ],
)
def test_dates_that_no_value_tells_are_refused_where_they_are_used(values: list[str]) -> None:
    with pytest.raises(InputError, match="no value tells the day from the month") as caught:
        times_of(*values)
    assert "--date-format" in str(caught.value.remedy)


@pytest.mark.parametrize(
    ("values", "date_format", "first"),
    [
        (["03/04/2024", "05/06/2024"], "%d/%m/%Y", DAY),
        (["03/04/2024", "05/06/2024"], "%m/%d/%Y", MONTH),
        (["2024-03-04"], "%Y-%d-%m", DAY),
        (["24-03-04"], "%y-%m-%d", MONTH),
        (["20240304"], "%Y%m%d", MONTH),
        (["04 Mar 2024 10h30"], "%d %b %Y %Hh%M", dt.datetime(2024, 3, 4, 10, 30)),
    ],
)
@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_date_format_says_how_dates_are_written(
    values: list[str], date_format: str, first: Any, suffix: str, tmp_path: Path
) -> None:
    lines = {
        "csv": "t,x\n" + "".join(f"{value},1\n" for value in values),
        "jsonl": "".join(json.dumps({"t": value, "x": 1}) + "\n" for value in values),
    }
    path = alone(tmp_path / f"e.{suffix}", lines[suffix].encode())
    with open_events(path, reading(date_format=date_format)) as source:
        read = source.connection.sql("SELECT t FROM events").to_arrow_table()["t"].to_pylist()
    assert read[0] == first
    with pytest.raises(InputError, match="fits no column"):
        open_events(path, reading(date_format="%H:%M:%S:%d"))


def test_a_date_format_that_is_none() -> None:
    for wrong in ("day", "%Q", "%"):
        with pytest.raises(InputError, match="date format"):
            times_of("2024-03-04", date_format=wrong)
    with pytest.raises(InputError, match="are for files"):
        open_events([{"t": 1}], reading(date_format="%Y"))


def test_unused_dates_are_nobodys_business(tmp_path: Path) -> None:
    path = alone(tmp_path / "e.csv", b"t,type,born\n1,A,03/04/2024\n2,A,05/06/2024\n")
    assert len(rows(path, scan("A"))) == 2


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
@pytest.mark.parametrize("far", [1, FAR])
def test_times_with_and_without_offsets_are_told(suffix: str, far: int, tmp_path: Path) -> None:
    naive, offset = "2024-01-01T00:00:00", "2024-01-01T00:00:00+02:00"
    values = [naive] * far + [offset]
    lines = {
        "csv": "t,type\n" + "".join(f"{value},A\n" for value in values),
        "jsonl": "".join(f'{{"t": "{value}", "type": "A"}}\n' for value in values),
    }
    path = alone(tmp_path / f"e.{suffix}", lines[suffix].encode())
    with open_events(path) as source:
        with pytest.warns(TrendloomWarning, match=rf"an offset \(1\) and without \({far}\)"):
            check_attributes(source, ["t"])
        read = source.connection.sql("SELECT t FROM events").to_arrow_table()["t"].to_pylist()
    hours = {time.hour for time in read}
    assert hours == {0, 22}


@pytest.mark.parametrize(
    ("values", "rounded"),
    [
        (["1.5", "9007199254740993", "9007199254740992"], 1),
        (["1.5", "-9007199254740993", "-18446744073709551615", "18446744073709551616"], 2),
        (["0.5", "9" * 50], 1),
        (["1.5", "9007199254740992", "1e300", "123456789012345.25"], 0),
        (["1", "9223372036854775807"], 0),
    ],
)
def test_integers_that_become_other_doubles_are_told(
    values: list[str], rounded: int, tmp_path: Path
) -> None:
    csv, json = tmp_path / "a.csv", tmp_path / "a.json"
    rows = list(enumerate(values))
    csv.write_text("".join(["type,time,i\n", *(f"A,{at},{value}\n" for at, value in rows)]))
    json.write_text("".join(f'{{"type":"A","time":{at},"i":{v}}}\n' for at, v in rows))
    for path in (csv, json):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            tl.run("RETURN MAX(A.i) AS n PATTERN A", str(path), time="time")
            tl.run("RETURN COUNT(*) AS n PATTERN A", str(path), time="time")
        found = [str(one.message) for one in told if "stored exactly" in str(one.message)]
        assert len(found) == (rounded > 0)
        assert all("'i'" in one and f" {rounded} of its integers" in one for one in found)


def test_times_with_offsets_in_one_file_and_without_in_another(tmp_path: Path) -> None:
    paths = [
        alone(tmp_path / "1.csv", b"t,type\n2024-01-01T00:00:00,A\n"),
        alone(tmp_path / "2.csv", b"type,t\nA,2024-01-01T00:00:00+02:00\n"),
    ]
    with (
        open_events(paths) as source,
        pytest.warns(TrendloomWarning, match=r"an offset \(1\) and without \(1\)"),
    ):
        check_attributes(source, ["t"])


# ── folders that name columns ───────────────────────────────────────────────────────────────────


def partitioned(folder: Path, own: dict[str, list[Any]]) -> None:
    for value, types in own.items():
        inside = folder / f"type={value}"
        inside.mkdir(parents=True)
        columns: dict[str, Any] = {"t": list(range(len(types)))}
        if None not in types:
            columns["type"] = types
        pq.write_table(pa.table(columns), inside / "x.parquet")


def test_folders_name_no_columns_unless_asked(tmp_path: Path) -> None:
    partitioned(tmp_path, {"A": ["B", "C"]})
    assert table_of(tmp_path / "type=A" / "x.parquet")["type"].to_pylist() == ["B", "C"]
    assert table_of(str(tmp_path / "*" / "*.parquet"))["type"].to_pylist() == ["B", "C"]
    with pytest.raises(InputError, match="holds no event files") as caught:
        open_events(tmp_path)
    assert "--hive-partitioning" in str(caught.value.remedy)


@pytest.mark.parametrize("events", ["", "*/*.parquet", "**/*.parquet"])
def test_folders_name_columns_if_asked(events: str, tmp_path: Path) -> None:
    partitioned(tmp_path, {"A": [None, None], "B": [None], "a%20b": [None]})
    path = str(tmp_path / events)
    table = table_of(path, reading=reading(hive_partitioning=True))
    assert table["type"].to_pylist() == ["A", "A", "B", "a b"]
    if events:
        with open_events(path) as source:
            assert list(source.schema) == ["t"]
            with pytest.raises(InputError, match="only a name of their folders") as caught:
                check_type(source, None, None)
        assert "hive_partitioning=True" in str(caught.value.remedy)


def test_a_folder_and_a_column_must_not_differ(tmp_path: Path) -> None:
    partitioned(tmp_path / "same", {"A": ["A", "A"], "01": ["01"]})
    asked = reading(hive_partitioning=True)
    assert table_of(tmp_path / "same", reading=asked)["type"].to_pylist() == ["01", "A", "A"]
    partitioned(tmp_path / "other", {"A": ["A", "B"], "C": ["C"]})
    with pytest.raises(InputError, match=r"says type=A, but .* otherwise in 1 row\."):
        open_events(tmp_path / "other", asked)


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_folders_of_text_files_name_columns_too(suffix: str, tmp_path: Path) -> None:
    text = {"csv": "t,x\n1,2\n", "jsonl": '{"t": 1, "x": 2}\n'}[suffix]
    for day in (1, 2):
        (tmp_path / f"day={day}" / "k=a").mkdir(parents=True)
        alone(tmp_path / f"day={day}" / "k=a" / f"e.{suffix}", text.encode())
    table = table_of(tmp_path, reading=reading(hive_partitioning=True))
    assert table.to_pylist() == [{"t": 1, "x": 2, "day": day, "k": "a"} for day in (1, 2)]
