"""Contiguous trends with conditions between consecutive events: the conditions become letters.

Under contiguous, the event before the next one of a trend is the event before it in its partition,
so whether a step is allowed can be told from the rows alone, before any trend is looked at. It is a
further bit of the event's code, and the part is folded like one without conditions. That needs time
points of one event: where several are simultaneous, which of them came before is for the router.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trendloom.engine.arrow import read_only
from trendloom.engine.pair_programs import predicates_of
from trendloom.kernels.neighbours import of_neighbours
from trendloom.plan.lookups import lookup_of
from trendloom.plan.pairs import Op

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.windows import Runs
    from trendloom.kernels.predicates import Predicates
    from trendloom.plan.plan import Part

    Floats = NDArray[np.float64]


def without_ties(chunk: Chunk, runs: Runs) -> NDArray[np.bool_]:
    """Which runs have no simultaneous events."""
    tied = chunk.order[1:] == chunk.order[:-1]
    if not tied.any():
        return np.ones(len(runs), np.bool_)
    # One more than there are rows: windows without events may begin behind the last.
    ties = np.concatenate([[0], np.cumsum(tied), [0]])
    return np.asarray(ties[np.maximum(runs.hi - 1, runs.lo)] == ties[runs.lo])


def with_steps(part: Part, chunk: Chunk, masks: NDArray[Any]) -> NDArray[Any]:
    """The part's own letters, and behind them a bit per condition that the row before meets."""
    bits = len(part.bits) + len(part.programs)
    kind = np.dtype(np.uint8 if bits <= 8 else np.uint16 if bits <= 16 else np.uint64)
    codes: NDArray[Any] = masks.astype(kind)
    predicates = predicates_of(part, chunk)
    for program in range(len(part.programs)):
        bit = kind.type(1 << (len(part.bits) + program))
        codes[1:] |= _of_neighbours(part, program, predicates).astype(kind) * bit
    return read_only(codes)


def _of_neighbours(part: Part, program: int, predicates: Predicates) -> NDArray[np.bool_]:
    """Whether a condition holds of each row and the one behind it."""
    columns = predicates.column
    out = np.ones(max(0, columns.shape[1] - 1), np.bool_)
    lookup = lookup_of(part.programs[program])
    if lookup is None:
        of_neighbours(predicates, program, out)
        return out
    for one in lookup.conditions:
        # Whole columns at once: a branch per event would be mispredicted half of the time.
        out &= COMPARED[one.op](columns[one.left, :-1], columns[one.right, 1:])
    return out


def _differ(left: Floats, right: Floats) -> NDArray[np.bool_]:
    """Null differs from nothing."""
    return (left < right) | (left > right)


COMPARED: dict[Op, Callable[[Floats, Floats], NDArray[np.bool_]]] = {
    Op.LT: np.less,
    Op.LE: np.less_equal,
    Op.GT: np.greater,
    Op.GE: np.greater_equal,
    Op.EQ: np.equal,
    Op.NE: _differ,
}
