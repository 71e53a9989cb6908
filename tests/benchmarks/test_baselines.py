"""What the engine is measured against counts the same trends, and stops when it is told to."""

from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest
from benchmarks.baselines import flattened, greta, mixed_grain, pattern_grain, two_step, type_grain
from benchmarks.baselines.limits import Stopped
from benchmarks.baselines.streams import EVERY, Stream, draw_stream, shift_for

MASKS = np.array([1, 2, 1, 1, 0, 2, 1, 2], np.uint8)
"""a1 b2 a3 a4 c5 b6 a7 b8"""
LIMIT = 60.0

ANY = [flattened, greta, mixed_grain, two_step, type_grain]
AT_ONCE = {"flattened", "type_grain"}
"""They know no conditions between events."""


def name(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


def example(shift: float = EVERY) -> Stream:
    """Twice, as two groups; with shift 0, a7 may follow b2 but not b6."""
    price = np.array([0.5, 1, 0.5, 0.5, 0.5, 0, 0.5, 0])
    return Stream(np.tile(MASKS, 2), np.tile(price, 2), np.array([0, 8, 16]), shift)


def counts(module: ModuleType, stream: Stream) -> list[float]:
    found = module.any_match(stream, LIMIT)
    return list(found if module is two_step else 2**found)


@pytest.mark.parametrize("module", ANY, ids=name)
def test_the_worked_example(module: ModuleType) -> None:
    assert counts(module, example()) == pytest.approx([43, 43])


@pytest.mark.parametrize("module", [m for m in ANY if name(m) not in AT_ONCE], ids=name)
def test_the_worked_example_with_a_condition(module: ModuleType) -> None:
    assert counts(module, example(shift=0.0)) == pytest.approx([33, 33])


@pytest.mark.parametrize("module", [two_step, pattern_grain], ids=name)
def test_the_worked_example_one_way(module: ModuleType) -> None:
    found = [list(count(example(), LIMIT)) for count in (module.next_match, module.contiguous)]
    assert found == [[8, 8], [2, 2]]


@pytest.mark.parametrize("module", [flattened, greta, mixed_grain], ids=name)
def test_counts_beyond_doubles_agree(module: ModuleType) -> None:
    stream = draw_stream(3_000, 2, others=0.1)
    exact = type_grain.any_match(stream)
    assert exact.min() > 1_024
    found = module.any_match(stream, LIMIT)
    assert found == pytest.approx(exact, rel=1e-12)


def test_one_window_of_many_is_the_whole() -> None:
    stream = draw_stream(300)
    found = type_grain.sliding(stream, within=300, slide=100)
    assert len(found) == 5, "two of them begin before the first event"
    assert found[2] == pytest.approx(type_grain.any_match(stream)[0])
    head = Stream(stream.masks[:100], stream.price[:100], np.array([0, 100]))
    assert found[0] == pytest.approx(type_grain.any_match(head)[0])


@pytest.mark.parametrize(
    "count",
    [two_step.any_match, two_step.next_match, greta.any_match, flattened.any_match],
    ids=["two-step", "next", "greta", "flattened"],
)
def test_who_takes_too_long_is_stopped(count: Callable[[Stream, float], object]) -> None:
    with pytest.raises(Stopped):
        count(draw_stream(20_000), 0.0)


@pytest.mark.parametrize("selectivity", [0.1, 0.5, 0.9])
def test_selectivity_is_what_was_asked_for(selectivity: float) -> None:
    rng = np.random.default_rng(1)
    b, a = rng.random(100_000), rng.random(100_000)
    assert np.mean(b + shift_for(selectivity) > a) == pytest.approx(selectivity, abs=0.01)
