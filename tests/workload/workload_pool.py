"""Some hundred queries, planned once, and tiny streams, scanned once: workloads by thousands.

A workload draws most of its queries from one kind (window, semantics, grouping), so that they can
share, and the others from anywhere. The host's scan is made for all queries of the pool, which is
the scan of a larger workload; what a query gives for a stream is asked of the oracle once.
"""

from __future__ import annotations

import random
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import trendloom as tl
from trendloom.engine.layout import Numbers
from trendloom.hosts.local.beginning import begin_scan
from trendloom.hosts.local.sources import open_events
from trendloom.hosts.scan.dress import dressed
from trendloom.hosts.scan.reading import Reading
from trendloom.testing import naive
from trendloom.workloads.running import Columns, GroupRun
from trendloom.workloads.scan import SharedScan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trendloom.api import TrendQuery
    from trendloom.plan.plan import Plan
    from trendloom.workloads.sharing import Sharing

WINDOWS = (
    "",
    "WITHIN 4 s SLIDE 4 s",
    "WITHIN 6 s SLIDE 2 s",
    "WITHIN 5 s",
    "WITHIN 4 EVENTS SLIDE 2 EVENTS",
)
SEMANTICS = ("any", "any", "next", "contiguous")
BEGINNINGS = ("C", "D", "E", "C, D", "E+", "D?, C", "C, NOT E", "D, C", "C{1,2}")
INFIXES = (
    "A a, B b",
    "A a, B b",
    "A a, B b, A z",
    "B z, A a, B b",
    "A a+, B b",
    "A a, NOT D, B b",
)
ENDS = ("", "C", "D", "E", "D, E", "C+", "NOT E, C", "E, A w")
RETURNS = (
    "COUNT(*) AS n",
    "COUNT(*) AS n",
    "SUM(a.x) AS n",
    "COUNT(*) AS n, AVG(b.x) AS m",
    "MIN(a.x) AS n, MAX(b.x) AS m",
    "COUNT(a) AS n, SUM(b.x) AS m, MAX(a.x) AS o",
    "SUM(a.y) AS n, VARIANCE(b.y) AS m",
)
CONDITIONS = ("", "", "", "a.x > 1", "b.x < 3", "a.x > 1 AND b.x < 3", "a.x <= NEXT(b).x", "[k]")
GROUPS = ("", "", "", "k")
STREAMS = 24
SIZE = 11


def _text(draw: random.Random, window: str, semantics: str, group: str) -> str:
    kind = draw.randrange(8)
    middle = draw.choice(INFIXES)
    if kind == 0:
        pattern = draw.choice(
            ("(SEQ(A a, B b))+", "A a+", "SEQ(A a, B b) OR SEQ(B c, A d, C)", "SEQ(A a, B b) AND C")
        )
    elif kind < 3:
        pattern = ", ".join(part for part in (middle, draw.choice(ENDS)) if part)
    else:
        parts = (draw.choice(BEGINNINGS), middle, draw.choice(ENDS))
        pattern = ", ".join(part for part in parts if part)
    returned = draw.choice(RETURNS)
    if "b" not in pattern:
        returned = "COUNT(*) AS n, SUM(a.x) AS m"
    condition = draw.choice(CONDITIONS)
    if "b" in condition and "b" not in pattern:
        condition = "a.x > 1"
    words = [f"RETURN {'k, ' if group else ''}{returned} PATTERN"]
    words += [pattern if kind == 0 else f"SEQ({pattern})", f"SEMANTICS {semantics}"]
    words += [f"WHERE {condition}"] if condition else []
    words += [f"GROUP-BY {group}"] if group else []
    return " ".join([*words, window])


@cache
def pool() -> dict[tuple[str, str, str], list[TrendQuery]]:
    """By window, semantics and grouping: nine queries each."""
    draw = random.Random(7)
    kinds = [(w, s, g) for w in WINDOWS for s in dict.fromkeys(SEMANTICS) for g in ("", "k")]
    return {kind: [tl.query(_text(draw, *kind)) for _ in range(9)] for kind in kinds}


@cache
def streams() -> list[tuple[list[dict[str, Any]], pa.Table]]:
    """Mostly A and B; one in five events is simultaneous with the one before."""
    draw = random.Random(11)
    made = []
    for _ in range(STREAMS):
        at, events = 0, []
        for _ in range(SIZE):
            at += draw.choice((0, 1, 1, 1, 2))
            x = draw.choice((0, 1, 2, 3, None))
            y = None if x is None else x / 4
            one = {
                "time": at,
                "type": draw.choice("AAABBBCCDE"),
                "x": x,
                "y": y,
                "k": draw.choice("uv"),
            }
            events.append(one)
        schema = pa.schema(
            {
                "time": pa.int64(),
                "type": pa.string(),
                "x": pa.int64(),
                "y": pa.float64(),
                "k": pa.string(),
            }
        )
        made.append((events, pa.Table.from_pylist(events, schema)))
    return made


_answers: dict[tuple[str, int], list[dict[str, Any]]] = {}


def answer(asked: TrendQuery, stream: int) -> list[dict[str, Any]]:
    """The oracle's."""
    key = asked.text, stream
    if key not in _answers:
        events, _ = streams()[stream]
        _answers[key] = naive(asked.plan.query, events, time="time", type="type", limit=20_000)
    return _answers[key]


def draw_workload(draw: random.Random) -> dict[str, TrendQuery]:
    """Two to eight queries, most of one kind."""
    kinds = list(pool())
    kind = (draw.choice(WINDOWS), draw.choice(SEMANTICS), draw.choice(GROUPS))
    queries = [
        draw.choice(pool()[draw.choice(kinds) if draw.randrange(6) == 0 else kind])
        for _ in range(draw.randint(2, 8))
    ]
    return {f"q{n}": one for n, one in enumerate(queries)}


class PoolScan(SharedScan):
    """Whoever asks for the scan of some queries of the pool gets that of all of them."""

    @classmethod
    def of(cls, plans: Mapping[str, Plan]) -> SharedScan:
        return _scan(next(iter(plans.values())).scan.partition)


@cache
def _scan(partition: tuple[str, ...]) -> SharedScan:
    plans = [one.plan for queries in pool().values() for one in queries]
    mine = [plan for plan in plans if plan.scan.partition == partition]
    return SharedScan.of({f"q{n}": plan for n, plan in enumerate(mine)})


@cache
def _scanned(stream: int, partition: tuple[str, ...]) -> tuple[list[pa.RecordBatch], Columns, Any]:
    with open_events(streams()[stream][1]) as source:
        begun = begin_scan(source, _scan(partition).scan, Reading("time", "type"))
        assert begun is not None
        batches, axis = begun
        with batches:
            types = batches.operand_types, batches.partition_types
            columns = Columns(*types, axis.nanoseconds, Numbers.AUTO, 1)
            return list(batches), columns, axis


def run_shared(sharing: Sharing, stream: int) -> dict[str, list[dict[str, Any]]]:
    """Every query's rows, as the local host would have them."""
    found = {}
    for group in sharing.groups:
        batches, columns, axis = _scanned(stream, group.shared.scan.partition)
        running = GroupRun(group, columns)
        for batch in batches:
            running.push(batch)
        finished = running.finish()
        assert not finished.again
        for name, table in finished.tables.items():
            found[name] = dressed(group.plans[name], table, axis).to_pylist()
    return found
