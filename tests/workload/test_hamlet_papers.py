"""HAMLET's worked examples: shared propagation, snapshots, decisions, and the pruned search."""

from __future__ import annotations

import math
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hamlet_runs import alone, join, planned, together

from trendloom.api import run
from trendloom.kernels.burst_choice import Costs, choose, choose_all
from trendloom.several import workload
from trendloom.testing import same_rows, stream
from trendloom.workloads.hamlet.benefit import (
    BurstFacts,
    Mode,
    benefit,
    choose_queries,
    non_shared,
    shared,
)
from trendloom.workloads.hamlet.template import merge

if TYPE_CHECKING:
    from numpy.typing import NDArray

Q1 = "RETURN COUNT(*) PATTERN SEQ(A, B+)"
Q2 = "RETURN COUNT(*) PATTERN SEQ(C, B+)"
STARTS = "a1 a2 c2"
B3 = "b3 b4 b5 b6"
LATER = "a7 a8 c7 c8 c9"
FIRST_OF_B6 = "b10"


def counts(words: str, queries: tuple[str, ...] = (Q1, Q2), mode: Mode = Mode.ALWAYS) -> list[int]:
    found, _ = together(queries, stream(words), mode)
    return [int(rows[0]["COUNT(*)"]) if rows else 0 for _, rows in sorted(found.items())]


def test_table_3_the_snapshot_doubles_from_event_to_event() -> None:
    words = B3.split()
    made = [counts(f"{STARTS} {' '.join(words[:n])}") for n in range(1, 5)]
    steps = np.diff([[0, 0], *made], axis=0)
    x = np.array([2, 1])
    assert (steps == [x, 2 * x, 4 * x, 8 * x]).all()
    _, metrics = together((Q1, Q2), stream(f"{STARTS} {B3}"), Mode.ALWAYS)
    assert (metrics.snapshots, metrics.event_snapshots) == (1, 0)


def test_table_4_the_second_graphlet_has_one_new_snapshot() -> None:
    before = counts(f"{STARTS} {B3} {LATER}")
    after = counts(f"{STARTS} {B3} {LATER} {FIRST_OF_B6}")
    assert [b - a for a, b in zip(before, after, strict=True)] == [34, 19]
    _, metrics = together((Q1, Q2), stream(f"{STARTS} {B3} {LATER} {FIRST_OF_B6}"), Mode.ALWAYS)
    assert metrics.snapshots == 2


def test_an_event_that_one_query_misses_is_a_snapshot() -> None:
    """As Example 3.12, with the query's own condition on b5 instead of on an edge to it."""
    words = "a1 a2 c2 b3:k=1 b4:k=1 b5:k=0 b6:k=1"
    queries = (Q1, f"{Q2} WHERE B.k > 0")
    found, metrics = together(queries, stream(words), Mode.ALWAYS)
    assert [found[n][0]["COUNT(*)"] for n in (0, 1)] == [30, 7]
    assert (metrics.snapshots, metrics.event_snapshots) == (2, 1)
    for number, text in enumerate(queries):
        assert found[number] == alone(text, stream(words))


def test_table_5_an_edge_that_holds_for_one_query_only() -> None:
    """Example 3.12: b4 → b5 holds for q1, not for q2; all other edges hold for both.

    Queries with different conditions inside B+ do not share it here, and the numbers are the same.
    """
    words = "a1 a2 c2 b3:k=0,j=5 b4:k=1,j=6 b5:k=0,j=1 b6:k=0,j=7 a7 a8 c7 c8 c9 b10:k=0,j=8"
    events = stream(words)
    for event in events:
        event.update({"k": event.get("k"), "j": event.get("j")})
    texts = [f"{Q1} WITHIN 99 s SLIDE 99 s", f"{Q2} WHERE B.k <> NEXT(B).j WITHIN 99 s SLIDE 99 s"]

    def totals(until: int) -> list[float]:
        some = [event for event in events if event["time"] <= until]
        results = workload(texts).run(some, time="time", type="type", mode="always")
        return [one.rows()[0]["COUNT(*)"] for one in results.values()]

    z = np.subtract(totals(5), totals(4))
    y = np.subtract(totals(10), totals(9))
    assert z.tolist() == [8, 2]
    assert y.tolist() == [34, 15]
    # The expression of b6 is 4x + z.
    x = np.array([2, 1])
    assert (np.subtract(totals(6), totals(5)) == 4 * x + z).all()


def test_expressions_keep_their_snapshots_apart() -> None:
    """With a condition inside B+, what came with x and what came with y stay apart (4x + z)."""
    words = "a1 c1 b2:k=3 b3:k=2 a4 b5:k=1 b6:k=4 c7 b8:k=0"
    inside = "WHERE B.k > NEXT(B).k"
    queries = (f"{Q1} {inside}", f"{Q2} {inside}")
    found, metrics = together(queries, stream(words), Mode.ALWAYS)
    for number, text in enumerate(queries):
        assert found[number] == alone(text, stream(words))
    assert (metrics.snapshots, metrics.event_snapshots) == (3, 0)


# Figure 6: q1 and q2 share B+; t = 2 types each.
EQUATIONS = {
    "8, share": (BurstFacts(b=4, n=7, g=4, t=2), 1, 1, (44, 56, 12)),
    "9, split": (BurstFacts(b=4, n=11, g=8, t=2), 1, 2, (120, 88, -32)),
    "10, merge": (BurstFacts(b=4, n=15, g=4, t=2), 1, 1, (76, 120, 44)),
}


@pytest.mark.parametrize(("facts", "s_c", "s_p", "costs"), EQUATIONS.values(), ids=EQUATIONS)
def test_equations_8_to_10(
    facts: BurstFacts, s_c: int, s_p: int, costs: tuple[int, int, int]
) -> None:
    assert (
        shared(facts, k=2, s_c=s_c, s_p=s_p),
        non_shared(facts, k=2),
        benefit(facts, k=2, s_c=s_c, s_p=s_p),
    ) == costs


def test_figure_7_three_plans_of_twelve_are_considered() -> None:
    """Queries 1 and 3 bring no snapshots. Sharing 2 is beneficial, sharing 4 is not: (123)(4).

    Against the plan that shares all, 2 would not be worth sharing, because 4 is in it.
    """
    snapshots = {1: 0, 2: 1, 3: 0, 4: 6}
    facts = BurstFacts(b=4, n=10, g=4, t=2)

    def cost(queries: frozenset[int]) -> float:
        s_c = sum(snapshots[q] for q in queries)
        return shared(facts, k=len(queries), s_c=s_c, s_p=1)

    def each(queries: frozenset[int]) -> float:
        return non_shared(facts, k=len(queries))

    choice = choose_queries([1, 2, 3, 4], snapshots.__getitem__, cost, each)
    assert (choice.sharing, choice.alone) == (frozenset({1, 2, 3}), frozenset({4}))
    assert choice.considered == 3
    every = frozenset(snapshots)
    plans = [frozenset(some) for n in range(2, 5) for some in combinations(every, n)]
    least = min([each(every), *(cost(plan) + each(every - plan) for plan in plans)])
    assert cost(choice.sharing) + each(choice.alone) == least


def _cost(b: int, costs: Costs, unique: NDArray[np.int32], queries: frozenset[int]) -> float:
    s_c = int(sum(unique[q] for q in queries))
    k = len(queries)
    return b * costs.event + s_c * k * costs.snapshot + k * costs.query


def _each(b: int, costs: Costs, queries: frozenset[int]) -> float:
    return len(queries) * b * costs.alone


def test_the_kernel_chooses_as_the_definition_does() -> None:
    """Four classes of one query each, as in Figure 7, under costs of the paper's form."""
    chance = np.random.default_rng(5)
    for _ in range(200):
        b = int(chance.integers(1, 20))
        costs = Costs(*chance.uniform(0.1, 3.0, 5))._replace(column=0.0)
        unique = np.zeros(64, np.int32)
        unique[1:4] = chance.integers(0, 4, 3)
        differ = sum(1 << k for k in range(4) if unique[k])

        cost = partial(_cost, b, costs, unique)
        each = partial(_each, b, costs)
        choice = choose_queries(range(4), lambda q, own=unique: int(own[q]), cost, each)
        sharing = choice.sharing
        if len(sharing) < 2 or cost(sharing) >= each(sharing):
            sharing = frozenset()
        kept = choose(
            costs, float(b), 1.0, np.uint64(15), 4.0, np.ones(64), np.uint64(differ),
            float(unique.sum()), unique,
        )  # fmt: skip
        assert {k for k in range(4) if int(kept) >> k & 1} == set(sharing)


def test_bursts_that_are_alike_are_decided_by_their_length() -> None:
    """The short cut of `choose_all` is what `choose` says."""
    chance = np.random.default_rng(6)
    nobody, none = np.zeros((0, 64), np.int32), np.zeros(64, np.int32)
    for _ in range(50):
        costs = Costs(*chance.uniform(0.1, 3.0, 5))
        sharing = np.array([0, 3, 15], np.uint64)
        every = np.array([0.0, chance.uniform(1.0, 3.0), chance.uniform(2.0, 9.0)])
        size = np.arange(1, 40)
        zero = np.zeros(len(size), np.int64)
        for kind in range(3):
            found = choose_all(
                costs, zero, size, zero + kind, zero.astype(np.uint64), zero, zero - 1, nobody,
                sharing, every, np.ones(64),
            )  # fmt: skip
            wanted = [
                choose(
                    costs, float(b), 1.0, sharing[kind], every[kind], np.ones(64), np.uint64(0),
                    0.0, none,
                )
                for b in size
            ]  # fmt: skip
            assert found.tolist() == wanted


def test_figure_3_the_merged_template() -> None:
    template = merge([planned(Q1), planned(Q2)])
    (group,) = template.groups
    labels = {(t.source, t.target): t.queries for t in group.transitions}
    assert labels == {
        (None, "A"): (0,),
        ("A", "B"): (0,),
        (None, "C"): (1,),
        ("C", "B"): (1,),
        ("B", "B"): (0, 1),
    }
    assert [(k.type, k.queries) for k in group.kleene] == [("B", (0, 1))]


def test_panes_are_the_gcd_of_all_sizes_and_slides() -> None:
    """§3.1: 10 minutes every 5 and 15 minutes every 5 have panes of 5 minutes."""
    texts = [f"{Q1} WITHIN 10 min SLIDE 5 min", f"{Q2} WITHIN 15 min SLIDE 5 min"]
    (group,) = merge([planned(text) for text in texts]).groups
    assert group.pane == 5 * 60 * 10**9


def test_counts_beyond_doubles() -> None:
    """1,500 b's: 2**1500 is no double; with a condition inside, the window goes to the engine."""
    events = [{"type": "A", "time": 0, "k": 0}, {"type": "C", "time": 0, "k": 0}]
    events += [{"type": "B", "time": n, "k": n} for n in range(1, 1501)]
    log = "RETURN LOG2(COUNT(*)) PATTERN"
    queries = [f"{log} SEQ(A, B+)", f"{log} SEQ(C, B+)"]
    inside = [f"{text} WHERE B.k < NEXT(B).k" for text in queries]
    for texts, fallbacks in ((queries, 0), (inside, 2)):
        (joined,) = join(texts, events)
        for mode in Mode:
            found, metrics = joined.together(mode)
            assert [found[n][0]["LOG2(COUNT(*))"] for n in (0, 1)] == pytest.approx([1500, 1500])
            assert metrics.fallbacks == fallbacks


def test_a_side_of_and_beyond_doubles() -> None:
    """The window of the second side goes to the engine, as that side."""
    events = [{"type": kind, "time": 0, "k": 0} for kind in "AAAC"]
    events += [{"type": "B", "time": n, "k": n} for n in range(1, 1001)]
    inside = "WHERE B.k < NEXT(B).k"
    log = "RETURN LOG2(COUNT(*)) AS n PATTERN"
    texts = [f"{log} (A OR D) AND SEQ(C, B+) {inside}", f"{log} SEQ(A, B+) {inside}"]
    found, metrics = together(texts, events)
    assert [found[n][0]["n"] for n in (0, 1)] == pytest.approx([1000 + math.log2(3)] * 2)
    assert metrics.fallbacks == 2


@pytest.mark.parametrize("inside", ["", "WHERE B.k <= NEXT(B).k"], ids=["free", "inside"])
def test_summands_beyond_the_radix(inside: str) -> None:
    """What a map of plain doubles could not hold goes event by event."""
    large = [1e300, -1e300, 2.0, 1e300]
    events = [{"type": kind, "time": 0, "k": 0, "v": 0.0} for kind in "AC"]
    events += [{"type": "B", "time": n, "k": n, "v": v} for n, v in enumerate(large, 1)]
    texts = [f"RETURN SUM(B.v), COUNT(*) PATTERN SEQ({t}, B+) {inside}" for t in "AC"]
    (joined,) = join(texts, events)
    for mode in Mode:
        found, _ = joined.together(mode)
        for number, text in enumerate(texts):
            assert same_rows(alone(text, events), found[number], scale=1e300) is None


def test_a_tiebreak_orders_simultaneous_events() -> None:
    events = [{"type": kind, "time": 1, "n": n, "k": n % 3} for n, kind in enumerate("ACBBABBCBB")]
    inside = "WHERE B.k <= NEXT(B).k"
    texts = [Q1, f"{Q2} WHERE B.k > 0", f"{Q1} {inside}", f"{Q2} {inside}"]
    (joined,) = join(texts, events, tiebreak="n")
    for mode in Mode:
        found, _ = joined.together(mode)
        for number, text in enumerate(texts):
            assert found[number] == run(text, events, time="time", tiebreak="n").rows()


def test_a_mask_has_room_for_64_letters() -> None:
    texts = [f"RETURN COUNT(*) PATTERN B+ WHERE B.k > {k}" for k in range(70)]
    first, second = merge([planned(text) for text in texts]).groups
    assert (len(first.queries), len(second.queries)) == (64, 6)


def test_who_goes_alone_is_told_why() -> None:
    texts = [
        Q1,
        Q2,
        "RETURN COUNT(*) PATTERN SEQ(A, B)",
        "RETURN MAX(LENGTH(*)) PATTERN B+ WHERE B.k < NEXT(B).k",
        "RETURN COUNT(*) PATTERN B+ SEMANTICS skip-till-next-match",
        "RETURN COUNT(*) PATTERN SEQ(A, B+) WHERE A.k < NEXT(B).k",
        "RETURN COUNT(*) PATTERN D+",
    ]
    template = merge([planned(text) for text in texts])
    assert [group.queries for group in template.groups] == [(0, 1)]
    reasons = {one.query: one.reason for one in template.alone}
    assert sorted(reasons) == [2, 3, 4, 5, 6]
    assert reasons[2] == "no Kleene pattern"
    window = "WITHIN 9 s SLIDE 9 s"
    told = workload([f"{text} {window}" for text in texts[:4]]).explain()
    assert "it shares no bursts: MIN or MAX beside a condition between events" in told
    assert "it has no windows of time" in workload([Q1, texts[4]]).explain()
    assert reasons[3] == "MIN or MAX beside a condition between events"
