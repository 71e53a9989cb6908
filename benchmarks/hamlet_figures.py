"""HAMLET's figures drawn anew: a workload's time by events per minute and by number of queries.

After Figures 8 to 12 of its evaluation (§5): queries `SEQ(X, T+, Y)` that differ in X and Y, in
windows of a minute. First against the literature on generated rides (Figures 8, 9) and on real
taxis and smart plugs (Figure 10); then dynamic against static decisions (Figures 11, 12), where
conditions on T tell the queries apart in every other phase of the stream. The others
(`baselines/kleene_workload.py`) are compiled loops for this one pattern that take query after query
and count the same, which is checked at every point; who reaches the limit of time is stopped and
not asked for more. Events are in memory, one core; the number of events per minute is set, as in
the paper, by the time between them. Of memory, which Figures 9 and 12 draw, snapshots are told.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from benchmarks import charts
from benchmarks.baselines import kleene_workload
from benchmarks.curves import ENGINE, Curves
from benchmarks.harness import Figure, Samples, Size, one_core
from benchmarks.real_workloads import WINDOW, plugs, taxi
from benchmarks.workload_bursts import Contest, contest
from trendloom.engine.lanes import TRENDS
from trendloom.generators import generate
from trendloom.generators.ridesharing import TYPES
from trendloom.workloads.hamlet.benefit import Mode

if TYPE_CHECKING:
    from collections.abc import Callable

    import altair as alt

    from benchmarks.curves import Counting
    from benchmarks.real_workloads import RealWorkload

LIMIT = {Size.FULL: 1.5, Size.QUICK: 0.5, Size.TINY: 0.5}
"""Seconds."""
MINUTES = 2
EVENTS = {
    Size.FULL: (20, 100, 1_000, 4_000, 10_000, 20_000),
    Size.QUICK: (20, 100, 1_000, 5_000),
    Size.TINY: (20, 60),
}
"""Per minute."""
QUERIES = {Size.FULL: (5, 10, 15, 20, 25), Size.QUICK: (5, 15, 25), Size.TINY: (2, 3)}
MANY = {Size.FULL: (20, 40, 60, 80, 100), Size.QUICK: (20, 60, 100), Size.TINY: (4, 6)}
USUAL = {Size.FULL: 4_000, Size.QUICK: 2_000, Size.TINY: 60}
REAL_EVENTS = {
    Size.FULL: (200, 1_000, 5_000, 10_000),
    Size.QUICK: (200, 1_000, 5_000),
    Size.TINY: (40, 60),
}
OTHERS = [one for one in TYPES if one != "Travel"]
STAND_IN = "generated rides: the file is absent"


def run(size: Size) -> list[Figure]:
    with one_core():
        panels = (_by_events, _by_queries, _taxi, _plugs, _decisions, _decisions_by_queries)
        return [figure for panel in panels for figure in panel(size)]


def _by_events(size: Size) -> list[Figure]:
    curves = Curves("rides", "events/min", size)
    texts = [_rides(k) for k in range(QUERIES[size][-1])]
    for events in EVENTS[size]:
        curves.measure(events, _literature(contest("", _table(events), texts), LIMIT[size]))
    return curves.figures()


def _by_queries(size: Size) -> list[Figure]:
    curves = Curves("queries", "queries", size)
    table = _table(USUAL[size])
    for queries in QUERIES[size]:
        texts = [_rides(k) for k in range(queries)]
        curves.measure(queries, _literature(contest("", table, texts), LIMIT[size]))
    return curves.figures()


def _taxi(size: Size) -> list[Figure]:
    return _real(size, taxi(QUERIES[size][-1] * 2))


def _plugs(size: Size) -> list[Figure]:
    return _real(size, plugs(QUERIES[size][-1] * 2))


def _real(size: Size, asked: RealWorkload) -> list[Figure]:
    found = asked.path.exists()
    name = asked.name if found else f"{asked.name} ({STAND_IN})"
    curves = Curves(name, "events/min", size)
    texts = asked.texts if found else [_rides(k) for k in range(len(asked.texts))]
    for events in REAL_EVENTS[size]:
        table = timed(asked.events(events * MINUTES), events) if found else _table(events)
        ours = contest("", table, texts)
        rising = asked.rising if found else None
        values = np.zeros(0) if rising is None else _operand(ours, rising)
        curves.measure(events, _literature(ours, LIMIT[size], values))
    return [_renamed(figure, asked.name) for figure in curves.figures()]


def _renamed(figure: Figure, name: str) -> Figure:
    points = tuple(point | {"panel": name} for point in figure.points)
    return Figure(figure.claim, figure.measured, figure.unit, points=points)


def _decisions(size: Size) -> list[Figure]:
    curves = Curves("decisions", "events/min", size)
    snapshots: list[Figure] = []
    for events in EVENTS[size][-4:]:
        ours = contest("", _phases(events), [_diverse(k) for k in range(MANY[size][1])])
        curves.measure(events, _static(ours))
        snapshots = _snapshots(ours, f"decisions, {events:,} events/min")
    return [*curves.figures(), *snapshots]


def _decisions_by_queries(size: Size) -> list[Figure]:
    curves = Curves("decisions by queries", "queries", size)
    table = _phases(USUAL[size])
    snapshots: list[Figure] = []
    for queries in MANY[size]:
        ours = contest("", table, [_diverse(k) for k in range(queries)])
        curves.measure(queries, _static(ours))
        snapshots = _snapshots(ours, f"decisions, {queries} queries")
    return [*curves.figures(), *snapshots]


def _snapshots(ours: Contest, at: str) -> list[Figure]:
    found = {mode: sharing.evaluate(ours.chunk).metrics for mode, sharing in ours.modes.items()}
    counts = [found[mode].snapshots for mode in (Mode.DYNAMIC, Mode.ALWAYS)]
    ratio = Samples((counts[0] / max(1, counts[1]),))
    taken = Samples((100 * found[Mode.DYNAMIC].decision_share,))
    return [
        Figure(f"{at}: snapshots, dynamic / always", ratio, "×"),
        Figure(f"{at}: share of time for decisions", taken, "%"),
    ]


# ── who takes part ───────────────────────────────────────────────────────────────────────────


def _by(ours: Contest, mode: Mode) -> Counting:
    def count() -> np.ndarray:
        slots = ours.modes[mode].evaluate(ours.chunk).slots
        return np.concatenate([one.columns[TRENDS].log2() for one in slots])

    return count


def _static(ours: Contest) -> dict[str, Counting]:
    return {
        ENGINE: _by(ours, Mode.DYNAMIC),
        "always share": _by(ours, Mode.ALWAYS),
        "never share": _by(ours, Mode.NEVER),
    }


def _literature(
    ours: Contest, limit: float, values: np.ndarray | None = None
) -> dict[str, Counting]:
    rising = values is not None and len(values) > 0
    given = np.zeros(0) if values is None else values
    roles, windows = _roles(ours)
    kernels = {"GRETA": kleene_workload.greta}
    if not rising:
        kernels |= {
            "SHARON, flattened": kleene_workload.sharon,
            "two-step": kleene_workload.two_step,
        }
    others: dict[str, Counting] = {
        who: _limited(partial(kleene_workload.each, kernel, roles, windows, given), limit)
        for who, kernel in kernels.items()
    }
    for kernel in kernels.values():
        kernel(roles[0][:2], given[:2])  # compiled before anybody's time counts
    engine = {ENGINE: _by(ours, Mode.DYNAMIC), "never share": _by(ours, Mode.NEVER)}
    return {**engine, **others}


def _limited(count: Callable[[float], np.ndarray], limit: float) -> Counting:
    """Who came to an end within the limit once is not stopped later, by what the machine does."""
    allowed = [limit]

    def go() -> np.ndarray:
        found = count(allowed[0])
        allowed[0] = math.inf
        return found

    return go


def _roles(ours: Contest) -> tuple[np.ndarray, np.ndarray]:
    """[query, event], and the windows' bounds, the same for all."""
    sharing = ours.modes[Mode.DYNAMIC]
    mask = ours.chunk.mask.astype(np.uint64)
    roles = np.zeros((len(sharing.group.members), len(mask)), np.int8)
    for row, member, letters in zip(
        roles, sharing.group.members, sharing.joint.letters, strict=True
    ):
        for variable, role in zip("XTY", (1, 2, 3), strict=True):
            place = member.part.automaton.variables.index(variable)
            bit = np.uint64(letters[member.part.bits[place][0]])
            row[(mask >> bit) & np.uint64(1) != 0] = role
    runs = sharing.runs(ours.chunk)[0]
    return roles, np.stack([runs.lo, runs.hi], axis=1)


def _operand(ours: Contest, name: str) -> np.ndarray:
    operands = ours.modes[Mode.DYNAMIC].joint.scan.operands
    number = next(k for k, one in enumerate(operands) if one.tree.sql() == f'"{name}"')
    return ours.chunk.operand(number).to_numpy(zero_copy_only=False).astype(np.float64)


# ── events and queries ───────────────────────────────────────────────────────────────────────


def _table(events: int) -> pa.Table:
    burst = float(np.clip(events / 100, 2, 120))
    rides = generate("ridesharing", events * MINUTES, burst=burst, travel=0.6, keys=1)
    return timed(rides.drop_columns(["ts"]), events)


def timed(table: pa.Table, per_minute: int) -> pa.Table:
    """So many events per minute, no two at the same time."""
    at = np.arange(len(table)) * (60_000_000 // per_minute)
    return table.append_column("ts", pa.array(at).cast(pa.timestamp("us")))


def _phases(events: int) -> pa.Table:
    """In every other quarter of a minute all T are alike to all queries."""
    table = _table(events)
    price = table.column("price").to_numpy().copy()
    price[np.arange(len(price)) // max(1, events // 4) % 2 == 0] = 1.0
    return table.set_column(table.schema.get_field_index("price"), "price", pa.array(price))


def _rides(k: int) -> str:
    start, end = OTHERS[k % 7], OTHERS[7 + k % 12]
    return f"RETURN COUNT(*) PATTERN SEQ({start} X, Travel T+, {end} Y) {WINDOW}"


def _diverse(k: int) -> str:
    """Other windows, aggregates and conditions, as the paper's second workload."""
    start, end = OTHERS[k % 7], OTHERS[7 + k % 12]
    returns = ("COUNT(*)", "COUNT(*), AVG(T.duration)", "COUNT(*), VARIANCE(T.speed)")[k % 3]
    where = f"WHERE T.price < {50 + k // 5 % 10}" if k % 5 == 0 else ""
    window = ("WITHIN 1 min SLIDE 1 min", "WITHIN 30 s SLIDE 15 s")[k % 2]
    return f"RETURN {returns} PATTERN SEQ({start} X, Travel T+, {end} Y) {where} {window}"


TITLES = {
    "rides": ("Rides (Figures 8a, 8c)", "events per minute", True),
    "queries": ("Rides (Figures 8b, 8d)", "queries", False),
    "taxi": ("Taxis (Figure 10)", "events per minute", True),
    "plugs": ("Smart plugs, a load rises (Figure 10)", "events per minute", True),
    "decisions": ("Decisions (Figures 11, 12)", "events per minute", True),
    "decisions by queries": ("Decisions (Figures 11, 12)", "queries", False),
}


def draw(figures: list[Figure]) -> alt.ConcatChart:
    points = [point for figure in figures for point in figure.points]
    those = [
        charts.Panel(
            title,
            x_title,
            "milliseconds",
            [point for point in points if point["panel"] == name],
            log_x=log_x,
        )
        for name, (title, x_title, log_x) in TITLES.items()
    ]
    return charts.panels(
        those,
        title="Workloads that share Kleene sub-patterns, among the algorithms of the literature",
        subtitle="SEQ(X, T+, Y), windows of a minute, all compiled, one core; logarithmic scales",
    )
