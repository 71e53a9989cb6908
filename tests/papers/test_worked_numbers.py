"""Numbers beyond the usual: exact integers, overflow, doubles that must not lose the small ones."""

import math
import statistics
from typing import Any

import pytest
from papers_answers import Rows, by_engine, by_oracle, many

from trendloom.api import run
from trendloom.errors import NumberError
from trendloom.testing import same_rows, stream

KLEENE = "RETURN COUNT(*) AS n PATTERN A+"


def one(query: str, events: Rows, **options: Any) -> dict[str, Any]:
    (row,) = run(query, events, time="time", **options).rows()
    return row


# ── exact integers (SEMANTICS §6, Table 4 of COGRA: exponential) ────────────────────────────────


@pytest.mark.parametrize("events", [1, 53, 200, 5_000])
def test_every_subset_is_a_trend(events: int) -> None:
    n = one(KLEENE, many("A", events), numbers="exact")["n"]
    assert isinstance(n, int)
    assert n == 2**events - 1


def test_exact_sums_and_averages() -> None:
    """Each of the 200 events is in half of the 2^200 subsets."""
    query = "RETURN COUNT(A) AS a, SUM(A.x) AS s, AVG(A.x) AS mean PATTERN A+"
    row = one(query, many("A", 200, x=lambda i: i), numbers="exact")
    assert row["a"] == 200 * 2**199
    assert row["s"] == sum(range(200)) * 2**199
    assert row["mean"] == pytest.approx(99.5, rel=1e-12)


@pytest.mark.parametrize("events", [53, 1_000])
def test_a_double_is_exact_then_close(events: int) -> None:
    n = one(KLEENE, many("A", events))["n"]
    assert isinstance(n, float)
    assert n == (2**53 - 1 if events == 53 else pytest.approx(2.0**1000, rel=1e-9))


@pytest.mark.parametrize("numbers", ["auto", "exact"])
def test_log2_beyond_doubles(numbers: str) -> None:
    query = "RETURN LOG2(COUNT(*)) AS trends, LOG2(COUNT(A)) AS events PATTERN A+"
    row = one(query, many("A", 20_000), numbers=numbers)
    assert row["trends"] == pytest.approx(20_000, rel=1e-9)
    assert row["events"] == pytest.approx(19_999 + math.log2(20_000), rel=1e-9)


def test_the_double_itself_is_infinite() -> None:
    assert one(KLEENE, many("A", 20_000))["n"] == math.inf


def test_decimals_hold_38_digits() -> None:
    fits = run(KLEENE, many("A", 126), time="time", numbers="exact")
    assert str(fits.to_arrow().schema.field("n").type) == "decimal128(38, 0)"
    assert fits.to_arrow()["n"].to_pylist() == [2**126 - 1]

    large = run(KLEENE, many("A", 127), time="time", numbers="exact")
    assert large.rows()[0]["n"] == 2**127 - 1
    for way_out in (large.to_arrow, large.to_pandas, large.to_polars):
        with pytest.raises(NumberError) as caught:
            way_out()
        assert "39 digits; a decimal holds 38" in caught.value.cause
        assert "rows()" in str(caught.value.remedy)
        assert "LOG2" in str(caught.value.remedy)


# ── overflow (Table 4: polynomial, a checked 64-bit integer) ────────────────────────────────────

FIVE = "RETURN COUNT(*) AS n PATTERN SEQ(A, B, C, D, E)"


def five_types(each: int) -> Rows:
    return [row for n, name in enumerate("ABCDE") for row in many(name, each, n * each)]


# The first fifth power past 2^63, and the first past 2^64, which wraps to a small number.
@pytest.mark.parametrize("each", [6_209, 7_132])
def test_a_count_past_64_bits_is_refused(each: int) -> None:
    assert (each - 1) ** 5 < 2**63 <= each**5 or (each - 1) ** 5 < 2**64 <= each**5
    with pytest.raises(NumberError) as caught:
        one(FIVE, five_types(each))
    assert "does not fit a 64-bit integer" in caught.value.cause
    assert 'numbers="exact" (--numbers exact)' in str(caught.value.remedy)
    assert one(FIVE, five_types(each), numbers="exact")["n"] == each**5


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    "pattern",
    [
        "Type A",
        "A SEMANTICS skip-till-next-match",
        "A+ SEMANTICS contiguous",
        "SEQ(A A, A y)",
        "SEQ(A A, A y) WHERE A.x = NEXT(y).x",
    ],
)
def test_a_sum_past_64_bits_is_refused(pattern: str, sign: int) -> None:
    query = f"RETURN SUM(A.x) AS s PATTERN {pattern}".replace("Type A", "A A")
    events = many("A", 4, x=lambda _: sign * 2**62)
    with pytest.raises(NumberError, match="does not fit a 64-bit integer"):
        one(query, events)
    assert [one(query, events, numbers="exact")["s"]] == [r["s"] for r in by_oracle(query, events)]


def test_a_sum_below_half_the_range_is_given() -> None:
    assert one(FIVE, five_types(5_000))["n"] == 5_000**5
    query = "RETURN SUM(A.x) AS s PATTERN A"
    assert one(query, many("A", 2, x=lambda _: 2**60))["s"] == 2**61
    assert one(query, many("A", 2, x=lambda _: -(2**60)))["s"] == -(2**61)


@pytest.mark.parametrize("values", [[2**62], [2**63 - 2, 1], [-(2**62), -(2**62)]])
def test_a_sum_may_touch_the_ends(values: list[int]) -> None:
    events = many("A", len(values), x=lambda i: values[i])
    assert one("RETURN SUM(A.x) AS s PATTERN A", events)["s"] == sum(values)


# ── large beside small ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("numbers", ["auto", "exact"])
@pytest.mark.parametrize("first", [-10, 5_000], ids=["before", "after"])
def test_partial_trends_that_never_finish(first: int, numbers: str) -> None:
    """2^3000 partial trends of A wait for a B that never comes; three C's make 7."""
    events = many("A", 3_000) + many("C", 3, first)
    query = "RETURN COUNT(*) AS n, COUNT(C) AS c, LOG2(COUNT(*)) AS l PATTERN SEQ(A+, B) OR C+"
    row = one(query, events, numbers=numbers)
    assert (row["n"], row["c"]) == (7, 12)
    assert row["l"] == pytest.approx(math.log2(7), rel=1e-12)


@pytest.mark.parametrize("numbers", ["auto", "exact"])
@pytest.mark.parametrize(
    ("query", "last", "expected"),
    [
        # C cuts every trend off from what was before it.
        ("PATTERN (SEQ(A, NOT C))+", many("A", 3, 5_000), 7),
        # C clears A+ before its B comes.
        ("PATTERN SEQ(A+, NOT C, B) OR D+", many("B", 1, 5_000) + many("D", 3, 6_000), 7),
        # An A between C and B: all 2^3000 subsets go on, so the double is infinite.
        ("PATTERN SEQ(A+, NOT C, B)", many("A", 1, 5_000) + many("B", 1, 6_000), 2**3000),
    ],
)
def test_guards_clear_what_is_huge(query: str, last: Rows, expected: int, numbers: str) -> None:
    events = many("A", 3_000) + many("C", 1, 4_000) + last
    n = one(f"RETURN COUNT(*) AS n {query}", events, numbers=numbers)["n"]
    assert n == (math.inf if expected > 2**1024 and numbers == "auto" else expected)


def test_windows_forget_what_was_huge() -> None:
    """Three thousand events in the first window, three in the second."""
    query = f"{KLEENE} WITHIN 1000 s SLIDE 1000 s"
    events = [{"type": "A", "time": i // 3} for i in range(3_000)] + many("A", 3, 1_000)
    first, second = run(query, events, time="time").rows()
    # Simultaneous events exclude each other: each time point offers none or one of three.
    assert first["n"] == math.inf  # 4^1000 − 1
    assert second["n"] == 7


# ── attributes ──────────────────────────────────────────────────────────────────────────────────

ALL = "RETURN SUM(A.x) AS s, AVG(A.x) AS mean, MIN(A.x) AS low, MAX(A.x) AS high PATTERN A"


@pytest.mark.parametrize("kleene", ["", "+"])
@pytest.mark.parametrize(
    "values", [[1e300, -1e300, 1e300], [1e300, -1e300], [1e300] * 8, [-1e300, 1e-300]]
)
def test_sums_of_huge_values(values: list[float], kleene: str) -> None:
    events = many("A", len(values), x=lambda i: values[i])
    query = ALL + kleene
    # What cancels out is known to the last digits of what was added.
    assert same_rows(by_oracle(query, events), by_engine(query, events), scale=1e300) is None


def test_averages_where_the_sum_is_infinite() -> None:
    row = one(f"{ALL}+", many("A", 100, x=lambda _: 1e300))
    assert row["s"] == math.inf
    assert row["mean"] == pytest.approx(1e300, rel=1e-9)


@pytest.mark.parametrize("kleene", ["", "+"])
@pytest.mark.parametrize("missing", [None, math.nan])
def test_nulls_and_nan_do_not_contribute(missing: float | None, kleene: str) -> None:
    values = [missing, 1.5, missing, 4.0, missing]
    events = many("A", 5, x=lambda i: values[i])
    query = f"{ALL}{kleene}".replace("RETURN", "RETURN COUNT(*) AS n, COUNT(A.x) AS k,")
    row = one(query, events)
    assert same_rows(by_oracle(query, events), [row]) is None
    assert (row["n"], row["k"]) == ((31, 32) if kleene else (5, 2))
    assert (row["mean"], row["low"], row["high"]) == (2.75, 1.5, 4.0)


@pytest.mark.parametrize("missing", [None, math.nan])
def test_nothing_to_aggregate_is_null(missing: float | None) -> None:
    query = f"{ALL}+".replace("RETURN", "RETURN COUNT(A.x) AS k, VARIANCE(A.x) AS v,")
    events = [*many("A", 2, x=lambda _: missing), {"type": "B", "time": 9, "x": 1.0}]
    row = one(query, events)
    assert row["k"] == 0
    assert [row[name] for name in ("s", "mean", "low", "high", "v")] == [None] * 5


NEARLY_EQUAL = [1e9 + 0.25 * (i % 7) for i in range(2_000)]
SPREAD = "RETURN AVG(A.x) AS mean, VARIANCE(A.x) AS v, STDDEV(A.x) AS sd PATTERN A"


@pytest.mark.parametrize("kleene", ["", "+"])
def test_variance_of_nearly_equal_large_values(kleene: str) -> None:
    events = many("A", 12, x=NEARLY_EQUAL.__getitem__)
    query = SPREAD + kleene
    assert same_rows(by_oracle(query, events), by_engine(query, events)) is None


@pytest.mark.parametrize("kleene", ["", "+"])
def test_variance_over_thousands_of_events(kleene: str) -> None:
    """Each event is in as many trends as any other, so the weights do not matter."""
    row = one(SPREAD + kleene, many("A", 2_000, x=NEARLY_EQUAL.__getitem__))
    expected = statistics.variance if kleene == "" else statistics.pvariance
    assert row["v"] == pytest.approx(expected(NEARLY_EQUAL), rel=1e-9)
    assert row["sd"] == pytest.approx(math.sqrt(row["v"]), rel=1e-12)
    assert row["mean"] == pytest.approx(statistics.fmean(NEARLY_EQUAL), rel=1e-12)


@pytest.mark.parametrize("value", [0.1, -3e15, 1e9 + 0.1])
def test_variance_of_equal_values_is_zero(value: float) -> None:
    row = one(f"{SPREAD}+", many("A", 500, x=lambda _: value))
    assert row["mean"] == pytest.approx(value, rel=1e-12)
    assert row["sd"] == pytest.approx(0.0, abs=1e-9 * abs(value))
    assert row["v"] >= 0


def test_one_contribution_has_no_variance() -> None:
    row = one(SPREAD, stream("a1:x=3.5"))
    assert (row["mean"], row["v"], row["sd"]) == (3.5, None, None)


@pytest.mark.parametrize(
    ("values", "deviation"), [([1e300] * 10, 0.0), ([1e200, -1e200], math.sqrt(2) * 1e200)]
)
def test_deviation_of_huge_values(values: list[float], deviation: float) -> None:
    """The deviation is a double, though its square is not."""
    row = one(SPREAD, many("A", len(values), x=lambda i: values[i]))
    assert row["sd"] == pytest.approx(deviation, abs=1e-9 * abs(values[0]))
