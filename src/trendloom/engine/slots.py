"""What a part gives and keeps: results in slots, vectors in rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from trendloom.engine import ends
from trendloom.engine.arrow import from_numpy
from trendloom.engine.centres import Centres
from trendloom.engine.numbers import Column, Doubles, Integers, joined, narrowed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trendloom.engine.lanes import Extremum, Lane, Sum

    Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Slots:
    """Results of one part: slot i belongs to run `run[i]` and to values of grouping variables."""

    run: Ints
    groups: tuple[pa.Array, ...]
    """Per grouping binding: the value, null for trends without the variable."""
    found: NDArray[np.bool_]
    columns: dict[Lane, Column]
    extremes: dict[Extremum, NDArray[Any]]
    centres: dict[Sum, Centres] = field(default_factory=dict)
    """By the squares of a variance: what its sums are relative to. Without: to one centre."""

    @staticmethod
    def join(parts: Sequence[Slots], runs: Sequence[Ints]) -> Slots:
        """Slots of several lots of runs, which have these numbers together, in their order."""
        first = parts[0]
        if len(parts) == 1:
            return first
        run = np.concatenate([mine[part.run] for part, mine in zip(parts, runs, strict=True)])
        whole = Slots(
            run,
            tuple(
                pa.concat_arrays([part.groups[k] for part in parts])
                for k in range(len(first.groups))
            ),
            np.concatenate([part.found for part in parts]),
            {lane: joined([part.columns[lane] for part in parts]) for lane in first.columns},
            {lane: ends.joined([p.extremes[lane] for p in parts]) for lane in first.extremes},
            {lane: Centres.join([p.centres[lane] for p in parts]) for lane in first.centres},
        )
        in_order = bool((np.diff(run) >= 0).all())
        return whole if in_order else whole.take(np.argsort(run, kind="stable"))

    def with_trends(self) -> Slots:
        """Without the slots that found nothing, which often are most."""
        return self if self.found.all() else self.take(np.flatnonzero(self.found))

    def take(self, rows: Ints) -> Slots:
        return Slots(
            self.run[rows],
            tuple(values.take(from_numpy(rows)) for values in self.groups),
            self.found[rows],
            {lane: column.take(rows) for lane, column in self.columns.items()},
            {lane: keys[rows] for lane, keys in self.extremes.items()},
            {lane: centres.take(rows) for lane, centres in self.centres.items()},
        )


@dataclass(frozen=True)
class State:
    """Vectors of the fast path, one row per run. None where no lane needs the domain."""

    doubles: Doubles | None
    integers: Integers | None
    extremes: NDArray[Any] | None
    """Keys; objects where one value is at an end of its type (`ends`)."""
    shelf: Ints | None = None
    """Where a row's single entries are kept, for parts that look them up by value."""
    exact: NDArray[np.object_] | None = None
    """Of products of maps only."""
    overflow: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(1, np.bool_))
    """Set where kernels left 64 bits: the integers of all rows are then wrong."""
    middles: dict[int, NDArray[np.float64]] = field(default_factory=dict)
    """By operand of a variance: what each row's sums are relative to; NaN: to nothing yet."""

    def take(self, rows: Ints) -> State:
        return State(
            None if self.doubles is None else self.doubles.take(rows),
            None if self.integers is None else self.integers.take(rows),
            None if self.extremes is None else self.extremes[rows],
            None if self.shelf is None else self.shelf[rows],
            middles={operand: middle[rows] for operand, middle in self.middles.items()},
        )

    def rows(self, first: int, end: int) -> State:
        """Some rows in a row, to be written in place."""
        return State(
            None
            if self.doubles is None
            else Doubles(self.doubles.m[first:end], self.doubles.e[first:end]),
            None if self.integers is None else Integers(self.integers.v[first:end]),
            None if self.extremes is None else self.extremes[first:end],
            None if self.shelf is None else self.shelf[first:end],
            overflow=self.overflow,
        )

    def put(self, rows: Ints, other: State, count: int) -> State:
        """Row `rows[i]` of the `count` rows becomes row i of the other."""
        integers, extremes = self.integers, self.extremes
        if self.doubles is not None and other.doubles is not None:
            self.doubles.m[rows] = other.doubles.m
            self.doubles.e[rows] = other.doubles.e
        if integers is not None and other.integers is not None:
            whole = narrowed(other.integers.v)
            integers = Integers(integers.v.astype(whole.dtype, copy=False))
            integers.v[rows] = whole
        if extremes is not None and other.extremes is not None:
            keys = ends.narrowed(other.extremes)
            if keys.dtype == np.object_:
                extremes = ends.widened(extremes)
            extremes[rows] = keys
        if self.shelf is not None and other.shelf is not None:
            self.shelf[rows] = other.shelf
        middles = dict(self.middles)
        for operand, middle in other.middles.items():
            middles[operand] = middles.get(operand, np.full(count, np.nan))
            middles[operand][rows] = middle
        return replace(self, integers=integers, extremes=extremes, middles=middles)
