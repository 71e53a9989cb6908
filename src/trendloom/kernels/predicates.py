"""Predicates between two events, as small postfix programs over columns of doubles.

NaN is SQL's null: comparisons with it are unknown, AND and OR follow three-valued logic, and a
predicate holds only if it is true. Hosts compute everything that reads one row; only what mixes
two rows is interpreted here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel

(
    LEFT,
    RIGHT,
    CONSTANT,
    LT,
    LE,
    GT,
    GE,
    EQ,
    NE,
    AND,
    OR,
    NOT,
    PLUS,
    MINUS,
    TIMES,
    DIVIDE,
    MODULO,
    NEGATE,
    ABS,
    ROUND,
    IS_NULL,
    COALESCE,
) = range(22)

STACK_DEPTH = 64
BLOCK = 256
"""Pairs that are told together: the stack of a common condition stays in the first-level cache."""


class Predicates(NamedTuple):
    """Program p is rows `start[p] : start[p + 1]` of `code`; LEFT and RIGHT name a column."""

    start: NDArray[np.int64]
    code: NDArray[np.int64]
    constant: NDArray[np.float64]
    column: NDArray[np.float64]
    stack: NDArray[np.float64]
    block: NDArray[np.float64]
    """A stack of so many pairs at once (`blocks`)."""


@kernel
def compare(op: int, a: float, b: float) -> bool:
    """a op b; false if either is null."""
    if op == LT:
        return a < b
    if op == LE:
        return a <= b
    if op == GT:
        return a > b
    if op == GE:
        return a >= b
    if op == EQ:
        return a == b
    return a < b or a > b


@kernel
def is_comparison(predicates: Predicates, predicate: int) -> bool:
    """`X.a op NEXT(Y).b`: the common case, and the one an index can serve."""
    lo, hi = predicates.start[predicate], predicates.start[predicate + 1]
    code = predicates.code
    return hi - lo == 3 and code[lo, 0] == LEFT and code[lo + 1, 0] == RIGHT


@kernel
def holds(predicates: Predicates, predicate: int, left: int, right: int) -> bool:
    """Whether the predicate is true of the earlier event `left` and the later event `right`."""
    lo = predicates.start[predicate]
    hi = predicates.start[predicate + 1]
    code = predicates.code
    column = predicates.column
    if is_comparison(predicates, predicate):
        return compare(code[hi - 1, 0], column[code[lo, 1], left], column[code[lo + 1, 1], right])
    return evaluate(predicates, lo, hi, left, right) == 1.0


@kernel
def evaluate(predicates: Predicates, lo: int, hi: int, left: int, right: int) -> float:
    code, constant, column, stack = (
        predicates.code,
        predicates.constant,
        predicates.column,
        predicates.stack,
    )
    top = -1
    for at in range(lo, hi):
        op = code[at, 0]
        if op == LEFT:
            top += 1
            stack[top] = column[code[at, 1], left]
        elif op == RIGHT:
            top += 1
            stack[top] = column[code[at, 1], right]
        elif op == CONSTANT:
            top += 1
            stack[top] = constant[code[at, 1]]
        elif op == NOT:
            stack[top] = 1.0 - stack[top]
        elif op == NEGATE:
            stack[top] = -stack[top]
        elif op == ABS:
            stack[top] = abs(stack[top])
        elif op == ROUND:
            # SQL rounds halves away from zero.
            a = stack[top]
            stack[top] = np.floor(abs(a) + 0.5) * np.sign(a)
        elif op == IS_NULL:
            stack[top] = 1.0 if np.isnan(stack[top]) else 0.0
        else:
            b = stack[top]
            top -= 1
            stack[top] = _binary(op, stack[top], b)
    return stack[0]


@kernel
def _binary(op: int, a: float, b: float) -> float:
    if op == COALESCE:
        return b if np.isnan(a) else a
    if op == AND:
        if a == 0.0 or b == 0.0:
            return 0.0
        return a * b
    if op == OR:
        if a == 1.0 or b == 1.0:
            return 1.0
        return a + b
    if np.isnan(a) or np.isnan(b):
        return np.nan
    if op == PLUS:
        return a + b
    if op == MINUS:
        return a - b
    if op == TIMES:
        return a * b
    if op == DIVIDE:
        return np.nan if b == 0.0 else a / b
    if op == MODULO:
        return np.nan if b == 0.0 else np.fmod(a, b)
    return 1.0 if compare(op, a, b) else 0.0
