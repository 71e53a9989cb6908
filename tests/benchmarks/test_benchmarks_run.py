"""Every benchmark runs at its smallest size and yields its figures and its chart."""

import importlib
import json
import os
from pathlib import Path

import pytest
from benchmarks.baselines.two_step import count_trends
from benchmarks.counting import (
    by_engine,
    by_hand_in_python,
    by_kernel,
    by_table_in_python,
    plan_for,
)
from benchmarks.harness import Figure, Samples, Size, at_least, at_most, one_core, take_turns

from benchmarks import __main__ as command
from benchmarks import events, real_data, report, windows

BARS = {
    "type_grain_count": 7,
    "two_states": 0,
    "memory_flat": 3,
    "end_to_end": 1,
    "two_step": 2,
    "cold_start": 2,
    "real_data": 0,
    "lookups": 5,
    "live_updates": 2,
    "adjacent_pairs": 0,
    "windows": 5,
    "exact_integers": 2,
    "contiguous_steps": 1,
    "cogra_figures": 0,
    "threads": 2,
    "complete_trends": 13,
    "workload_prefixes": 6,
    "workload_chop": 3,
    "workload_bursts": 7,
    "workload_real": 3,
    "workload_memory": 4,
    "hamlet_figures": 0,
    "acel_evaluation": 3,
}


@pytest.mark.parametrize("name", command.NAMES)
def test_every_benchmark_yields_its_figures(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(events, "CACHE", tmp_path / "cache")
    path = tmp_path / "out" / "found.json"
    assert command.main([name, "--tiny", "--json", str(path)]) == 0
    found = json.loads(path.read_text())
    assert found["size"] == "tiny"
    figures = found["benchmarks"][name]
    told = capsys.readouterr().out
    assert sum(figure["bar"] is not None for figure in figures) == BARS[name]
    for figure in figures:
        assert figure["min"] <= figure["median"] <= figure["max"]
        assert (figure["met"] is None) == (figure["bar"] is None)
        assert figure["claim"] in told
    assert (path.parent / f"{name}.svg").read_text().startswith("<svg")
    assert (path.parent / f"{name}.png").stat().st_size > 0


def test_every_file_with_a_run_is_listed() -> None:
    files = {path.stem for path in Path(command.__file__).parent.glob("*.py")} - {"__main__"}
    modules = {name: importlib.import_module(f"benchmarks.{name}") for name in files}
    assert {name for name, module in modules.items() if hasattr(module, "run")} == set(
        command.REPORTED
    )


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["two_steps"])
    assert "no benchmark 'two_steps'; there are: type_grain_count" in capsys.readouterr().err


def test_a_missed_bar_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cold = importlib.import_module("benchmarks.cold_start")
    slow = Figure("slow", Samples((3.0, 1.0, 9.0)), "s", at_most(2), label="slow")
    monkeypatch.setattr(cold, "run", lambda _: [slow])
    assert command.main(["cold_start", "--quick", "--json", str(tmp_path / "found.json")]) == 1
    told = capsys.readouterr().out
    assert "slow        3 s  1 .. 9  ≤ 2   NO" in told
    assert "Missed: cold_start: slow" in told


def test_bars() -> None:
    assert Figure("fast", Samples((1.0,)), "s", at_most(1)).met
    assert not Figure("fast", Samples((1.0,)), "×", at_least(2)).met
    assert Figure("plain", Samples((1.0,)), "s").met is None


def test_ratios_are_taken_turn_by_turn() -> None:
    """The machine was three times slower in the second turn; the ratio does not show it."""
    assert Samples((2.0, 6.0)) / Samples((1.0, 3.0)) == Samples((2.0, 2.0))


def test_contenders_take_turns() -> None:
    order: list[str] = []
    seconds = take_turns({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 2)
    assert "".join(order) == "ababab"
    assert [len(samples.values) for samples in seconds.values()] == [2, 2]


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="Linux can pin a thread")
def test_one_core_and_back() -> None:
    before = os.sched_getaffinity(0)
    with one_core():
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == before


def test_four_roads_to_one_count() -> None:
    masks, times = events.columns(20, ties=0.2)
    plan = plan_for("skip-till-any-match")
    row = by_engine(plan, events.batches(20, ties=0.2))
    assert row["trends"] == count_trends(masks, times) > 0
    roads = [by_kernel(plan, masks, times), by_hand_in_python(masks.tolist(), times.tolist())]
    assert roads == [pytest.approx(row["log2"])] * 2


@pytest.mark.parametrize("semantics", ["skip-till-any-match", "skip-till-next-match", "contiguous"])
def test_the_table_in_python_counts_what_the_kernel_counts(semantics: str) -> None:
    masks, times = events.columns(2_000, ties=0.0 if "next" in semantics else 0.2)
    plan = plan_for(semantics)
    slow = by_table_in_python(plan, masks.tolist(), times.tolist())
    assert slow == pytest.approx(by_kernel(plan, masks, times))


@pytest.mark.parametrize("within", [2, 20, 5_000])
def test_a_counter_per_start_counts_what_the_engine_counts(within: int) -> None:
    assert windows.same_counts(3_000, within)


def test_an_absent_file_is_told_and_stood_in_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(real_data, "REAL", tmp_path)
    figures = real_data.run(Size.TINY)
    assert all("(generated)" in figure.claim for figure in figures)
    assert "flights_nyc13.parquet is not in" in capsys.readouterr().out


def test_the_machine_is_described() -> None:
    assert {"processor", "cores", "commit", "packages"} <= report.machine().keys()
