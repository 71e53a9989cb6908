"""Predecessors that are looked up, and windows that share the search, against the naive oracle.

Cases are cheap because many of them are partitions of one table: each is a stream of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import trendloom as tl
from trendloom.cet.stretches import Searcher
from trendloom.plan.predecessors import Search, equality_of, predecessors
from trendloom.testing.oracle import trends

STREAMS = 15
ALGORITHMS = ("auto", "baseline", "m", "t", "h")
PATTERNS = {
    "A+ WHERE [k] AND A.x < NEXT(A).x": Search.STAIRS,
    "A+ WHERE [k] AND A.x <= NEXT(A).x": Search.STAIRS,
    "A+ WHERE [k] AND A.x > NEXT(A).x": Search.STAIRS,
    "A+ WHERE [k] AND NEXT(A).x <= A.x": Search.STAIRS,
    "A+ WHERE [k] AND A.x = NEXT(A).y": Search.EQUAL,
    "A+ WHERE [k] AND A.x = NEXT(A).y AND NEXT(A).x >= A.y - 1 AND A.y <= NEXT(A).y":
        Search.EQUAL,
    "SEQ(A+, B) WHERE [k] AND A.x = NEXT(A).y AND A.y = NEXT(B).x": Search.EQUAL,
    "(SEQ(A, B))+ WHERE [k] AND A.x = NEXT(B).y AND B.x = NEXT(A).y": Search.EQUAL,
    "SEQ(A+, B+) WHERE [k] AND A.x = NEXT(A).x AND A.x = NEXT(B).y AND B.x = NEXT(B).x":
        Search.EQUAL,
    "A+ WHERE [k]": Search.SCAN,
    "SEQ(A+, B) WHERE [k] AND A.x < NEXT(A).x": Search.SCAN,
    "(SEQ(A+, B?))+ WHERE [k] AND A.x <> NEXT(B).y": Search.SCAN,
}  # fmt: skip
WINDOWS = ("", "WITHIN 6 s SLIDE 1 s", "WITHIN 5 s SLIDE 2 s", "WITHIN 5 EVENTS SLIDE 2 EVENTS")


def streams(seed: int) -> list[dict[str, Any]]:
    """`STREAMS` short ones, with ties, few values, and nulls."""
    random = np.random.default_rng(seed)
    rows = []
    for k in range(STREAMS):
        size = int(random.integers(3, 10))
        for time in np.sort(random.integers(0, 9, size)).tolist():
            x, y = (None if v == 4 else int(v) for v in random.integers(0, 5, 2))
            rows.append({"time": time, "type": "AAB"[random.integers(3)], "k": k, "x": x, "y": y})
    order = random.permutation(len(rows))
    return [rows[i] for i in order]


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_same_trends_as_the_oracle(pattern: str, window: str) -> None:
    """12 patterns, 4 windows, 3 tables of 15 streams: 2,160 cases, each by every algorithm."""
    query = f"PATTERN {pattern} {window}"
    for seed in range(3):
        events = streams(1_000 * len(query) + seed)
        table = pa.Table.from_pylist(events)
        wanted = sorted(
            (trend.partition[0], str(trend.window[0]), trend.elements)
            for trend in trends(query, events, type="type", complete=True, limit=100_000)
        )
        for algorithm in ALGORITHMS:
            rows = tl.trends(query, table, time="time", type="type", algorithm=algorithm).rows()
            found = sorted(
                (row["k"], str(row["window_start"]),
                 tuple(zip(row["events"], row["variables"], strict=True)))
                for row in rows
            )  # fmt: skip
            assert found == wanted, (query, algorithm, seed)


@pytest.mark.parametrize(("pattern", "search"), PATTERNS.items())
def test_which_search(pattern: str, search: Search) -> None:
    plan = tl.query(f"PATTERN {pattern}").plan
    assert predecessors(plan.parts[0], plan.semantics).search is search


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("A.x + 1 = NEXT(A).y AND A.x < NEXT(A).x", True),
        ("(A.x < NEXT(A).x AND A.x = NEXT(A).y) AND ABS(A.x - NEXT(A).x) < 2", True),
        ("(A.x = NEXT(A).y OR A.x < NEXT(A).y)", False),
        ("NOT A.x = NEXT(A).y", False),
        ("A.x <> NEXT(A).y", False),
    ],
)
def test_equalities_among_conditions(condition: str, found: bool) -> None:
    (program,) = tl.query(f"PATTERN A+ WHERE {condition}").plan.parts[0].programs
    assert (equality_of(program) is not None) == found


@pytest.mark.parametrize(
    "pattern",
    ["SEQ(A a, NOT C, A b) WHERE a.x = NEXT(b).y", "A{2,3} WHERE A.x = NEXT(A).y"],
)
def test_guards_and_states_of_one_variable_are_searched(pattern: str) -> None:
    plan = tl.query(f"PATTERN {pattern}").plan
    assert predecessors(plan.parts[0], plan.semantics).search is Search.SCAN


def test_windows_are_searched_alone_where_a_stretch_does_not_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """2,900 events of a window have 0.5 MB of ancestors, those of two windows 2 MB."""
    count = 6_000
    events = pa.table({"time": np.arange(count), "x": np.arange(count) % 7})
    query = "PATTERN A+ WHERE A.x <> NEXT(A).x WITHIN 2900 s SLIDE 500 s"
    options: dict[str, Any] = {"time": "time", "event_type": "A", "longest": 1}
    widest = tl.trends(query, events, memory_limit="1 GB", **options).rows()
    asked: list[tuple[int, int]] = []
    steps = Searcher.steps

    def told(searcher: Searcher, lo: int, hi: int) -> Any:
        asked.append((lo, hi))
        return steps(searcher, lo, hi)

    monkeypatch.setattr(Searcher, "steps", told)
    assert tl.trends(query, events, memory_limit="1 MB", **options).rows() == widest
    shared = [hi - lo for lo, hi in asked if hi - lo > 2_900]
    assert len(shared) == 1
    # That one is in vain; an earlier one, of two short windows, has fitted and saved a search.
    assert len(asked) == len(widest)
    assert asked[1] == (0, 1_400)


def test_large_windows_need_no_set_of_ancestors() -> None:
    """200,000 events in a window: their ancestors as sets would take 2.5 GB."""
    count = 200_000
    chain = pa.table({"time": np.arange(count), "x": np.arange(count), "y": np.arange(count) - 1})
    for condition in ("A.x = NEXT(A).y", "A.x < NEXT(A).x"):
        found = tl.trends(
            f"PATTERN A+ WHERE {condition}", chain, time="time", event_type="A",
            memory_limit="100 MB", limit=2,
        ).rows()  # fmt: skip
        assert sum(row["length"] for row in found) == count
        assert len(found) == 1


def test_a_value_that_most_events_have_is_not_walked_back() -> None:
    """200,000 events of one value, one that nothing covers and some that come and go beside it."""
    count = 200_000
    x = np.zeros(count, np.int64)
    y = np.zeros(count, np.int64)
    x[1::5], y[1::5] = 1, 2
    events = pa.table({"time": np.arange(count), "x": x, "y": y})
    found = tl.trends(
        "PATTERN A+ WHERE A.x = NEXT(A).y", events, time="time", event_type="A",
        memory_limit="200 MB", longest=1,
    )  # fmt: skip
    assert [row["length"] for row in found.rows()] == [4 * count // 5]
    assert found.happened.edges == 4 * count // 5 - 1


@pytest.mark.parametrize("values", [1, 2, 3, 8, 40])
def test_covered_candidates_leave_their_chain(values: int) -> None:
    """Beside a condition that says the same twice: it is looked at for every candidate."""
    random = np.random.default_rng(values)
    for size in (20, 150):
        x, y = random.integers(0, values, (2, size))
        time = np.sort(random.integers(0, size, size))
        events = pa.table({"time": time, "x": x, "y": y, "type": random.choice(["A", "B"], size)})
        for pattern in ("A+ WHERE A.x = NEXT(A).y", "SEQ(A+, B) WHERE A.x = NEXT(A).y"):
            last = " AND A.x = NEXT(B).y" if "B" in pattern else ""
            twice = last + " AND A.x >= NEXT(A).y" + last.replace("=", ">=")
            graphs = [
                tl.trends(
                    f"PATTERN {pattern}{more}", events, time="time", type="type", limit=50
                )
                for more in (last, twice)
            ]  # fmt: skip
            rows = [found.rows() for found in graphs]
            assert rows[0] == rows[1]
            assert graphs[0].happened.edges == graphs[1].happened.edges
            assert str(graphs[0].happened.trends) == str(graphs[1].happened.trends)
