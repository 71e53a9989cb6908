"""Predicates over many pairs of events: instruction by instruction, over blocks of pairs.

To ask for every pair which instruction is next (`predicates.evaluate`) takes some thirty times as
long as what the instructions do. Here each goes over a block of pairs, and waits for nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.predicates import (
    ABS,
    AND,
    BLOCK,
    COALESCE,
    CONSTANT,
    DIVIDE,
    EQ,
    GE,
    GT,
    IS_NULL,
    LE,
    LEFT,
    LT,
    MINUS,
    MODULO,
    NEGATE,
    NOT,
    OR,
    PLUS,
    RIGHT,
    ROUND,
    TIMES,
    Predicates,
    is_comparison,
)

Floats = NDArray[np.float64]


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


@kernel
def tell(
    predicates: Predicates,
    predicate: int,
    events: NDArray[np.int64],
    right: int,
    stride: int,
) -> Floats:
    """The predicate of at most BLOCK earlier events and of `right`, `right + stride`, …: 1 if true.

    The answer is overwritten by the next.
    """
    code, constant, column = predicates.code, predicates.constant, predicates.column
    size = events.shape[0]
    top = -1
    for at in range(predicates.start[predicate], predicates.start[predicate + 1]):
        op, argument = code[at, 0], code[at, 1]
        if op in (LEFT, RIGHT, CONSTANT):
            top += 1
            into = predicates.block[top]
            if op == LEFT:
                values = column[argument]
                for k in range(size):
                    into[k] = values[events[k]]
            elif op == RIGHT:
                values = column[argument]
                for k in range(size):
                    into[k] = values[right + k * stride]
            else:
                for k in range(size):
                    into[k] = constant[argument]
        elif op in (NOT, NEGATE, ABS, ROUND, IS_NULL):
            _change(op, predicates.block[top], size)
        else:
            top -= 1
            _join(op, predicates.block[top], predicates.block[top + 1], size)
    return predicates.block[0]


@kernel
def _change(op: int, a: Floats, size: int) -> None:
    """Of one operand, in its place."""
    if op == NOT:
        for k in range(size):
            a[k] = 1.0 - a[k]
    elif op == NEGATE:
        for k in range(size):
            a[k] = -a[k]
    elif op == ABS:
        for k in range(size):
            a[k] = abs(a[k])
    elif op == ROUND:
        # SQL rounds halves away from zero.
        for k in range(size):
            a[k] = np.floor(abs(a[k]) + 0.5) * np.sign(a[k])
    else:
        for k in range(size):
            a[k] = 1.0 if np.isnan(a[k]) else 0.0


@kernel
def _join(op: int, a: Floats, b: Floats, size: int) -> None:
    """Of two, in the place of the first; null with anything is null but for AND, OR, COALESCE."""
    if op == COALESCE:
        for k in range(size):
            a[k] = b[k] if np.isnan(a[k]) else a[k]
    elif op == AND:
        for k in range(size):
            a[k] = 0.0 if (a[k] == 0.0) | (b[k] == 0.0) else a[k] * b[k]
    elif op == OR:
        for k in range(size):
            a[k] = 1.0 if (a[k] == 1.0) | (b[k] == 1.0) else a[k] + b[k]
    elif op == PLUS:
        for k in range(size):
            a[k] = a[k] + b[k]
    elif op == MINUS:
        for k in range(size):
            a[k] = a[k] - b[k]
    elif op == TIMES:
        for k in range(size):
            a[k] = a[k] * b[k]
    elif op == DIVIDE:
        for k in range(size):
            a[k] = np.nan if b[k] == 0.0 else a[k] / b[k]
    elif op == MODULO:
        for k in range(size):
            a[k] = np.nan if b[k] == 0.0 else np.fmod(a[k], b[k])
    else:
        _compare(op, a, b, size)


@kernel
def _compare(op: int, a: Floats, b: Floats, size: int) -> None:
    """What is compared with null is null."""
    if op == LT:
        for k in range(size):
            a[k] = np.nan if np.isnan(a[k]) | np.isnan(b[k]) else 1.0 * (a[k] < b[k])
    elif op == LE:
        for k in range(size):
            a[k] = np.nan if np.isnan(a[k]) | np.isnan(b[k]) else 1.0 * (a[k] <= b[k])
    elif op == GT:
        for k in range(size):
            a[k] = np.nan if np.isnan(a[k]) | np.isnan(b[k]) else 1.0 * (a[k] > b[k])
    elif op == GE:
        for k in range(size):
            a[k] = np.nan if np.isnan(a[k]) | np.isnan(b[k]) else 1.0 * (a[k] >= b[k])
    elif op == EQ:
        for k in range(size):
            a[k] = np.nan if np.isnan(a[k]) | np.isnan(b[k]) else 1.0 * (a[k] == b[k])
    else:
        for k in range(size):
            a[k] = np.nan if np.isnan(a[k]) | np.isnan(b[k]) else 1.0 * (a[k] != b[k])
