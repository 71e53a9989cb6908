"""Contenders are compared before they are timed, and who is stopped is not asked again."""

import numpy as np
import pytest
from benchmarks.baselines.limits import Stopped
from benchmarks.curves import ENGINE, Curves, same
from benchmarks.harness import Size


def stopped() -> np.ndarray:
    raise Stopped


def test_who_is_stopped_is_not_asked_again() -> None:
    curves = Curves("any", "events", Size.TINY)
    asked: list[str] = []

    def counting(who: str) -> np.ndarray:
        asked.append(who)
        return np.array([3])

    both = {ENGINE: lambda: counting("engine"), "slow": lambda: counting("slow")}
    curves.measure(1, both)
    curves.measure(2, both | {"slow": stopped})
    curves.measure(3, both)
    assert asked.count("slow") == 2, "once for its counts and once for its time, at the first point"
    assert [(p["x"], p["stopped"]) for p in curves.points if p["what"] == "slow"] == [
        (1, False),
        (2, True),
    ]
    assert [figure.claim for figure in curves.figures()] == [
        "any, 3 events: Trendloom",
        "any, 3 events: Trendloom, throughput",
        "any, 1 events: slow, × Trendloom's time (stopped at the next)",
    ]


def test_who_never_came_to_an_end_is_told() -> None:
    curves = Curves("any", "%", Size.TINY)
    curves.measure(10, {ENGINE: lambda: np.array([3]), "slow": stopped})
    assert [figure.claim for figure in curves.figures()] == [
        "any, 10 %: Trendloom",
        "any, 10 %: slow, stopped after",
    ]


def test_other_counts_are_no_contest() -> None:
    curves = Curves("any", "events", Size.TINY)
    with pytest.raises(AssertionError, match="any, 1 events: wrong counts other trends"):
        curves.measure(1, {ENGINE: lambda: np.array([3]), "wrong": lambda: np.array([4])})


def test_integers_beside_logarithms() -> None:
    same("here", "two-step", np.array([8, 0]), np.array([3.0, -np.inf]))
    with pytest.raises(AssertionError):
        same("here", "two-step", np.array([9, 0]), np.array([3.0, -np.inf]))
    with pytest.raises(AssertionError):
        same("here", "other", np.array([2**53 + 1]), np.array([2**53]))
