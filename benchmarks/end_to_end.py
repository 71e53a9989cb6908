"""From file to result in less than twice the time that DuckDB needs to sort the events.

Parquet in order of time, 1,000 keys, four columns. The sort is
`SELECT key, ts, type, value ORDER BY key, ts`, fetched as Arrow batches. All cores.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import duckdb

from benchmarks import charts
from benchmarks.events import BATCH, parquet
from benchmarks.harness import Figure, Size, at_most, take_turns
from trendloom import run as run_query

if TYPE_CHECKING:
    from pathlib import Path

    import altair as alt

EVENTS = {Size.FULL: 20_000_000, Size.QUICK: 2_000_000, Size.TINY: 2_000}
KEYS = 1_000
TAIL = "PATTERN (SEQ(A+, B))+ SEMANTICS skip-till-any-match WHERE [key] GROUP-BY key"
FOUR = f"RETURN key, COUNT(*), SUM(A.value) {TAIL}"
THREE = f"RETURN key, COUNT(*) {TAIL}"
SORT_FOUR, SORT_THREE = "key, ts, type, value", "key, ts, type"


def sort(path: Path, names: str) -> None:
    with duckdb.connect() as connection:
        relation = connection.sql(f"SELECT {names} FROM '{path}' ORDER BY key, ts")
        for _ in relation.to_arrow_reader(BATCH):
            pass


def ask(path: Path, text: str) -> None:
    result = run_query(text, path, time="ts", type="type")
    assert 0 < len(result) <= KEYS


def run(size: Size) -> list[Figure]:
    path = parquet(EVENTS[size], KEYS)
    print(f"  {EVENTS[size]:,} events, {KEYS:,} keys")
    contenders = {
        "sort of 4 columns": partial(sort, path, SORT_FOUR),
        "COUNT(*) and SUM, 4 columns": partial(ask, path, FOUR),
        "sort of 3 columns": partial(sort, path, SORT_THREE),
        "COUNT(*), 3 columns": partial(ask, path, THREE),
    }
    seconds = take_turns(contenders, size.turns)
    four, sum_, three, count = seconds.values()
    return [
        Figure("COUNT(*) and SUM to sort, 4 columns", sum_ / four, "×", at_most(2)),
        Figure("COUNT(*) to sort, 3 columns", count / three, "×"),
        *(Figure(who, s, "s", label=who) for who, s in seconds.items()),
    ]


def draw(figures: list[Figure]) -> alt.LayerChart:
    return charts.bars(
        figures,
        title="From Parquet to result, beside a mere sort",
        subtitle="Parquet in order of time, 1,000 keys, all cores",
        axis="seconds",
    )
