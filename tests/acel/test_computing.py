"""Runs that hold numbers: the kernel finds what the definition finds, and no digit is lost."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trendloom as tl
from acel.test_matching import (
    COLUMNS,
    Row,
    batches,
    expected,
    planned,
    rows,
    shown,
    spans,
    telling,
    timed,
)
from against_oracle import count_found, examples
from trendloom.acel import parse
from trendloom.acel.explain import explain
from trendloom.acel.matching import Matching
from trendloom.acel.programs import Programs
from trendloom.errors import NumberError
from trendloom.kernels import exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trendloom.acel.windows import Span

COMPUTED = [
    "PROJECT[Y](AGG[Y(s = SUM(A.x), n = COUNT(A.w))](A+))",
    "PROJECT[Y](AGG[Y(s = SUM(A.x), m = MIN(B.x))](A+ ; B))",
    "PROJECT[Y](AGG[Y(n = COUNT(X.h))]((AGG[X(h = SUM(A.x))](A : A) FILTER X[h > 1]):+))",
    "PROJECT[A, Y](AGG[Y(n = COUNT(X.h))]((AGG[X(h = AVG(A.x))](A ; A) FILTER X[h > 0.15])+))",
    "PROJECT[Y](AGG[Y(n = SUM(X.h))]((AGG[X(h = RANGE(A.x))](A ; A) FILTER X[h * 2 < 1])+))",
    "PROJECT[A, B](AGG[Y(p = PROD(A.x))](A ; A) FILTER Y[p - 1 >= 0 OR p IS NULL] ; B)",
    "PROJECT[B](AGG[Y(s = SUM(A.x))](A+) FILTER Y[s / 2 > 1] : B AS B)",
    "(AGG[X(h = MAX(A.x))](A ; B)+) FILTER X[increasing(h)] AND A+",
    "PROJECT[A](AGG[X(h = MAX(A.x))](A:+) FILTER X[NOT h = 2])",
    "PROJECT[A, B]((AGG[X(h = MAX(A.x))](A : B))+ FILTER X[increasing(h)])",
    "PROJECT[A, B]((AGG[X(h = SUM(A.x))](A : NEXT(B)))+ FILTER X[same(h)])",
    "PROJECT[B](A+ FILTER A[increasing(x)] ; B)",
    "PROJECT[B](A+ FILTER A[same(x)] ; B)",
    "PROJECT[Y, B](AGG[Y(m = MAX(A.x))](A+ ; B) OR AGG[Y(m = MIN(A.x))](A ; B))",
    "PROJECT[Y(m)](PROJECT[Y](AGG[Y(m = MAX(A.x), n = COUNT(A.x))](A+ ; B)))",
    "PROJECT[C(w, x)](AGG[Y(m = MAX(A.x))](A+ ; C) FILTER Y[m > 1])",
    "PROJECT[A, B](AGG[Y(p = MAX(A.x), q = MAX(B.x))](A ; B) FILTER Y[ABS(q - p * 2) < 1.5])",
    "PROJECT[A](AGG[Y(n = COUNT(A.x), q = MAX(A.x))](A:+) FILTER Y[COALESCE(q, 2) + ABS(-n) > 3])",
    "AGG[Z(t = SUM(Y.s))](PROJECT[Y](AGG[Y(s = SUM(A.x))](A+)))",
    "A+ FILTER LAST(A), A[LAST(A).x * 2 >= A.x OR A.x IS NULL]",
    "(A+ ; B) FILTER LAST(A), B[LAST(A).x + 0.1 < B.x]",
    "(A ; B+) FILTER A, B[A.x < B.x * B.x + 1]",
    "PROJECT[A](((A : PROJECT[f](A AS f):+ OR A):+ : A OR A) "
    "FILTER LAST(A), f[NOT LAST(A).x < f.x] FILTER LAST(A), A[LAST(A).x < A.x])",
    "PROJECT[B, Y](AGG[Y(s = SUM(A.x))](A : A ; B) FILTER Y, B[Y.s > B.x])",
]
WIDE = st.sampled_from([None, 1.0, 0.1, 2.0**53 + 2, 1e17, -1e17, 1e-30, 1e300, -0.0, 3e-320])


def evaluated(text: str, drawn: list[Row], span: Span, size: int) -> tuple[list[str], list[str]]:
    formula = parse(text)
    plan = planned(formula, counted=span.counted)
    made = Matching(plan, span, [pa.int64()])
    got = [row for batch in made.over(batches(plan, drawn, size)) for row in batch.to_pylist()]
    return shown(plan, got, drawn), expected(formula, drawn, span)


def doubled(drawn: list[Row]) -> list[Row]:
    return [{**row, "x": None if row["x"] is None else row["x"] + 0.0} for row in drawn]


@examples(250)
@given(st.sampled_from(COMPUTED), rows, spans, st.integers(1, 9))
def test_runs_that_hold_numbers(text: str, drawn: list[Row], span: Span, size: int) -> None:
    drawn, _ = telling(parse(text), doubled(timed(drawn)), span)
    found, defined = evaluated(text, drawn, span, size)
    count_found(len(defined))
    assert found == defined


@examples(150)
@given(st.sampled_from(COMPUTED[:6]), rows, st.lists(WIDE, min_size=9, max_size=9), spans)
def test_numbers_that_lose_digits_go_on_in_python(
    text: str, drawn: list[Row], wide: list[float | None], span: Span
) -> None:
    """From the event on at which two doubles do not hold them."""
    some = [{**row, "x": x} for row, x in zip(timed(drawn), wide, strict=False)]
    try:
        found, defined = evaluated(text, doubled(some), span, 4)
    except NumberError:
        with pytest.raises(NumberError):
            expected(parse(text), doubled(some), span)
        return
    assert found == defined


@pytest.mark.parametrize("text", COMPUTED)
def test_a_kernel_holds_them(text: str) -> None:
    plan = planned(parse(text))
    assert plan.computed is not None or plan.folding is not None or " AND " in text


@pytest.mark.parametrize(
    "text",
    [
        "PROJECT[Y](AGG[Y(m = MAX(A.w))](A+))",  # texts
        "AGG[Y(s = SUM(A.x))](A)+",  # new events before the end
        "PROJECT[Y](AGG[Y(s = SUM(A.x))](A ; A)) AND PROJECT[Y](AGG[Y(s = SUM(A.x))](A+))",
        "PROJECT[B](AGG[Y(s = SUM(A.x))](A+) FILTER Y[s > 9007199254740993] : B)",
        "PROJECT[B](AGG[Y(s = SUM(A.x))](A+) FILTER Y[s % 2 = 1] : B)",
        "PROJECT[B](AGG[Y(s = SUM(A.x))](A+) FILTER Y[ROUND(s) = 1] : B)",
    ],
)
def test_what_runs_in_python(text: str) -> None:
    plan = planned(parse(text))
    assert (plan.computed, plan.folding, plan.ordered, plan.marks_only) == (None, None, None, False)


def test_it_is_explained() -> None:
    told = explain("PROJECT[Y](AGG[Y(s = SUM(A.x))](A+))")
    assert "compiled: runs hold numbers (if what they are made of are numbers)" in told
    assert "registers: events are made" in explain("AGG[Y(s = SUM(A.x))](A)+")


WHOLE = [0, 1, -1, 3, 2**31, 2**53 + 1, -(2**53) - 1, 2**62 - 1]


@examples(60)
@given(st.lists(st.sampled_from(WHOLE), min_size=2, max_size=7), st.booleans())
def test_whole_numbers_are_exact(drawn: list[int], large: bool) -> None:
    if large:
        drawn = [*drawn, 2**63 - 1]
    table = [{"type": "A", "time": k, "x": x} for k, x in enumerate(drawn)]
    formula = "PROJECT[Y](AGG[Y(s = SUM(A.x), p = AVG(A.x), r = RANGE(A.x))](A+))"
    sums = {
        (sum(some), float(Fraction(sum(some), len(some))), max(some) - min(some))
        for bits in range(1, 1 << len(drawn))
        if (some := [x for k, x in enumerate(drawn) if bits >> k & 1])
    }
    try:
        made = tl.matches(formula, table, time="time").rows()
    except NumberError:
        assert any(abs(value) >= 2**63 for one in sums for value in (one[0], one[2]))
        return
    assert {(e["s"], e["p"], e["r"]) for row in made for e in row["Y"]} == sums


def test_texts_of_the_last_event_are_taken_from_it() -> None:
    rows = [
        {"type": word, "time": k, "x": float(k), "w": name, "key": 0}
        for k, (word, name) in enumerate([("A", "a"), ("A", "b"), ("C", None), ("C", "c")])
    ]
    made = tl.matches(
        "PROJECT[C(w, x)](PROJECT[C](AGG[Y(m = SUM(A.x))](A+ ; C) FILTER Y[m >= 0]))",
        pa.Table.from_pylist(rows, COLUMNS),
        time="time",
    ).rows()
    assert [row["C"] for row in made] == [
        *[[{"row": 2, "w": None, "x": 2.0}]] * 2,
        *[[{"row": 3, "w": "c", "x": 3.0}]] * 2,
    ]


# ── exact numbers ────────────────────────────────────────────────────────────────────────────

doubles = st.one_of(
    st.floats(-1e20, 1e20, allow_nan=False),
    st.sampled_from([0.1, 0.2, 0.3, 1e16, 1.5, 2.0**-40, 351.79]),
)


def computed(code: Sequence[tuple[int, int]], values: Sequence[float]) -> tuple[Fraction, bool]:
    where, aside = np.zeros(9, np.int64), np.empty((exact.DEPTH, 2))
    pairs = np.array([part for value in values for part in (value, 0.0)])
    exact.compute(
        np.array(code, np.int64), 0, len(code), np.array(Programs({}).constants), pairs[:0], pairs,
        aside, where,
    )  # fmt: skip
    return Fraction(aside[0, 0]) + Fraction(aside[0, 1]), bool(where[exact.LOST])


@examples(300)
@given(st.lists(doubles, min_size=1, max_size=12))
def test_sums_and_averages_are_exact_or_said_to_be_lost(values: list[float]) -> None:
    code = [(exact.VALUE, 0)]
    for k in range(1, len(values)):
        code += [(exact.VALUE, k), (exact.PLUS, 0)]
    total, lost = computed(code, values)
    true = sum(map(Fraction, values))
    assert lost or total == true
    average = [*code, (exact.VALUE, len(values)), (exact.AVERAGE, 0)]
    mean, lost = computed(average, [*values, float(len(values))])
    assert lost or mean == Fraction(float(true / len(values)))


@examples(200)
@given(doubles, doubles)
def test_products_are_exact_or_said_to_be_lost(one: float, other: float) -> None:
    code = [(exact.VALUE, 0), (exact.VALUE, 1), (exact.TIMES, 0)]
    made, lost = computed(code, [one, other])
    assert lost or made == Fraction(one) * Fraction(other)
