"""Workloads over events that come bit by bit: the oracle's rows, whatever the cuts and changes.

Events come out of order within the watermark's delay, in pushes of any size; in the middle queries
are added, replaced and removed, and the state rests in bytes.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from hypothesis import assume, given
from hypothesis import strategies as st

import trendloom as tl
from against_oracle import EACH, examples
from trendloom.errors import LimitError, WorkloadError
from trendloom.hosts.local.memory import to_scannable
from trendloom.language import Query, Semantics, to_text
from trendloom.testing import naive, same_rows
from trendloom.testing.compare import group_columns
from trendloom.testing.workloads import WorkloadCase, workloads

TIMED = ("time", "time", "change")
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Arrival:
    """How events come, and between which pushes something happens."""

    delay: int
    size: int
    seed: int
    change_after: int
    rest_after: int
    numbers: str = "auto"

    def pushes(self, case: WorkloadCase) -> list[Rows]:
        chance = random.Random(self.seed)
        moments = [
            (e["time"] + chance.randint(0, self.delay), chance.random()) for e in case.events
        ]
        order = sorted(range(len(moments)), key=moments.__getitem__)
        came = [case.events[k] for k in order]
        return [came[at : at + self.size] for at in range(0, len(came), self.size)]


def arrivals(numbers: str = "auto") -> st.SearchStrategy[Arrival]:
    return st.builds(
        Arrival,
        st.sampled_from((0, 1, 2, 3, 6)),
        st.integers(1, 4),
        st.integers(0, 1 << 20),
        st.integers(0, 4),
        st.integers(0, 4),
        st.just(numbers),
    )


def planned(case: WorkloadCase) -> tl.Workload:
    try:
        return tl.workload(case.queries)
    except WorkloadError as error:
        assume(not all(isinstance(one, LimitError) for one in error.errors.values()))
        raise


def told(case: WorkloadCase, arrival: Arrival) -> str:
    texts = "\n".join(to_text(query) for query in case.queries.values())
    return f"{texts}\n{case.events}\n{arrival}"


def check_rows(query: Query, expected: Rows, found: Rows, about: str) -> None:
    difference = same_rows(expected, found, keys=group_columns(query))
    assert difference is None, f"{to_text(query)}\n{difference}\n{about}"


def play(case: WorkloadCase, arrival: Arrival) -> None:
    """The first query is removed, the second replaced by itself, and the third comes later."""
    assume(case.events)
    whole = planned(case)
    first, second, third, *others = case.queries
    about = told(case, arrival)
    schema = to_scannable(case.events)[0].schema
    terms: dict[str, Any] = {
        "time": "time",
        "type": "type",
        "tiebreak": case.tiebreak,
        "watermark": f"{arrival.delay} s",
        "numbers": arrival.numbers,
    }
    live = whole.remove(third).live(**terms)
    rows: dict[str, Rows] = {name: [] for name in case.queries}
    later: Rows = []
    changed = False

    def change() -> None:
        rows[second] = []
        live.remove(first)
        live.replace(second, case.queries[second])
        live.add(third, whole[third])

    for turn, events in enumerate(arrival.pushes(case)):
        if turn == arrival.change_after:
            change()
            changed = True
        if turn == arrival.rest_after:
            data = live.save()
            live = live.workload.live(**terms, state=data)
            assert live.save() == data
        later += events if changed else []
        results = live.push(pa.Table.from_pylist(events, schema))
        assert results.late.num_rows == 0, about
        assert results.events == len(events)
        for name, result in results.items():
            rows[name] += result.rows()
    if not changed:
        change()
    for name, result in live.finish().items():
        rows[name] += result.rows()
    assert live.late_events == 0
    for name in others:
        check_rows(case.queries[name], case.expected[name], rows[name], f"{name}\n{about}")
    for name in (second, third):
        asked = case.queries[name]
        expected = naive(asked, later, time="time", type="type", tiebreak=case.tiebreak)
        check_rows(asked, expected, rows[name], f"{name}, from {later}\n{about}")


@EACH
def test_any_cuts_and_changes(semantics: Semantics) -> None:
    @examples(15)
    @given(
        workloads(
            semantics=(semantics,),
            min_queries=4,
            max_queries=6,
            common_windows=TIMED,
            window_kinds=TIMED,
        ),
        arrivals(),
    )
    def check(case: WorkloadCase, arrival: Arrival) -> None:
        play(case, arrival)

    check()


@examples(8)
@given(
    workloads(min_queries=4, max_queries=5, common_windows=TIMED, window_kinds=TIMED),
    arrivals("exact"),
)
def test_exact_integers(case: WorkloadCase, arrival: Arrival) -> None:
    play(case, arrival)


@examples(15)
@given(
    workloads(max_queries=4, common_windows=TIMED, window_kinds=TIMED),
    st.randoms(use_true_random=False),
    st.integers(1, 3),
)
def test_late_events_are_handed_back(case: WorkloadCase, chance: random.Random, size: int) -> None:
    """Whatever came in time has the rows of a run; nothing is lost without a word."""
    assume(case.events)
    whole = planned(case)
    table = to_scannable(case.events)[0]
    order = chance.sample(range(table.num_rows), table.num_rows)
    came = table.take(pa.array(order, pa.int64()))
    live = whole.live(time="time", type="type", tiebreak=case.tiebreak, watermark="1 s")
    rows: dict[str, Rows] = {name: [] for name in case.queries}
    used, late = [], []
    for at in range(0, came.num_rows, size):
        events, before = came.slice(at, size), live.watermark
        results = live.push(events)
        behind = [before is not None and time < before for time in events["time"].to_pylist()]
        # By their words: NaN does not equal itself.
        told_late = events.filter(pa.array(behind)).to_pylist()
        assert repr(results.late.to_pylist()) == repr(told_late)
        late.append(results.late)
        used.append(events.filter(pa.array([not one for one in behind])))
        for name, result in results.items():
            rows[name] += result.rows()
    for name, result in live.finish().items():
        rows[name] += result.rows()
    assert live.late_events == sum(one.num_rows for one in late)
    in_time = pa.concat_tables(used)
    run = whole.run(in_time, time="time", type="type", tiebreak=case.tiebreak)
    for name, query in case.queries.items():
        check_rows(query, run[name].rows(), rows[name], f"{name}\n{in_time.to_pylist()}")


@examples(15)
@given(
    workloads(max_queries=4, common_windows=("time",), window_kinds=("time",), allow_having=False),
    arrivals(),
)
def test_the_last_update_of_a_window_is_its_row(case: WorkloadCase, arrival: Arrival) -> None:
    assume(case.events)
    schema = to_scannable(case.events)[0].schema
    live = planned(case).live(
        time="time",
        type="type",
        tiebreak=case.tiebreak,
        watermark=f"{arrival.delay} s",
        mode="update",
    )
    pushes = arrival.pushes(case)
    steps = [live.push(pa.Table.from_pylist(events, schema)) for events in pushes]
    steps.append(live.finish())
    for name, query in case.queries.items():
        keys = group_columns(query)
        bounds = ("window_start", "window_end", *keys)
        last = {tuple(r[n] for n in bounds): r for step in steps for r in step[name].rows()}
        # A trailing NOT can take all trends away again, which a row says, too.
        there = {tuple(row[n] for n in bounds) for row in case.expected[name]}
        for key in list(last.keys() - there):
            values = [value for n, value in last.pop(key).items() if n not in bounds]
            assert all(value in (0, None) for value in values)
        check_rows(query, case.expected[name], list(last.values()), told(case, arrival))
