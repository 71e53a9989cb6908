"""Counts beyond doubles: all of one group in units of the same power of 2**256."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.counting import RADIX, RADIX_BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHRINK = 1 / RADIX
__all__ = ["RADIX", "SHRINK", "log2_of"]


def log2_of(counts: NDArray[np.float64], exponents: NDArray[np.int64]) -> NDArray[np.float64]:
    """Minus infinity where there is no trend."""
    with np.errstate(divide="ignore"):
        return np.log2(counts) + RADIX_BITS * exponents
