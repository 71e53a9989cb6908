# ruff: noqa: ARG005 - every kind of input is made from the same two arguments
from __future__ import annotations

import gc
import io
import json
import re
from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from trendloom.errors import InputError
from trendloom.hosts.local.sources import open_events
from trendloom.plan.scan import Kind

from .scans import EVENTS, batches, rows, scan

if TYPE_CHECKING:
    from pathlib import Path

QUERY = scan("A", "B", by="k", operands=(("price", Kind.NUMBER),))
EXPECTED = [("x", 2, 1, None), ("x", 3, 2, 1.5), ("y", 1, 1, 2.5)]
ROWS = [{name: EVENTS[name][i] for name in EVENTS} for i in range(5)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)


def packed(data: bytes, path: Path, codec: str) -> str:
    with pa.CompressedOutputStream(str(path), codec) as stream:
        stream.write(data)
    return str(path)


def csv_bytes(table: pa.Table) -> bytes:
    stream = io.BytesIO()
    pcsv.write_csv(table, stream)
    return stream.getvalue()


def parquet_bytes(table: pa.Table) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream)
    return stream.getvalue()


def written(path: Path, data: bytes) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path


@pytest.fixture
def table() -> pa.Table:
    return pa.table(EVENTS)


KINDS: dict[str, Any] = {
    "parquet": lambda t, p: written(p / "e.parquet", parquet_bytes(t)),
    "parquet named like a glob": lambda t, p: written(p / "e[1].parquet", parquet_bytes(t)),
    "csv as text path": lambda t, p: str(written(p / "it's.csv", csv_bytes(t))),
    "csv.gz": lambda t, p: packed(csv_bytes(t), p / "e.csv.gz", "gzip"),
    "csv.zst": lambda t, p: packed(csv_bytes(t), p / "e.csv.zst", "zstd"),
    "jsonl": lambda t, p: written(p / "e.jsonl", LINES.encode()),
    "ndjson.gz": lambda t, p: packed(LINES.encode(), p / "e.ndjson.gz", "gzip"),
    "json array": lambda t, p: written(p / "e.json", json.dumps(ROWS).encode()),
    "list of paths": lambda t, p: [
        written(p / "1.parquet", parquet_bytes(t[:2])),
        str(written(p / "2.parquet", parquet_bytes(t[2:]))),
    ],
    "columns in another order": lambda t, p: [
        written(p / "1.parquet", parquet_bytes(t[:2])),
        written(p / "2.parquet", parquet_bytes(t[2:].select(["k", "price", "type", "t"]))),
    ],
    "csv columns in another order": lambda t, p: [
        written(p / "1.csv", csv_bytes(t[:2])),
        written(p / "2.csv", csv_bytes(t[2:].select(["k", "price", "type", "t"]))),
    ],
    "glob": lambda t, p: str(
        (written(p / "1.parquet", parquet_bytes(t[:2])).parent, p / "*.parquet")[1]
    ),
    "directory": lambda t, p: written(p / "d" / "e.csv", csv_bytes(t)).parent,
    "stream of parquet": lambda t, p: io.BytesIO(parquet_bytes(t)),
    "stream of csv": lambda t, p: io.BytesIO(csv_bytes(t)),
    "stream of json": lambda t, p: io.BytesIO(LINES.encode()),
    "stream of packed csv": lambda t, p: open(  # noqa: SIM115
        packed(csv_bytes(t), p / "e.csv.gz", "gzip"), "rb"
    ),
    "table": lambda t, p: t,
    "dictionary column": lambda t, p: t.set_column(1, "type", t["type"].dictionary_encode()),
    "batch": lambda t, p: t.combine_chunks().to_batches()[0],
    "reader": lambda t, p: t.to_reader(),
    "dataset": lambda t, p: ds.dataset(t),
    "pandas": lambda t, p: t.to_pandas(),
    "pandas categorical": lambda t, p: t.to_pandas().astype({"type": "category", "k": "category"}),
    "polars": lambda t, p: pl.from_arrow(t),
    "polars categorical": lambda t, p: pl.from_arrow(t).with_columns(
        pl.col("type").cast(pl.Categorical), pl.col("k").cast(pl.Enum(["x", "y"]))
    ),
    "polars lazy": lambda t, p: pl.from_arrow(t).lazy(),
    "relation": lambda t, p: duckdb.connect().from_arrow(t),
    "list of dicts": lambda t, p: ROWS,
    "dict of lists": lambda t, p: EVENTS,
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_input_gives_the_same_batches(
    kind: str, table: pa.Table, tmp_path: Path
) -> None:
    events = KINDS[kind](table, tmp_path)
    if kind == "glob":
        written(tmp_path / "2.parquet", parquet_bytes(table[2:]))
    found = rows(events, QUERY)
    if hasattr(events, "close") and hasattr(events, "read"):
        events.close()
    assert found == EXPECTED


def test_stdin(monkeypatch: pytest.MonkeyPatch, table: pa.Table) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(csv_bytes(table))))
    assert rows("-", QUERY) == EXPECTED


def test_a_relation_of_the_default_connection(table: pa.Table) -> None:
    assert rows(duckdb.from_arrow(table), QUERY) == EXPECTED


def test_list_of_dicts_takes_columns_from_every_row() -> None:
    with open_events([{"t": 1, "type": "A"}, {"t": 2, "price": 3}]) as source:
        assert list(source.schema) == ["t", "type", "price"]


def test_a_source_is_scanned_more_than_once(table: pa.Table) -> None:
    with open_events(table.to_reader()) as source:
        for _ in range(2):
            assert sum(len(batch) for batch in batches(source, QUERY)) == 3
        batches(source, QUERY).close()
        assert sum(len(batch) for batch in batches(source, QUERY)) == 3


@pytest.mark.parametrize("close", [True, False])
def test_nothing_is_left_on_disk(close: bool, table: pa.Table) -> None:
    source = open_events(io.BytesIO(csv_bytes(table)))
    directory = source.directory
    assert directory.exists()
    if close:
        source.close()
        source.close()
    else:
        del source
        gc.collect()
    assert not directory.exists()


def test_a_refused_source_leaves_nothing_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(InputError, match="not supported"):
        open_events(42)
    with pytest.raises(duckdb.Error, match="Memory must have a number"):
        open_events([], memory_limit="much")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_without_rows(suffix: str, table: pa.Table, tmp_path: Path) -> None:
    data = {
        "csv": b"t,type,k,price\n",
        "parquet": parquet_bytes(table[:0]),
    }[suffix]
    path = written(tmp_path / f"e.{suffix}", data)
    assert rows(path, QUERY) == []
    with pytest.raises(InputError, match="Unknown time column 'time'"):
        rows(path, QUERY, time="time")


def test_json_without_rows_has_no_known_columns(tmp_path: Path) -> None:
    with open_events(written(tmp_path / "e.jsonl", b"\n")) as source:
        assert source.is_empty
        assert source.schema == {}
        assert list(batches(source, QUERY)) == []


def test_two_scans_at_once_are_a_bug_of_the_caller(table: pa.Table) -> None:
    with (
        open_events(table) as source,
        batches(source, QUERY),
        pytest.raises(duckdb.Error, match="open result"),
    ):
        batches(source, QUERY)


def test_an_empty_list_has_no_rows_and_no_known_columns() -> None:
    with open_events([]) as source:
        assert source.is_empty
        assert source.schema == {}
        found = batches(source, QUERY)
        assert found.operand_types == [pa.int64()]
        assert list(found) == []


def test_files_that_cannot_be_opened(table: pa.Table, tmp_path: Path) -> None:
    good = written(tmp_path / "events.parquet", parquet_bytes(table))
    wrong: list[tuple[Any, str]] = [
        (tmp_path / "event.parquet", r"There is no file .*\nDid you mean 'events.parquet'"),
        (tmp_path / "no" / "e.csv", r"There is no file .*\nThe folder .*no' does not exist"),
        (str(tmp_path / "*.tsv"), r"No file matches .*\*\.tsv'"),
        (written(tmp_path / "e.xlsx", b"x"), r"Cannot tell the format of .*e\.xlsx'.*\nReadable"),
        (written(tmp_path / "e.parquet.gz", b"x"), r"Cannot tell the format"),
        (written(tmp_path / "z.csv", b""), r"z\.csv' is empty \(0 bytes\)"),
        (
            written(tmp_path / "cut.parquet", good.read_bytes()[:-9]),
            r"cannot be read: .*magic bytes.*cut\.parquet.*\nCheck that the file is whole",
        ),
        (written(tmp_path / "bad.parquet", b"tiny"), r"too small to be a Parquet"),
        (written(tmp_path / "bin.csv", bytes(range(256)) * 20), r"bin\.csv' is not UTF-8 text"),
        (
            written(tmp_path / "rag.csv", b"a,b\n1,2\n1,2,3\n4\n"),
            r"Line 3 of .* has 3 fields",
        ),
        (written(tmp_path / "half.jsonl", b'{"t":1}\n{"t":2,'), r"Malformed JSON in file"),
        (io.BytesIO(b""), r"stream is empty"),
        (io.StringIO("t,type\n"), r"text mode.*\nOpen it in binary mode"),
        (42, r"Events of type int are not supported.*\nGive a path"),
        ([{"t": 1}, 2], r"Events of type list are not supported"),
        ([{"t": 1}, {"t": "x"}], r"do not fit columns of one type"),
        ({"t": [1], "type": ["a", "b"]}, r"do not fit columns of one type"),
        (pd.DataFrame({"t": [1, "x"]}), r"do not fit columns of one type"),
        (pa.table({"a": [1], "A": [2]}), r"column name 'A' occurs twice"),
        (pa.table({"a": pa.array([1.0], pa.float16())}), r"halffloat, which cannot be read"),
    ]
    for events, message in wrong:
        with pytest.raises(InputError, match=message):
            open_events(events)


def test_a_directory_of_mixed_formats(table: pa.Table, tmp_path: Path) -> None:
    written(tmp_path / "d" / "e.csv", csv_bytes(table))
    written(tmp_path / "d" / "e.parquet", parquet_bytes(table))
    with pytest.raises(InputError, match=r"mixed formats: .*e\.csv' and .*e\.parquet'"):
        open_events(tmp_path / "d")
    with open_events(tmp_path / "d", format="csv") as source:
        assert source.is_text
    (tmp_path / "void").mkdir()
    with pytest.raises(InputError, match="holds no event files"):
        open_events(tmp_path / "void")
    with pytest.raises(InputError, match=r"Unknown format 'xml'.*\nKnown: parquet"):
        open_events(tmp_path / "d", format="xml")


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"t": [1.5], "type": ["A"]}, "differ in column 't': BIGINT in"),
        ({"t": [1]}, "differ in column 'type': VARCHAR in"),
        ({"t": [1], "type": ["A"], "z": [1]}, "differ in column 'z': missing in"),
    ],
)
def test_files_of_mixed_schemas(second: dict[str, Any], message: str, tmp_path: Path) -> None:
    one = written(tmp_path / "1.parquet", parquet_bytes(pa.table({"t": [1], "type": ["A"]})))
    two = written(tmp_path / "2.parquet", parquet_bytes(pa.table(second)))
    both = f"{message}.*{re.escape(str(one))}.*{re.escape(str(two))}"
    with pytest.raises(InputError, match=both):
        open_events([one, two])


def test_csv_files_of_mixed_columns(tmp_path: Path) -> None:
    one, two = (
        written(tmp_path / "1.csv", b"a,b\n1,2\n"),
        written(tmp_path / "2.csv", b"a,c\n1,2\n"),
    )
    with pytest.raises(InputError, match=r"differ in column 'b': there in .*, missing in"):
        open_events([one, two])
    three = written(tmp_path / "3.csv", b"a,b\n1.5,x\n")
    with open_events([one, three]) as source:
        assert source.schema == {"a": "DOUBLE", "b": "VARCHAR"}
