"""Values relative to a middle that is near them: per partition, and per run where that is far.

A variance is what squares leave after the mean's square is taken off, and nothing is left of it
where the values are much farther from the middle than from one another. So

1. the values of a chunk are taken relative to the mean of their partition. A vector that goes on
   keeps its middle, until the values have left it far behind (`around_partitions`);
2. a complete run whose variance is small beside its squares is computed again, relative to its own
   mean, until it no longer is (`around_runs`).

Kernels get the centred values from a column `c<operand>` that a chunk has beside its operands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from trendloom.engine.arrow import from_numpy
from trendloom.engine.centres import Centres, moments
from trendloom.engine.columns import as_doubles, differences
from trendloom.engine.inputs import Centre, centred_column
from trendloom.engine.layout import Layout
from trendloom.engine.numbers import Doubles, Integers
from trendloom.kernels.maps import recentre

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from trendloom.engine.centres import Moments
    from trendloom.engine.chunk import Chunk
    from trendloom.engine.evaluate import Evaluator
    from trendloom.engine.lanes import Sum
    from trendloom.engine.slots import Slots, State
    from trendloom.engine.windows import Runs

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

FAR = 8.0
"""A middle is left behind when it is so many spreads away from the values."""
DRIFT = 1024.0
"""And so many times as far as values were from their first centre."""
DOUBTFUL = 1e-4
"""A variance that is less, beside its mean square, has lost more than four digits."""
ROUNDS = 4
PRECISION = 8 * float(np.finfo(np.float64).eps)


# ── partitions ───────────────────────────────────────────────────────────────────────────────


def around_partitions(by: Evaluator, chunk: Chunk) -> tuple[Chunk, dict[int, Floats]]:
    """The chunk with centred values, and by operand the middle of each partition."""
    middles: dict[int, Floats] = {}
    for operand in _operands(by, chunk):
        middles[operand], _ = _means(chunk.operand(operand), chunk.bounds)
        chunk = _with_centred(by, chunk, operand, middles[operand], chunk.bounds)
    return chunk, middles


def around_vectors(by: Evaluator, chunk: Chunk, runs: Runs, state: State) -> tuple[Chunk, State]:
    """The same where vectors go on, and these moved to the middles of their partitions."""
    for operand in _operands(by, chunk):
        own, spread = _means(chunk.operand(operand), chunk.bounds)
        rows = state.middles.get(operand, np.full(len(runs), np.nan))
        known = np.flatnonzero(~np.isnan(rows))
        old = np.full(len(own), np.nan)
        old[runs.partition[known]] = rows[known]
        with np.errstate(invalid="ignore"):
            away = np.abs(own / 2 - old / 2)
            is_far = (away > FAR * spread) & (away * _scale(by, operand) > DRIFT)
        middle = np.where(np.isnan(old) | is_far, own, old)
        moved = known[rows[known] != middle[runs.partition[known]]]
        new = middle[runs.partition]
        if len(moved):
            state = _moved(by, state, operand, moved, rows[moved], new[moved])
        state = replace(state, middles=state.middles | {operand: new})
        chunk = _with_centred(by, chunk, operand, middle, chunk.bounds)
    return chunk, state


def around_own(by: Evaluator, chunk: Chunk, runs: Runs, state: State, fresh: Flags) -> State:
    """Vectors that wait for more events, those far from their partition's middle folded again.

    Only the `fresh` ones, which have no events but the chunk's, relative to their own means.
    """
    middles: dict[int, Floats] = {}
    is_far = np.zeros(len(runs), np.bool_)
    for operand in _operands(by, chunk):
        own, spread = _run_means(chunk, runs, operand)
        old = state.middles.get(operand, np.full(len(runs), np.nan))
        with np.errstate(invalid="ignore"):
            is_far |= fresh & (np.abs(own / 2 - old / 2) > FAR * spread)
        middles[operand] = own
    for layer in _layers(runs, np.flatnonzero(is_far)):
        near = _around_each(by, chunk, runs, layer, {k: m[layer] for k, m in middles.items()})
        again = by.fold(near, runs.pick(layer), by.blank(len(layer)))
        own_middles = {k: m[layer] for k, m in middles.items()}
        state = state.put(layer, replace(again, middles=own_middles), len(runs))
    return state


def around_one(by: Evaluator, state: State) -> State:
    """A copy of vectors for a state at rest, all relative to the first centre, which it tells."""
    for operand, middle in state.middles.items():
        rows = np.flatnonzero(~np.isnan(middle))
        first = np.full(len(rows), by.centres.get(operand, Centre()).middle)
        state = state.take(np.arange(len(middle)))
        state = _moved(by, state, operand, rows, middle[rows], first)
    return state


def _run_means(chunk: Chunk, runs: Runs, operand: int) -> tuple[Floats, Floats]:
    """Per run about the mean, and the deviation from it."""
    column = chunk.operand(operand)
    middle, _ = _means(column, chunk.bounds)
    values = differences(column, np.repeat(np.nan_to_num(middle), np.diff(chunk.bounds)))
    here = np.isfinite(values)
    with np.errstate(over="ignore", invalid="ignore"):
        values = np.where(here, values, 0.0)
        sums = [np.cumsum(np.append(0.0, x)) for x in (here, values, values * values)]
        count, first, second = (x[runs.hi] - x[runs.lo] for x in sums)
        count = np.where(count > 0, count, np.nan)
        away = first / count
        spread = np.sqrt(np.maximum(second / count - away * away, 0.0))
    return middle[runs.partition] + away, spread


def row_centres(
    by: Evaluator, found: Sequence[Moments], middles: dict[int, Floats]
) -> dict[Sum, Centres]:
    """Of rows with these middles."""
    return {
        one.second: Centres(
            np.nan_to_num(middles[one.operand]),
            np.full(len(middles[one.operand]), _scale(by, one.operand)),
        )
        for one in found
        if one.operand in middles
    }


def _operands(by: Evaluator, chunk: Chunk) -> list[int]:
    """Those of variances whose values are not centred yet."""
    lanes = (*(by.layout.scaled or ()), *by.layout.distinct)
    found = {lane.operand for lane in lanes if lane.centred and lane.operand is not None}
    return sorted(k for k in found if centred_column(k) not in chunk.batch.schema.names)


def _scale(by: Evaluator, operand: int) -> float:
    return by.centres.get(operand, Centre()).scale


def _means(column: pa.Array, bounds: Ints) -> tuple[Floats, Floats]:
    """Per partition the mean, NaN without values, and half the range."""
    values, starts = as_doubles(column, np.nan), bounds[:-1]
    values = np.where(np.isfinite(values), values, np.nan)
    here = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        total = np.add.reduceat(np.where(here, values / 2.0**64, 0.0), starts)
        count = np.add.reduceat(here.astype(np.int64), starts)
        mean = total / np.where(count, count, np.nan) * 2.0**64
        spread = np.fmax.reduceat(values, starts) / 2 - np.fmin.reduceat(values, starts) / 2
    return mean, spread


def _with_centred(by: Evaluator, chunk: Chunk, operand: int, middle: Floats, bounds: Ints) -> Chunk:
    """The values of rows `bounds[k] : bounds[k + 1]` relative to `middle[k]`."""
    each = np.repeat(np.nan_to_num(middle), np.diff(bounds))
    with np.errstate(over="ignore", invalid="ignore"):
        values = differences(chunk.operand(operand), each) * _scale(by, operand)
    name, batch = centred_column(operand), chunk.batch
    place = batch.schema.get_field_index(name)
    array = from_numpy(values)
    changed = (
        batch.append_column(name, array) if place < 0 else batch.set_column(place, name, array)
    )
    return replace(chunk, batch=changed)


def _moved(
    by: Evaluator, state: State, operand: int, rows: Ints, old: Floats, new: Floats
) -> State:
    """Some rows' sums of an operand, relative to another middle."""
    lanes, whole = by.layout.scaled or (), by.layout.checked or ()
    if state.doubles is None or not len(rows):
        return state
    shape = len(rows), -1, 1 + len(lanes)
    m, e = state.doubles.m[rows].reshape(shape), state.doubles.e[rows].reshape(shape)
    shift = (old / 2 - new / 2) * _scale(by, operand) * 2
    for one in moments(lanes):
        if one.operand != operand:
            continue
        if one.count in lanes:
            at = 1 + lanes.index(one.count)
            count = Doubles(m[:, :, at].copy(), e[:, :, at].copy())
        else:
            assert state.integers is not None, "values are counted"
            numbers = state.integers.v[rows].reshape(len(rows), -1, 1 + len(whole))
            own = Integers(numbers[:, :, 1 + whole.index(one.count)].ravel()).to_doubles()
            count = Doubles(own.m.reshape(m.shape[:2]), own.e.reshape(m.shape[:2]))
        places = 1 + lanes.index(one.first), 1 + lanes.index(one.second)
        recentre(m, e, count.m, count.e, *places, np.ones(len(rows)), shift)
    state.doubles.m[rows], state.doubles.e[rows] = (x.reshape(len(rows), -1) for x in (m, e))
    return state


# ── runs ─────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class _Doubt:
    """Slots whose variance is small beside their squares, and their means."""

    slots: Flags
    mean: Floats

    @classmethod
    def of(cls, slots: Slots, one: Moments) -> _Doubt:
        first, second, count = (
            slots.columns[lane].to_doubles() for lane in (one.first, one.second, one.count)
        )
        centres = slots.centres[one.second]
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            away, square = first.over(count), second.over(count)
            mean = centres.middle + away / centres.scale
            small = square - away * away < DOUBTFUL * square
            # What is left of equal doubles is their last digit.
            room = np.sqrt(square) / centres.scale > PRECISION * np.abs(mean)
            doubtful = small & room & np.isfinite(mean) & (count.to_float() >= 2)
        return cls(doubtful, mean)


def around_runs(
    by: Evaluator, chunk: Chunk, runs: Runs, slots: Slots, whole: Flags | None = None
) -> Slots:
    """The slots, those of doubtful runs computed again; `whole`: the runs that may be."""
    found = [one for one in moments(slots.columns) if one.second in slots.centres]
    for _ in range(ROUNDS):
        doubts = {one: _Doubt.of(slots, one) for one in found}
        any_of_run = np.zeros(len(runs), np.bool_)
        for doubt in doubts.values():
            any_of_run[slots.run[doubt.slots]] = True
        if whole is not None:
            any_of_run &= whole
        if not any_of_run.any():
            break
        for layer in _layers(runs, np.flatnonzero(any_of_run)):
            slots = _again(by, chunk, runs, slots, layer, doubts)
    return slots


def _layers(runs: Runs, rows: Ints) -> list[Ints]:
    """The runs, in lots of which none overlap."""
    layers: list[list[int]] = []
    ends: list[int] = []
    for row in rows[np.argsort(runs.lo[rows], kind="stable")]:
        free = next((k for k, end in enumerate(ends) if end <= runs.lo[row]), None)
        if free is None:
            layers.append([])
            ends.append(0)
            free = len(layers) - 1
        layers[free].append(int(row))
        ends[free] = int(runs.hi[row])
    return [np.array(layer, np.int64) for layer in layers]


def _again(
    by: Evaluator,
    chunk: Chunk,
    runs: Runs,
    slots: Slots,
    layer: Ints,
    doubts: dict[Moments, _Doubt],
) -> Slots:
    """One lot of runs, each relative to a mean of its own; what got better is taken."""
    mine = np.flatnonzero(np.isin(slots.run, layer))
    place = np.searchsorted(np.sort(layer), slots.run[mine])
    layer = np.sort(layer)
    middles: dict[int, Floats] = {}
    for one, doubt in doubts.items():
        middle = middles.setdefault(one.operand, np.full(len(layer), np.nan))
        own = doubt.slots[mine]
        middle[place[own]] = doubt.mean[mine[own]]
    chunk = _around_each(by, chunk, runs, layer, middles)
    lanes = [lane for one in doubts for lane in (one.first, one.second)]
    scaled = tuple(lane for lane in lanes if not lane.distinct)
    only = Layout(scaled, None, None, (), tuple(lane for lane in lanes if lane.distinct))
    new = replace(by, layout=only).from_nothing(chunk, runs.pick(layer))
    assert np.array_equal(new.run, place), "slots are the same, however they are computed"
    columns, centres = dict(slots.columns), dict(slots.centres)
    for one in doubts:
        old_second, new_second = slots.columns[one.second].to_doubles(), new.columns[one.second]
        first, second = new.columns[one.first].to_doubles(), new_second.to_doubles()
        tried = ~np.isnan(middles[one.operand][place])
        with np.errstate(invalid="ignore"):
            better = tried & (second.over(old_second.take(mine)) < 1.0)
        rows = mine[better]
        for lane, column in ((one.first, first), (one.second, second)):
            columns[lane] = _put(columns[lane].to_doubles(), rows, column.take(better))
        middle = centres[one.second].middle.copy()
        middle[rows] = middles[one.operand][place[better]]
        centres[one.second] = replace(centres[one.second], middle=middle)
    return replace(slots, columns=columns, centres=centres)


def _around_each(
    by: Evaluator, chunk: Chunk, runs: Runs, layer: Ints, middles: dict[int, Floats]
) -> Chunk:
    """The chunk for runs that do not overlap, each with middles of its own."""
    by_time = np.argsort(runs.lo[layer], kind="stable")
    ends = np.stack([runs.lo[layer][by_time], runs.hi[layer][by_time]], axis=1).ravel()
    bounds = np.concatenate([[0], ends, [len(chunk)]])
    for operand, middle in middles.items():
        # Between the runs any middle will do.
        each = np.full(len(bounds) - 1, np.nan)
        each[1:-1:2] = middle[by_time]
        chunk = _with_centred(by, chunk, operand, each, bounds)
    return chunk


def _put(column: Doubles, rows: Ints, values: Doubles) -> Doubles:
    m, e = column.m.copy(), column.e.copy()
    m[rows], e[rows] = values.m, values.e
    return Doubles(m, e)
