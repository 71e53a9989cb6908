"""Equal enough, and a reason where not."""

from __future__ import annotations

import math
from datetime import date, datetime
from fractions import Fraction

import numpy as np
import pytest

from trendloom.errors import InputError
from trendloom.language import parse
from trendloom.testing import same_rows, stream
from trendloom.testing.compare import group_columns, same_value


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        (3, 3, True),
        (3, 3.0, True),
        (3, 3.0000000001, False),
        (2**53 - 1, float(2**53 - 2), False),
        (2**60 + 1, float(2**60), True),
        (2**60 + 1, 2**60, False),
        (2**2000, math.inf, True),
        (2**2000, -math.inf, False),
        (5, math.inf, False),
        (5, math.nan, False),
        (Fraction(1, 3), 1 / 3, True),
        (Fraction(1, 3), 0.3333, False),
        (Fraction(0), 1e-13, True),
        (Fraction(0), 1e-9, False),
        (0.5, 0.5 + 1e-12, True),
        (None, None, True),
        (None, 0, False),
        (0, None, False),
        (True, True, True),
        (1, True, False),
        (True, 1, False),
        ("u", "u", True),
        ("1", 1, False),
        (3, np.int64(3), True),
        (date(2024, 1, 1), datetime(2024, 1, 1), False),
    ],
)
def test_values(expected, actual, same):
    assert same_value(expected, actual) is same


def test_rows_match_in_any_order_by_window_and_group():
    def row(start, group, n):
        return {"window_start": start, "window_end": start + 1, "g": group, "n": n}

    expected = [row(0, 1, 5), row(0, None, 2), row(1, 1, 3)]
    assert same_rows(expected, expected[::-1], keys=("g",)) is None
    assert "missing" in same_rows(expected, expected[:2], keys=("g",))
    assert "unexpected" in same_rows(expected[:2], expected, keys=("g",))
    assert "2 expected rows" in same_rows(expected[:2], expected[:2])
    wrong = [*expected[:2], row(1, 1, 4)]
    difference = same_rows(expected, wrong, keys=("g",))
    assert difference == "window_start=1, window_end=2, g=1: n is 4, expected 3"
    assert "columns" in same_rows([{"n": 1}], [{"m": 1}])


def test_group_columns():
    query = parse("RETURN g, A.x AS which, COUNT(*) PATTERN A GROUP-BY g, A.x")
    assert group_columns(query) == ("g", "which")


def test_streams_in_words():
    assert stream("a1 b-2:x=3,y=2.5,k=u,z=,t=true c2") == [
        {"type": "A", "time": 1},
        {"type": "B", "time": -2, "x": 3, "y": 2.5, "k": "u", "z": None, "t": True},
        {"type": "C", "time": 2},
    ]
    with pytest.raises(InputError):
        stream("a1 nonsense")
