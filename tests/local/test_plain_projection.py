"""Plain columns without DuckDB: the same table that DuckDB gives."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from against_oracle import examples
from trendloom.hosts.scan.plain import Plain
from trendloom.hosts.scan.project import Projector
from trendloom.hosts.scan.reading import Reading
from trendloom.plan.scan import Kind

from .scans import scan

SCHEMA = pa.schema(
    [
        ("t", pa.int64()),
        ("at", pa.timestamp("us")),
        ("type", pa.string()),
        ("k", pa.string()),
        ("n", pa.int64()),
        ("y", pa.float64()),
    ]
)
NUMBERS = (("y", Kind.NUMBER), ("n", Kind.NUMBER), ("y", Kind.ANY), ("k", Kind.ANY))
SCANS = [
    scan("A", "B", by="k", operands=NUMBERS),
    scan("A", "B", "C", by="n"),
    scan("A", by="k n", operands=NUMBERS[:1]),
    scan(*"ABCDEFGHIJ"),
]


def rows(*, rare: bool) -> st.SearchStrategy[list[dict[str, Any]]]:
    """`rare`: with nulls and NaN, which only DuckDB reads."""
    none: tuple[Any, ...] = (None,) if rare else ()
    floats = (0.0, -0.0, 1.5, math.inf, None, *((math.nan,) if rare else ()))
    return st.lists(
        st.fixed_dictionaries(
            {
                "t": st.integers(-5, 5),
                "at": st.integers(0, 9).map(lambda s: datetime(2024, 1, 1) + timedelta(seconds=s)),
                "type": st.sampled_from(("A", "B", "Z", *none)),
                "k": st.sampled_from(("u", "v", *none)),
                "n": st.sampled_from((1, -7, 2**62, *none)),
                "y": st.sampled_from(floats),
            }
        ),
        max_size=8,
    )


@pytest.mark.parametrize("asked", SCANS)
@pytest.mark.parametrize("rare", [False, True], ids=["plain", "rare"])
def test_as_duckdb_has_them(asked: Any, rare: bool) -> None:
    ways = {
        (time, plain): Projector(asked, SCHEMA, Reading(time))
        for time in ("t", "at")
        for plain in (True, False)
    }
    for (_, plain), projector in ways.items():
        if not plain:
            projector.__dict__["_plain"] = None
    taken = []

    @examples(60)
    @given(rows(rare=rare), rows(rare=rare), st.sampled_from(("t", "at")), st.booleans())
    def check(some: list[Any], more: list[Any], time: str, encoded: bool) -> None:
        parts = [pa.Table.from_pylist(part, SCHEMA) for part in (some, more)]
        if encoded:
            parts = [p.set_column(2, "type", p["type"].dictionary_encode()) for p in parts]
        table = pa.concat_tables(parts).unify_dictionaries()
        plain = ways[time, True]
        taken.append(plain._plain is not None and plain._plain.project(table) is not None)
        found, expected = plain(table), ways[time, False](table)
        assert found.table.schema == expected.table.schema
        assert found.table.to_pylist() == expected.table.to_pylist()
        assert (found.rows, found.dropped) == (expected.rows, expected.dropped)

    check()
    assert any(taken)
    assert rare or sum(taken) > len(taken) // 2


@pytest.mark.parametrize(
    "asked",
    [scan("A: n > 1"), scan("A", operands=(("y * 2", Kind.NUMBER),)), scan("A", by="y")],
    ids=["condition", "arithmetic", "key that may be NaN"],
)
def test_what_has_to_be_computed_is_left_to_duckdb(asked: Any) -> None:
    projector = Projector(asked, SCHEMA, Reading("t"))
    assert Plain.of(asked, projector._bound) is None


def test_infinite_times_are_left_to_duckdb() -> None:
    asked = scan("A")
    endless = pa.array([0, 2**63 - 1]).cast(pa.timestamp("us"))
    table = pa.table({"at": endless, "type": ["A", "A"]})
    projector = Projector(asked, table.schema, Reading("at", bad_rows="drop"))
    assert (projector(table).rows, projector(table).dropped) == (2, 1)
