"""A-Seq's Start Event Marking (SIGMOD'14, §3), as a reference: one prefix counter per live START.

Compiled, and driven by the engine's own table of the automaton, as its fold is. For counts under
skip-till-any-match in 64-bit integers, which nobody checks here. Times must not repeat.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from trendloom.engine.program import compile_table, possible_masks
from trendloom.kernels.table import counting_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trendloom.plan.plan import Plan


def counts(
    plan: Plan, masks: NDArray[np.uint8], times: NDArray[np.int64], within: int
) -> NDArray[np.int64]:
    """How many trends began less than `within` ago, at every event."""
    fast = plan.folding(plan.parts[0])
    assert fast is not None
    masks_of = possible_masks([letter.type for letter in plan.scan.letters])
    table = compile_table(fast, plan.semantics, masks_of)
    accepts = np.zeros(table.states + 3, np.bool_)
    accepts[list(fast.accepts)] = True
    plain = counting_of(table, np.zeros(1, np.int64))
    out = np.zeros(len(times), np.int64)
    _mark(plain, accepts, masks, times, within, out)
    return out


@njit(cache=True)
def _mark(plain: Any, accepts: Any, masks: Any, times: Any, within: int, out: Any) -> None:
    target, _, begins, source, _, _, _ = plain
    cells, sources = accepts.shape[0], source.shape[1]
    counters = np.zeros((times.shape[0], cells), np.int64)
    started = np.zeros(times.shape[0], np.int64)
    finished = np.zeros(times.shape[0], np.int64)
    oldest = newest = total = 0
    for event in range(times.shape[0]):
        while oldest < newest and started[oldest] <= times[event] - within:
            total -= finished[oldest]
            oldest += 1
        code = masks[event]
        place = target[code]
        for counter in range(oldest, newest):
            count = 0
            for k in range(sources):
                count += counters[counter, source[code, k]]
            counters[counter, place] += count
            if accepts[place]:
                finished[counter] += count
                total += count
        if begins[code]:
            counters[newest, place] = 1
            started[newest] = times[event]
            finished[newest] = 1 if accepts[place] else 0
            total += finished[newest]
            newest += 1
        out[event] = total
