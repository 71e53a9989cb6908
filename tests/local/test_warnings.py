"""Warnings: collected per run, shown by its result, issued as Python's, and nowhere else."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

import pytest

import trendloom as tl
from trendloom.errors import GapWarning, TrendloomWarning, collecting_warnings, warn
from trendloom.hosts.local import beginning

EVENTS = [{"time": t, "type": "AB"[t % 2]} for t in range(6)]
ODD = TrendloomWarning("Something is odd.", remedy="Look at it.")
TOLD = "Something is odd.\nLook at it."
READ = {"time": "time", "type": "type"}


@pytest.fixture
def odd(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every scan warns, in another thread, as kernels and readers may."""
    scan_batches = beginning.scan_batches

    def scan(*given: Any, **more: Any) -> Any:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(copy_context().run, warn, ODD).result()
        return scan_batches(*given, **more)

    monkeypatch.setattr(beginning, "scan_batches", scan)


@pytest.mark.usefixtures("odd")
def test_every_kind_of_result_shows_its_warnings() -> None:
    with warnings.catch_warnings(record=True, action="always") as told:
        one = tl.run("RETURN COUNT(*) PATTERN A+", EVENTS, **READ)
        listed = tl.trends("PATTERN A+", EVENTS, **READ)
        found = tl.matches("A ; B", EVENTS, **READ)
        many = tl.workload(["RETURN COUNT(*) PATTERN A+"]).run(EVENTS, **READ)
    for result in (one, listed, found, many, many["q1"], many.union):
        assert list(map(str, result.warnings)) == [TOLD]
    assert len(told) == 4
    listed.close()
    found.close()


@pytest.mark.usefixtures("odd")
def test_a_program_can_take_warnings_for_errors() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrendloomWarning)
        with pytest.raises(TrendloomWarning, match="odd"):
            tl.run("RETURN COUNT(*) PATTERN A+", EVENTS, **READ)


def test_a_warning_of_some_queries_is_shown_by_these_only() -> None:
    from trendloom.several import warnings_of

    some = TrendloomWarning("One is odd.", queries=("q1", "q3"))
    assert str(some) == "q1, q3: One is odd."
    assert warnings_of("q1", [ODD, some]) == [ODD, some]
    assert warnings_of("q2", [ODD, some]) == [ODD]


def test_each_warning_is_told_once_per_run_and_at_the_line_of_the_caller() -> None:
    with (
        warnings.catch_warnings(record=True, action="always") as told,
        collecting_warnings() as collected,
    ):
        warn(ODD)
        warn(TrendloomWarning("Something is odd.", remedy="Look at it."))
    assert len(collected) == len(told) == 1
    assert told[0].filename == __file__


GAPS = {
    "WITHIN 2 s SLIDE 5 s": "60.0% of the time is in no window",
    "WITHIN 3 EVENTS SLIDE 4 EVENTS": "25.0% of the events of each partition is in no window",
}


@pytest.mark.parametrize("window", GAPS)
def test_windows_with_gaps_between_them(window: str) -> None:
    query = f"PATTERN A+ {window}"
    with pytest.warns(GapWarning, match=GAPS[window]):
        result = tl.run(f"RETURN COUNT(*) {query}", EVENTS, **READ)
    assert len(result.warnings) == 1
    with pytest.warns(GapWarning, match=GAPS[window]):
        tl.trends(query, EVENTS, **READ).close()
    with pytest.warns(GapWarning, match="q2: SLIDE is greater than WITHIN"):
        many = tl.workload(["RETURN COUNT(*) PATTERN A+", f"RETURN COUNT(*) {query}"]).run(
            EVENTS, **READ
        )
    assert not many["q1"].warnings


def test_formulas_and_live_workloads_tell_of_gaps() -> None:
    with pytest.warns(GapWarning, match=r"60.0%"):
        found = tl.matches("A ; A", EVENTS, **READ, within="2 s", slide="5 s")
    assert found.rows() == []
    with pytest.warns(GapWarning, match="q1: SLIDE"):
        tl.workload(["RETURN COUNT(*) PATTERN A+ WITHIN 2 s SLIDE 5 s"]).live(**READ)


@pytest.mark.filterwarnings("ignore::trendloom.errors.GapWarning")
def test_formulas_in_windows_with_gaps() -> None:
    listed = tl.matches("A ; B", EVENTS, **READ, within="2 s", slide="3 s").rows()
    assert [(r["window_start"], r["start"], r["end"]) for r in listed] == [(0, 0, 1)]
