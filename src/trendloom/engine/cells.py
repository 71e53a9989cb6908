"""Cells and outputs of the semirings over one chunk; of width 0 where one is not in use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trendloom.engine.exact import primes
from trendloom.engine.inputs import (
    double_rows,
    feeding_variables,
    integer_rows,
    key_rows,
    length_steps,
)
from trendloom.kernels.checked import Checked
from trendloom.kernels.extreme import ABSENT, Extreme
from trendloom.kernels.modular import Modular
from trendloom.kernels.scaled import Scaled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.inputs import Centre
    from trendloom.engine.lanes import Extremum, Sum

    Ints = NDArray[np.int64]


class Cells:
    """What every semiring needs to know: how many cells and slots, and the events' values."""

    def __init__(self, variables: tuple[str, ...], chunk: Chunk, cells: int, slots: int) -> None:
        self.variables = variables
        self.chunk = chunk
        self.cells = cells
        self.slots = slots

    def scaled(
        self, lanes: Sequence[Sum] | None, centres: dict[int, Centre], *, magnitudes: int = 0
    ) -> Scaled:
        cells, slots, width = self._shape(lanes)
        return Scaled(
            np.zeros((cells, width)),
            np.zeros((cells, width), np.int64),
            feeding_variables(self.variables, lanes or ()),
            double_rows(self.chunk, lanes or (), centres, magnitudes=magnitudes),
            np.zeros((slots, width)),
            np.zeros((slots, width), np.int64),
        )

    def checked(self, lanes: Sequence[Sum] | None) -> Checked:
        cells, slots, width = self._shape(lanes)
        return Checked(
            np.zeros((cells, width), np.int64),
            feeding_variables(self.variables, lanes or ()),
            integer_rows(self.chunk, lanes or ()),
            np.zeros((slots, width), np.int64),
            np.zeros(1, np.int64),
        )

    def modular(self, lanes: Sequence[Sum] | None, first: int, count: int) -> Modular:
        cells, slots, width = self._shape(lanes)
        return Modular(
            np.zeros((cells, width * count), np.int64),
            feeding_variables(self.variables, lanes or ()),
            integer_rows(self.chunk, lanes or ()),
            primes(first + count)[first:].copy(),
            np.zeros((slots, width * count), np.int64),
        )

    def extreme(self, lanes: Sequence[Extremum]) -> Extreme:
        cells, slots = (self.cells, self.slots) if lanes else (0, 0)
        fed = [-2 if x.variable is None else self.variables.index(x.variable) for x in lanes]
        return Extreme(
            np.full((cells, len(lanes)), ABSENT, np.int64),
            np.array(fed, np.int64),
            length_steps(lanes),
            key_rows(self.chunk, lanes),
            np.full((slots, len(lanes)), ABSENT, np.int64),
        )

    def _shape(self, lanes: Sequence[Sum] | None) -> tuple[int, int, int]:
        return (0, 0, 0) if lanes is None else (self.cells, self.slots, 1 + len(lanes))


def longest_tie(order: Ints) -> int:
    """The largest number of rows of one order in a row."""
    changes = np.flatnonzero(np.diff(order)) + 1
    return int(np.diff(np.concatenate([[0], changes, [len(order)]])).max(initial=1))
