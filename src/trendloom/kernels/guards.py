"""Guards as thresholds on the order of events: where partial matches of negated patterns began.

A guard holds for the step from e to f if e is not before the latest start of a negated match that
ended before f. That start is a threshold on e's order, and so is the latest start of every partial
match of the negated pattern, one per position (a *band*, see `route`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.program import NEVER, NO_STATE, Ints, Program


@kernel
def truth(order: int, reached: Ints) -> int:
    """Which guards hold for a partial trend that ended at `order`, as bits."""
    bits = 0
    for guard in range(reached.shape[0]):
        if order >= reached[guard]:
            bits |= 1 << guard
    return bits


@kernel
def reach(program: Program, threshold: Ints, reached: Ints) -> None:
    """Per guard: the latest start of a match that has ended, NEVER if there is none."""
    for guard in range(reached.shape[0]):
        reached[guard] = NEVER
        for k in range(program.guard_start[guard], program.guard_start[guard + 1]):
            reached[guard] = max(reached[guard], threshold[program.guard_band[k]])


@kernel
def watch(
    program: Program,
    order: Ints,
    mask: NDArray[np.uint64],
    at: int,
    end: int,
    threshold: Ints,
    moved: Ints,
) -> bool:
    """Where the time point of events `at : end` moves the thresholds; whether it moves any."""
    variables = program.arrow_start.shape[0] - 1
    changed = False
    moved[:] = threshold
    for event in range(at, end):
        for k in range(program.watch_start.shape[0] - 1):
            if (mask[event] >> np.uint64(variables + k)) & np.uint64(1):
                for w in range(program.watch_start[k], program.watch_start[k + 1]):
                    origin = program.watch_source[w]
                    start = order[at] if origin == NO_STATE else threshold[origin]
                    band = program.watch_target[w]
                    if start > moved[band]:
                        moved[band] = start
                        changed = True
    return changed
