"""Maps of exact integers: 64 bits each, of so few events that 64 bits suffice.

1. A stretch of events whose map overflows is cut in two, between time points, until all pieces'
   maps fit: `cut_to_fit`. Where trends are polynomially many, that is rare.
2. The map of a single time point that does not fit is made in two words, as its values are: a
   number is head + tail · 2**32. Counts of one time point always fit, and sums of halves do.
3. Vectors go through the maps in 64 bits if they fit, else in Python's integers: once for each map,
   never for each event.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from trendloom.kernels.maps import apply_integers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.windows import Runs

    Ints = NDArray[np.int64]
    Make = Callable[[Ints, Ints, Ints], tuple[Ints, NDArray[np.bool_]]]
    """Where runs begin and end, and the rows of integers → maps, and which bases overflowed."""

WORD = 32


def cut_to_fit(
    panes: Runs, chunk: Chunk, makes: Sequence[tuple[Make, Ints]], most: int, apart: int
) -> Runs:
    """Pieces of panes, in their order, whose maps fit, or that are single time points.

    Each maker comes with its rows of integers; `most` runs are tried at a time. The first `apart`
    events of a piece are not in its map.
    """
    points = np.flatnonzero(np.diff(chunk.order, prepend=chunk.order[:1]) != 0)
    fits = np.zeros(len(panes), np.bool_)
    while not fits.all():
        at = np.flatnonzero(~fits)
        for first in range(0, len(at), most):
            some = at[first : first + most]
            lo, hi = panes.lo[some] + apart, panes.hi[some]
            lost = [make(lo, hi, x)[1].any(axis=1) for make, x in makes]
            fits[some] = ~np.logical_or.reduce(lost)
        panes, fits = _halved(panes, fits, points)
    return panes


def _halved(panes: Runs, fits: NDArray[np.bool_], points: Ints) -> tuple[Runs, NDArray[np.bool_]]:
    """Those that do not fit in two, near their middles; what is not yet tried does not fit."""
    points = np.concatenate([[-1], points, [np.iinfo(np.int64).max]])
    behind = np.searchsorted(points, (panes.lo + panes.hi + 1) // 2)
    cut = np.where(points[behind] < panes.hi, points[behind], points[behind - 1])
    halves = ~fits & (panes.lo < cut)
    twice = np.repeat(np.arange(len(panes)), 1 + halves)
    is_second = np.diff(twice, prepend=-1) == 0
    is_first = np.append(is_second[1:], np.zeros(1, np.bool_))
    pieces = panes.pick(twice)
    lo = np.where(is_second, cut[twice], pieces.lo)
    hi = np.where(is_first, cut[twice], pieces.hi)
    return replace(pieces, lo=lo, hi=hi), ~halves[twice]


def exact_maps(make: Make, x: Ints, lo: Ints, hi: Ints, lanes: int) -> tuple[Ints, Ints]:
    """Heads and tails of the maps of runs that `cut_to_fit` gave."""
    head, lost = make(lo, hi, x)
    tail = np.zeros_like(head)
    large = np.flatnonzero(lost.any(axis=1))
    if len(large):
        low, overflowed = make(lo[large], hi[large], x & ((1 << WORD) - 1))
        high, too = make(lo[large], hi[large], x >> WORD)
        assert not np.any(overflowed | too), "halves of one time point's values fit"
        high[:, :, ::lanes] = 0
        head[large], tail[large] = low, high
    return head, tail


def rounded(head: Ints, tail: Ints) -> NDArray[np.float64]:
    """The numbers as doubles."""
    return head.astype(np.float64) + tail.astype(np.float64) * 2.0**WORD


def apply_exact(
    head: Ints, tail: Ints, lo: Ints, hi: Ints, lanes: int, first: NDArray[Any]
) -> NDArray[np.object_]:
    """What maps `lo[r] : hi[r]`, [row, basis, number], in turn make of the vector `first[r]`."""
    if not tail.any() and first.dtype != np.object_:
        moved = first.copy()
        lost = np.zeros(head.shape[:2], np.bool_)
        if apply_integers(head, lost, lo, hi, lanes, moved):
            return moved.astype(np.object_)
    out = first.astype(np.object_)
    for run in range(len(lo)):
        vector = out[run].tolist()
        for row in range(lo[run], hi[run]):
            numbers = head[row].astype(np.object_) + (tail[row].astype(np.object_) << WORD)
            _through(numbers.tolist(), lanes, vector)
        out[run] = vector
    return out


def _through(bases: list[list[Any]], lanes: int, vector: list[Any]) -> None:
    """The same as `kernels/maps.py` says, of one vector and one map."""
    states, width = len(bases) - 1, len(bases[0])
    new = list(bases[0])
    for k in range(states * lanes, width):
        new[k] += vector[k]
    for state, basis in enumerate(bases[1:]):
        own = vector[state * lanes : (state + 1) * lanes]
        if own[0] == 0:
            continue
        for cell in range(0, width, lanes):
            count = basis[cell]
            if count == 0:
                continue
            new[cell] += own[0] * count
            for k in range(1, lanes):
                new[cell + k] += own[0] * basis[cell + k] + own[k] * count
    vector[:width] = new
