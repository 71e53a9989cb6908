"""Conditions between an event and the one before it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.predicates import BLOCK, Predicates, holds, is_comparison, tell


@kernel
def of_neighbours(predicates: Predicates, program: int, out: NDArray[np.bool_]) -> None:
    """Whether the program holds of row k and row k + 1, for every k."""
    if is_comparison(predicates, program):
        for event in range(out.shape[0]):
            out[event] = holds(predicates, program, event, event + 1)
        return
    rows = np.arange(BLOCK)
    for first in range(0, out.shape[0], BLOCK):
        size = min(BLOCK, out.shape[0] - first)
        told = tell(predicates, program, rows[:size] + first, first + 1, 1)
        for k in range(size):
            out[first + k] = told[k] == 1.0
