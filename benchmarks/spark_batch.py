"""Spark's batch plans beside the scan, the exchange and the plans that people write by hand.

Four columns in Parquet, in the order of time, `local[2]`. Every contender computes all of its rows
and keeps none.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from benchmarks import charts
from benchmarks.harness import Figure, Samples, Size, at_least, at_most, take_turns
from benchmarks.on_spark import (
    by_plan,
    events,
    exchange_no_op,
    one_key_at_a_time,
    read_and_sum,
    scan_no_op,
    sorted_by_the_jvm,
)

if TYPE_CHECKING:
    from pathlib import Path

    import altair as alt

EVENTS = {Size.FULL: 20_000_000, Size.QUICK: 4_000_000, Size.TINY: 8_000}
KEYS = (1_000, 100_000)
TURNS = {Size.FULL: 2, Size.QUICK: 2, Size.TINY: 1}

DIRECT = (
    "of 2 M rows of 1,000 keys, some 90 ms are reading Parquet, 25 the projection, 115 the maps;"
    " of 100,000 keys, 110, 25 and 205, and 100 to write 100,000 maps; reading and summing alone"
    " take 135 to 175"
)
CAUSES = {
    "direct to read and sum": DIRECT,
    "combine to direct": DIRECT,
    "best by hand to direct": DIRECT,
    "best by hand to combine": "most of it is Spark's scan, which both pay: a no-op over it took 14"
    " s, ours 13, applyInPandas 18",
    "best by hand to exchange": "by 1,000 keys applyInPandas takes little more than a no-op"
    " exchange of the same columns, which is all that ours takes",
}
"""Processor time inside of a task, two runs on an AMD EPYC with many other tasks."""


def run(size: Size) -> list[Figure]:
    figures: list[Figure] = []
    for keys in KEYS:
        figures += _against_spark(size, events(EVENTS[size], keys), f"{keys:,} keys")
    return figures + _hot_key(size)


def _against_spark(size: Size, path: Path, where: str) -> list[Figure]:
    print(f"  {EVENTS[size]:,} events, {where}", flush=True)
    ours = {plan: partial(by_plan, path, plan) for plan in ("direct", "combine", "exchange")}
    floor = {
        "read and sum": partial(read_and_sum, path),
        "scan, no-op": partial(scan_no_op, path),
        "exchange, no-op": partial(exchange_no_op, path),
    }
    s = take_turns({**ours, **floor}, TURNS[size])
    # By hand it takes minutes: one turn, after ours have warmed Spark up.
    hand = take_turns(
        {
            "applyInPandas": partial(one_key_at_a_time, path),
            "JVM sort": partial(sorted_by_the_jvm, path),
        },
        1,
        warm_up=0,
    )
    best = min(hand.values(), key=lambda samples: samples.median).median
    direct, combine, exchange = (s[plan] for plan in ours)
    inverse = [_inverse(samples) * best for samples in (direct, combine, exchange)]
    return [
        Figure(f"combine to no-op scan, {where}", combine / s["scan, no-op"], "×", at_most(1.5)),
        Figure(f"combine to direct, {where}", combine / direct, "×", at_least(8)),
        Figure(f"direct to read and sum, {where}", direct / s["read and sum"], "×", at_most(2)),
        Figure(
            f"exchange to no-op exchange, {where}",
            exchange / s["exchange, no-op"], "×", at_most(1.4),
        ),
        Figure(f"best by hand to direct, {where}", inverse[0], "×", at_least(15)),
        Figure(f"best by hand to combine, {where}", inverse[1], "×", at_least(1.8)),
        Figure(f"best by hand to exchange, {where}", inverse[2], "×", at_least(1.5)),
        *(Figure(f"{who}, {where}", t, "s", label=f"{who}, {where}")
          for who, t in {**s, **hand}.items()),
    ]  # fmt: skip


def _inverse(samples: Samples) -> Samples:
    return Samples(tuple(1 / value for value in samples.values))


def _hot_key(size: Size) -> list[Figure]:
    even, hot = events(EVENTS[size], 1_000), events(EVENTS[size], 1_000, hot=True)
    contenders = {
        (plan, name): partial(by_plan, path, plan)
        for plan in ("direct", "combine")
        for name, path in (("even", even), ("hot", hot))
    }
    s = take_turns(contenders, TURNS[size])
    return [
        Figure(
            f"one key with nine events of ten to even keys, {plan}",
            s[plan, "hot"] / s[plan, "even"], "×", at_most(1.3),
        )
        for plan in ("direct", "combine")
    ]  # fmt: skip


def draw(figures: list[Figure]) -> alt.LayerChart:
    return charts.bars(
        figures,
        title="Spark plans, beside what Spark itself needs and what people write by hand",
        subtitle="Four columns of Parquet in order of time, local[2]",
        axis="seconds",
    )
