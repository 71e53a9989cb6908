"""Templates in words and pictures, and the measured constants that decisions use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hamlet_runs import planned

from trendloom.workloads.hamlet import calibration
from trendloom.workloads.hamlet.measuring import calibrate
from trendloom.workloads.hamlet.picture import describe, mermaid
from trendloom.workloads.hamlet.template import merge

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

QUERIES = [
    "RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 10 s SLIDE 5 s",
    'RETURN COUNT(*) PATTERN SEQ("<C>", B+) WHERE B.k > 1 WITHIN 15 s SLIDE 5 s',
    "RETURN COUNT(*) PATTERN B+ WHERE B.p > NEXT(B).p",
    "RETURN COUNT(*) PATTERN SEQ(A, B+) WHERE B.p > NEXT(B).p",
    "RETURN MIN(B.k) PATTERN B+",
]


def test_the_words_tell_who_shares_what() -> None:
    assert describe(merge([planned(text) for text in QUERIES])).splitlines() == [
        "group 1: q1, q2, q3, q4",
        "  one pass, panes of 5 s",
        "  shares B+ among q1, q2",
        "    no condition: q1",
        '    "k" > 1: q2',
        '  shares B+ among q3, q4, each event and the next: "p" > NEXT "p"',
        "alone: q5 (MIN or MAX)",
    ]


def test_the_picture_has_every_type_once() -> None:
    drawn = mermaid(merge([planned(text) for text in QUERIES]))
    assert drawn.startswith("flowchart LR")
    assert drawn.count('["B"]') == 1
    assert '-->|"q1, q2, q3, q4"|' in drawn
    assert "<C>" not in drawn


def test_many_queries_are_counted() -> None:
    texts = [f"RETURN COUNT(*) PATTERN SEQ(A, B+) WHERE A.k > {k}" for k in range(9)]
    assert "q1, q2, q3, q4, … q9 (9 queries)" in describe(merge([planned(t) for t in texts]))


def test_costs_are_measured_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "kept" / "costs.json"
    found = calibrate(path, windows=1)
    assert all(value > 0 for value in (*found[0]._replace(column=1.0), *found[1]))
    assert calibration.load(path) == found


def test_costs_of_another_version_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert calibration.known() == (calibration.USUAL, calibration.USUAL_PAIRS)
    path = calibration.cache_file()
    calibration.save(calibration.USUAL_PAIRS, calibration.USUAL)
    assert calibration.known() == (calibration.USUAL_PAIRS, calibration.USUAL)
    path.write_text(path.read_text().replace('"version": 1', '"version": 0'))
    assert calibration.load() is None
    path.write_text("{")
    assert calibration.load() is None


def test_costs_that_cannot_be_kept_are_measured_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    calibration.save(calibration.USUAL, calibration.USUAL_PAIRS, tmp_path / "file" / "costs.json")
    assert calibration.load(tmp_path / "file" / "costs.json") is None
