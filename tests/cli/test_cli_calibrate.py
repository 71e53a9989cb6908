"""`trendloom calibrate`, and what `workload` says of a file that is none of its own."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from trendloom.cli.main import app
from trendloom.kernels.burst_choice import Costs
from trendloom.workloads.hamlet import calibration, measuring
from trendloom.workloads.hamlet.calibration import Calibration

FREE = Costs(event=1.0, column=0.0, snapshot=2.0, query=3.0, alone=4.0)
PAIRED = Costs(event=5.0, column=6.0, snapshot=7.0, query=8.0, alone=9.0)
EVENTS = [{"time": n, "type": name} for n, name in enumerate("ACBBBBBBB")]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = tmp_path / "kept" / "costs.json"
    monkeypatch.setenv(calibration.VARIABLE, str(found))
    return found


def test_the_command_keeps_what_it_measured(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "measure", lambda _: (FREE, PAIRED))
    done = CliRunner().invoke(app, ["calibrate"], catch_exceptions=False)
    assert done.exit_code == 0
    assert "an event that a query has alone" in done.stdout
    assert str(path) in done.stderr
    found = calibration.load()
    assert isinstance(found, Calibration)
    assert (found.free, found.paired) == (FREE, PAIRED)
    assert calibration.used() == (FREE, PAIRED)
    assert list(path.parent.iterdir()) == [path]
    again = CliRunner().invoke(app, ["calibrate", "--json"], catch_exceptions=False)
    assert json.loads(again.stdout)["file"] == str(path)


@pytest.mark.parametrize("folder", [True, False])
def test_a_place_that_cannot_be_written_is_refused_before_measuring(
    path: Path, monkeypatch: pytest.MonkeyPatch, folder: bool
) -> None:
    monkeypatch.setattr(measuring, "measure", lambda _: pytest.fail("measured"))
    if folder:
        path.mkdir(parents=True)
    else:
        path.parent.write_text("")
    done = CliRunner().invoke(app, ["calibrate"])
    assert done.exit_code == 1
    assert calibration.VARIABLE in done.stderr


@pytest.mark.parametrize("written", [b"{", b"\xff\xfe", b"[]", b"[" * 100_000])
def test_a_foreign_file_is_told_by_the_command_line(
    path: Path, tmp_path: Path, written: bytes
) -> None:
    path.parent.mkdir()
    path.write_bytes(written)
    assert calibration.load() == "is not a calibration"
    (tmp_path / "events.jsonl").write_text("\n".join(map(json.dumps, EVENTS)))
    for name in "AC":
        text = f"RETURN COUNT(*) PATTERN SEQ({name}, B+) WITHIN 9 s SLIDE 9 s"
        (tmp_path / f"{name}.tq").write_text(text)
    words = ["workload", str(tmp_path), "-i", str(tmp_path / "events.jsonl")]
    done = CliRunner().invoke(app, [*words, "--time", "time", "--type", "type"])
    assert done.exit_code == 0
    assert done.stderr.count("is not a calibration") == 1
    assert "Measure anew with `trendloom calibrate`." in done.stderr
