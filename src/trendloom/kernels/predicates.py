"""Predicates between two events, as small postfix programs over blocks of pairs.

Each instruction goes over a block of pairs: to ask for every pair which instruction is next takes
some thirty times as long as what the instructions do. Numbers are doubles, and NaN is SQL's null:
comparisons with it are unknown, AND and OR follow three-valued logic, and a predicate holds only if
it is true. Whole numbers that doubles cannot tell apart are computed by WIDE instructions, on a
stack of their own. Hosts compute everything that reads one row; only what mixes two rows is
interpreted here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.wide import (
    NULL_HIGH,
    NULL_LOW,
    is_less,
    is_null,
    magnitude,
    negative,
    plus,
    remainder,
    rounded,
    times,
    to_double,
)

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
    WIDE_LEFT,
    WIDE_RIGHT,
    WIDE_CONSTANT,
    WIDE_LT,
    WIDE_LE,
    WIDE_GT,
    WIDE_GE,
    WIDE_EQ,
    WIDE_NE,
    WIDE_PLUS,
    WIDE_MINUS,
    WIDE_TIMES,
    WIDE_MODULO,
    WIDE_COALESCE,
    WIDE_NEGATE,
    WIDE_ABS,
    WIDE_ROUND,
    WIDE_IS_NULL,
    WIDE_DOUBLE,
) = range(41)

STACK_DEPTH = 64
BLOCK = 256
"""Pairs that are told together: the stack of a common condition stays in the first-level cache."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


class Predicates(NamedTuple):
    """Program p is rows `start[p] : start[p + 1]` of `code`; LEFT and RIGHT name a column."""

    start: Ints
    code: Ints
    constant: Floats
    column: Floats
    block: Floats
    """A stack of so many pairs at once."""
    wide_constant: Words
    wide_column: Words
    """[column, event, word]."""
    wide_block: Words
    event: Ints
    """One event, where a predicate is asked of one pair."""
    stop: Ints
    """Not zero once nobody waits for the result: long loops end, and leave it unfinished."""


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
    return (
        hi - lo == 3
        and code[lo, 0] == LEFT
        and code[lo + 1, 0] == RIGHT
        and LT <= code[lo + 2, 0] <= NE
    )


@kernel
def holds(predicates: Predicates, predicate: int, left: int, right: int) -> bool:
    """Whether the predicate is true of the earlier event `left` and the later event `right`."""
    lo = predicates.start[predicate]
    code = predicates.code
    column = predicates.column
    if is_comparison(predicates, predicate):
        return compare(code[lo + 2, 0], column[code[lo, 1], left], column[code[lo + 1, 1], right])
    predicates.event[0] = left
    return tell(predicates, predicate, predicates.event, right, 0)[0] == 1.0


@kernel
def tell(predicates: Predicates, predicate: int, events: Ints, right: int, stride: int) -> Floats:
    """The predicate of at most BLOCK earlier events and of `right`, `right + stride`, …: 1 if true.

    The answer is overwritten by the next.
    """
    code, constant, column = predicates.code, predicates.constant, predicates.column
    block = predicates.block
    size = events.shape[0]
    top = -1
    for at in range(predicates.start[predicate], predicates.start[predicate + 1]):
        op, argument = code[at, 0], code[at, 1]
        if op in (LEFT, RIGHT, CONSTANT):
            top += 1
            into = block[top]
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
            _change(op, block[top], size)
        elif op <= COALESCE:
            top -= 1
            _join(op, block[top], block[top + 1], size)
        elif op <= WIDE_CONSTANT:
            top += 1
            _push_wide(predicates, op, argument, top, events, right, stride)
        elif op >= WIDE_NEGATE:
            _change_wide(predicates, op, argument, top, size)
        else:
            top -= 1
            _join_wide(predicates, op, top, size)
    return block[0]


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
        # SQL rounds halves away from zero; what is behind the point is exact, a half added is not.
        for k in range(size):
            whole = np.floor(abs(a[k]))
            a[k] = (whole + (1.0 if abs(a[k]) - whole >= 0.5 else 0.0)) * np.sign(a[k])
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


@kernel
def _push_wide(
    predicates: Predicates, op: int, argument: int, top: int, events: Ints, right: int, stride: int
) -> None:
    into = predicates.wide_block[top]
    for k in range(events.shape[0]):
        if op == WIDE_CONSTANT:
            into[k, 0] = predicates.wide_constant[argument, 0]
            into[k, 1] = predicates.wide_constant[argument, 1]
        else:
            row = events[k] if op == WIDE_LEFT else right + k * stride
            into[k, 0] = predicates.wide_column[argument, row, 0]
            into[k, 1] = predicates.wide_column[argument, row, 1]


@kernel
def _change_wide(predicates: Predicates, op: int, argument: int, top: int, size: int) -> None:
    """Of one operand; whether it is null and its double go to the other stack."""
    a = predicates.wide_block[top]
    for k in range(size):
        low, high = a[k, 0], a[k, 1]
        null = is_null(low, high)
        if op == WIDE_IS_NULL:
            predicates.block[top, k] = 1.0 if null else 0.0
        elif op == WIDE_DOUBLE:
            value = to_double(low, high) / predicates.constant[argument]
            predicates.block[top, k] = np.nan if null else value
        elif not null:
            if op == WIDE_NEGATE:
                low, high = negative(low, high)
            elif op == WIDE_ABS:
                low, high = magnitude(low, high)
            else:
                unit = predicates.wide_constant[argument]
                low, high = rounded(low, high, unit[0], unit[1])
            a[k, 0], a[k, 1] = low, high


@kernel
def _join_wide(predicates: Predicates, op: int, top: int, size: int) -> None:
    """Of two, in the place of the first; the truth of a comparison goes to the other stack."""
    a, b = predicates.wide_block[top], predicates.wide_block[top + 1]
    told = predicates.block[top]
    for k in range(size):
        low, high, other_low, other_high = a[k, 0], a[k, 1], b[k, 0], b[k, 1]
        null = is_null(low, high)
        if op == WIDE_COALESCE:
            if null:
                a[k, 0], a[k, 1] = other_low, other_high
            continue
        other_null = is_null(other_low, other_high)
        if op <= WIDE_NE:
            if null or other_null:
                told[k] = np.nan
                continue
            less = is_less(low, high, other_low, other_high)
            equal = low == other_low and high == other_high
            if op == WIDE_LT:
                told[k] = 1.0 * less
            elif op == WIDE_LE:
                told[k] = 1.0 * (less or equal)
            elif op == WIDE_GT:
                told[k] = 1.0 * (not (less or equal))
            elif op == WIDE_GE:
                told[k] = 1.0 * (not less)
            elif op == WIDE_EQ:
                told[k] = 1.0 * equal
            else:
                told[k] = 1.0 * (not equal)
            continue
        if null:
            continue
        if other_null or (op == WIDE_MODULO and (other_low | other_high) == NULL_LOW):
            low, high = NULL_LOW, NULL_HIGH
        elif op == WIDE_PLUS:
            low, high = plus(low, high, other_low, other_high)
        elif op == WIDE_MINUS:
            other_low, other_high = negative(other_low, other_high)
            low, high = plus(low, high, other_low, other_high)
        elif op == WIDE_TIMES:
            low, high = times(low, high, other_low, other_high)
        else:
            low, high = remainder(low, high, other_low, other_high)
        a[k, 0], a[k, 1] = low, high
