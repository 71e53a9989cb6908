"""Overlapping windows by maps of panes, against the naive oracle and a vector per window."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trendloom.api import query, run
from trendloom.engine import sliding
from trendloom.engine.run import Run
from trendloom.engine.setting import Setting
from trendloom.engine.sliding import Panes
from trendloom.hosts.local.scan import scan_batches
from trendloom.hosts.local.sources import open_events
from trendloom.hosts.scan.columns import check_time, check_type
from trendloom.hosts.scan.dress import dressed
from trendloom.language import Semantics, to_text
from trendloom.testing import same_rows
from trendloom.testing.strategies import Case, cases, queries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trendloom.engine.evaluate import Evaluator
    from trendloom.language.nodes import Query

TIMES = 50 if os.environ.get("TRENDLOOM_FUZZ") else 1
EACH = pytest.mark.parametrize("semantics", list(Semantics), ids=lambda s: s.value)
KINDS = pytest.mark.parametrize("kind", ["time", "change", "count"])
FOLD = {
    "allow_negation": False,
    "allow_adjacent": False,
    "allow_anchored": False,
    "allow_distinct": False,
}
Rows = list[dict[str, Any]]


def examples(count: int) -> Any:
    return settings(
        max_examples=count * TIMES,
        deadline=None,
        database=None,
        derandomize=TIMES == 1,
        suppress_health_check=list(HealthCheck),
    )


@pytest.fixture
def maps(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Maps for every window, whatever they cost."""
    seen: list[int] = []

    def always(panes: Panes, _: Evaluator) -> bool:
        seen.append(len(panes.cut) - 1)
        return True

    monkeypatch.setattr(Panes, "pay", always)
    monkeypatch.setattr(sliding, "LEAST_VISITS", -1)
    yield
    assert max(seen) > 1


def folded(semantics: Semantics, kind: str) -> st.SearchStrategy[Query]:
    asked = queries(semantics=(semantics,), window_kinds=(kind,), **FOLD)
    return asked.filter(lambda q: all(part.foldable for part in query(q).plan.all_parts))


def has_rows(case: Case) -> bool:
    return bool(case.expected)


def answer(case: Case, sizes: list[int]) -> Rows:
    """The scan's rows cut into batches of the given sizes, in turn."""
    plan = query(case.query).plan
    with open_events(case.events) as source:
        axis = check_time(source, "time")
        type_column, one_type = check_type(source, "type", None)
        batches = scan_batches(
            source, plan.scan, axis, type_column=type_column, event_type=one_type,
            tiebreak=case.tiebreak,
        )  # fmt: skip
        with batches:
            types = batches.operand_types, batches.partition_types
            running = Run(Setting(plan, *types, axis.nanoseconds))
            turn = 0
            for batch in batches:
                at = 0
                while at < batch.num_rows:
                    size = sizes[turn % len(sizes)]
                    running.push(batch.slice(at, size))
                    at, turn = at + size, turn + 1
            rows: Rows = dressed(plan, running.finish(), axis).to_pylist()
    return rows


@EACH
@KINDS
@pytest.mark.usefixtures("maps")
def test_maps_against_the_oracle(semantics: Semantics, kind: str) -> None:
    @examples(30)
    @given(cases(query=folded(semantics, kind)).filter(has_rows))
    def check(case: Case) -> None:
        rows = run(case.query, case.events, time="time", type="type", tiebreak=case.tiebreak).rows()
        difference = same_rows(case.expected, rows, keys=case.keys)
        assert difference is None, f"{to_text(case.query)}\n{case.events}\n{difference}"

    check()


@EACH
@pytest.mark.parametrize("kind", ["time", "change"])
@pytest.mark.usefixtures("maps")
def test_any_batching_gives_the_same_rows(semantics: Semantics, kind: str) -> None:
    @examples(25)
    @given(
        cases(query=folded(semantics, kind)).filter(has_rows),
        st.lists(st.integers(1, 5), min_size=1, max_size=3),
    )
    def check(case: Case, sizes: list[int]) -> None:
        difference = same_rows(case.expected, answer(case, sizes), keys=case.keys)
        assert difference is None, f"{to_text(case.query)}\n{case.events}\n{sizes}\n{difference}"

    check()
