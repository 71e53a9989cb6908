"""Sums and minima over prefixes where every entry is a row of numbers: a lane per window.

A tree over `size` places has a row per place. Row i - 1 holds what lies at the 2**z places up to i,
z being the zeros at i's end, so an entry is added to at most log2(size) + 1 rows, and a prefix is a
sum of as many. A row is contiguous: all windows are added at a stroke. Nothing is subtracted.

Rows lie in flat arrays, `span` numbers each. Doubles have an exponent per number, as in `scaled`,
these as doubles too; or none at all where the array of exponents is empty: plain doubles, as long
as they stay below `LIMIT`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.extreme import ABSENT
from trendloom.kernels.scaled import RADIX, SHRINK

Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]

LIMIT = 2.0**900
"""Of single entries without exponents: sums of 2**31 of them are still finite."""


@kernel(inline="always")
def _plus_scaled(
    m: Doubles, e: Doubles, at: int, xm: Doubles, xe: Doubles, by: int, span: int
) -> None:
    for j in range(span):
        # `plus` without a branch, as in `prefix`: lanes go through it side by side.
        held, more = m[at + j], xm[by + j]
        held_e = e[at + j] if held != 0.0 else 0.0
        more_e = xe[by + j] if more != 0.0 else 0.0
        top = more_e if more_e > held_e else held_e  # noqa: FURB136  `max` is a call
        down, up = top - held_e, top - more_e
        small = held * SHRINK if down < 1.5 else 0.0
        held = held if down < 0.5 else small
        small = more * SHRINK if up < 1.5 else 0.0
        total = held + (more if up < 0.5 else small)
        full = abs(total) >= RADIX
        m[at + j] = total * SHRINK if full else total
        e[at + j] = top + 1.0 if full else top


@kernel(inline="always")
def plus_row(m: Doubles, e: Doubles, at: int, xm: Doubles, xe: Doubles, by: int, span: int) -> None:
    """Adds the row at `by` to that at `at`. Inlined: a call costs more than it does."""
    if e.shape[0] == 0:
        for j in range(span):
            m[at + j] += xm[by + j]
    else:
        _plus_scaled(m, e, at, xm, xe, by, span)


@kernel
def times_row(
    m: Doubles, e: Doubles, at: int, x: float, tm: Doubles, te: Doubles, by: int, lanes: int
) -> None:
    """x times the lanes at `by` into those at `at`; |x| is below the radix."""
    if e.shape[0] == 0:
        for j in range(lanes):
            m[at + j] = x * tm[by + j]
        return
    for j in range(lanes):
        product = x * tm[by + j]
        full = abs(product) >= RADIX
        m[at + j] = product * SHRINK if full else product
        e[at + j] = te[by + j] + 1.0 if full else te[by + j]


@kernel
def read_sums(
    m: Doubles, e: Doubles, at: int, tree_m: Doubles, tree_e: Doubles, first: int, end: int,
    span: int,
) -> None:  # fmt: skip
    """Adds all entries before place `end` of the tree that begins at row `first` to a row."""
    plain = e.shape[0] == 0
    while end > 0:
        by = (first + end - 1) * span
        if plain:
            for j in range(span):
                m[at + j] += tree_m[by + j]
        else:
            _plus_scaled(m, e, at, tree_m, tree_e, by, span)
        end &= end - 1


@kernel
def enter_sums(
    tree_m: Doubles, tree_e: Doubles, first: int, size: int, place: int, m: Doubles, e: Doubles,
    at: int, span: int,
) -> None:  # fmt: skip
    """Enters a row at a place."""
    plain = e.shape[0] == 0
    place += 1
    while place <= size:
        to = (first + place - 1) * span
        if plain:
            for j in range(span):
                tree_m[to + j] += m[at + j]
        else:
            _plus_scaled(tree_m, tree_e, to, m, e, at, span)
        place += place & -place


@kernel(inline="always")
def plus_integers(v: Ints, at: int, x: Ints, by: int, span: int, lost: Ints) -> None:
    """`lost[j]` becomes negative where number j of a row leaves the 64 bits."""
    for j in range(span):
        held, more = v[at + j], x[by + j]
        total = held + more
        lost[j] |= (held ^ total) & (more ^ total)
        v[at + j] = total


@kernel
def read_integers(
    v: Ints, at: int, tree: Ints, first: int, end: int, span: int, lost: Ints
) -> None:
    while end > 0:
        plus_integers(v, at, tree, (first + end - 1) * span, span, lost)
        end &= end - 1


@kernel
def enter_integers(
    tree: Ints, first: int, size: int, place: int, v: Ints, at: int, span: int, lost: Ints
) -> None:
    place += 1
    while place <= size:
        plus_integers(tree, (first + place - 1) * span, v, at, span, lost)
        place += place & -place


@kernel(inline="always")
def least_row(k: Ints, at: int, x: Ints, by: int, span: int) -> None:
    for j in range(span):
        held, more = k[at + j], x[by + j]
        k[at + j] = more if more < held else held  # noqa: FURB136  as above


@kernel
def read_keys(k: Ints, at: int, tree: Ints, first: int, end: int, span: int) -> None:
    while end > 0:
        least_row(k, at, tree, (first + end - 1) * span, span)
        end &= end - 1


@kernel
def enter_keys(tree: Ints, first: int, size: int, place: int, k: Ints, at: int, span: int) -> None:
    place += 1
    while place <= size:
        least_row(tree, (first + place - 1) * span, k, at, span)
        place += place & -place


@kernel
def step_keys(k: Ints, at: int, step: int, lanes: int) -> None:
    """Trends become longer."""
    for j in range(lanes):
        held = k[at + j]
        k[at + j] = held if held == ABSENT else held + step
