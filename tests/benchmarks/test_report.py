"""The report is made of the newest figures of each benchmark, whatever else was run since."""

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.harness import Figure, Samples, Size, at_least, at_most
from benchmarks.history import newest

from benchmarks import __main__ as command
from benchmarks import rendered

MACHINE = {
    "processor": "Loom",
    "cores": 2,
    "memory_gb": 8.0,
    "load_before": 0.25,
    "system": "Linux",
    "python": "3.11",
    "packages": {"numpy": "2.4"},
    "commit": "abc1234",
}


def keep(directory: Path, when: str, size: str, seconds: dict[str, float], **more: object) -> None:
    def figure(value: float) -> dict[str, Any]:
        turns = [value, value + 1, value + 2]
        return {"claim": "starts", "unit": "s", "turns": turns, "bar": "≤ 4.0", "points": []} | more

    found = {
        "when": when,
        "size": size,
        "machine": MACHINE,
        "benchmarks": {name: [figure(value)] for name, value in seconds.items()},
    }
    (directory / f"{when.replace(':', '')}.json").write_text(json.dumps(found))


def test_the_newest_full_run_of_each_counts(tmp_path: Path) -> None:
    keep(tmp_path, "2026-01-01T10:00:00", "full", {"cold_start": 1, "two_step": 2})
    keep(tmp_path, "2026-01-02T10:00:00", "full", {"cold_start": 3})
    keep(tmp_path, "2026-01-03T10:00:00", "quick", {"cold_start": 5, "windows": 6})
    keep(tmp_path, "2026-01-04T10:00:00", "tiny", {"two_step": 7, "real_data": 8})
    found = {name: (m.size, m.figures[0].measured.low) for name, m in newest(tmp_path).items()}
    assert found == {
        "cold_start": (Size.FULL, 3),
        "two_step": (Size.FULL, 2),
        "windows": (Size.QUICK, 6),
    }


def test_a_report_tells_bars_machine_and_what_is_absent(tmp_path: Path) -> None:
    results = tmp_path / "results"
    results.mkdir()
    keep(results, "2026-01-01T10:00:00", "full", {"cold_start": 1}, label="starts")
    keep(results, "2026-01-01T11:00:00", "full", {"end_to_end": 7})
    keep(results, "2026-01-02T10:00:00", "full", {"end_to_end": 5})
    path = tmp_path / "REPORT.md"
    names = ["cold_start", "end_to_end", "windows"]
    assert rendered.write(names, results, path) == ["windows"]
    told = path.read_text()
    assert (
        "| [cold_start](#cold_start) | 1 of 1 | 2026-01-01 10:00 | full | 0.2 | abc1234 |" in told
    )
    assert "Not measured yet: windows." in told
    assert "- Loom, 2 cores, 8.0 GB; Linux; Python 3.11, numpy 2.4\n" in told
    assert "| starts | 2 s | 1 .. 3 |  | ≤ 4 | yes |" in told
    assert "| starts | 6 s | 5 .. 7 | 8 | ≤ 4 | **no**, by 1.5 × |" in told
    assert "![cold_start](results/cold_start.svg)" in told
    assert "![end_to_end]" not in told, "without labels there is nothing to draw"
    assert (results / "cold_start.svg").read_text().startswith("<svg")


def test_a_missed_bar_says_why() -> None:
    slow = Figure("any: slow", Samples((5.0,)), "×", at_least(10))
    assert rendered.verdict(slow, {"any": "it rains"}) == "**no**, by 2 ×: it rains"
    assert rendered.verdict(slow, {"next": "it rains"}) == "**no**, by 2 ×"
    never = Figure("differ", Samples((1.0,)), "", at_most(0))
    assert rendered.verdict(never, {}) == "**no**, by inf ×"


def test_the_command_writes_the_report_and_measures_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(rendered, "REPORT", tmp_path / "REPORT.md")
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(rendered, "write", lambda names: asked.append(names) or ["windows"])
    assert command.main(["--report"]) == 0
    assert asked == [command.REPORTED]
    assert "Never measured, so not in it: windows" in capsys.readouterr().out
