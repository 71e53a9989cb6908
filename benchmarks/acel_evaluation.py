"""Complex events are found at the speed of the scan, and a long stream makes no event dearer.

Stock transactions as generated, from the table to the batches of results, one core. Against the
literal definition over the first events, and against listing the same trends (`trends --all`).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import trendloom as tl
from benchmarks import charts
from benchmarks.harness import Figure, Samples, Size, at_least, at_most, one_core, take_turns
from trendloom.acel import denote, stream
from trendloom.generators import generate

if TYPE_CHECKING:
    from collections.abc import Callable

    import altair as alt
    import pyarrow as pa

EVENTS = {Size.FULL: 300_000, Size.QUICK: 100_000, Size.TINY: 2_000}
DEFINED = {Size.FULL: 60, Size.QUICK: 60, Size.TINY: 30}
"""Events over which the definition is computed."""
SLOW = 50
"""How many times fewer events automata with registers get."""
WITHIN = "60 s"
SELECTIVE, RARE = "volume > 6000", "volume > 9000"


def sequence(length: int, condition: str = SELECTIVE) -> str:
    """As many variables one after another, each with a filter that one event in twenty passes."""
    names = [f"v{k}" for k in range(length)]
    events = " ; ".join(f"Stock AS {name} FILTER {name}[{condition}]" for name in names)
    return f"PROJECT[{', '.join(names)}]({events})"


FORMULAS = {
    "sequence of 3": sequence(3),
    "sequence of 6": sequence(6),
    "sequence of 12": sequence(12),
    "Kleene": "PROJECT[a, b, c]("
    f"Stock AS a FILTER a[{RARE}] : (Stock AS b FILTER b[volume <= 2000]):+"
    f" : Stock AS c FILTER c[volume > 2000])",
    "aggregate": "PROJECT[Y](AGG[Y(n = COUNT(b.price), s = SUM(b.volume))]("
    f"Stock AS a FILTER a[{RARE}] : (Stock AS b FILTER b[volume <= 2000]):+"
    f" : Stock AS c FILTER c[volume > 2000]))",
    "filtered Kleene": "PROJECT[a, Y](AGG[Y(n = COUNT(a.price))](Stock:+ AS a "
    "FILTER a[increasing(price)] FILTER a[volume > 1000]) FILTER Y[n > 2])",
}
REGISTERS = {
    "aggregates in a Kleene": "PROJECT[Y](AGG[Y(n = COUNT(X.h))]((AGG[X(h = SUM(a.volume))]"
    "(Stock AS a : Stock AS a) FILTER X[h > 9000]):+))",
}
"""What no kernel runs: these get fewer events."""

BARS = {"sequence of 3": at_least(200)}


def run(size: Size) -> list[Figure]:
    events = EVENTS[size]
    table = generate("stock", events, seed=11)
    few = table.slice(0, max(1_000, events // SLOW))
    contenders: dict[str, Callable[[], object]] = {}
    for name, formula in FORMULAS.items():
        contenders[name] = partial(found, formula, table)
    for name, formula in REGISTERS.items():
        contenders[name] = partial(found, formula, few)
    contenders["short"] = partial(found, FORMULAS["Kleene"], table.slice(0, events // 4))
    pairs = "PROJECT[a, b](Stock AS a FILTER a[volume > 4000] ; Stock AS b FILTER b[volume > 4000])"
    listed = "PATTERN SEQ(Stock a, Stock b) WHERE [company] AND a.volume > 4000 AND b.volume > 4000"
    contenders["pairs"] = partial(found, pairs, few, "60 s", "60 s")
    contenders["trends"] = partial(trends, f"{listed} WITHIN 60 s SLIDE 60 s", few)
    start = table.slice(0, DEFINED[size])
    often = sequence(3, "volume > 1000")
    contenders["definition"] = partial(defined, often, start)
    contenders["evaluation"] = partial(alone, often, start)
    different = abs(contenders["pairs"]() - contenders["trends"]())  # type: ignore[operator]
    different += abs(contenders["definition"]() - contenders["evaluation"]())  # type: ignore[operator]
    with one_core():
        costs = take_turns(contenders, size.turns)
    rates = {name: _rate(costs[name], events) for name in FORMULAS}
    rates |= {name: _rate(costs[name], len(few)) for name in REGISTERS}
    growth = (costs["Kleene"] / costs["short"]) / 4.0
    return [
        Figure("results that differ", Samples((float(different),)), "", at_most(0)),
        *(
            Figure(f"{name}: rate", rate, "k events/s", BARS.get(name), label=name)
            for name, rate in rates.items()
        ),
        Figure("cost per event, four times the stream", growth, "×", at_most(1.3)),
        Figure(
            "sequence of 3: complex events",
            Samples((float(found(FORMULAS["sequence of 3"], table)),)),
            "",
        ),
        Figure("definition / evaluation", costs["definition"] / costs["evaluation"], "×"),
        Figure("listing trends / evaluation", costs["trends"] / costs["pairs"], "×"),
    ]


def found(
    formula: str, table: pa.Table, within: str | None = WITHIN, slide: str | None = None
) -> int:
    """How many complex events there are, all of them written to batches."""
    listed = tl.matches(
        formula, table, time="ts", partition_by=["company"], within=within, slide=slide
    )
    return sum(batch.num_rows for batch in listed)


def trends(query: str, table: pa.Table) -> int:
    return sum(batch.num_rows for batch in tl.trends(query, table, time="ts", all=True))


def defined(formula: str, table: pa.Table) -> int:
    """By the definition; without partitions, which it does not know."""
    rows = table.select(["type", "volume"]).to_pylist()
    return len(denote(formula, stream(rows)))


def alone(formula: str, table: pa.Table) -> int:
    """The same by evaluation."""
    return sum(batch.num_rows for batch in tl.matches(formula, table, time="ts"))


def _rate(cost: Samples, events: int) -> Samples:
    return Samples(tuple(events / seconds / 1e3 for seconds in cost.values))


def draw(figures: list[Figure]) -> alt.LayerChart:
    return charts.bars(
        figures,
        title="Complex events of a formula",
        subtitle="stock transactions by company, within a minute, one core",
        axis="thousand events per second",
        log=True,
    )
