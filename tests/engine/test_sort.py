"""Sorting of event batches against Python's own stable sort, on columns of many types."""

from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trendloom.engine.sort import key_codes, sort_events
from trendloom.errors import InputError

DAY = datetime(2024, 2, 29, 23, 59, 59, 999_999)

VALUES: dict[pa.DataType, list[Any]] = {
    pa.int64(): [-(2**63), -1, 0, 1, 7, 2**63 - 1],
    pa.int32(): [-(2**31), -5, 0, 2**31 - 1],
    pa.int8(): [-128, 0, 127],
    pa.uint8(): [0, 1, 255],
    pa.uint64(): [0, 1, 2**63 - 1, 2**63, 2**64 - 1],
    pa.float64(): [-math.inf, -1.5, -5e-324, -0.0, 0.0, 5e-324, 2.25, math.inf],
    pa.float32(): [-1.5, -0.0, 0.0, 3.25],
    pa.float16(): [-1.5, -0.0, 0.0, 3.25],
    pa.string(): ["", "a", "a\0", "aa", "b", "ä", "z", "€", "𝄞"],
    pa.large_string(): ["", "a", "ab", "b" * 40],
    pa.string_view(): ["", "a", "ab", "b" * 40],
    pa.binary(): [b"", b"\0", b"\xff", b"ab"],
    pa.binary(2): [b"\0\0", b"\xff\0", b"ab"],
    pa.bool_(): [False, True],
    pa.date32(): [date(1, 1, 1), date(1969, 12, 31), date(1970, 1, 1), date(2024, 2, 29)],
    pa.date64(): [date(1969, 12, 31), date(1970, 1, 1), date(2024, 2, 29)],
    pa.timestamp("us"): [datetime(1969, 1, 1), DAY, DAY + timedelta(microseconds=1)],
    pa.timestamp("s"): [datetime(1969, 1, 1), datetime(2024, 1, 1)],
    pa.time64("us"): [time(0), time(12, 30), time(23, 59, 59, 999_999)],
    pa.time32("s"): [time(0), time(12, 30)],
    pa.duration("ms"): [timedelta(-1), timedelta(0), timedelta(1)],
    pa.decimal32(5, 2): [Decimal("-1.50"), Decimal("0.00"), Decimal("999.99")],
    pa.decimal64(12, 2): [Decimal("-1.50"), Decimal("0.00"), Decimal("9999999999.99")],
    pa.decimal128(38, 2): [Decimal("-1.50"), Decimal("0.00"), Decimal(2**64), Decimal(-(2**70))],
    pa.decimal256(60, 1): [Decimal("-1.5"), Decimal("0.0"), Decimal(2**130), Decimal(-(2**130))],
    pa.dictionary(pa.int8(), pa.string()): ["", "b", "a", "ab"],
    pa.dictionary(pa.int64(), pa.large_string()): ["", "b", "a", "ab"],
    pa.dictionary(pa.int16(), pa.float64()): [-1.5, -0.0, 0.0, 3.5],
}
TYPES = sorted(VALUES, key=str)
TIMES = st.sampled_from(
    [
        st.integers(0, 3),
        st.integers(-50, 50),
        st.integers(-(2**63), 2**63 - 1),
        st.sampled_from([-(2**63), -1, 0, 2**63 - 1]),
        st.integers(2**50, 2**50 + 2**40),
    ]
)

few = settings(
    max_examples=150,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


def array(values: list[Any], kind: pa.DataType) -> pa.Array:
    """An array that begins and ends within its buffers, as slices do."""
    if pa.types.is_dictionary(kind):
        return array(values, kind.value_type).dictionary_encode().cast(kind)
    if not values:
        return pa.array([], kind)
    return pa.array([values[-1], *values, values[0]], kind).slice(1, len(values))


@st.composite
def columns(draw: st.DrawFn, values: list[Any], kind: pa.DataType) -> pa.ChunkedArray:
    """The values in chunks of their own buffers."""
    cuts = draw(st.lists(st.integers(0, len(values)), max_size=3).map(sorted))
    bounds = zip([0, *cuts], [*cuts, len(values)], strict=True)
    return pa.chunked_array([array(values[a:b], kind) for a, b in bounds], kind)


@st.composite
def tables(draw: st.DrawFn) -> tuple[pa.Table, int]:
    rows = draw(st.integers(0, 40))
    keys = draw(st.integers(0, 3))
    named: dict[str, pa.ChunkedArray] = {}
    for k in range(keys):
        kind = draw(st.sampled_from(TYPES))
        pool = draw(st.lists(st.sampled_from(VALUES[kind]), min_size=1, max_size=4))
        values = draw(st.lists(st.sampled_from(pool), min_size=rows, max_size=rows))
        named[f"p{k}"] = draw(columns(values, kind))
    times = draw(st.lists(draw(TIMES), min_size=rows, max_size=rows))
    if draw(st.booleans()):
        times.sort()
    named["time"] = draw(columns(times, pa.int64()))
    if draw(st.booleans()):
        kind = draw(st.sampled_from(TYPES))
        ties = draw(st.lists(st.sampled_from(VALUES[kind]), min_size=rows, max_size=rows))
        named["tie"] = draw(columns(ties, kind))
    named["mask"] = draw(columns([i % 200 for i in range(rows)], pa.uint8()))
    named["x0"] = draw(columns(list(range(rows)), pa.int64()))
    named["x1"] = draw(columns([None if i % 3 else float(i) for i in range(rows)], pa.float64()))
    named["x2"] = draw(columns([None if i % 4 else str(i) for i in range(rows)], pa.string()))
    return pa.table(named), keys


def check(table: pa.Table, keys: int) -> pa.RecordBatch:
    batch = sort_events(table, keys)
    assert isinstance(batch, pa.RecordBatch)
    batch.validate(full=True)
    assert batch.schema.names == table.schema.names
    before, after = table.to_pylist(), batch.to_pylist()
    names = [f"p{k}" for k in range(keys)]
    # Equal keys are neighbours, p0 varies slowest: every prefix has one run.
    for length in range(1, keys + 1):
        prefixes = [tuple(row[name] for name in names[:length]) for row in after]
        starts = [p for i, p in enumerate(prefixes) if i == 0 or p != prefixes[i - 1]]
        assert len(starts) == len(set(starts))
    # In whatever order the keys came out, the rest is Python's stable sort.
    place: dict[tuple[Any, ...], int] = {}
    for row in after:
        place.setdefault(tuple(row[name] for name in names), len(place))
    finer = ["time"] + (["tie"] if "tie" in table.schema.names else [])
    expected = sorted(
        before,
        key=lambda row: (place[tuple(row[n] for n in names)], *(row[n] for n in finer)),
    )
    assert [str(row) for row in after] == [str(row) for row in expected]
    return batch


@few
@given(case=tables())
def test_sorting_is_pythons_stable_sort_within_neighbouring_partitions(
    case: tuple[pa.Table, int],
) -> None:
    check(*case)


@few
@given(case=tables())
def test_sorting_depends_on_values_alone_not_on_chunks(case: tuple[pa.Table, int]) -> None:
    table, keys = case
    whole = sort_events(table.combine_chunks(), keys)
    assert str(sort_events(table, keys).to_pylist()) == str(whole.to_pylist())


@few
@given(case=tables())
def test_what_is_sorted_by_one_key_stays(case: tuple[pa.Table, int]) -> None:
    table, keys = case
    once = sort_events(table, min(keys, 1))
    again = sort_events(pa.Table.from_batches([once]), min(keys, 1))
    assert str(once.to_pylist()) == str(again.to_pylist())


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_every_type_orders_a_tiebreak_naturally(kind: pa.DataType) -> None:
    ties = VALUES[kind] * 3
    np.random.default_rng(1).shuffle(ties)
    table = pa.table({"time": [5] * len(ties), "tie": array(ties, kind), "x0": range(len(ties))})
    batch = check(table, 0)
    order = sorted(range(len(ties)), key=lambda i: ties[i])
    assert batch.column("x0").to_pylist() == order


@pytest.mark.parametrize("span", [1, 1_000, 2**20, 2**33, 2**62])
@pytest.mark.parametrize("kind", [pa.int64(), pa.string(), pa.float64()], ids=str)
def test_many_rows_of_any_range_are_sorted(span: int, kind: pa.DataType) -> None:
    chance = np.random.default_rng(span)
    rows = 20_000
    values = pa.array(chance.integers(-span, span, rows)).cast(kind, safe=False)
    moments = chance.integers(-span, span, rows)
    table = pa.table({"p0": values, "time": moments, "x0": np.arange(rows)})
    batch = sort_events(table, 1)
    keys, number = np.unique(values.to_numpy(zero_copy_only=False), return_inverse=True)
    first = np.full(len(keys), rows)
    came = batch.column("x0").to_numpy()
    np.minimum.at(first, number[came], np.arange(rows))
    assert (came == np.lexsort((moments, first[number]))).all()
    assert batch.column("time").to_numpy().tolist() == moments[came].tolist()
    assert batch.column("p0") == values.take(batch.column("x0"))


def test_sorted_events_are_not_copied() -> None:
    table = pa.table({"p0": [1, 1, 2], "time": [4, 5, 3], "x0": [1.0, 2.0, 3.0]})
    batch = sort_events(table, 1)
    for name in table.schema.names:
        source = table.column(name).chunk(0)
        assert batch.column(name).buffers()[1].address == source.buffers()[1].address


def test_nulls_are_alike_and_come_last() -> None:
    table = pa.table({"p0": [None, 3, None, 3, 1], "time": [2, 2, 1, 1, 0]})
    assert sort_events(table, 1).to_pydict() == {
        "p0": [1, 3, 3, None, None],
        "time": [0, 1, 2, 1, 2],
    }


def test_zeros_are_one_partition_and_so_are_all_nans() -> None:
    nan = np.array([0x7FF8000000000001, 0xFFF8000000000000], np.uint64).view(np.float64)
    table = pa.table({"p0": [nan[0], 0.0, nan[1], -0.0], "time": [4, 3, 2, 1]})
    assert sort_events(table, 1).column("time").to_pylist() == [1, 3, 2, 4]


def test_text_keeps_its_dictionary_made_distinct() -> None:
    """Equal numbers mean equal text: later stages compare the numbers only."""
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int8()), ["a", "b", "a"])
    other = pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int8()), ["b", "c"])
    hole = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array([None, "b"]))
    for chunks in ([twice], [twice, other], [twice, other, hole]):
        column = pa.chunked_array(chunks)
        table = pa.table({"p0": column, "time": pa.array(range(len(column)))[::-1]})
        result = sort_events(table, 1).column("p0")
        assert result.type == pa.dictionary(pa.int32(), pa.string())
        assert len(set(result.dictionary.to_pylist())) == len(result.dictionary)
        assert sorted(map(str, result.to_pylist())) == sorted(map(str, column.to_pylist()))


def test_chunks_with_more_words_than_a_narrow_dictionary_holds_are_joined() -> None:
    kind = pa.dictionary(pa.int8(), pa.string())
    words = [[f"{side}{i}" for i in range(100)] for side in "ab"]
    column = pa.chunked_array([pa.array(side).dictionary_encode().cast(kind) for side in words])
    table = pa.table({"p0": column, "time": np.arange(200)[::-1].copy()})
    assert set(sort_events(table, 1).column("p0").to_pylist()) == {*words[0], *words[1]}


def test_structures_are_refused_with_a_remedy() -> None:
    table = pa.table({"p0": [{"a": 1}], "time": [1]})
    with pytest.raises(InputError, match=r"struct<a: int64>.\n.*take single fields out"):
        sort_events(table, 1)


@few
@given(case=tables())
def test_key_codes_are_equal_where_rows_are(case: tuple[pa.Table, int]) -> None:
    table, keys = case
    named = [table.column(f"p{k}") for k in range(keys)] + [table.column("x1"), table.column("x2")]
    numbers, bound = key_codes(named)
    rows = list(zip(*(column.to_pylist() for column in named), strict=True))
    pairs = set(zip(rows, numbers.tolist(), strict=True))
    assert len(numbers) == len(rows)
    assert len(pairs) == len(set(rows)) == bound
    assert {number for _, number in pairs} == set(range(bound))


def test_key_codes_of_no_columns_are_one_key() -> None:
    numbers, bound = key_codes([], rows=3)
    assert (numbers.tolist(), bound) == ([0, 0, 0], 1)
    assert key_codes([pa.nulls(2)])[0].tolist() == [0, 0]
