"""Numbers that kernels found → slots, as the engine has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trendloom.engine.lanes import TRENDS
from trendloom.engine.numbers import Doubles
from trendloom.engine.slots import Slots

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trendloom.engine.lanes import Extremum, Lane
    from trendloom.engine.numbers import Column
    from trendloom.engine.windows import Windows

    Ints = NDArray[np.int64]


def as_slots(
    lanes: Sequence[Lane],
    m: NDArray[np.float64],
    e: Ints,
    extremes: dict[Extremum, Ints] | None = None,
) -> Slots:
    columns: dict[Lane, Column] = {
        lane: Doubles(m[:, k], e[:, k]) for k, lane in enumerate((TRENDS, *lanes))
    }
    return Slots(np.arange(len(m)), (), columns[TRENDS].nonzero, columns, extremes or {})


def overlap(windows: Windows) -> float:
    return max(1.0, windows.within / windows.slide) if windows.slide else 1.0
