"""What sharing did, burst by burst: counted once, drawn as a timeline, told by explain."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hamlet_runs import join
from hamlet_streams import streams, workloads
from hypothesis import given
from hypothesis import strategies as st

import trendloom as tl
from against_oracle import examples
from trendloom.errors import InputError
from trendloom.view.timeline import MOST_BARS, timeline
from trendloom.workloads.hamlet import trace
from trendloom.workloads.hamlet.benefit import Mode
from trendloom.workloads.hamlet.metrics import Metrics

LOAD = {
    "all": "RETURN COUNT(*) AS n PATTERN SEQ(A, B+) WITHIN 10 s SLIDE 10 s",
    "some": "RETURN COUNT(*) AS n PATTERN SEQ(C, B+) WHERE B.k > 0 WITHIN 10 s SLIDE 10 s",
}
LETTERS = "ACBBBBBBBBACBBBBBBBB"
EVENTS = [{"time": n, "type": name, "k": n != 14} for n, name in enumerate(LETTERS)]
COLUMNS = ("begin", "end", "type", "events", "queries", "sharing")


def ran(mode: str = "always", **change: Any) -> Any:
    events = [event | {"k": int(event["k"])} for event in EVENTS]
    return tl.workload(LOAD).run([e | change for e in events], time="time", type="type", mode=mode)


def records(drawn: Any) -> list[dict[str, Any]]:
    spec = drawn.to_dict()
    if "values" in spec["data"]:
        return spec["data"]["values"]
    return spec["datasets"][spec["data"]["name"]]


def test_a_trace_tells_every_burst() -> None:
    bursts = ran().metrics.trace.bursts.to_pylist()
    assert [tuple(one[name] for name in COLUMNS) for one in bursts] == [
        (2, 9, "B", 8, 2, 2),
        (12, 19, "B", 8, 2, 2),
    ]


def test_times_are_the_caller_s() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    events = [e | {"time": start + timedelta(seconds=e["time"]), "k": 1} for e in EVENTS]
    results = tl.workload(LOAD).run(events, time="time", type="type", mode="always")
    assert results.metrics.trace.bursts["begin"][0].as_py() == start + timedelta(seconds=2)
    assert results.timeline().to_dict()["mark"]["type"] == "rect"


def test_the_chart_colours_who_shared() -> None:
    values = ran().timeline(title="Mine").to_dict()
    assert values["title"]["text"] == "Mine"
    assert values["title"]["subtitle"] == ["2 bursts: 2 shared by all that could"]
    assert {one["how"] for one in records(ran().timeline())} == {"by all that could"}


def test_bursts_that_overlap_or_are_many_are_counted_per_stretch_of_time() -> None:
    columns = [[0, 2, 4], [3, 5, 4], [4, 4, 1], [2, 2, 2], [2, 1, 0]]
    bursts = trace.table(["B"] * 3, np.array(columns))
    drawn = timeline(bursts, 7)
    assert drawn.to_dict()["title"]["subtitle"][1] == "the first 3 of 10 bursts"
    assert sum(one["events"] for one in records(drawn)) == 9
    many = np.array([[n] * 5 for n in range(MOST_BARS + 1)]).T
    drawn = timeline(trace.table(["B"] * (MOST_BARS + 1), many))
    assert sum(one["events"] for one in records(drawn)) == sum(range(MOST_BARS + 1))
    single = timeline(trace.table(["B"] * 2, np.array([[4, 4], [4, 4], *[[1, 1]] * 3])))
    assert len(records(single)) == 2


def test_without_bursts_there_is_no_timeline() -> None:
    with pytest.raises(InputError, match=r"(?s)no timeline.*explain"):
        ran("never").timeline()


def test_a_run_remembers_so_many_bursts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "MOST", 3)
    one = trace.Trace(trace.table(["B"] * 2, np.zeros((5, 2), int)), 1)
    assert (len((one + one).bursts), (one + one).left_out) == (3, 3)
    assert Metrics().as_dict()["bursts"] == 0
    assert "trace" not in Metrics().as_dict()


@examples(15)
@given(data=st.data(), events=streams())
def test_however_events_come_bursts_are_counted_once(
    data: st.DataObject, events: list[dict[str, Any]]
) -> None:
    """Windows that slide are evaluated again with the next batch; their bursts are known then."""
    queries = data.draw(workloads())
    for joined in join(queries, events):
        _, whole = joined.together(Mode.ALWAYS)
        _, pieces = joined.together(Mode.ALWAYS, batch=data.draw(st.sampled_from((1, 2, 5))))
        told = [sum(one.trace.bursts["events"].to_pylist()) for one in (whole, pieces)]
        assert told[0] == told[1]


def test_explain_draws_the_merged_template() -> None:
    drawn = tl.workload(LOAD).explain("mermaid")
    assert drawn.count('["B"]') == 1
    assert '-->|"all, some"|' in drawn
    told = tl.workload(LOAD).explain()
    assert "B → B: all, some" in told
    assert '"k" > 0: some' in told
    assert "every burst that can be" in tl.workload(LOAD).explain(mode="always")
