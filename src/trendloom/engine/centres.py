"""Centred sums, taken relative to another centre.

Sums of powers of y = (x − m₁)·s₁ become those of z = (x − m₂)·s₂. With r = s₂/s₁ and
d = (m₁ − m₂)·s₂ every z is r·y + d, so

    Σz  = r·Σy + n·d
    Σz² = r²·Σy² + 2·r·d·Σy + n·d²

where n counts the values, each as often as it was added. Scales are powers of two, so only d
rounds: nothing is lost as long as neither centre is far from the values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trendloom.engine.inputs import Centre
from trendloom.engine.lanes import Lane, Sum
from trendloom.engine.numbers import Column, Doubles

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Centres:
    """One centre per row."""

    middle: Floats
    scale: Floats

    @classmethod
    def same(cls, centre: Centre, rows: int) -> Centres:
        return cls(np.full(rows, centre.middle), np.full(rows, centre.scale))

    def take(self, rows: NDArray[np.int64]) -> Centres:
        return Centres(self.middle[rows], self.scale[rows])

    @staticmethod
    def join(parts: Sequence[Centres]) -> Centres:
        """One after another."""
        return Centres(
            np.concatenate([part.middle for part in parts]),
            np.concatenate([part.scale for part in parts]),
        )


@dataclass(frozen=True, slots=True)
class Moments:
    """The lanes of one variance."""

    operand: int
    first: Sum
    second: Sum
    count: Sum


def moments(lanes: Iterable[Lane]) -> list[Moments]:
    """The variances among the lanes."""
    seconds = [lane for lane in lanes if isinstance(lane, Sum) and lane.centred and lane.power == 2]
    return [
        Moments(
            lane.operand,
            Sum(lane.variable, lane.operand, 1, centred=True, distinct=lane.distinct),
            lane,
            Sum(lane.variable, lane.operand, 0, distinct=lane.distinct),
        )
        for lane in seconds
        if lane.operand is not None
    ]


def recentred(
    columns: Mapping[Lane, Column], old: Mapping[int, Centre], new: Mapping[int, Centre]
) -> dict[Lane, Column]:
    """The lanes of a part, centred anew; centres are by operand."""
    moved = dict(columns)
    for one in moments(columns):
        count = columns[one.count].to_doubles()
        before, after = (
            Centres.same(centres.get(one.operand, Centre()), len(count.m)) for centres in (old, new)
        )
        moved[one.first], moved[one.second] = recentred_sums(
            columns[one.first].to_doubles(),
            columns[one.second].to_doubles(),
            count,
            before,
            after,
        )
    return moved


def recentred_sums(
    first: Doubles, second: Doubles, count: Doubles, old: Centres, new: Centres
) -> tuple[Doubles, Doubles]:
    """(Σz, Σz²) of (Σy, Σy², n), row by row."""
    with np.errstate(invalid="ignore"):
        ratio = _plain(new.scale).times(_plain(1 / old.scale))
        # In halves, for middles at both ends of the range.
        gap = _plain(old.middle / 2 - new.middle / 2).times(_plain(new.scale)).times(_two(first))
        slope = ratio.times(first)
        step = count.times(gap)
        # 2·r·d·Σy + n·d² = d·(r·Σy + Σz)
        moved = _plus(slope, step)
        rest = gap.times(_plus(slope, moved))
        return moved, _plus(ratio.times(ratio).times(second), rest)


def _plain(values: Floats) -> Doubles:
    return Doubles(values, np.zeros(len(values), np.int64))


def _two(like: Doubles) -> Doubles:
    return _plain(np.full(len(like.m), 2.0))


def _plus(left: Doubles, right: Doubles) -> Doubles:
    if not len(left.m):
        return left
    return left.minus(Doubles(-right.m, right.e))


def under_one_centre(
    columns: Mapping[Lane, Column], centres: Mapping[Sum, Centres], starts: Ints
) -> tuple[dict[Lane, Column], dict[Sum, Centres]]:
    """Columns whose centred sums can be added up in runs of rows, and the runs' centres.

    Rows of one sum move to the middle of that with the largest squares. What it has rounded off is
    lost anyway, and the sum's squares still tell how much that is: a variance of less is none.
    A common middle for all would be far from groups that only some rows are of.
    """
    moved, found = dict(columns), {}
    for one in moments(columns):
        if one.second in centres:
            old = centres[one.second]
            first, second, count = (
                columns[lane].to_doubles() for lane in (one.first, one.second, one.count)
            )
            new = _leading(second, count, old, starts)
            moved[one.first], moved[one.second] = recentred_sums(first, second, count, old, new)
            found[one.second] = new.take(starts)
    return moved, found


def _leading(second: Doubles, count: Doubles, old: Centres, starts: Ints) -> Centres:
    """Per row the centre that all rows of its run move to."""
    lengths = np.diff(np.append(starts, len(old.middle)))
    lead = np.repeat(_largest(second, count, old.scale, starts, lengths), lengths)
    # The scale of the widest values, so that no square overflows.
    scale = np.minimum.reduceat(np.where(count.nonzero, old.scale, np.inf), starts)
    scale = np.repeat(np.where(np.isinf(scale), 1.0, scale), lengths)
    return Centres(old.middle[lead], scale)


def _largest(second: Doubles, count: Doubles, scale: Floats, starts: Ints, lengths: Ints) -> Ints:
    """Per run of rows, the one with the largest sum of squares."""
    with np.errstate(invalid="ignore"):
        size = second.log2() - 2 * np.log2(scale)
    # Squares that are infinite are largest, and values at the middle are more than no values.
    size = np.maximum(np.where(np.isnan(size), np.inf, size), np.finfo(np.float64).min)
    size = np.where(count.nonzero, size, -np.inf)
    top = np.flatnonzero(size == np.repeat(np.maximum.reduceat(size, starts), lengths))
    run = np.repeat(np.arange(len(starts)), lengths)
    return top[np.searchsorted(run[top], np.arange(len(starts)))]
