"""Every stream: the same table for the same seed, a clean schema, fast enough."""

import hashlib
import time

import numpy as np
import pyarrow as pa
import pytest

from trendloom.generators import STREAMS, generate

# Of the rows as text, so that the print does not hang on Arrow's memory layout.
FINGERPRINTS = {
    "ridesharing": "64b5e4ae66880480",
    "stock": "048d8408a4226548",
    "cluster": "7e9598fe3e0aef33",
    "activity": "4e13bf498e0f6663",
    "transfers": "38182081e814b9a3",
}

every_stream = pytest.mark.parametrize("name", STREAMS)


def fingerprint(table: pa.Table) -> str:
    return hashlib.sha256(repr(table.to_pylist()).encode()).hexdigest()[:16]


@every_stream
def test_a_seed_is_a_table(name: str) -> None:
    table = generate(name, 200, seed=7, burst=3, skew=0.8, ties=0.1)
    assert table.equals(generate(name, 200, seed=7, burst=3, skew=0.8, ties=0.1))
    assert not table.equals(generate(name, 200, seed=8, burst=3, skew=0.8, ties=0.1))
    assert fingerprint(table) == FINGERPRINTS[name]


@every_stream
def test_schema(name: str) -> None:
    table = generate(name, 5000, ties=0.2)
    assert table.num_rows == 5000
    assert table.column_names[:2] == ["ts", "type"]
    assert table.schema.field("ts").type == pa.timestamp("us", "UTC")
    assert table.schema.field("type").type.value_type == pa.string()
    assert (np.diff(table["ts"].cast(pa.int64()).to_numpy()) >= 0).all()
    assert set(table["type"].to_pylist()) == set(STREAMS[name].types)
    for column in ("ts", "type"):
        assert table[column].null_count == 0


@every_stream
@pytest.mark.parametrize("events", [0, 1, 2])
def test_hardly_any_events(name: str, events: int) -> None:
    table = generate(name, events, burst=4, skew=1, ties=0.5)
    assert table.num_rows == events
    assert table.schema == generate(name, 100).schema


@every_stream
def test_a_million_events_take_moments(name: str) -> None:
    before = time.perf_counter()
    generate(name, 1_000_000, burst=2, skew=0.5)
    # Far above the half second that it takes: this catches a loop over events, not a slow day.
    assert time.perf_counter() - before < 8


def test_every_stream_says_what_it_is() -> None:
    for name, stream in STREAMS.items():
        assert stream.name == name
        assert stream.description.endswith(".")
        assert "\n" not in stream.description
        for knob in stream.knobs:
            assert knob.check(knob.default) == knob.default
            assert knob.meaning
