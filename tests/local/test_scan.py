from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trendloom.errors import InputError, LimitError
from trendloom.hosts.local import scan as scanning
from trendloom.hosts.local.sources import open_events
from trendloom.plan.scan import Kind

from .scans import batches, rows, scan

if TYPE_CHECKING:
    from pathlib import Path

NAN, INF = float("nan"), float("inf")


def masks(condition: str, values: list[Any], **columns: list[Any]) -> list[int]:
    """Which of the rows satisfy a condition over `x`."""
    events = {"t": list(range(len(values))), "x": pa.array(values), **columns}
    found = rows(pa.table(events), scan(f"A: {condition}", keep=True), event_type="A")
    return [mask for _, mask in found]


def test_letters_conditions_and_types_that_never_occur() -> None:
    events = {"t": [1, 2, 3], "type": ["A", "B", "A"], "x": [1, 5, 9]}
    query = scan("A", "A: x > 3", "B: x > 3", "Z")
    assert rows(events, query) == [(1, 0b001), (2, 0b100), (3, 0b011)]


def test_integers_as_types() -> None:
    assert rows({"t": [1, 2], "type": [7, 8]}, scan("8")) == [(2, 1)]


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("kind", INTEGERS)
def test_integer_types_match_the_names_that_print_as_they_do(kind: str) -> None:
    low, high = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
    types = pa.array([8, low, high, None], getattr(pa, kind)())
    events = pa.table({"t": [1, 2, 3, 4], "type": types})
    names = [
        "8",
        "08",
        "+8",
        "8.0",
        " 8",
        "٨",
        "A",
        str(low),
        str(low - 1),
        str(high),
        str(high + 1),
    ]
    expected = [(1, 1 << 0), (2, 1 << 7), (3, 1 << 9)]
    assert rows(events, scan(*names)) == expected
    assert rows(events, scan(*names, keep=True)) == [*expected, (4, 0)]
    assert rows(events, scan("A", "08")) == []
    assert rows(events, scan("A", "08: t > 0", keep=True)) == [(t, 0) for t in (1, 2, 3, 4)]


def test_a_condition_on_a_type_that_cannot_occur_is_still_checked() -> None:
    events = {"t": [1], "type": [1], "x": [1]}
    with pytest.raises(InputError, match=r"The condition on a: 'UPPER\(x\) = 'A'' does not fit"):
        rows(events, scan("A: UPPER(x) = 'A'"))


def test_one_type_for_all_rows() -> None:
    assert rows({"t": [2, 1]}, scan("A", "B"), event_type="B") == [(1, 2), (2, 2)]


def test_unmatched_rows_are_kept_on_request() -> None:
    events = {"t": [1, 2, 3], "type": ["A", "B", None], "k": [1, 1, 1]}
    assert rows(events, scan("A", by="k")) == [(1, 1, 1)]
    assert rows(events, scan("A", by="k", keep=True)) == [(1, 1, 1), (1, 2, 0), (1, 3, 0)]


@pytest.mark.parametrize(
    ("count", "kind"), [(8, pa.uint8()), (9, pa.uint16()), (32, pa.uint32()), (64, pa.uint64())]
)
def test_the_mask_is_as_narrow_as_the_letters_allow(count: int, kind: pa.DataType) -> None:
    with open_events({"t": [1], "type": ["L"]}) as source:
        found = batches(source, scan(*["M"] * (count - 1), "L"))
        (batch,) = found
        assert found.schema.field("mask").type == kind
        assert batch["mask"].to_pylist() == [1 << (count - 1)]


def test_too_many_letters() -> None:
    with pytest.raises(LimitError, match="65 variables; at most 64"):
        rows({"t": [1], "type": ["L"]}, scan(*["L"] * 65))


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("x > 1", [0, 1, 0, 0]),
        ("x < 1", [0, 0, 0, 0]),
        ("NOT x > 1", [1, 0, 0, 0]),
        ("x = x", [1, 1, 0, 0]),
        ("x <> 1", [0, 1, 0, 0]),
        ("x IS NULL", [0, 0, 1, 1]),
        ("x - x / 0 * 0 > 1", [0, 0, 0, 0]),
        ("0 * (x / 0) = 0 OR x > 1", [0, 1, 0, 0]),
        ("x BETWEEN 1 AND x", [1, 1, 0, 0]),
        ("x / 0 - x / 0 BETWEEN 0 AND 1", [0, 0, 0, 0]),
        ("x IN (1, x / 0 - x / 0)", [1, 0, 0, 0]),
        ("CAST('NaN' AS DOUBLE) > x", [0, 0, 0, 0]),
        ("COALESCE(x, 7) = 7", [0, 0, 1, 1]),
        ("ABS(x) >= 1 AND ROUND(x) = 1", [1, 0, 0, 0]),
    ],
)
def test_comparisons_with_nan_are_not_satisfied(condition: str, expected: list[int]) -> None:
    assert masks(condition, [1.0, 2.0, NAN, None]) == expected


def test_division() -> None:
    assert masks("x / 2 = 2.5", [5]) == [1]
    assert masks("x % y = 1", [5, 5], y=[0, 2]) == [0, 1]
    assert masks("x % y IS NULL", [5.5, 5.5], y=[0.0, 2.0]) == [1, 0]
    assert masks("x % 0 IS NULL AND x / 0 IS NULL", [5]) == [1]


def test_a_condition_is_not_evaluated_on_rows_of_another_type() -> None:
    events = {"t": [1, 2], "type": ["A", "B"], "x": [1, 2**63 - 1]}
    assert rows(events, scan("A: x + x > 0", "B")) == [(1, 1), (2, 2)]


def test_names_are_quoted() -> None:
    events = {"t": [1], "type": ["it's"], 'a "b" c': [1], "order": [2]}
    query = scan('it\'s: "a ""b"" c" = 1 AND "order" = 2', by="order")
    assert rows(events, query) == [(2, 1, 1)]


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("x > 5", r"The condition on a compares text with a number: .*'x' is VARCHAR"),
        ("x + 1 = 2", r"The condition on a: 'x \+ 1 = 2' does not fit"),
        ("UPPER(n) = 'A'", r"'UPPER\(n\) = 'A''.*\n.*'n' is BIGINT"),
        ("n = 'zz'", "The condition on a compares text with a number: .*'n' is BIGINT"),
        ("n + 1", r"not true or false: 'n \+ 1' is BIGINT"),
    ],
)
def test_conditions_of_wrong_types(condition: str, message: str) -> None:
    events = {"t": [1], "type": ["A"], "x": ["a"], "n": [1]}
    with pytest.raises(InputError, match=message):
        rows(events, scan(f"A: {condition}"))


def test_overflow_is_an_error_not_a_number() -> None:
    events = {"t": [1], "type": ["A"], "n": [2**63 - 1]}
    with pytest.raises(InputError, match=r"Overflow in addition.*\n.*convert the column"):
        rows(events, scan("A: n + n > 0"))
    big = pa.table({"t": [1], "type": ["A"], "n": pa.array([2**63], pa.uint64())})
    with pytest.raises(InputError, match="out of range"):
        rows(big, scan("A", operands=(("n", Kind.NUMBER),)))


DAY, MOMENT = dt.date(2020, 1, 1), dt.datetime(2020, 1, 1)
VALUES: dict[str, tuple[pa.Array, Any, Any, Any, Any]] = {
    # what is given → the Arrow type as NUMBER, ORDERED, ANY, HELD; None: refused
    "int8": (pa.array([1], pa.int8()), pa.int64(), pa.int64(), pa.int8(), pa.int8()),
    "uint64": (pa.array([1], pa.uint64()), pa.int64(), pa.uint64(), pa.uint64(), pa.uint64()),
    "float": (
        pa.array([1.5], pa.float32()),
        pa.float64(),
        pa.float64(),
        pa.float32(),
        pa.float32(),
    ),
    "double": (pa.array([1.5]), pa.float64(), pa.float64(), pa.float64(), pa.float64()),
    "decimal": (
        pa.array([Decimal("1.5")]),
        pa.float64(),
        pa.float64(),
        pa.decimal128(2, 1),
        pa.decimal128(2, 1),
    ),
    "null": (pa.nulls(1), pa.int64(), pa.int64(), pa.int64(), pa.int64()),
    "boolean": (pa.array([True]), None, pa.bool_(), pa.bool_(), pa.bool_()),
    "date": (pa.array([DAY]), None, pa.date32(), pa.date32(), pa.date32()),
    "timestamp": (
        pa.array([MOMENT]),
        None,
        pa.timestamp("us"),
        pa.timestamp("us"),
        pa.timestamp("us"),
    ),
    "text": (pa.array(["a"]), None, None, pa.string(), pa.string()),
    "dictionary": (pa.array(["a"]).dictionary_encode(), None, None, pa.string(), pa.string()),
}


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("kind", Kind)
def test_operands(value: str, kind: Kind) -> None:
    array, *expected = VALUES[value]
    wanted = expected[list(Kind).index(kind)]
    query = scan("A", operands=(("v", kind),))
    with open_events(pa.table({"t": [1], "type": ["A"], "v": array})) as source:
        if wanted is None:
            with pytest.raises(InputError, match=r"SUM\(v\) needs a number.*'v' is"):
                batches(source, query)
            return
        found = batches(source, query)
        (batch,) = found
        assert found.operand_types == [wanted]
        assert batch["x0"].to_pylist() == array.to_pylist()


@pytest.mark.parametrize("kind", Kind)
def test_nan_in_operands_is_null(kind: Kind) -> None:
    query = scan("A", operands=(("x", kind), ("x / 0", kind), ("x - x", kind)))
    table = pa.table({"t": [1, 2], "type": ["A", "A"], "x": [NAN, INF]})
    assert rows(table, query) == [(1, 1, None, None, None), (2, 1, INF, None, None)]


def test_partitions_leave_out_nulls_and_nan() -> None:
    table = pa.table(
        {
            "t": [1, 2, 3, 4],
            "type": ["A"] * 4,
            "k": [0.0, NAN, None, -0.0],
            "j": ["b", "b", "b", "a"],
        }
    )
    assert rows(table, scan("A", by="k j", keep=True)) == [(0.0, "a", 4, 1), (0.0, "b", 1, 1)]


def test_partition_types() -> None:
    moment = pa.array([MOMENT])
    with open_events(pa.table({"t": [1], "type": ["A"], "k": [True], "m": moment})) as source:
        found = batches(source, scan("A", by="k m"))
        assert found.partition_types == [pa.bool_(), pa.timestamp("us")]
        found.close()


def test_a_tiebreak_orders_simultaneous_events() -> None:
    events = {"t": [1, 1, 1], "type": ["A", "B", "C"], "n": [3, 1, 2]}
    assert rows(events, scan("A", "B", "C"), tiebreak="n") == [(1, 1, 2), (1, 2, 4), (1, 3, 1)]
    events["n"] = [3, None, 2]  # type: ignore[list-item]
    with pytest.raises(InputError, match=r"1 of 3 rows have no time .* or no tiebreak \('n'\)"):
        rows(events, scan("A"), tiebreak="n")
    assert rows(events, scan("A", "B"), tiebreak="n", bad_rows="drop") == [(1, 3, 1)]


TOP = 2**63 - 1


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("kind", ["table", "csv", "parquet"])
def test_rows_without_a_time(kind: str, ordered: bool, tmp_path: Path) -> None:
    times = pa.array([None, TOP, 5, -TOP], pa.timestamp("us"))
    events: Any = pa.table({"t": times, "type": ["A"] * 4})
    if kind == "csv":
        events = tmp_path / "e.csv"
        events.write_text("t,type\n,A\n,A\n1970-01-01 00:00:00.000005,A\n,A\n")
    if kind == "parquet":
        events = tmp_path / "e.parquet"
        pq.write_table(pa.table({"t": times, "type": ["A"] * 4}), events)
    with pytest.raises(InputError, match=r"3 of 4 rows have no time.*'t'.*\n.*--bad-rows drop"):
        rows(events, scan("A"))
    with open_events(events) as source:
        found = batches(source, scan("A", ordered=ordered), bad_rows="drop")
        assert [batch["time"].to_pylist() for batch in found] == [[5]]
        assert (found.total_rows, found.dropped_rows) == (4, 3)


@pytest.mark.parametrize("kind", ["arrow", "parquet", "csv"])
def test_input_order_is_kept_among_ties(kind: str, tmp_path: Path) -> None:
    count = 300_000
    n = np.arange(count)
    events: Any = pa.table({"t": n % 3, "type": ["A"] * count, "k": n % 2, "n": n})
    if kind == "parquet":
        pq.write_table(events, tmp_path / "e.parquet", row_group_size=10_000)
        events = tmp_path / "e.parquet"
    if kind == "csv":
        duckdb.connect().from_arrow(events).write_csv(str(tmp_path / "e.csv"))
        events = tmp_path / "e.csv"
    query = scan("A: n % 7 < 5", by="k", operands=(("n", Kind.NUMBER),), ordered=True)
    found = [(k, t, n) for k, t, _, n in rows(events, query)]
    assert len(found) > count // 2
    assert found == sorted(found)


def test_text_keys_sort_the_same_as_an_enumeration(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = ["b", "ä", "a", None, "B", ""] * 20
    events = {"t": list(range(120)), "type": ["A"] * 120, "k": keys, "j": [1] * 120}
    plain = rows(events, scan("A", by="j k"))
    monkeypatch.setattr(scanning, "ENUM_MIN_ROWS", 1)
    with open_events(events) as source:
        for query in (scan("A", by="j k"), scan("A", by="j k", ordered=True)):
            found = batches(source, query)
            assert found.partition_types == [pa.int64(), pa.string()]
            table = pa.Table.from_batches(list(found))
            assert list(zip(*(c.to_pylist() for c in table.columns), strict=True)) == plain
        left = source.connection.execute(
            "SELECT count(*) FROM duckdb_types() WHERE type_name LIKE 'keys%'"
        )
        assert left.fetchone() == (0,)
    assert len(plain) == 100


def test_one_value_far_down_decides_the_type_of_a_column(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("t,type\n" + "1,A\n" * 300_000 + "soon,A\n")
    with pytest.raises(InputError, match="'t' is VARCHAR"):
        rows(path, scan("A"))


def test_a_sort_that_cannot_be_done(tmp_path: Path) -> None:
    path = tmp_path / "e.parquet"
    pq.write_table(pa.table({"t": np.arange(1_000_000)[::-1], "type": ["A"] * 1_000_000}), path)
    with (
        open_events(path, memory_limit="1MB") as source,
        pytest.raises(LimitError, match=r"do not fit while they are read and sorted.*\n.*TMPDIR"),
    ):
        list(batches(source, scan("A")))


def test_a_sort_larger_than_memory_spills_and_cleans_up(tmp_path: Path) -> None:
    path, count = tmp_path / "e.parquet", 5_000_000
    duckdb.connect().execute(
        f"COPY (SELECT hash(range) AS k, (range * 7919) % {count} AS t, 'A' AS type, range AS n "
        f"FROM range({count})) TO '{path}' (FORMAT parquet)"
    )
    with open_events(path, memory_limit="150MB") as source:
        spill, spilled, last, total = source.directory / "spill", False, -1, 0
        for batch in batches(
            source, scan("A", operands=(("n", Kind.NUMBER), ("k % 1000", Kind.NUMBER)))
        ):
            spilled = spilled or any(spill.glob("*"))
            time = batch["time"].to_numpy()
            assert time[0] > last
            assert (np.diff(time) > 0).all()
            last, total = int(time[-1]), total + len(batch)
        directory = source.directory
    assert total == count
    assert spilled
    assert not directory.exists()
