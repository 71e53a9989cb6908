"""Conditions of two rows, as kernels tell them, against the oracle: pair by pair and in blocks."""

from __future__ import annotations

import os
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from against_oracle import examples
from trendloom.api import query
from trendloom.engine.chunk import make_chunk
from trendloom.engine.pair_programs import predicates_of
from trendloom.errors import InputError, NumberError
from trendloom.hosts.local.scan import scan_batches
from trendloom.hosts.local.sources import open_events
from trendloom.hosts.scan.reading import Reading
from trendloom.kernels.blocks import select
from trendloom.kernels.neighbours import of_neighbours
from trendloom.kernels.predicates import BLOCK, holds, is_comparison
from trendloom.language import parse
from trendloom.testing.conditions import classify
from trendloom.testing.reading import read_query
from trendloom.testing.records import clock_for, read_events
from trendloom.testing.terms import VALUES, attributes_of, conditions

if TYPE_CHECKING:
    from trendloom.kernels.predicates import Predicates
    from trendloom.testing.conditions import Adjacent
    from trendloom.testing.records import Row

Told = list[list[bool]]
LONG = 1_700_000_000_000_000_000
UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT") == "1"


def asked(condition: str) -> str:
    return f"RETURN COUNT(*) PATTERN A+ WHERE {condition}"


def compiled(condition: str, events: Any) -> Predicates:
    plan = query(asked(condition)).plan
    with open_events(events) as source:
        roles = Reading("time", "type").roles(source)
        with scan_batches(source, plan.scan, roles) as batches:
            table = pa.Table.from_batches(list(batches)).combine_chunks()
    (batch,) = table.to_batches()
    return predicates_of(plan.parts[0], make_chunk(batch, 0))


def told(condition: str, events: Any) -> Told:
    """Of every pair of rows."""
    predicates = compiled(condition, events)
    size = predicates.column.shape[1]
    rows = range(size)
    every = [[bool(holds(predicates, 0, left, right)) for right in rows] for left in rows]
    hits = np.empty(size + 1, np.int64)
    for right in rows:
        found = select(predicates, 0, np.arange(size), size, right, hits)
        assert hits[:found].tolist() == [left for left in rows if every[left][right]]
    out = np.zeros(size - 1, np.bool_)
    of_neighbours(predicates, 0, out)
    assert out.tolist() == [every[k][k + 1] for k in range(size - 1)]
    return every


def meant(condition: str, events: list[Row]) -> Told:
    """The same by definition."""
    (one,) = adjacent(condition)
    records = read_events(events, clock_for(events, "time", "s"), "time", "type", None, None)
    return [[one.holds(left, right) for right in records] for left in records]


def adjacent(condition: str) -> tuple[Adjacent, ...]:
    return classify(read_query(asked(condition))).adjacent


def events_of(columns: dict[str, list[Any]]) -> list[Row]:
    names = list(columns)
    rows = zip(*columns.values(), strict=True)
    return [
        {"time": k, "type": "A", **dict(zip(names, row, strict=True))} for k, row in enumerate(rows)
    ]


# ── drawn ────────────────────────────────────────────────────────────────────────────────────

PLAIN = {
    "x": (0, 1, 2, 3, -1, None),
    "y": (0.0, 0.25, 1.0, 2.5, -0.75, None),
    "k": ("u", "v", None),
}


@st.composite
def pairs(draw: st.DrawFn) -> tuple[str, list[Row]]:
    condition = draw(conditions("A", "NEXT(A)"))
    values = PLAIN | {name: VALUES[name] for name in attributes_of(parse(asked(condition)))}
    # Every value of every attribute, in an order of its own: rows are worth more than draws.
    size = max(map(len, values.values()))
    seed = draw(st.integers(0, 1_000_000))
    columns = {}
    for number, (name, some) in enumerate(values.items()):
        order = np.random.default_rng((seed, number)).permutation(size)
        columns[name] = [some[k % len(some)] for k in order]
    return condition, events_of(columns)


def test_drawn_conditions() -> None:
    """Most hold of some pairs and fail of others; many read numbers beyond doubles."""
    both = []

    @examples(20 if UNCOMPILED else 150)
    @given(pairs())
    def check(case: tuple[str, list[Row]]) -> None:
        condition, events = case
        expected = meant(condition, events)
        assert told(condition, events) == expected, f"{condition}\n{events}"
        both.append(len({one for row in expected for one in row}) == 2)

    check()
    assert sum(both) > len(both) / 2


# ── by hand ──────────────────────────────────────────────────────────────────────────────────

ENDS = [2**63 - 1, 2**63 - 2, -(2**63), LONG, LONG + 100, 0, None]
CASES: list[tuple[str, dict[str, list[Any]]]] = [
    ("A.x > 0 OR NEXT(A).x > 0", {"x": [1, 0, None]}),
    ("COALESCE(A.x > 0, NEXT(A).x > 0)", {"x": [1, 0, None]}),
    ("(A.x < NEXT(A).x) = (A.b AND NEXT(A).b)", {"x": [1, 2, 3], "b": [True, False, None]}),
    ("A.b OR NEXT(A).b", {"b": [True, False, None]}),
    ("A.b = NEXT(A).b OR A.b IS NULL", {"b": [True, False, None]}),
    ("NEXT(A).i - A.i = 100", {"i": ENDS}),
    ("ABS(NEXT(A).i - A.i) <= 1", {"i": ENDS}),
    ("ROUND(A.i + NEXT(A).i) > COALESCE(A.i - NEXT(A).i, 7)", {"i": ENDS}),
    ("A.i * NEXT(A).i BETWEEN 0 AND 85070591730234615847396907784232501249", {"i": ENDS}),
    ("-(A.i + NEXT(A).i) % 7 = 1", {"i": ENDS}),
    ("(A.i + NEXT(A).i) / 3 > A.y", {"i": ENDS, "y": [0.5, -1.0, None, 2.0, 1e18, 7.0, 0.0]}),
    ("A.i - NEXT(A).y > 0", {"i": ENDS, "y": [0.5, -1.0, None, 2.0, 1e18, 7.0, 0.0]}),
    ("A.d + NEXT(A).d = 0.3", {"d": [*map(Decimal, ("0.10", "0.20", "0.15")), None]}),
    ("A.d * NEXT(A).i > 0.5 * A.d", {"d": [Decimal("-0.25")] * 7, "i": ENDS}),
    ("ROUND(A.d + NEXT(A).d) = 1", {"d": [*map(Decimal, ("0.25", "0.24", "1.25", "-1.75"))]}),
    ("A.d = NEXT(A).i", {"d": [Decimal("100.00"), Decimal("9223372036854775807.00")] * 2,
                         "i": [100, 2**63 - 1, 2**63 - 2, None]}),
    ("NEXT(A).e - A.e = 1", {"e": [date(2024, 2, 28), date(2024, 2, 29), date(2024, 3, 1), None]}),
    ("A.e + 1 < NEXT(A).e - 1", {"e": [date(2024, 2, day) for day in (1, 2, 3, 4, 5)]}),
    ("COALESCE(A.e, NEXT(A).e) > '2024-02-28'", {"e": [date(2024, 2, 28), date(2024, 3, 1), None]}),
    ("NEXT(A).m - A.e > A.m - NEXT(A).e", {"e": [date(2024, 2, 28), date(2024, 3, 1)],
                                    "m": [datetime(2024, 2, 28, 5), datetime(2024, 3, 1)]}),
    ("COALESCE(A.k, NEXT(A).k) BETWEEN 'u' AND NEXT(A).k", {"k": ["u", "v", "t", None]}),
    ("A.k IN (NEXT(A).k, 'v')", {"k": ["u", "v", "t", None]}),
    ("A.x + NEXT(A).x > 1 + 1", {"x": [0, 1, 2, None]}),
    ("A.y - NEXT(A).y IS NULL", {"y": [float("inf"), 1.0, float("nan"), None]}),
    ("ROUND(A.y + NEXT(A).y) = 0", {"y": [0.49999999999999994, 0.0, -0.25, 0.5]}),
]  # fmt: skip


@pytest.mark.parametrize(("condition", "columns"), CASES, ids=[one for one, _ in CASES])
def test_conditions(condition: str, columns: dict[str, list[Any]]) -> None:
    events = events_of(columns)
    expected = meant(condition, events)
    assert told(condition, events) == expected
    assert len({one for row in expected for one in row}) == 2


@pytest.mark.parametrize("count", [1, 7, BLOCK - 1, BLOCK, 2 * BLOCK + 3])
def test_blocks(count: int) -> None:
    """However many pairs there are, each is told as it is alone."""
    rng = np.random.default_rng(count)
    columns = {
        "x": rng.integers(-3, 3, count).tolist(),
        "i": rng.choice(np.array(ENDS[:-1]), count).tolist(),
    }
    for condition in (
        "A.x + NEXT(A).x < A.x * 2",
        "NEXT(A).i - A.i > NEXT(A).x",
        "A.x < NEXT(A).x",
    ):
        predicates = compiled(condition, events_of(columns))
        assert is_comparison(predicates, 0) == (condition == "A.x < NEXT(A).x")
        events, hits = rng.permutation(count), np.empty(count + 1, np.int64)
        found = select(predicates, 0, events, count, count // 2, hits)
        alone = [k for k in range(count) if holds(predicates, 0, events[k], count // 2)]
        assert hits[:found].tolist() == alone
        out = np.zeros(count - 1, np.bool_)
        of_neighbours(predicates, 0, out)
        assert out.tolist() == [holds(predicates, 0, k, k + 1) for k in range(count - 1)]


def test_doubles_are_computed_with_while_they_are_exact() -> None:
    """128 bits are slower, so they are taken only where numbers ask for them."""
    for high, is_wide in ((2**52 - 1, False), (2**52 + 1, True)):
        rows = events_of({"i": [high, high, -high]})
        assert (len(compiled("A.i + NEXT(A).i > 0", rows).wide_column) > 0) == is_wide
    rows = events_of({"i": [2**63 - 1, 1]})
    assert is_comparison(compiled("A.i > NEXT(A).i", rows), 0)


def test_moments_of_different_units_are_not_rounded() -> None:
    table = pa.table(
        {
            "time": [0, 1],
            "type": ["A", "A"],
            "t": pa.array([LONG, LONG + 1], pa.timestamp("ns")),
            "u": pa.array([LONG // 1000, LONG // 1000], pa.timestamp("us")),
        }
    )
    assert told("A.u = NEXT(A).t", table) == [[True, False], [True, False]]
    assert told("NEXT(A).t - A.u > A.t - NEXT(A).t", table)[0] == [False, True]
    assert told("ABS(A.t - NEXT(A).u) > NEXT(A).t - A.t", table)[0] == [False, False]


@pytest.mark.parametrize("kind", ["uint8", "uint16", "uint32", "uint64"])
def test_unsigned_numbers_have_opposites(kind: str) -> None:
    top = int(np.iinfo(kind).max)
    table = pa.table(
        {"time": [0, 1], "type": ["A", "A"], "z": pa.array([top, top - 1], getattr(pa, kind)())}
    )
    assert told("-A.z + NEXT(A).z = -1", table) == [[False, True], [False, False]]
    assert told("-A.z < -NEXT(A).z", table) == [[False, True], [False, False]]
    assert told("A.z - NEXT(A).z < 0", table) == [[False, False], [True, False]]


REFUSED = [
    ("A.x OR NEXT(A).x > 1", "applies OR to a whole number"),
    ("NOT (A.x + NEXT(A).x) OR A.b", "applies NOT to a whole number"),
    ("A.k + NEXT(A).k > 1", "computes text \\+ text"),
    ("COALESCE(A.k, NEXT(A).k) = 1", "compares text and a whole number"),
    ("COALESCE(A.k, NEXT(A).x) = 1", "takes the first of text and a whole number"),
    ("NEXT(A).t - A.t > 5", "compares a difference of times and a whole number"),
    ("ABS(COALESCE(A.k, NEXT(A).k)) > 1", "applies ABS to text"),
    ("A.e + NEXT(A).e > A.e", "computes a date \\+ a date"),
    ("COALESCE(A.e, NEXT(A).e) > 'spring'", "compares a date with 'spring'"),
    ("A.l = NEXT(A).l", "cannot be compared"),
    ("COALESCE(A.l, NEXT(A).l) IS NULL", "cannot be compared"),
]


@pytest.mark.parametrize(("condition", "words"), REFUSED, ids=[one for one, _ in REFUSED])
def test_what_has_no_meaning_is_refused(condition: str, words: str) -> None:
    rows = {"time": [0, 1], "type": ["A", "A"], "x": [1, 2], "k": ["u", "v"], "b": [True, False]}
    table = pa.table(
        {
            **rows,
            "e": [date(2024, 1, 1)] * 2,
            "t": [datetime(2024, 1, 1)] * 2,
            "l": [[1], [2]],
        }
    )
    with pytest.raises(InputError, match=words) as caught:
        compiled(condition, table)
    assert caught.value.remedy


def test_numbers_beyond_128_bits_are_refused() -> None:
    with pytest.raises(NumberError, match=r"'A.i \* NEXT\(A\).i \* A.i > 0' may compute"):
        compiled("A.i * NEXT(A).i * A.i > 0", events_of({"i": [2**63 - 1, 1]}))
