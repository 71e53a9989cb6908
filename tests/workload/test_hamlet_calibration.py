"""Constants of the benefit model: measured, kept, used, or refused with a reason."""

import json
from pathlib import Path
from typing import Any

import pytest

import trendloom as tl
from trendloom.kernels.burst_choice import Costs
from trendloom.workloads.hamlet import calibration, measuring
from trendloom.workloads.hamlet.calibration import Calibration, CalibrationWarning

FREE = Costs(event=1.0, column=0.0, snapshot=2.0, query=3.0, alone=4.0)
PAIRED = Costs(event=5.0, column=6.0, snapshot=7.0, query=8.0, alone=9.0)
QUERIES = [
    f"RETURN COUNT(*) AS n PATTERN SEQ({name}, B+) WITHIN 9 s SLIDE 9 s" for name in ("A", "C")
]
EVENTS = [{"time": n, "type": name} for n, name in enumerate("ACBBBBBBB")]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = tmp_path / "kept" / "costs.json"
    monkeypatch.setenv(calibration.VARIABLE, str(found))
    return found


def keep(path: Path, **changes: Any) -> None:
    made = Calibration(FREE, PAIRED, "2026-11-16", calibration.machine())
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(made.as_dict() | changes))


def test_costs_are_measured() -> None:
    told: list[tuple[int, int | None]] = []
    found = measuring.measure(lambda done, total: told.append((done, total)), windows=1)
    assert all(value > 0 for value in (*found[0]._replace(column=1.0), *found[1]))
    assert told == [(k, measuring.RATES) for k in range(1, measuring.RATES + 1)]


@pytest.mark.usefixtures("path")
def test_without_a_file_the_usual_costs_are_used() -> None:
    assert calibration.used() == (calibration.USUAL, calibration.USUAL_PAIRS)
    told = " ".join(tl.workload(QUERIES).explain().split())
    assert "default constants; `trendloom calibrate` measures this machine's" in told


def test_explain_tells_where_constants_are_from(path: Path) -> None:
    keep(path)
    assert "calibrated on 2026-11-16" in " ".join(tl.workload(QUERIES).explain().split())


UNUSABLE = {
    "another version": ({"version": 1}, "is from another version of Trendloom"),
    "another machine": ({"machine": "Z80"}, "is of another machine (Z80)"),
    "no costs": ({"free": None}, "is not a calibration"),
    "negative": ({"paired": PAIRED._replace(event=-1.0)._asdict()}, "is not a calibration"),
    "not finite": ({"paired": PAIRED._replace(event=1e999)._asdict()}, "is not a calibration"),
}


@pytest.mark.parametrize(("changes", "reason"), UNUSABLE.values(), ids=UNUSABLE)
def test_what_cannot_be_used_is_told_and_not_used(
    path: Path, changes: dict[str, Any], reason: str
) -> None:
    keep(path, **changes)
    assert calibration.load() == reason
    with pytest.warns(CalibrationWarning, match="trendloom calibrate"):
        results = tl.workload(QUERIES).run(EVENTS, time="time", type="type")
    assert [rows["n"] for rows in results.rows()] == [127, 127]
    assert reason in " ".join(tl.workload(QUERIES).explain().split())
