"""Algorithms of the literature for many queries `SEQ(X, T+, Y)`, each on its own, compiled.

An event is, to a query, X, T, Y or nothing; `values` may have to rise from T to T. Every function
returns the logarithm of the count for one query and window. All events have different times.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from benchmarks.baselines.limits import Stopped
from benchmarks.baselines.scaled import RADIX, SHRINK, log2_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

X, T, Y = 1, 2, 3
MOST_STEPS = 200_000_000
"""Of building the trends of one window: as long as a limit is, or longer."""


def each(
    one: Callable[..., tuple[float, int]],
    roles: NDArray[np.int8],
    windows: NDArray[np.int64],
    values: NDArray[np.float64],
    limit: float,
) -> NDArray[np.float64]:
    """[query · window]: query after query, window after window, until the limit of time."""
    until = time.perf_counter() + limit
    found = []
    for mine in roles:
        for lo, hi in windows:
            found.append(one(mine[lo:hi], values[lo:hi]))
            if time.perf_counter() > until:
                raise Stopped
    counts, exponents = (np.array(column) for column in zip(*found, strict=True))
    return log2_of(counts.astype(np.float64), exponents.astype(np.int64))


@njit(cache=True)
def greta(roles: Any, values: Any) -> Any:
    """GRETA: every event visits all events that may come before it. Quadratic."""
    rising = len(values) > 0
    count = np.zeros(len(roles))
    starts, unit, done, exponent, finished = 0.0, 1.0, 0.0, 0, 0
    for event in range(len(roles)):
        role = roles[event]
        if role == X:
            starts += unit
        elif role == T:
            total = starts
            for before in range(event):
                if roles[before] == T and (not rising or values[before] < values[event]):
                    total += count[before]
            count[event] = total
            if total > RADIX:
                count *= SHRINK
                starts, unit = starts * SHRINK, unit * SHRINK
                exponent += 1
        elif role == Y:
            # What was done long before has an exponent of its own: much may follow no Y.
            while finished < exponent:
                done, finished = done * SHRINK, finished + 1
            for before in range(event):
                done += count[before]
    return done, finished


@njit(cache=True)
def sharon(roles: Any, values: Any) -> Any:  # noqa: ARG001
    """SHARON, E+ flattened to all lengths (HAMLET §5.1): a counter for each. Quadratic."""
    length = np.zeros(len(roles) + 1)
    unit, done, exponent, finished, longest = 1.0, 0.0, 0, 0, 0
    for role in roles:
        if role == X:
            length[0] += unit
        elif role == T:
            longest += 1
            most = 0.0
            for k in range(longest, 0, -1):
                length[k] += length[k - 1]
                most = max(most, length[k])
            if most > RADIX:
                length *= SHRINK
                unit *= SHRINK
                exponent += 1
        elif role == Y:
            while finished < exponent:
                done, finished = done * SHRINK, finished + 1
            for k in range(1, longest + 1):
                done += length[k]
    return done, finished


def two_step(roles: NDArray[np.int8], values: NDArray[np.float64]) -> tuple[float, int]:  # noqa: ARG001
    """Builds every trend, then counts them (MCEP without what it shares between queries)."""
    found = _build(roles, MOST_STEPS)
    if found < 0:
        raise Stopped
    return float(found), 0


@njit(cache=True)
def _build(roles: Any, steps: Any) -> Any:
    """-1 if it takes more steps."""
    trend = np.empty(len(roles) + 1, np.int64)
    done = 0
    for start in range(len(roles)):
        if roles[start] != X:
            continue
        depth, at = 0, start + 1
        trend[0] = start
        while True:
            steps -= 1
            if steps < 0:
                return -1
            if at < len(roles):
                if roles[at] == T:
                    depth += 1
                    trend[depth] = at
                elif roles[at] == Y and depth > 0:
                    done += 1
                at += 1
            elif depth > 0:
                at = trend[depth] + 1
                depth -= 1
            else:
                break
    return done
