"""Whoever shares a burst, every query has the rows that it has alone."""

from __future__ import annotations

from typing import Any

import pytest
from hamlet_runs import Rows, alone, join, together
from hamlet_streams import conjunctions, streams, workloads
from hypothesis import given
from hypothesis import strategies as st

from against_oracle import examples
from trendloom.kernels.burst_choice import Costs
from trendloom.testing import naive, same_rows
from trendloom.workloads.hamlet.benefit import Mode

EAGER = Costs(event=1.0, column=0.1, snapshot=2.0, query=0.1, alone=1.0)
"""So that small bursts are shared too, some by some."""
INSIDE = {
    "free": "",
    "falling": "B.p > NEXT(B).p",
    "two columns": "B.p <= NEXT(B).k",
    "equal": "B.k = NEXT(B).k",
    "unequal": "B.p <> NEXT(B).p",
    "nulls": "B.v = NEXT(B).v AND B.p <> NEXT(B).p",
    "compound": "B.k = NEXT(B).k AND B.w = NEXT(B).w AND B.p >= NEXT(B).p",
}
LOADS = [workloads(condition) for condition in INSIDE.values()]
LOADS += [conjunctions(), conjunctions(INSIDE["falling"])]
IDS = [*INSIDE, "AND", "AND, falling"]


def check(query: str, events: Rows, expected: Rows, rows: Rows) -> None:
    keys = ["g"] if "GROUP-BY" in query else []
    difference = same_rows(expected, rows, keys=keys)
    assert difference is None, f"{query}\n{events}\n{difference}"


@pytest.mark.parametrize("load", LOADS, ids=IDS)
@examples(18)
@given(data=st.data(), events=streams())
def test_every_mode_is_each_query_alone(load: Any, data: st.DataObject, events: Rows) -> None:
    queries = data.draw(load)
    for joined in join(queries, events):
        expected = [joined.alone(place) for place in range(len(joined.group.queries))]
        for mode in Mode:
            batch = data.draw(st.sampled_from((0, 0, 1, 3)))
            found, _ = joined.together(mode, batch=batch, costs=(EAGER, EAGER))
            for number, alone_ in zip(joined.group.queries, expected, strict=True):
                check(queries[number], events, alone_, found[number])


@pytest.mark.parametrize("load", LOADS, ids=IDS)
@examples(5)
@given(data=st.data(), events=streams(most=9))
def test_shared_is_run_s_and_the_oracle_s(load: Any, data: st.DataObject, events: Rows) -> None:
    queries = data.draw(load)
    found, _ = together(queries, events, costs=(EAGER, EAGER))
    for number, rows in found.items():
        check(queries[number], events, alone(queries[number], events), rows)
        check(queries[number], events, naive(queries[number], events), rows)


@pytest.mark.parametrize("mode", Mode)
def test_lengths_over_bursts_with_simultaneous_events(mode: Mode) -> None:
    """A trend takes one of them; where B is taken once, a burst of it is one event, too."""
    times = {"A": (0, 1, 1), "C": (1, 2), "B": (3, 3, 4, 4, 5), "D": (6, 6)}
    events = [{"type": kind, "time": t, "k": t} for kind, at in times.items() for t in at]
    lengths = "RETURN MIN(LENGTH(*)), MAX(LENGTH(*)), MIN(B.k) PATTERN"
    patterns = ("SEQ(A, B+)", "SEQ(C, B+, D?)", "SEQ(A+, B)", "SEQ(A+, C) AND B+", "B+")
    queries = [f"{lengths} {pattern}" for pattern in patterns]
    queries.append(f"{queries[-1]} WHERE B.k > 3")
    found, _ = together(queries, events, mode, costs=(EAGER, EAGER))
    assert len(found) == len(queries)
    for number, rows in found.items():
        check(queries[number], events, naive(queries[number], events), rows)
