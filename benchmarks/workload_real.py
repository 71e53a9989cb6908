"""Fifty queries share the bursts of real events, of taxis and smart plugs, where that pays.

`SEQ(X, T+, Y)` with fifty X and Y. Plugs: the load rises from T to T; taxis: no condition between
T. Recorded events are of many sources in turn, so that few of a kind come in a row; devices that
send what they gathered make bursts. So both are measured: events as they were recorded, and the
same with each type's events sent 120 at a time. (As recorded, a workload's queries would go alone,
for bursts shorter than four; here they share all the same.) "never" evaluates each query on its
own, event by event, in the same compiled style. Scanning is not measured. Where a file is absent,
generated rides stand in, and the line says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from benchmarks import charts
from benchmarks.hamlet_figures import STAND_IN, timed
from benchmarks.harness import Figure, Samples, Size, at_least, at_most, one_core, take_turns
from benchmarks.real_workloads import RealWorkload, plugs, taxi
from benchmarks.workload_bursts import FREE, INSIDE, QUERIES, Contest, contest, ride
from trendloom.generators import generate
from trendloom.workloads.hamlet.benefit import Mode

if TYPE_CHECKING:
    import altair as alt

EVENTS = {Size.FULL: 40_000, Size.QUICK: 20_000, Size.TINY: 1_000}
PER_MINUTE = 10_000
BURST = 120
RECORDED, SENT = "as recorded", f"sent {BURST} at a time"
BARS = {"plugs": 10.0, "taxi": 3.0}
"""With a condition between consecutive T, and without."""


def run(size: Size) -> list[Figure]:
    contests: dict[tuple[str, str], Contest] = {}
    bursts: dict[str, float] = {}
    for asked in (plugs(QUERIES), taxi(QUERIES)):
        name, table, texts = _found(asked, EVENTS[size])
        for how, events in ((SENT, _sent(table)), (RECORDED, table)):
            made = contest(f"{name}, {how}", timed(events, PER_MINUTE), texts)
            contests[asked.name, how] = made
            bursts[made.name] = len(events) / (1 + np.count_nonzero(np.diff(_types(events))))
    different = sum(one.different() for one in contests.values())
    with one_core():
        contenders = {
            (one.name, mode): (lambda one=one, mode=mode: one.modes[mode].evaluate(one.chunk))
            for one in contests.values()
            for mode in (Mode.DYNAMIC, Mode.NEVER)
        }
        cost = take_turns(contenders, size.turns)
    figures = [Figure("queries whose counts differ", Samples((float(different),)), "", at_most(0))]
    for (data, how), one in contests.items():
        ratio = cost[one.name, Mode.NEVER] / cost[one.name, Mode.DYNAMIC]
        bar = at_least(BARS[data]) if how == SENT else None
        figures.append(Figure(f"{one.name}: never / dynamic", ratio, "×", bar))
        burst = Samples((bursts[one.name],))
        figures.append(Figure(f"{one.name}: mean burst", burst, "events"))
    for (name, mode), seconds in cost.items():
        label = f"{name}: {mode.value}"
        figures.append(Figure(label, seconds * 1e3, "ms", label=label))
    return figures


def _found(asked: RealWorkload, events: int) -> tuple[str, pa.Table, list[str]]:
    """The events, or others that stand in for them, and the queries over them."""
    if asked.path.exists():
        return asked.name, asked.events(events), asked.texts
    rides = generate("ridesharing", events, burst=2.0, travel=0.6, keys=1).drop_columns(["ts"])
    kind = FREE if asked.rising is None else INSIDE
    return f"{asked.name} ({STAND_IN})", rides, [ride(kind, k) for k in range(QUERIES)]


def _sent(table: pa.Table) -> pa.Table:
    """Events of a type wait until there are so many; types in the order of their last event."""
    types = _types(table)
    number = np.empty(len(types), np.int64)
    for kind in np.unique(types):
        of_kind = np.flatnonzero(types == kind)
        turn = np.arange(len(of_kind)) // BURST
        last = np.minimum((turn + 1) * BURST, len(of_kind)) - 1
        number[of_kind] = of_kind[last]
    return table.take(pa.array(np.argsort(number, kind="stable")))


def _types(table: pa.Table) -> np.ndarray:
    encoded = table.column("type").combine_chunks().dictionary_encode()
    return encoded.indices.to_numpy().astype(np.int64)


def draw(figures: list[Figure]) -> alt.LayerChart:
    return charts.bars(
        figures,
        title="Fifty queries over real events",
        subtitle="One core; events as recorded, and sent by each source 120 at a time",
        axis="milliseconds, logarithmic",
        log=True,
    )
