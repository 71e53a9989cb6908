"""Patterns of one or two states: kernels that keep their sums in registers add up what Python does.

The reference goes through the engine's own table event by event, in integers of any size.
"""

from __future__ import annotations

import random
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from trendloom.api import query, run
from trendloom.engine.arrow import read_only
from trendloom.engine.program import compile_table, possible_masks
from trendloom.kernels.event_maps import double_maps, integer_maps
from trendloom.kernels.fold import fold_doubles, fold_integers
from trendloom.kernels.pair import WHOLE, fits_pair
from trendloom.kernels.scaled import RADIX
from trendloom.testing import same_rows

if TYPE_CHECKING:
    from trendloom.kernels.table import Table

PATTERNS = ("A+", "SEQ(A, B)", "SEQ(A+, B)", "(SEQ(A+, B))+", "SEQ(A+, NOT C, B)", "A OR B")
SEMANTICS = ("any", "next", "contiguous")
FEEDING = 0
"""The variable whose values are summed."""
Vector = list[list[int]]
"""[cell][count, sum]"""


def table_of(pattern: str, semantics: str) -> Table:
    """As the engine has it. Columns are read-only, too: others would be compiled for anew."""
    plan = query(f"RETURN COUNT(*) PATTERN {pattern} SEMANTICS {semantics}").plan
    fast = plan.folding(plan.parts[0])
    assert fast is not None
    return compile_table(
        fast, plan.semantics, possible_masks([one.type for one in plan.scan.letters])
    )


def moved(table: Table, events: list[tuple[int, int, int]], vector: Vector, unit: int) -> Vector:
    """The vector after events (time, code, value), all of a time point at once."""
    finished = table.states
    for _, point in groupby(events, key=lambda event: event[0]):
        tied = list(point)
        fresh = [[0, 0] for _ in vector]
        for _, c, value in tied:
            for step in range(table.target.shape[1]):
                count, total = unit * int(table.begins[c, step]), 0
                for source in table.source[c, step]:
                    count, total = count + vector[source][0], total + vector[source][1]
                total += value * count if table.variable[c, step] == FEEDING else 0
                for cell in (table.target[c, step], table.finished[c, step]):
                    if cell <= finished:
                        fresh[cell] = [fresh[cell][0] + count, fresh[cell][1] + total]
        eaten = {int(cell) for _, c, _ in tied for cell in table.eats[c]}
        vector = [
            fresh[k] if k in eaten else [old + new for old, new in zip(cell, fresh[k], strict=True)]
            for k, cell in enumerate(vector)
        ]
        vector[finished + 1 :] = [[0, 0], [0, 0]]
    return vector


def stream(seed: int, codes: int, ties: float, largest: int) -> list[tuple[int, int, int]]:
    chance = random.Random(seed)
    time, events = 0, []
    for _ in range(chance.choice([0, 1, 2, 40, 300, 2600])):
        time += chance.random() >= ties
        # Codes of one letter each, and none: no event has two types.
        code = chance.choice([0, *(1 << k for k in range(codes.bit_length() - 1))])
        events.append((time, code, chance.randint(-largest, largest)))
    return events


def columns(events: list[tuple[int, int, int]], lanes: int, kind: type) -> tuple[Any, ...]:
    order = read_only(np.array([event[0] for event in events], np.int64))
    code = read_only(np.array([event[1] for event in events], np.uint8))
    x = np.zeros((lanes, max(1, len(events))), kind)
    if lanes == 2:
        x[1, : len(events)] = [event[2] for event in events]
    var = np.array([-2, FEEDING][:lanes], np.int64)
    return order, code, np.array([0]), np.array([len(events)]), var, x


def close(m: float, e: int, expected: int) -> bool:
    """Whether m · 2**(256 e) is the number, to twelve digits."""
    if expected == 0 or m == 0.0:
        return m == 0.0 and expected == 0
    fraction, exponent = np.frexp(m)
    shift = int(exponent) + 256 * int(e) - 53
    found = int(np.ldexp(fraction, 53))
    left, right = (found << shift, expected) if shift > 0 else (found, expected << -shift)
    return abs(left - right) * 10**12 <= abs(right)


CASES = [
    (pattern, semantics, lanes, ties)
    for pattern in PATTERNS
    for semantics in SEMANTICS
    for lanes in (1, 2)
    for ties in (0.0, 0.3)
    if semantics == "any" or "NOT" not in pattern  # otherwise it is not folded
]


@pytest.mark.parametrize(("pattern", "semantics", "lanes", "ties"), CASES)
def test_vectors_and_maps_hold_what_python_adds_up(
    pattern: str, semantics: str, lanes: int, ties: float
) -> None:
    table = table_of(pattern, semantics)
    width = (table.states + (semantics != "any")) * lanes
    cells = (table.states + 3) * lanes
    for seed in range(12):
        events = stream(seed, table.target.shape[0], ties, largest=9)
        order, code, lo, hi, var, x = columns(events, lanes, np.float64)
        m, e = np.zeros((1, cells)), np.zeros((1, cells), np.int64)
        fold_doubles(table, order, code, lo, hi, m, e, var, x)
        out = np.zeros((1, 1 + table.states, width)), np.zeros((1, 1 + table.states, width), int)
        double_maps(table, order, code, lo, hi, var, x, *out)

        *_, whole = columns(events, lanes, np.int64)
        values = np.zeros((1, cells), np.int64)
        fits = fold_integers(table, order, code, lo, hi, values, var, whole)
        integers, lost = np.zeros(out[0].shape, np.int64), np.zeros((1, 1 + table.states), bool)
        integer_maps(table, order, code, lo, hi, var, whole, integers, lost)

        for basis in range(1 + table.states):
            start = [[0, 0] for _ in range(table.states + 3)]
            if basis:
                start[basis - 1][0] = 1
            vector = moved(table, events, start, unit=int(basis == 0))
            expected = [cell[lane] for cell in vector for lane in range(lanes)]
            for k in range(width):
                assert close(out[0][0, basis, k], out[1][0, basis, k], expected[k])
                if not lost[0, basis]:
                    assert integers[0, basis, k] == expected[k]
            if basis == 0:
                for k in range(width):
                    assert close(m[0, k], e[0, k], expected[k])
                    if fits:
                        assert values[0, k] == expected[k]


def test_the_patterns_fit() -> None:
    fitting = [one for one in PATTERNS if fits_pair(table_of(one, "any"))]
    assert len(fitting) >= 5


@pytest.mark.parametrize("semantics", SEMANTICS)
def test_integers_are_exact_beyond_what_doubles_hold(semantics: str) -> None:
    """Tied events are choices: their number doubles at every time point, past 2**50 and 2**53."""
    table = table_of("A+", semantics)
    for points in range(24, 33):
        events = [(time, 1, 3) for time in range(points) for _ in range(4)]
        expected = moved(table, events, [[0, 0] for _ in range(table.states + 3)], unit=1)
        order, code, lo, hi, var, x = columns(events, 2, np.int64)
        values = np.zeros((1, (table.states + 3) * 2), np.int64)
        if fold_integers(table, order, code, lo, hi, values, var, x):
            assert values[0, : 2 * table.states + 2].tolist() == [
                number for cell in expected[: table.states + 1] for number in cell
            ]
        else:
            assert max(map(max, expected)) >= 2**62
    assert max(map(max, expected)) > WHOLE


@pytest.mark.parametrize("large", [1e80, 1e200, 1e308, float("inf")])
def test_values_of_any_size_are_added(large: float) -> None:
    """Past the radix, past what a block of events has room for, and past all numbers."""
    assert large > RADIX
    events = [{"time": t, "type": "AB"[t % 2], "x": large if t == 6 else 1.0} for t in range(9)]
    rows = run(
        "RETURN COUNT(*) AS n, SUM(A.x) AS s PATTERN SEQ(A+, B)", events, time="time", type="type"
    ).rows()
    # The A at 6 is in eight trends, which end at 7; those before are in 41 together.
    assert same_rows(rows, [{"n": 26.0, "s": 8 * large + 41}])
