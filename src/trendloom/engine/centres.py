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
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


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
