"""Sums around one centre, taken around another."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from trendloom.engine.centres import recentred
from trendloom.engine.inputs import Centre
from trendloom.engine.lanes import TRENDS, Lane, Sum
from trendloom.engine.numbers import Column, Doubles, Exact, Integers

FIRST = Sum("A", 0, 1, centred=True)
SECOND = Sum("A", 0, 2, centred=True)
COUNT = Sum("A", 0)


def sums(values: list[float], centre: Centre, *, times: int = 1) -> dict[Lane, Column]:
    y = centre.of(pa.array(values, pa.float64()))
    zero = np.zeros(1, np.int64)
    return {
        TRENDS: Integers(zero + times),
        FIRST: Doubles(np.array([y.sum() * times]), zero),
        SECOND: Doubles(np.array([(y * y).sum() * times]), zero),
        COUNT: Integers(zero + len(values) * times),
    }


def column(columns: dict[Lane, Column], lane: Lane) -> float:
    return float(columns[lane].to_float()[0])


@pytest.mark.parametrize(
    ("values", "old", "new"),
    [
        ([1.0, 2.0, 4.5], Centre(2.0, 0.5), Centre(3.0, 2.0)),
        ([1.0, 2.0, 4.5], Centre(), Centre(-7.0, 2.0**-3)),
        ([1e9, 1e9 + 1], Centre(1e9, 1.0), Centre(1e9 + 3, 0.25)),
        ([1e300, -3e300], Centre(0.0, 2.0**-1000), Centre(1e300, 2.0**-1001)),
        ([1e-200, 3e-200], Centre(2e-200, 2.0**663), Centre(1e-200, 2.0**665)),
    ],
)
def test_moved_sums_are_the_sums_around_the_other_centre(
    values: list[float], old: Centre, new: Centre
) -> None:
    moved = recentred(sums(values, old, times=3), {0: old}, {0: new})
    wanted = sums(values, new, times=3)
    for lane in (TRENDS, FIRST, SECOND, COUNT):
        assert column(moved, lane) == pytest.approx(column(wanted, lane), rel=1e-12, abs=1e-12)


def test_staying_where_one_is_changes_nothing() -> None:
    centre = Centre(0.1, 0.5)
    before = sums([0.3, 0.7, 11.1], centre)
    after = recentred(before, {0: centre}, {0: centre})
    assert [column(after, lane) for lane in before] == [column(before, lane) for lane in before]


def test_an_operand_without_a_centre_is_as_it_is() -> None:
    moved = recentred(sums([5.0, 6.0], Centre()), {}, {0: Centre(5.0, 2.0)})
    assert [column(moved, FIRST), column(moved, SECOND)] == [2.0, 4.0]


def test_middles_at_both_ends_of_the_range_do_not_overflow() -> None:
    old, new = Centre(1.7e308, 2.0**-1000), Centre(-1.7e308, 2.0**-1000)
    moved = recentred(sums([1.7e308], old), {0: old}, {0: new})
    wanted = Fraction(1.7e308) * 2 / Fraction(2) ** 1000
    assert column(moved, FIRST) == pytest.approx(float(wanted), rel=1e-15)
    assert column(moved, SECOND) == pytest.approx(float(wanted * wanted), rel=1e-15)


def test_counts_beyond_doubles_move_too() -> None:
    huge = 1 << 3000
    # So many ones, around 0; then around 1.
    lots = Exact(np.array([huge], np.object_))
    before: dict[Lane, Column] = {COUNT: lots, FIRST: lots.to_doubles(), SECOND: lots.to_doubles()}
    after = recentred(before, {}, {0: Centre(1.0, 4.0)})
    assert not after[FIRST].nonzero[0]
    assert not after[SECOND].nonzero[0]
    back = recentred(after, {0: Centre(1.0, 4.0)}, {0: Centre(-1.0, 2.0)})
    assert back[FIRST].to_doubles().over(lots.to_doubles()).tolist() == [4.0]
    assert back[SECOND].to_doubles().over(lots.to_doubles()).tolist() == [16.0]


def test_no_rows_move_to_no_rows() -> None:
    before = {
        lane: column.take(np.zeros(0, np.int64)) for lane, column in sums([], Centre()).items()
    }
    assert len(recentred(before, {}, {0: Centre(1.0, 2.0)})[FIRST].to_float()) == 0
