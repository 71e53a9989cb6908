"""Bursty streams and workloads over them, drawn at random."""

from __future__ import annotations

import random

from hypothesis import strategies as st

CONDITIONS = ("", "B.k < 2", "B.k >= 1", "B.k <> 1")
AGGREGATES: tuple[str, ...] = (
    "COUNT(*)",
    "SUM(B.v)",
    "AVG(B.v)",
    "COUNT(B)",
    "AVG(LENGTH(*))",
    "SUM(B.w)",
)
AGGREGATES += ("VARIANCE(B.v)", "STDDEV(B.w)", "MIN(B.v)", "MAX(B.w)", "MAX(B.v)")
AGGREGATES += ("MIN(LENGTH(*))", "MAX(LENGTH(*))", "MIN(B.w)")
WINDOWS = ("", "WITHIN 6 s SLIDE 3 s", "WITHIN 4 s SLIDE 4 s", "WITHIN 10 s SLIDE 2 s")
PATTERNS = (
    "SEQ(A, B+)",
    "SEQ(C, B+)",
    "B+",
    "SEQ(A, B+, D)",
    "SEQ(A+, B+)",
    "(SEQ(A+, B))+",
    "SEQ(B+, NOT C, D)",
    "SEQ(A, B+, NOT C, D)",
    "SEQ(B+, A?, NOT C)",
    "SEQ(C, B+, (A OR D))",
    "SEQ(A X, B+, A Y+)",
    "SEQ(A+, C?, B+)",
)
KINDS = "AABBBBBBCD"
SIDES = (
    "SEQ(A, B B+) AND SEQ(C, B Y+)",
    "SEQ(A X, B B+) AND SEQ(A Z, B Y+, D)",
    "B+ AND SEQ(A, D?)",
    "SEQ(B+, NOT C, D) AND A+",
    "A+ AND B+ AND (C OR D)",
    "SEQ(A, B B+) AND (SEQ(D+, B Y))+",
    "B B+ AND B Y+",
    "B B+ AND SEQ(B Y, B Z)",
)
"""The last two can match the same trend on both sides: they only count."""


def library(size: int, adjacent: str = "") -> list[str]:
    """Few enough that each query is planned once."""
    chance = random.Random(7)
    queries = []
    for number in range(size):
        group = "GROUP-BY g" if number % 2 else ""
        wanted = chance.sample(AGGREGATES, chance.randint(1, 2))
        pattern = chance.choice(PATTERNS)
        conditions = [chance.choice(CONDITIONS)]
        if "B+" in pattern:
            conditions.append(chance.choice((adjacent, adjacent, "")))
        where = " AND ".join(filter(None, conditions))
        returns = ", ".join(["g", *wanted] if group else wanted)
        window = chance.choice(WINDOWS[:2] if adjacent else WINDOWS)
        parts = [f"RETURN {returns} PATTERN {pattern}", where and f"WHERE {where}", group, window]
        queries.append(" ".join(filter(None, parts)))
    return queries


def workloads(adjacent: str = "") -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(library(40, adjacent)), min_size=2, max_size=12)


def conjunctions(adjacent: str = "") -> st.SearchStrategy[list[str]]:
    """Two queries with AND, between queries of one pattern."""
    chance = random.Random(8)
    queries = []
    for number in range(24):
        group = "GROUP-BY g" if number % 2 else ""
        pattern = SIDES[number // 2 % len(SIDES)]
        wanted = ["COUNT(*)"]
        if pattern not in SIDES[-2:]:
            wanted = chance.sample(AGGREGATES, 2)
        conditions = [chance.choice(CONDITIONS), chance.choice((adjacent, ""))]
        if "Y+" in pattern:
            conditions.append(chance.choice((adjacent.replace("B", "Y"), "Y.k < 2", "")))
        where = " AND ".join(filter(None, conditions))
        returns = ", ".join(["g", *wanted] if group else wanted)
        parts = [f"RETURN {returns} PATTERN {pattern}", where and f"WHERE {where}", group]
        queries.append(" ".join(filter(None, [*parts, chance.choice(WINDOWS[:3])])))
    paired = st.lists(st.sampled_from(queries), min_size=2, max_size=5)
    plain = st.lists(st.sampled_from(library(40, adjacent)), max_size=5)
    return st.tuples(plain, paired).map(lambda both: both[0] + both[1])


@st.composite
def streams(draw: st.DrawFn, most: int = 30) -> list[dict[str, object]]:
    """Runs of one type; some events at one time, some without a value."""
    chance = random.Random(draw(st.integers(0, 2**32)))
    events: list[dict[str, object]] = []
    time = 0
    for _ in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(KINDS))
        for _ in range(draw(st.integers(1, 7))):
            time += chance.choice((0, 1, 1, 1, 2))
            k = chance.choice((0, 1, 1, 1, 2))
            v = chance.choice((None, -1, 2, 5))
            event = {"type": kind, "time": time, "k": k, "v": v, "w": k * 0.5, "g": k % 2}
            events.append(event | {"p": chance.randint(0, 4)})
    return events[:most]
