from __future__ import annotations

from dataclasses import fields
from typing import Any

import pyarrow as pa
import sqlglot

from trendloom.hosts.local.scan import Batches, scan_batches
from trendloom.hosts.local.sources import open_events
from trendloom.hosts.scan.reading import Reading
from trendloom.plan.scan import Kind, Letter, Operand, Scan

_WORDS = {one.name for one in fields(Reading)}


def sql(text: str) -> Any:
    return sqlglot.parse_one(text, dialect="duckdb")


def scan(
    *letters: str,
    by: str = "",
    operands: tuple[tuple[str, Kind], ...] = (),
    keep: bool = False,
    ordered: bool = False,
) -> Scan:
    """`scan("A", "B: price > 3", by="k")`: letters with their conditions, partition attributes."""
    parsed = []
    for letter in letters:
        kind, _, condition = letter.partition(":")
        parsed.append(Letter(kind.lower(), kind, sql(condition) if condition else None))
    wanted = tuple(Operand(sql(text), kind, f"SUM({text})") for text, kind in operands)
    return Scan(tuple(parsed), tuple(by.split()), wanted, keep, ordered)


def batches(source: Any, query: Scan, *, time: str = "t", **options: Any) -> Batches:
    words = {name: options.pop(name) for name in _WORDS & options.keys()}
    reading = Reading(time, **words)
    return scan_batches(source, query, reading.roles(source), drop=reading.drops, **options)


def rows(events: Any, query: Scan, **options: Any) -> list[tuple[Any, ...]]:
    with open_events(events) as source:
        found = batches(source, query, **options)
        table = pa.Table.from_batches(list(found), found.schema)
        return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


EVENTS = {
    "t": [3, 1, 2, 2, 5],
    "type": ["B", "A", "A", "C", "B"],
    "k": ["x", "y", "x", "x", None],
    "price": [1.5, 2.5, None, 4.0, 5.0],
}
