"""Events of runs → maps in every number domain that a part has lanes of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from trendloom.engine.exact_maps import exact_maps
from trendloom.engine.inputs import (
    double_rows,
    feeding_variables,
    integer_rows,
    key_rows,
    length_steps,
)
from trendloom.engine.map_shapes import exact_shape, shapes_of
from trendloom.kernels.event_maps import double_maps, integer_maps
from trendloom.kernels.lattice_maps import extreme_maps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.evaluate import Evaluator
    from trendloom.engine.lanes import Extremum, Sum
    from trendloom.engine.map_shapes import Shape
    from trendloom.kernels.table import Table

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Maps:
    """[run, basis, number]; None where no lane needs the domain."""

    doubles: tuple[Floats, Ints] | None
    """With exponents."""
    integers: tuple[Ints, Bools] | None
    """And which bases overflowed."""
    keys: Ints | None
    exact: tuple[Ints, Ints] | None
    """Heads and tails."""


@dataclass(frozen=True)
class Mapper:
    """One part's events of a chunk."""

    evaluator: Evaluator
    chunk: Chunk
    table: Table
    codes: NDArray[Any]

    @classmethod
    def of(cls, evaluator: Evaluator, chunk: Chunk) -> Mapper:
        return cls(evaluator, chunk, *evaluator.table(chunk))

    def maps(self, lo: Ints, hi: Ints) -> Maps:
        """Of events `lo[r] : hi[r]`."""
        scaled, checked, extremes = shapes_of(self.evaluator)
        events = self.chunk.order, self.codes, lo, hi
        doubles = integers = keys = exact = None
        if scaled is not None:
            m, e = _blank(scaled, len(lo), np.float64), _blank(scaled, len(lo), np.int64)
            lanes = self.evaluator.layout.scaled or ()
            double_maps(self.table, *events, self._feeding(lanes), self._reals, m, e)
            doubles = m, e
        if checked is not None:
            lanes = self.evaluator.layout.checked or ()
            integers = self._integers(checked, lanes, lo, hi, self._wholes)
        if extremes is not None:
            keys = _blank(extremes, len(lo), np.int64)
            var = self._feeding(self.evaluator.layout.extremes)
            step = length_steps(self.evaluator.layout.extremes)
            extreme_maps(self.table, *events, var, step, self._keys, keys)
        large = exact_shape(self.evaluator)
        if large is not None:
            exact = exact_maps(self.make_exact, self.exact_rows, lo, hi, large.lanes)
        return Maps(doubles, integers, keys, exact)

    def make_exact(self, lo: Ints, hi: Ints, x: Ints) -> tuple[Ints, Bools]:
        """Maps of the exact lanes in 64 bits, of such rows of integers."""
        shape = exact_shape(self.evaluator)
        assert shape is not None, "a part without exact lanes has no such maps"
        return self._integers(shape, self.evaluator.layout.exact or (), lo, hi, x)

    @cached_property
    def exact_rows(self) -> Ints:
        return integer_rows(self.chunk, self.evaluator.layout.exact or ())

    def _integers(
        self, shape: Shape, lanes: Sequence[Sum], lo: Ints, hi: Ints, x: Ints
    ) -> tuple[Ints, Bools]:
        v, lost = _blank(shape, len(lo), np.int64), np.zeros((len(lo), shape.bases), np.bool_)
        var = self._feeding(lanes)
        integer_maps(self.table, self.chunk.order, self.codes, lo, hi, var, x, v, lost)
        return v, lost

    def _feeding(self, lanes: Sequence[Sum | Extremum]) -> Ints:
        return feeding_variables(self.evaluator.part.automaton.variables, lanes)

    @cached_property
    def _reals(self) -> Floats:
        return double_rows(self.chunk, self.evaluator.layout.scaled or (), self.evaluator.centres)

    @cached_property
    def _wholes(self) -> Ints:
        return integer_rows(self.chunk, self.evaluator.layout.checked or ())

    @cached_property
    def _keys(self) -> Ints:
        return key_rows(self.chunk, self.evaluator.layout.extremes)


def _blank(shape: Shape, rows: int, kind: type[np.float64] | type[np.int64]) -> NDArray[Any]:
    return np.zeros((rows, shape.bases, shape.width), kind)
