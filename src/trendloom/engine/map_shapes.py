"""How large the maps of a part are, in each number domain, and how they travel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trendloom.engine.packed import Packing
from trendloom.language.nodes import Semantics

if TYPE_CHECKING:
    from trendloom.engine.evaluate import Evaluator


@dataclass(frozen=True)
class Shape:
    """The size of one part's maps in one number domain."""

    states: int
    cells: int
    """The states and, where finished trends are added up as they end, FINISHED."""
    lanes: int
    paired: bool = False
    """Whether a lane is two sums at most, which kernels keep in registers (`kernels/pair.py`)."""

    @classmethod
    def of(cls, evaluator: Evaluator, lanes: int, *, sums: bool = True) -> Shape:
        """Besides lane 0."""
        states = evaluator.cells
        finishing = evaluator.semantics is not Semantics.ANY
        return cls(states, max(1, states + finishing), 1 + lanes, sums and states <= 2)

    @property
    def bases(self) -> int:
        return 1 + self.states

    @property
    def width(self) -> int:
        """Numbers per basis."""
        return self.cells * self.lanes

    @property
    def size(self) -> int:
        return self.bases * self.width

    @cached_property
    def doubles(self) -> Packing:
        """Mantissas, and exponents if any is not 0."""
        return Packing(np.dtype("<f8"), self.size, np.dtype("<i4"), self.size)

    @cached_property
    def integers(self) -> Packing:
        """Integers, and per basis whether they overflowed."""
        return Packing(np.dtype("<i8"), self.size, np.dtype("?"), self.bases)

    @cached_property
    def exact(self) -> Packing:
        """Integers, and what is above their words if any does not fit."""
        return Packing(np.dtype("<i8"), self.size, np.dtype("<i8"), self.size)

    @cached_property
    def keys(self) -> Packing:
        return Packing(np.dtype("<i8"), self.size, np.dtype("?"), 0)


def shapes_of(evaluator: Evaluator) -> tuple[Shape | None, Shape | None, Shape | None]:
    """Of its doubles, its integers and its extremes; None where no lane needs the domain."""
    layout = evaluator.layout
    scaled, checked, extremes = layout.scaled, layout.checked, layout.extremes
    return (
        None if scaled is None else Shape.of(evaluator, len(scaled)),
        None if checked is None else Shape.of(evaluator, len(checked)),
        Shape.of(evaluator, len(extremes), sums=False) if extremes else None,
    )


def exact_shape(evaluator: Evaluator) -> Shape | None:
    """Of its exact integers; None without any."""
    exact = evaluator.layout.exact
    return None if exact is None else Shape.of(evaluator, len(exact))
