"""Results of runs, gathered over chunks and summed up per window and group.

A group is numbered by its GROUP-BY attributes in the order of the scan, and behind that by the
values of grouping variables. Partitions of one group are added up; AND multiplies its sides.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from trendloom.engine.arrow import filled, from_numpy
from trendloom.engine.centres import Centres, under_one_centre
from trendloom.engine.ends import joined as joined_keys
from trendloom.engine.ends import without
from trendloom.engine.inputs import Centre
from trendloom.engine.lanes import TRENDS, Extremum, Lane, Sum
from trendloom.engine.numbers import Column, Doubles, Exact, Integers, joined
from trendloom.kernels.extreme import ABSENT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trendloom.engine.slots import Slots

    Ints = NDArray[np.int64]

EVERY = -2
"""The group of a side of AND that does not have the grouping variable."""


@dataclass(frozen=True)
class Rows:
    """One row per (group, window, values of grouping variables), and its lanes."""

    group: Ints
    window: Ints
    values: Ints
    """[row, binding]: numbers of grouping values, -1 for null, EVERY."""
    found: NDArray[np.bool_]
    columns: dict[Lane, Column]
    extremes: dict[Extremum, NDArray[Any]]
    centres: dict[Sum, Centres] = field(default_factory=dict)
    """As slots have them."""

    def __len__(self) -> int:
        return len(self.group)

    def take(self, rows: NDArray[Any]) -> Rows:
        return Rows(
            self.group[rows],
            self.window[rows],
            self.values[rows],
            self.found[rows],
            {lane: column.take(rows) for lane, column in self.columns.items()},
            {lane: keys[rows] for lane, keys in self.extremes.items()},
            {lane: centres.take(rows) for lane, centres in self.centres.items()},
        )

    def merged(self) -> Rows:
        """Rows of the same group, window and values made one; sorted by window, then group."""
        if not len(self):
            return self
        order, starts = self.order()
        rows = self.take(order)
        if len(starts) == len(rows):
            return rows
        columns, centres = under_one_centre(rows.columns, rows.centres, starts)
        return Rows(
            rows.group[starts],
            rows.window[starts],
            rows.values[starts],
            np.logical_or.reduceat(rows.found, starts),
            {lane: column.sum_runs(starts) for lane, column in columns.items()},
            {lane: np.minimum.reduceat(keys, starts) for lane, keys in rows.extremes.items()},
            centres,
        )

    def order(self) -> tuple[Ints, Ints]:
        """The rows by window, then group, then values; and where each of these begins."""
        keys = [self.values[:, b] for b in reversed(range(self.values.shape[1]))]
        keys += [self.group, self.window]
        order = np.lexsort(keys)
        new = np.zeros(len(order), np.bool_)
        new[:1] = True
        for key in keys:
            in_order = key[order]
            new[1:] |= in_order[1:] != in_order[:-1]
        return order, np.flatnonzero(new)

    @staticmethod
    def join(parts: list[Rows]) -> Rows:
        first = parts[0]
        if len(parts) == 1:
            return first
        return Rows(
            np.concatenate([p.group for p in parts]),
            np.concatenate([p.window for p in parts]),
            np.concatenate([p.values for p in parts]),
            np.concatenate([p.found for p in parts]),
            {lane: joined([p.columns[lane] for p in parts]) for lane in first.columns},
            {lane: joined_keys([p.extremes[lane] for p in parts]) for lane in first.extremes},
            {lane: Centres.join([p.centres[lane] for p in parts]) for lane in first.centres},
        )


@dataclass
class Harvest:
    """What one part's runs have given so far."""

    bindings: int
    """Grouping variables of all parts."""
    types: list[pa.DataType]
    """Of the values of the part's own."""
    parts: list[Rows] = field(default_factory=list)
    numbers: list[dict[Any, int]] = field(init=False)
    """Per grouping variable of the part: value → number."""

    def __post_init__(self) -> None:
        self.numbers = [{} for _ in self.types]

    def add(self, slots: Slots, group: Ints, window: Ints) -> None:
        """`group` and `window` per run of the slots."""
        values = np.full((len(slots.run), self.bindings), -1, np.int64)
        for b, column in enumerate(slots.groups):
            values[:, b] = self.number(b, column)
        self.parts.append(
            Rows(
                group[slots.run],
                window[slots.run],
                values,
                slots.found,
                slots.columns,
                slots.extremes,
                slots.centres,
            )
        )

    def number(self, b: int, column: pa.Array) -> Ints:
        """Numbers of values of grouping variable b, -1 for null."""
        known = self.numbers[b]
        encoded = column.dictionary_encode()
        lookup = np.array(
            [known.setdefault(value, len(known)) for value in encoded.dictionary.to_pylist()]
            or [0],
            np.int64,
        )
        indices = filled(encoded.indices, -1).astype(np.int64)
        return np.where(indices < 0, -1, lookup[np.maximum(indices, 0)])

    def decode(self, b: int, numbers: Ints) -> pa.Array:
        dictionary = pa.array(list(self.numbers[b]), self.types[b])
        return dictionary.take(from_numpy(numbers, numbers < 0))

    def rows(self) -> Rows | None:
        return Rows.join(self.parts) if self.parts else None


def paired(sides: list[Rows], both: Rows | None) -> Rows:
    """AND: results over pairs of trends of one window and group (choice 5)."""
    merged = reduce(_pair, sides)
    if both is None or not len(both) or not len(merged):
        return merged
    # Trends of both sides are not paired with themselves, nor pairs of them counted twice.
    index = {key: row for row, key in enumerate(zip(both.group, both.window, strict=True))}
    keys = zip(merged.group, merged.window, strict=True)
    at = np.array([index.get(key, -1) for key in keys], np.int64)
    d = both.columns[TRENDS].take(np.maximum(at, 0))
    count = _minus_pairs(merged.columns[TRENDS], d, at >= 0)
    columns = {**merged.columns, TRENDS: count}
    return replace(merged, found=merged.found & count.nonzero, columns=columns)


def _minus_pairs(count: Column, d: Column, here: NDArray[np.bool_]) -> Column:
    """count − d·(d+1)/2 where `here`."""
    match count, d:
        case Integers(), Integers():
            v = np.where(here, d.v, 0)
            half = Integers(np.where(v % 2 == 0, v // 2, v)).times(
                Integers(np.where(v % 2 == 0, v + 1, (v + 1) // 2))
            )
            return count.minus(half)
        case Exact(), Exact():
            big = np.where(here, d.v, 0)
            return count.minus(Exact(big * (big + 1) // 2))
    doubles = d.to_doubles()
    m = Doubles(np.where(here, doubles.m, 0.0), doubles.e)
    plus_one = m.minus(Doubles(np.full(len(m.m), -1.0), np.zeros(len(m.m), np.int64)))
    product_ = m.times(plus_one)
    return count.to_doubles().minus(Doubles(product_.m / 2, product_.e))


def _pair(left: Rows, right: Rows) -> Rows:
    """Every row of one side with every row of the other that belongs to the same group."""
    by_key: dict[tuple[int, int], list[int]] = {}
    for row in range(len(right)):
        by_key.setdefault((int(right.group[row]), int(right.window[row])), []).append(row)
    pairs: list[tuple[int, int]] = []
    for row in range(len(left)):
        for other in by_key.get((int(left.group[row]), int(left.window[row])), ()):
            ours, theirs = left.values[row], right.values[other]
            if all(a == b or EVERY in (a, b) for a, b in zip(ours, theirs, strict=True)):
                pairs.append((row, other))
    ours_at = np.array([a for a, _ in pairs], np.int64)
    theirs_at = np.array([b for _, b in pairs], np.int64)
    one, two = left.take(ours_at), right.take(theirs_at)
    found = one.found & two.found
    counts = one.columns[TRENDS], two.columns[TRENDS]
    columns: dict[Lane, Column] = {TRENDS: _times(*counts)}
    for side, other_count in ((one, counts[1]), (two, counts[0])):
        for lane, column in side.columns.items():
            if isinstance(lane, Sum):
                share = _where(found, column) if lane.distinct else _times(column, other_count)
                columns[lane] = _plus(columns[lane], share) if lane in columns else share
    extremes: dict[Extremum, NDArray[Any]] = {}
    for lane in {**one.extremes, **two.extremes}:
        if lane.variable is None:
            extremes[lane] = one.extremes[lane] + two.extremes[lane]
        else:
            extremes[lane] = (one if lane in one.extremes else two).extremes[lane]
        extremes[lane] = without(extremes[lane], ~found)
    values = np.where(one.values == EVERY, two.values, one.values)
    centres = {**one.centres, **two.centres}
    return Rows(one.group, one.window, values, found, columns, extremes, centres)


def _where(here: NDArray[np.bool_], column: Column) -> Column:
    """The column, zero elsewhere."""
    match column:
        case Doubles():
            return Doubles(np.where(here, column.m, 0.0), column.e)
        case Integers():
            return Integers(np.where(here, column.v, 0))
        case Exact():
            return Exact(np.where(here, column.v, 0))


def _times(left: Column, right: Column) -> Column:
    match left, right:
        case Integers(), Integers():
            return left.times(right)
        case Exact(), Exact():
            return left.times(right)
    return left.to_doubles().times(right.to_doubles())


def _plus(left: Column, right: Column) -> Column:
    starts = np.arange(0, 2 * _length(left), 2)
    weave = np.arange(2 * _length(left)).reshape(2, -1).T.ravel()
    if type(left) is not type(right):
        left, right = left.to_doubles(), right.to_doubles()
    return joined([left, right]).take(weave).sum_runs(starts)


def _length(column: Column) -> int:
    return len(column.m) if isinstance(column, Doubles) else len(column.v)


def on_change(rows: Rows, timeline: dict[int, dict[int, Ints]], partition: Ints) -> Rows:
    """`WITHIN w` alone: at every time point of a group, the latest result of each partition.

    `timeline[group][partition]` are the time points of a partition; `partition` is each row's.
    Rows that a partition does not have at its time point are "no trend".
    """
    picked: list[Ints] = []
    windows: list[Ints] = []
    blank: list[Ints] = []
    by_partition = _by_partition(rows, partition)
    keys_out: list[tuple[int, int, tuple[int, ...]]] = []
    for group, partitions in timeline.items():
        points, *others = partitions.values()
        if others:
            points = np.unique(np.concatenate([points, *others]))
        keys = dict.fromkeys(key for p in partitions for key in by_partition.get(p, {}))
        for key in keys:
            covered = np.zeros(len(points), np.bool_)
            for p, own in partitions.items():
                mine = by_partition.get(p, {}).get(key)
                if mine is None:
                    continue
                rows_at = np.full(len(own), -1, np.int64)
                rows_at[np.searchsorted(own, rows.window[mine])] = mine
                latest = np.searchsorted(own, points, side="right") - 1
                at = np.where(latest >= 0, rows_at[np.maximum(latest, 0)], -1)
                here = at >= 0
                covered |= here
                picked.append(at[here])
                windows.append(points[here])
            keys_out.append((group, len(points) - int(covered.sum()), key))
            blank.append(points[~covered])
    if not keys_out:
        return rows.take(np.zeros(0, np.int64))
    empty = _nothing(rows, np.concatenate(blank), keys_out)
    if not picked or not sum(len(p) for p in picked):
        return empty.merged()
    live = rows.take(np.concatenate(picked))
    live = replace(live, window=np.concatenate(windows))
    return Rows.join([live, empty]).merged()


def _by_partition(rows: Rows, partition: Ints) -> dict[int, dict[tuple[int, ...], Ints]]:
    """Row numbers by partition and values."""
    columns = [rows.values[:, b] for b in range(rows.values.shape[1])]
    order = np.lexsort([*columns, partition])
    new = np.zeros(len(order), np.bool_)
    new[:1] = True
    for column in (*columns, partition):
        new[1:] |= np.diff(column[order]) != 0
    found: dict[int, dict[tuple[int, ...], Ints]] = {}
    for mine in np.split(order, np.flatnonzero(new)[1:]) if len(order) else ():
        key = tuple(int(value) for value in rows.values[mine[0]])
        found.setdefault(int(partition[mine[0]]), {})[key] = mine
    return found


def _nothing(rows: Rows, window: Ints, keys: list[tuple[int, int, tuple[int, ...]]]) -> Rows:
    """Rows of "no trend", so that every time point of every group has a row."""
    count = len(window)
    zeros: dict[Lane, Column] = {}
    for lane, column in rows.columns.items():
        match column:
            case Doubles():
                zeros[lane] = Doubles(np.zeros(count), np.zeros(count, np.int64))
            case Integers():
                zeros[lane] = Integers(np.zeros(count, np.int64))
            case Exact():
                zeros[lane] = Exact(np.zeros(count, np.object_))
    return Rows(
        np.concatenate([np.full(n, group, np.int64) for group, n, _ in keys]),
        window,
        np.concatenate(
            [np.tile(np.array(key, np.int64).reshape(1, -1), (n, 1)) for _, n, key in keys]
        ),
        np.zeros(count, np.bool_),
        zeros,
        {lane: np.full(count, ABSENT, np.int64) for lane in rows.extremes},
        {lane: Centres.same(Centre(), count) for lane in rows.centres},
    )
