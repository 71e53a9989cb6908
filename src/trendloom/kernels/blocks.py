"""Which of many events may precede one: predicates told block by block."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.predicates import (
    BLOCK,
    EQ,
    GE,
    GT,
    LE,
    LT,
    Predicates,
    is_comparison,
    tell,
)


@kernel
def select(
    predicates: Predicates,
    predicate: int,
    events: NDArray[np.int64],
    count: int,
    right: int,
    hits: NDArray[np.int64],
) -> int:
    """Which of the first `count` events satisfy the predicate with the later event `right`.

    Writes their places into `hits` and returns how many. A negative predicate holds for all. The
    comparison of two columns runs without a branch: an index by value could take its place.
    """
    if predicate < 0:
        for k in range(count):
            hits[k] = k
        return count
    lo = predicates.start[predicate]
    hi = predicates.start[predicate + 1]
    code = predicates.code
    found = 0
    if not is_comparison(predicates, predicate):
        for first in range(0, count, BLOCK):
            size = min(BLOCK, count - first)
            told = tell(predicates, predicate, events[first : first + size], right, 0)
            for k in range(size):
                hits[found] = first + k
                found += told[k] == 1.0
        return found
    op = code[hi - 1, 0]
    left = predicates.column[code[lo, 1]]
    value = predicates.column[code[lo + 1, 1], right]
    if op == LT:
        for k in range(count):
            hits[found] = k
            found += left[events[k]] < value
    elif op == LE:
        for k in range(count):
            hits[found] = k
            found += left[events[k]] <= value
    elif op == GT:
        for k in range(count):
            hits[found] = k
            found += left[events[k]] > value
    elif op == GE:
        for k in range(count):
            hits[found] = k
            found += left[events[k]] >= value
    elif op == EQ:
        for k in range(count):
            hits[found] = k
            found += left[events[k]] == value
    else:
        for k in range(count):
            hits[found] = k
            found += left[events[k]] < value or left[events[k]] > value
    return found
