"""Who competes in what: a peer, a query of its, the same query of ours, and how many events."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from benchmarks.harness import Bar, Size, at_least
from benchmarks.peers import data
from benchmarks.peers.processes import Answer, database, flink, version

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FLINK = f"Flink CEP {version('apache-flink-libraries')}"
DUCKDB = f"DuckDB {version('duckdb')}"
CLICKHOUSE = f"ClickHouse (chdb {version('chdb')})"
SEQUENCE = "RETURN key, COUNT(*) AS n PATTERN SEQ(A+, B) SEMANTICS {} WHERE [key] GROUP-BY key"
RISING = "RETURN key, COUNT(*) AS n PATTERN S+ WHERE [key] AND S.price < NEXT(S).price GROUP-BY key"
NESTED = "RETURN key, COUNT(*) AS n PATTERN (SEQ(A+, B))+ WHERE [key] GROUP-BY key"


@dataclass(frozen=True)
class Contest:
    """A peer and a query, at growing numbers of events."""

    name: str
    title: str
    peer: str
    ask: Callable[[Path, float], Answer]
    text: str
    events: dict[Size, tuple[int, ...]]
    per_key: int | None = None
    """Events of a key; without it, keys as in `keys`."""
    keys: int = 100
    others: float = data.OTHERS
    typed: bool = True
    bar: Bar | None = None

    def write(self, directory: Path, events: int) -> Path:
        keys = self.keys if self.per_key is None else max(1, events // self.per_key)
        return data.write(directory, events, keys, self.others)


MANY = {Size.FULL: (10_000, 100_000, 1_000_000), Size.QUICK: (10_000, 1_000_000), Size.TINY: (200,)}
CONTESTS = (
    Contest(
        "contiguous",
        "SEQ(A+, B), contiguous, 100 keys",
        FLINK,
        partial(flink, "strict"),
        SEQUENCE.format("contiguous"),
        MANY,
        bar=at_least(50),
    ),
    Contest(
        "next-match",
        "SEQ(A+, B), next-match, 100 keys",
        FLINK,
        partial(flink, "filtered"),
        SEQUENCE.format("skip-till-next-match"),
        MANY,
        bar=at_least(50),
    ),
    Contest(
        "any-match",
        "SEQ(A+, B), any-match, one key",
        FLINK,
        partial(flink, "any"),
        SEQUENCE.format("skip-till-any-match"),
        {Size.FULL: tuple(range(10, 42, 4)), Size.QUICK: tuple(range(10, 42, 6)), Size.TINY: (6,)},
        keys=1,
        others=0.0,
    ),
    Contest(
        "rising",
        "S+ with rising prices, any-match, 100 keys",
        DUCKDB,
        partial(database, "duckdb"),
        RISING,
        {
            Size.FULL: (1_000, 10_000, 20_000, 40_000),
            Size.QUICK: (1_000, 10_000),
            Size.TINY: (200,),
        },
        typed=False,
    ),
    Contest(
        "nested",
        "(SEQ(A+, B))+, any-match, 100 events a key",
        CLICKHOUSE,
        partial(database, "clickhouse"),
        NESTED,
        MANY,
        per_key=100,
    ),
)
