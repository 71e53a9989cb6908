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

EVENTS = {Size.FULL: 250_000, Size.QUICK: 100_000, Size.TINY: 2_000}
DEFINED = {Size.FULL: 60, Size.QUICK: 60, Size.TINY: 30}
"""Events over which the definition is computed."""
FEWER = 50
"""How many times fewer events get those of whose results there are many."""
LENGTHS = (3, 6, 12)
SHORT, LONGER = 2, 4
"""What a further event costs is shown by so many times the events, and by so many times as many as
those: more than one batch of the scan holds."""
TURNS = 3
"""As many times the turns: the costs of two calls are taken from others, and each has its noise."""
WITHIN = "60 s"
INCREASING = "{v}[increasing(price)]"
NEIGHBOURS = "LAST({v}), {v}[LAST({v}).price * 1.001 < {v}.price]"
SELECTIVE, RARE = "volume > 6000", "volume > 9000"


def sequence(length: int, condition: str = SELECTIVE) -> str:
    """As many variables one after another, each with a filter that one event in twenty passes."""
    names = [f"v{k}" for k in range(length)]
    events = " ; ".join(f"Stock AS {name} FILTER {name}[{condition}]" for name in names)
    return f"PROJECT[{', '.join(names)}]({events})"


def kleene(length: int, inside: str = "", first: str = RARE) -> str:
    """As many variables without gaps, every second of them repeated."""
    parts = [f"Stock AS v0 FILTER v0[{first}]"]
    for k in range(1, length):
        small = f"(Stock AS v{k} FILTER v{k}[volume <= 2000]):+"
        if inside:
            small = f"({small} FILTER {inside.format(v=f'v{k}')})"
        parts.append(small if k % 2 else f"Stock AS v{k} FILTER v{k}[volume > 2000]")
    names = ", ".join(f"v{k}" for k in range(length))
    return f"PROJECT[{names}]({' : '.join(parts)})"


def aggregate(length: int, first: str = RARE) -> str:
    return (
        f"PROJECT[Y](AGG[Y(n = COUNT(v1.price), s = SUM(v1.volume))]({kleene(length, '', first)}))"
    )


def inner_aggregate(length: int) -> str:
    """Series of stretches of so many events, each of them with a large sum."""
    stretch = " : ".join(["Stock AS a"] * (length - 1))
    return (
        "PROJECT[Y](AGG[Y(n = COUNT(X.h))]((AGG[X(h = SUM(a.volume))]"
        f"({stretch}) FILTER X[h > {4500 * (length - 1)}]):+))"
    )


KINDS = {
    "sequence": sequence,
    "Kleene": kleene,
    "filtered Kleene": partial(kleene, inside=INCREASING),
    "Kleene by neighbours": partial(kleene, inside=NEIGHBOURS),
    "aggregate": aggregate,
    "aggregates in a Kleene": inner_aggregate,
}
FORMULAS = {
    f"{kind} of {length}": write(length) for kind, write in KINDS.items() for length in LENGTHS
}
OFTEN = "volume > 1000"
DEFINITIONS = {
    "sequence": sequence(3, OFTEN),
    "Kleene": kleene(3, first=OFTEN),
    "filtered Kleene": kleene(3, INCREASING, OFTEN),
    "Kleene by neighbours": kleene(3, NEIGHBOURS, OFTEN),
    "aggregate": aggregate(3, OFTEN),
}
"""What the definition is computed of: filters that let more through, since it sees few events."""

CONTIGUOUS = (
    "PATTERN SEQ(Stock v0, Stock v1+, Stock v2) WHERE [company] AND v0.volume > 9000 "
    "AND v1.volume <= 2000 AND v2.volume > 2000{} SEMANTICS contiguous WITHIN 60 s SLIDE 60 s"
)
PAIRS = "PROJECT[a, b](Stock AS a FILTER a[volume > 4000] ; Stock AS b FILTER b[volume > 4000])"
LISTED = {
    "sequence": (
        PAIRS,
        "PATTERN SEQ(Stock a, Stock b) WHERE [company] AND a.volume > 4000 AND b.volume > 4000 "
        "WITHIN 60 s SLIDE 60 s",
    ),
    "Kleene": (kleene(3), CONTIGUOUS.format("")),
    "filtered Kleene": (
        kleene(3, INCREASING),
        CONTIGUOUS.format(" AND v1.price < NEXT(v1).price"),
    ),
    "Kleene by neighbours": (
        kleene(3, NEIGHBOURS),
        CONTIGUOUS.format(" AND v1.price * 1.001 < NEXT(v1).price"),
    ),
}
"""The same complex events as a formula and as trends."""

BARS = {"sequence of 3": at_least(200)}


def run(size: Size) -> list[Figure]:
    events = EVENTS[size]
    longer = generate("stock", SHORT * LONGER * events, seed=11)
    table = longer.slice(0, events)
    few = table.slice(0, max(1_000, events // FEWER))
    contenders: dict[str, Callable[[], object]] = {}
    for name, formula in FORMULAS.items():
        contenders[name] = partial(found, formula, table)
    for kind, (formula, query) in LISTED.items():
        contenders[f"{kind}, found"] = partial(found, formula, few, "60 s", "60 s")
        contenders[f"{kind}, listed"] = partial(trends, query, few)
    for kind, formula in DEFINITIONS.items():
        # Of a sequence there are more results, and the definition tries all triples.
        start = table.slice(0, DEFINED[size] * (1 if kind == "sequence" else 4))
        contenders[f"{kind}, defined"] = partial(defined, formula, start)
        contenders[f"{kind}, alone"] = partial(alone, formula, start)
    different = 0
    for one, other, kinds in (("found", "listed", LISTED), ("alone", "defined", DEFINITIONS)):
        for kind in kinds:
            counts = [contenders[f"{kind}, {way}"]() for way in (one, other)]
            different += abs(counts[0] - counts[1])  # type: ignore[operator]
    with one_core():
        costs = take_turns(contenders, size.turns)
        growth = _growth(longer, size)
    rates = {name: _rate(costs[name], events) for name in FORMULAS}
    return [
        Figure("results that differ", Samples((float(different),)), "", at_most(0)),
        *(
            Figure(f"{name}: rate", rate, "k events/s", BARS.get(name), label=name)
            for name, rate in rates.items()
        ),
        Figure("cost of a further event, four times the stream", growth, "×", at_most(1.3)),
        Figure(
            "sequence of 3: complex events",
            Samples((float(found(FORMULAS["sequence of 3"], table)),)),
            "",
        ),
        *(
            Figure(
                f"{kind}: definition / evaluation",
                costs[f"{kind}, defined"] / costs[f"{kind}, alone"],
                "×",
            )
            for kind in DEFINITIONS
        ),
        *(
            Figure(
                f"{kind}: listing trends / evaluation",
                costs[f"{kind}, listed"] / costs[f"{kind}, found"],
                "×",
            )
            for kind in LISTED
        ),
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
    rows = table.select(["type", "volume", "price"]).to_pylist()
    return len(denote(formula, stream(rows)))


def alone(formula: str, table: pa.Table) -> int:
    """The same by evaluation."""
    return sum(batch.num_rows for batch in tl.matches(formula, table, time="ts"))


def _growth(table: pa.Table, size: Size) -> Samples:
    """What an event of the whole stream costs, by what one of its beginning does."""
    rows = {
        "begun": len(table) // (100 * LONGER),
        "short": len(table) // LONGER,
        "longer": len(table),
    }
    calls = {name: partial(found, kleene(3), table.slice(0, rows[name])) for name in rows}
    costs = take_turns(calls, TURNS * size.turns)
    # What every call costs, however few events there are, is left out on both sides.
    short, longer = costs["short"] - costs["begun"], costs["longer"] - costs["begun"]
    events = rows["longer"] - rows["begun"], rows["short"] - rows["begun"]
    return longer / short * (events[1] / events[0])


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
