"""Sums and minima over prefixes, with entries that keep arriving: trees whose nodes are wide.

A tree over `size` places has levels of cells, sixteen to a block. Level 0 has a cell per place, the
level above one per block, up to a level of one block. A cell holds what lies before it within its
block, so an entry is added to the cells behind it in one block per level, sixteen at a stroke, and
a prefix is one cell per level. Nothing is ever subtracted: what is read is a sum of what qualifies
and of nothing else, so minima work like sums and nothing cancels.

Doubles keep an exponent per cell, as in `scaled`: sixteen numbers, then their sixteen exponents,
these as doubles too, so that one vector instruction handles either.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.checked import plus_checked
from trendloom.kernels.compiled import kernel
from trendloom.kernels.extreme import ABSENT
from trendloom.kernels.scaled import RADIX, SHRINK, plus

BITS = 4
WIDE = 1 << BITS
LAST = WIDE - 1


@kernel
def blocks_needed(size: int) -> int:
    """Blocks of a tree over the places 0 … size - 1, and a prefix of all of them."""
    blocks = 0
    while True:
        blocks += (size >> BITS) + 1
        if size < WIDE:
            return blocks
        size >>= BITS


@kernel
def add_scaled(
    cells: NDArray[np.float64], block: int, size: int, place: int, xm: float, exponent: int
) -> None:
    """Enters (xm, exponent) at a place of the tree that begins at a block."""
    xe = float(exponent)
    while True:
        base = (block + (place >> BITS)) * (2 * WIDE)
        here = cells[base : base + 2 * WIDE]
        at = float(place & LAST)
        for j in range(WIDE):
            # `plus` without a branch: the sixteen cells go through it side by side.
            m = here[j]
            e = here[j + WIDE]
            e = e if m != 0.0 else 0.0
            behind = float(j) > at
            ym = xm if behind else 0.0
            ye = xe if behind else e
            top = ye if ye > e else e  # noqa: FURB136  `max` is a call
            down = top - e
            up = top - ye
            small = m * SHRINK
            small = small if down < 1.5 else 0.0
            kept = m if down < 0.5 else small
            small = ym * SHRINK
            small = small if up < 1.5 else 0.0
            more = ym if up < 0.5 else small
            total = kept + more
            full = abs(total) >= RADIX
            less = total * SHRINK
            higher = top + 1.0
            here[j] = less if full else total
            here[j + WIDE] = higher if full else top
        if size < WIDE:
            return
        block += (size >> BITS) + 1
        place >>= BITS
        size >>= BITS


@kernel
def before_scaled(
    cells: NDArray[np.float64], block: int, size: int, place: int
) -> tuple[float, int]:
    """The sum of all entries before a place."""
    m, e = 0.0, 0
    while True:
        base = (block + (place >> BITS)) * (2 * WIDE) + (place & LAST)
        m, e = plus(m, e, cells[base], int(cells[base + WIDE]))
        if size < WIDE:
            return m, e
        block += (size >> BITS) + 1
        place >>= BITS
        size >>= BITS


@kernel
def add_checked(
    cells: NDArray[np.int64], block: int, size: int, place: int, x: int, overflow: NDArray[np.int64]
) -> None:
    """`add_scaled` for integers; `overflow[0]` becomes negative if a sum leaves the 64 bits."""
    wrapped = 0
    while True:
        base = (block + (place >> BITS)) * WIDE
        here = cells[base : base + WIDE]
        at = place & LAST
        for j in range(WIDE):
            held = here[j]
            more = x if j > at else 0
            total = held + more
            wrapped |= (held ^ total) & (more ^ total)
            here[j] = total
        if size < WIDE:
            break
        block += (size >> BITS) + 1
        place >>= BITS
        size >>= BITS
    if wrapped < 0:
        overflow[0] = -1


@kernel
def before_checked(
    cells: NDArray[np.int64], block: int, size: int, place: int, overflow: NDArray[np.int64]
) -> int:
    total = 0
    while True:
        more = cells[(block + (place >> BITS)) * WIDE + (place & LAST)]
        total = plus_checked(total, more, overflow)
        if size < WIDE:
            return total
        block += (size >> BITS) + 1
        place >>= BITS
        size >>= BITS


@kernel
def add_extreme(cells: NDArray[np.int64], block: int, size: int, place: int, x: int) -> None:
    """`add_scaled` for minima."""
    while True:
        base = (block + (place >> BITS)) * WIDE
        here = cells[base : base + WIDE]
        at = place & LAST
        for j in range(WIDE):
            held = here[j]
            less = x if x < held else held  # noqa: FURB136  as above
            here[j] = less if j > at else held
        if size < WIDE:
            return
        block += (size >> BITS) + 1
        place >>= BITS
        size >>= BITS


@kernel
def before_extreme(cells: NDArray[np.int64], block: int, size: int, place: int) -> int:
    least = ABSENT
    while True:
        least = min(least, cells[(block + (place >> BITS)) * WIDE + (place & LAST)])
        if size < WIDE:
            return least
        block += (size >> BITS) + 1
        place >>= BITS
        size >>= BITS
