"""Small programs over exact numbers: what transitions assign, ask and put out, compiled.

A number is two doubles, of which the first is their sum rounded: whole numbers of 64 bits and sums
of doubles fit without loss. Where they would not, `where[LOST]` says so, and whoever runs the
program has to do it in another way. Null is not a number in the first; so are truth values that are
neither TRUE (1) nor FALSE (0). A program is a stretch of instructions in postfix order, each a code
and what it is about.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

SLOT, VALUE, CONSTANT = range(3)
"""What a run holds, what the event has, what is written in the program."""
PLUS, MINUS, TIMES = range(3, 6)
"""Without loss; null if either side is."""
ADD, SUBTRACT, MULTIPLY, DIVIDE = range(6, 10)
"""Rounded, as doubles; division by zero is null."""
LEAST, GREATEST, AVERAGE, ROUNDED, KNOWN, INSTEAD = range(10, 16)
"""Null is no value to the first two. KNOWN is 1 or, of null, 0; INSTEAD puts a constant for it."""
EQUAL, UNEQUAL, LESS, LESS_EQUAL = range(16, 20)
NOT, BOTH, EITHER, MISSING = range(20, 24)

LOST = 6
"""In `where`."""
DEPTH = 32
"""Numbers that a program may put aside."""

_SPLIT = 134217729.0
"""2 to the 27th and one: halves the digits of a double."""
_LARGE = 1e290


@kernel
def compute(
    program: Ints,
    low: int,
    high: int,
    constants: Floats,
    slots: Floats,
    values: Floats,
    stack: Floats,
    where: Ints,
) -> None:
    """Leaves its number in `stack[0]`."""
    top = -1
    for at in range(low, high):
        code, about = program[at, 0], program[at, 1]
        if code <= CONSTANT:
            top += 1
            if code == SLOT:
                stack[top, 0], stack[top, 1] = slots[2 * about], slots[2 * about + 1]
            elif code == VALUE:
                stack[top, 0], stack[top, 1] = values[2 * about], values[2 * about + 1]
                if abs(stack[top, 0]) == np.inf:
                    where[LOST] = 1
            else:
                stack[top, 0], stack[top, 1] = constants[about], 0.0
            continue
        x, x_rest = stack[top, 0], stack[top, 1]
        if code == ROUNDED:
            stack[top, 1] = 0.0 if x == x else x_rest
        elif code == KNOWN:
            stack[top, 0], stack[top, 1] = 1.0 if x == x else 0.0, 0.0
        elif code == INSTEAD:
            if x != x:
                stack[top, 0], stack[top, 1] = constants[about], 0.0
        elif code == NOT:
            stack[top, 0] = 1.0 - x
        elif code == MISSING:
            stack[top, 0], stack[top, 1] = 0.0 if x == x else 1.0, 0.0
        else:
            top -= 1
            y, y_rest = x, x_rest
            x, x_rest = stack[top, 0], stack[top, 1]
            if code == BOTH:
                stack[top, 0] = _both(x, y)
            elif code == EITHER:
                stack[top, 0] = 1.0 - _both(1.0 - x, 1.0 - y)
            elif code in (LEAST, GREATEST):
                less = y < x or (y == x and y_rest < x_rest)
                if x != x or (y == y and (less if code == LEAST else not less)):
                    stack[top, 0], stack[top, 1] = y, y_rest
            elif x != x or y != y:
                stack[top, 0], stack[top, 1] = np.nan, 0.0
            elif code == PLUS:
                _plus(x, x_rest, y, y_rest, stack, top, where)
            elif code == MINUS:
                _plus(x, x_rest, -y, -y_rest, stack, top, where)
            elif code == TIMES:
                _times(x, x_rest, y, y_rest, stack, top, where)
            elif code == AVERAGE:
                _average(x, x_rest, y, stack, top, where)
            elif code >= EQUAL:
                stack[top, 0] = _compared(code, x, x_rest, y, y_rest)
                stack[top, 1] = 0.0
            else:
                # A whole number of which digits are lost is not rounded as Python rounds it.
                if x_rest != 0.0 or y_rest != 0.0:
                    where[LOST] = 1
                made = _rounded(code, x, y)
                stack[top, 0], stack[top, 1] = made, 0.0
                if made - made != 0.0 and not (code == DIVIDE and y == 0.0):
                    where[LOST] = 1


@kernel
def _both(x: float, y: float) -> float:
    if x == 0.0 or y == 0.0:
        return 0.0
    return x * y


@kernel
def _compared(code: int, x: float, x_rest: float, y: float, y_rest: float) -> float:
    if code == EQUAL:
        return 1.0 if x == y and x_rest == y_rest else 0.0
    if code == UNEQUAL:
        return 0.0 if x == y and x_rest == y_rest else 1.0
    if x == y and x_rest == y_rest:
        return 1.0 if code == LESS_EQUAL else 0.0
    return 1.0 if x < y or (x == y and x_rest < y_rest) else 0.0


@kernel
def _rounded(code: int, x: float, y: float) -> float:
    if code == ADD:
        return x + y
    if code == SUBTRACT:
        return x - y
    if code == MULTIPLY:
        return x * y
    return np.nan if y == 0.0 else x / y


@kernel
def _plus(
    x: float, x_rest: float, y: float, y_rest: float, stack: Floats, top: int, where: Ints
) -> None:
    """What rounding leaves of each sum is a double again; only the last of them may be lost."""
    total = x + y
    part = total - x
    rest = (x - (total - part)) + (y - part)
    small = x_rest + y_rest
    part = small - x_rest
    small_rest = (x_rest - (small - part)) + (y_rest - part)
    joined = rest + small
    part = joined - rest
    joined_rest = (rest - (joined - part)) + (small - part)
    made = total + joined
    part = made - total
    left = (total - (made - part)) + (joined - part)
    if small_rest != 0.0 or joined_rest != 0.0 or not abs(made) < _LARGE:
        where[LOST] = 1
    stack[top, 0], stack[top, 1] = made + 0.0, left + 0.0


@kernel
def _times(
    x: float, x_rest: float, y: float, y_rest: float, stack: Floats, top: int, where: Ints
) -> None:
    """Of two numbers without a rest, in ranges in which no digit falls below the smallest."""
    made = x * y
    if (
        x_rest != 0.0
        or y_rest != 0.0
        or not abs(x) < 1e140
        or not abs(y) < 1e140
        or (made != 0.0 and abs(made) < 1e-200)
        or (made == 0.0 and x != 0.0 and y != 0.0)
    ):
        where[LOST] = 1
        return
    stack[top, 0], stack[top, 1] = made + 0.0, _left_of_product(x, y, made) + 0.0


@kernel
def _left_of_product(x: float, y: float, made: float) -> float:
    x_high = _SPLIT * x - (_SPLIT * x - x)
    y_high = _SPLIT * y - (_SPLIT * y - y)
    x_low, y_low = x - x_high, y - y_high
    return ((x_high * y_high - made) + x_high * y_low + x_low * y_high) + x_low * y_low


@kernel
def _average(total: float, rest: float, count: float, stack: Floats, top: int, where: Ints) -> None:
    """The quotient, rounded once: what is left of the first guess must not be near a tie."""
    stack[top, 1] = 0.0
    if count == 0.0:
        stack[top, 0] = np.nan
        return
    guess = total / count
    if rest == 0.0:
        stack[top, 0] = guess + 0.0
        return
    if not 1e-200 < abs(guess) < 1e140:
        where[LOST] = 1
        return
    product = guess * count
    more = ((total - product) - _left_of_product(guess, count, product) + rest) / count
    made = guess + more
    left = more - (made - guess)
    # Below a power of two a tie is half as far away.
    tie = math.ldexp(1.0, math.frexp(made)[1] - 54)
    if abs(abs(left) - tie) < 1e-6 * tie or abs(abs(left) - 0.5 * tie) < 1e-6 * tie:
        where[LOST] = 1
    stack[top, 0] = made
