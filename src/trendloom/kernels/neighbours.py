"""Conditions between an event and the one before it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.predicates import Predicates, holds


@kernel
def of_neighbours(predicates: Predicates, program: int, out: NDArray[np.bool_]) -> None:
    """Whether the program holds of row k and row k + 1, for every k."""
    for event in range(out.shape[0]):
        out[event] = holds(predicates, program, event, event + 1)
