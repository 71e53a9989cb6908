"""Doubles with an exponent: scaling all values by a power of two scales every sum by it, exactly.

Values beyond 2^256 leave the plain doubles of the fast path, so both ways of counting meet here.
"""

from __future__ import annotations

import random
from math import isclose
from typing import Any

import pytest

from trendloom.api import run
from trendloom.engine.evaluate import Evaluator

QUERY = """
RETURN COUNT(*) AS n, SUM(A.x) AS s, AVG(A.x) AS m, STDDEV(A.x) AS d, SUM(B.x) AS t
PATTERN (SEQ(A+, B))+ SEMANTICS {semantics} {window}
"""


def events(seed: int, factor: float) -> list[dict[str, Any]]:
    chance = random.Random(seed)
    time, rows = 0, []
    for _ in range(40):
        time += chance.choice([0, 1, 1, 2])
        x = chance.choice([1.5, -0.25, 3.0, None, 7.0])
        rows.append(
            {
                "time": time,
                "type": chance.choice("AAABC"),
                # Some stay small: sums of both magnitudes in one lane.
                "x": None if x is None else x * (factor if chance.random() < 0.8 else 1.0),
            }
        )
    return rows


@pytest.mark.parametrize("window", ["", "WITHIN 20 s SLIDE 5 s"])
@pytest.mark.parametrize("semantics", ["any", "next", "contiguous"])
@pytest.mark.parametrize("factor", [2.0**300, 2.0**900, 2.0**-900])
def test_fast_path_and_router_agree_on_huge_and_tiny_values(
    semantics: str, window: str, factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = QUERY.format(semantics=semantics, window=window)
    for seed in range(6):
        stream = events(seed, factor)
        fast = run(query, stream, time="time", type="type").rows()
        with monkeypatch.context() as patch:
            patch.setattr(Evaluator, "folds", property(lambda _: False))
            routed = run(query, stream, time="time", type="type").rows()
        assert len(fast) == len(routed)
        for one, two in zip(fast, routed, strict=True):
            for name, value in one.items():
                other = two[name]
                same = value == other or (
                    isinstance(value, float) and isclose(value, other, rel_tol=1e-9)
                )
                assert same, (seed, name, value, other)


@pytest.mark.parametrize("semantics", ["any", "next", "contiguous"])
def test_sums_scale_with_their_values(semantics: str) -> None:
    query = QUERY.format(semantics=semantics, window="")
    small = events(3, 1.0)
    large = [row | {"x": None if row["x"] is None else row["x"] * 2.0**700} for row in small]
    one = run(query, small, time="time", type="type").rows()[0]
    two = run(query, large, time="time", type="type").rows()[0]
    assert two["n"] == one["n"] > 0
    for name in ("s", "m", "t"):
        assert isclose(two[name], one[name] * 2.0**700, rel_tol=1e-12)
    assert isclose(two["d"], one["d"] * 2.0**700, rel_tol=1e-9)


def test_a_long_stream_keeps_its_logarithm() -> None:
    """20,000 events with ties: exponents run into the tens of thousands."""
    chance = random.Random(1)
    time, rows, log2 = 0, [], 0.0
    for _ in range(20_000):
        time += chance.choice([0, 1, 1])
        rows.append({"time": time, "type": "A"})
    # A+ over time points of k events each: the empty or non-empty trends multiply by 1 + k.
    from collections import Counter
    from math import log2 as logarithm

    for count in Counter(row["time"] for row in rows).values():
        log2 += logarithm(1 + count)
    row = run("RETURN COUNT(*) AS n, LOG2(COUNT(*)) AS l PATTERN A+", rows, time="time").rows()[0]
    assert row["n"] == float("inf")
    assert isclose(row["l"], log2, rel_tol=1e-9)


def test_exact_counts_of_thousands_of_digits() -> None:
    """Python itself refuses to write integers of more than 4,300 digits."""
    events = [{"time": t, "type": "A"} for t in range(16_000)]
    result = run(
        "RETURN COUNT(*) AS n PATTERN A+", events, time="time", type="type", numbers="exact"
    )
    assert result.rows()[0]["n"] == 2**16_000 - 1


@pytest.mark.parametrize("word", ["A" * 2000 + "B" * 9, "AB" * 900, "A" * 9 + "B" * 3000 + "AAB"])
@pytest.mark.parametrize("pattern", ["A+", "SEQ(A+, B)", "SEQ(A, B+)", "(SEQ(A+, B))+", "A+ OR B+"])
def test_counts_of_one_and_two_states_agree_with_the_router(
    pattern: str, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cells that are still empty, or far apart, when the numbers have grown."""
    query = f"RETURN LOG2(COUNT(*)) AS l PATTERN {pattern}"
    chance = random.Random(len(word))
    time, rows = 0, []
    for letter in word:
        time += chance.choice([0, 1, 1, 1])
        rows.append({"time": time, "type": letter})
    (fast,) = run(query, rows, time="time", type="type").rows()
    monkeypatch.setattr(Evaluator, "folds", property(lambda _: False))
    (routed,) = run(query, rows, time="time", type="type").rows()
    assert fast["l"] > 0
    assert isclose(fast["l"], routed["l"], rel_tol=1e-12)
