"""Shards: frozen numbers, an independent reference, and equal values in one shard."""

from __future__ import annotations

import math
import subprocess
import sys
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trendloom.engine.shards import BLOCK, shard_numbers, split
from trendloom.errors import InputError

MANY = 1 << 30
"""So many shards that a number shows nearly all that is used of the hash."""
WORD = (1 << 64) - 1
MOMENT = datetime(2024, 2, 29, 12, 30, 15, 250_000)

few = settings(
    max_examples=100,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


def shard(kind: pa.DataType, *values: Any) -> list[int]:
    return shard_numbers([pa.array(values, kind)], MANY).tolist()


# Never change a number below: state at rest lies where they say.
NULL_SHARD = 685020435
FROZEN: list[tuple[pa.DataType, list[Any], list[int]]] = [
    (pa.int64(), [0, 1, -1, 2**63 - 1], [171128547, 2972364, 838937093, 553009820]),
    (pa.bool_(), [False, True], [171128547, 2972364]),
    (
        pa.float64(),
        [0.0, 1.0, -1.5, math.inf, math.nan],
        [171128547, 104435131, 96537111, 409753736, 366936638],
    ),
    (pa.string(), ["", "a", "AAPL", "żółw"], [469386617, 402611292, 325399931, 456094000]),
    (pa.date32(), [date(1970, 1, 1), date(2024, 2, 29)], [171128547, 562900629]),
    (pa.timestamp("us"), [datetime(1970, 1, 1), MOMENT], [171128547, 254944608]),
    (pa.duration("ms"), [timedelta(hours=-1)], [736334179]),
    (
        pa.decimal128(38, 2),
        [Decimal("1.50"), Decimal("-1.50"), Decimal(2**80)],
        [557046872, 282787330, 924910350],
    ),
    (pa.decimal256(60, 0), [Decimal(2**150), Decimal(-(2**150))], [688036989, 188383613]),
]


@pytest.mark.parametrize(("kind", "values", "expected"), FROZEN, ids=[str(k) for k, _, _ in FROZEN])
def test_hash_is_frozen(kind: pa.DataType, values: list[Any], expected: list[int]) -> None:
    assert shard(kind, *values, None) == [*expected, NULL_SHARD]


def test_hash_of_several_columns_is_frozen_and_depends_on_their_order() -> None:
    text, number = pa.array(["a", "b", None]), pa.array([1, None, 3])
    assert shard_numbers([text, number], MANY).tolist() == [35592604, 779098056, 840059827]
    assert shard_numbers([number, text], MANY).tolist() == [232921188, 851756889, 477378775]
    assert shard_numbers([text, number], 7).tolist() == [0, 5, 5]


def mixed(word: int) -> int:
    word = (word + 0x9E3779B97F4A7C15) & WORD
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & WORD
    return word ^ (word >> 31)


def word(value: int | str | Decimal | None) -> int:
    if value is None:
        return int.from_bytes(b"nullnull", "big")
    if isinstance(value, str):
        h = 0xCBF29CE484222325
        for byte in value.encode():
            h = ((h ^ byte) * 0x100000001B3) & WORD
        return h
    unscaled = int(value)
    h = unscaled & WORD
    while not -(2**63) <= unscaled < 2**63:
        unscaled >>= 64
        h = mixed(h) ^ (unscaled & WORD)
    return h


def expected_shard(row: tuple[Any, ...], shards: int) -> int:
    h = int.from_bytes(b"trendloo", "big")
    for value in row:
        h = mixed(h ^ word(value))
    return ((h >> 32) * shards) >> 32


@few
@given(
    rows=st.lists(
        st.tuples(
            st.none() | st.integers(-(2**63), 2**63 - 1),
            st.none() | st.text(max_size=12),
            st.none() | st.integers(-(10**60), 10**60).map(Decimal),
        ),
        max_size=20,
    ),
    shards=st.integers(1, 2**31 - 1),
)
def test_hash_is_what_the_format_says(rows: list[tuple[Any, ...]], shards: int) -> None:
    kinds = [pa.int64(), pa.string(), pa.decimal256(61, 0)]
    columns = [pa.array([row[k] for row in rows], kind) for k, kind in enumerate(kinds)]
    got = shard_numbers(columns, shards)
    assert got.dtype == np.int32
    assert got.tolist() == [expected_shard(row, shards) for row in rows]


WHOLE = [pa.int8(), pa.uint8(), pa.int16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()]
DECIMALS = [pa.decimal32(5, 0), pa.decimal64(9, 0), pa.decimal128(9, 0), pa.decimal256(9, 0)]
MOMENTS = [pa.timestamp(unit) for unit in ("ms", "us", "ns")] + [pa.timestamp("ms", "UTC")]
SPANS = [pa.duration(unit) for unit in ("s", "ms", "us", "ns")]
TEXT = [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary()]
TEXT += [pa.binary_view(), pa.binary(3)]
WORDS = [pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int64(), pa.large_string())]


@pytest.mark.parametrize(
    ("value", "kinds"),
    [
        (5, WHOLE + DECIMALS + [pa.dictionary(pa.int8(), pa.int32())]),
        (-5, [pa.int8(), pa.int32(), pa.int64(), *DECIMALS]),
        (-1.5, [pa.float16(), pa.float32(), pa.float64()]),
        (math.nan, [pa.float16(), pa.float32(), pa.float64()]),
        (date(1969, 7, 20), [pa.date32(), pa.date64()]),
        (MOMENT, MOMENTS),
        (timedelta(days=-3), SPANS),
        ("abc", TEXT + WORDS),
    ],
    ids=str,
)
def test_equal_values_meet_whatever_their_type(value: Any, kinds: list[pa.DataType]) -> None:
    assert len({tuple(shard(kind, value, None, value)) for kind in kinds}) == 1


def test_zeros_meet_and_so_do_all_nans() -> None:
    nans = np.array([0x7FF8000000000001, 0xFFF8000000000000], np.uint64).view(np.float64)
    assert len(set(shard(pa.float64(), 0.0, -0.0))) == 1
    assert len(set(shard(pa.float64(), *nans))) == 1


@few
@given(
    values=st.lists(st.none() | st.text(max_size=5), max_size=30),
    cuts=st.lists(st.integers(0, 30), max_size=3).map(sorted),
)
def test_neither_chunks_nor_slices_nor_dictionaries_matter(
    values: list[str | None], cuts: list[int]
) -> None:
    whole = pa.array(values, pa.string())
    expected = shard_numbers([whole], 1000).tolist()
    bounds = list(zip([0, *cuts], [*cuts, len(values)], strict=True))
    slices = [whole.slice(a, max(0, b - a)) for a, b in bounds]
    chunked = pa.chunked_array(slices, pa.string())
    assert shard_numbers([chunked], 1000).tolist() == expected
    words = pa.chunked_array([s.dictionary_encode() for s in slices])
    assert shard_numbers([words], 1000).tolist() == expected
    holes = pa.DictionaryArray.from_arrays(np.arange(len(values)), whole)
    assert shard_numbers([holes], 1000).tolist() == expected


def test_slices_of_every_layout_are_read_from_their_offset() -> None:
    for kind in [pa.bool_(), pa.binary(1), pa.decimal128(5, 1), pa.date64(), pa.float32()]:
        values = pa.array([True, False, None, True, True, False]).cast(pa.int8())
        if pa.types.is_fixed_size_binary(kind):
            column = pa.array([b"a", b"b", None, b"a", b"a", b"b"], kind)
        elif pa.types.is_date(kind):
            column = values.cast(pa.int32()).cast(pa.date32()).cast(kind)
        else:
            column = values.cast(kind, safe=False)
        whole = shard_numbers([column], MANY).tolist()
        assert shard_numbers([column.slice(1, 3)], MANY).tolist() == whole[1:4]


def test_blocks_do_not_show() -> None:
    values = np.arange(2 * BLOCK + 3)
    whole = shard_numbers([pa.array(values)], MANY)
    again = shard_numbers([pa.array(values[::-1].copy())], MANY)
    assert (whole == again[::-1]).all()
    assert len(np.unique(whole)) > 2 * BLOCK - 10


def test_neighbouring_keys_spread_evenly() -> None:
    for column in (pa.array(np.arange(64_000)), pa.array(np.arange(64_000)).cast(pa.string())):
        counts = np.bincount(shard_numbers([column], 64), minlength=64)
        assert counts.min() > 850
        assert counts.max() < 1150


def test_no_columns_are_one_shard() -> None:
    assert shard_numbers([], 8, rows=3).tolist() == [0, 0, 0]
    assert shard_numbers([pa.array([], pa.string())], 8).tolist() == []
    assert shard_numbers([pa.chunked_array([], pa.int64())], 8).tolist() == []


def test_another_process_finds_the_same_shards() -> None:
    script = (
        "import pyarrow as pa; from trendloom.engine.shards import shard_numbers; "
        "print(shard_numbers([pa.array(['a', 'b']), pa.array([1.5, 2.5])], 1000).tolist())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    here = shard_numbers([pa.array(["a", "b"]), pa.array([1.5, 2.5])], 1000).tolist()
    assert done.stdout.strip() == str(here)


def test_structures_are_refused_with_a_remedy() -> None:
    with pytest.raises(InputError, match=r"list<.*>.\n.*take single fields out"):
        shard_numbers([pa.array([[1]])], 8)


@few
@given(
    numbers=st.lists(st.integers(0, 5), max_size=30),
    cut=st.integers(0, 30),
)
def test_split_keeps_the_input_order_within_shards(numbers: list[int], cut: int) -> None:
    rows = len(numbers)
    whole = pa.table(
        {
            "n": pa.array(range(rows), pa.int64()),
            "t": pa.array([None if i % 3 else str(i) for i in range(rows)], pa.string()),
        }
    )
    table = pa.concat_tables([whole.slice(0, cut), whole.slice(cut)])
    parts = split(table, np.array(numbers, np.int32), 6)
    assert [k for k, _ in parts] == sorted(set(numbers))
    source = whole.to_pylist()
    for k, part in parts:
        assert part.schema == table.schema
        assert part.to_pylist() == [source[i] for i in range(rows) if numbers[i] == k]
