"""Patterns of one or two states in registers, against the kernels that have all cells in memory.

`(SEQ(A+, B))+`, one run, on one core, events in memory: the kernels alone, over the engine's own
table. Those in memory take patterns of any size, and are where the others go on when numbers are
too large for them. A map is what an event chunk of unknown beginning becomes: three vectors here.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import charts
from benchmarks.counting import plan_for, table_of
from benchmarks.events import columns
from benchmarks.harness import Figure, Samples, Size, one_core, take_turns
from trendloom.engine.arrow import read_only
from trendloom.kernels.bases import advance_bases
from trendloom.kernels.counted_bases import PACK
from trendloom.kernels.event_maps import double_maps, integer_maps
from trendloom.kernels.fold import fold_doubles, fold_integers
from trendloom.kernels.sprint import advance
from trendloom.kernels.table import counting_of, feeds_of

if TYPE_CHECKING:
    import altair as alt
    from numpy.typing import NDArray

    from trendloom.kernels.table import Table

EVENTS = {Size.FULL: 2_000_000, Size.QUICK: 500_000, Size.TINY: 1_000}
SEMANTICS = {
    # Next-match without ties: every tie doubles the trends, and 64-bit counts soon overflow.
    "any-match": ("skip-till-any-match", 0.05),
    "next-match": ("skip-till-next-match", 0.0),
    "contiguous": ("contiguous", 0.05),
}
LANES = {"COUNT": 1, "COUNT and SUM": 2}


def run(size: Size) -> list[Figure]:
    figures = []
    with one_core():
        for name, (semantics, ties) in SEMANTICS.items():
            events = columns(EVENTS[size], ties)
            for summed, lanes in LANES.items():
                figures += _race(f"{name}, {summed}", semantics, lanes, *events, size)
    return figures


def _race(
    name: str,
    semantics: str,
    lanes: int,
    masks: NDArray[np.uint8],
    times: NDArray[np.int64],
    size: Size,
) -> list[Figure]:
    plan = plan_for(semantics)
    table, kind = table_of(plan), np.float64 if plan.exponential else np.int64
    x = np.random.default_rng(5).integers(0, 10, (lanes, len(masks))).astype(kind)
    given = table, read_only(times), read_only(masks), np.array([-2, 0][:lanes]), x
    contenders = {
        "in registers": partial(_vector, *given),
        "in memory": partial(_vector_in_memory, *given),
        "map in registers": partial(_map, *given),
        "map in memory": partial(_map_in_memory, *given),
    }
    for one in ("", "map "):
        told, expected = contenders[f"{one}in registers"](), contenders[f"{one}in memory"]()
        assert np.allclose(told, expected, rtol=1e-9)
    seconds = take_turns(contenders, size.turns)
    vector = seconds["in registers"]
    return [
        _times(f"{name}: × faster than in memory", seconds["in memory"] / vector, name),
        _times(
            f"{name}: a map, × faster than in memory",
            seconds["map in memory"] / seconds["map in registers"],
        ),
        _times(f"{name}: a map, × the time of a vector", seconds["map in registers"] / vector),
        *(
            Figure(f"{name}: {who}", spent / (len(masks) * 1e-9), "ns/event")
            for who, spent in seconds.items()
        ),
    ]


def _times(claim: str, ratio: Samples, label: str = "") -> Figure:
    return Figure(claim, ratio, "×", label=label)


def _vector(table: Table, order: Any, code: Any, var: Any, x: Any) -> NDArray[Any]:
    lo, hi = np.array([0]), np.array([len(order)])
    values = np.zeros((1, (table.states + 3) * len(var)), x.dtype)
    if x.dtype == np.int64:
        assert fold_integers(table, order, code, lo, hi, values, var, x)
    else:
        fold_doubles(table, order, code, lo, hi, values, np.zeros(values.shape, np.int64), var, x)
    return values[0]


def _vector_in_memory(table: Table, order: Any, code: Any, var: Any, x: Any) -> NDArray[Any]:
    values, flag = np.zeros((table.states + 3) * len(var), x.dtype), np.zeros(1, np.int64)
    plain, feeds = counting_of(table, values), feeds_of(table, var)
    advance(table, order, code, 0, len(order), values, 0, plain, feeds, x, True, flag)
    return values


def _map(table: Table, order: Any, code: Any, var: Any, x: Any) -> NDArray[Any]:
    lo, hi = np.array([0]), np.array([len(order)])
    values = np.zeros((1, 1 + table.states, (table.states + 1) * len(var)), x.dtype)
    if x.dtype == np.int64:
        lost = np.zeros(values.shape[:2], np.bool_)
        integer_maps(table, order, code, lo, hi, var, x, values, lost)
    else:
        double_maps(table, order, code, lo, hi, var, x, values, np.zeros(values.shape, np.int64))
    return values[0].T.ravel()


def _map_in_memory(table: Table, order: Any, code: Any, var: Any, x: Any) -> NDArray[Any]:
    lanes = len(var)
    values = np.zeros((table.states + 3, lanes, PACK), x.dtype)
    for state in range(table.states):
        values[state, 0, 1 + state] = 1
    flat, exponent, wrapped = values.ravel(), np.zeros(PACK, np.int64), np.zeros(lanes * PACK, int)
    plain, feeds = counting_of(table, flat), feeds_of(table, var)
    advance_bases(table, order, code, 0, len(order), flat, exponent, plain, feeds, x, True, wrapped)
    return values[: table.states + 1, :, : 1 + table.states].ravel()


def draw(figures: list[Figure]) -> alt.LayerChart:
    return charts.bars(
        figures,
        title="Two states in registers",
        subtitle="Against cells in memory, kernels alone, one core",
        axis="× faster",
    )
