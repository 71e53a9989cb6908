"""How long a search event by event will take, told before it begins where that is long.

No index serves the condition there, so time grows with the square of a window's events: each is
compared with those before it, or the window is gone through once per anchor or per block of a set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trendloom.errors import TrendloomWarning
from trendloom.kernels.members import BLOCK_BITS
from trendloom.language.nodes import Semantics
from trendloom.plan.plan import BindingKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.evaluate import Evaluator
    from trendloom.engine.windows import Runs

    Floats = NDArray[np.float64]

LONG = 10.0
"""Seconds from which on a warning is due."""
PAIR = 0.8e-9
"""Seconds per pair of events and instruction of the condition, sums of those that hold included.
60 s for 200,000 events under `A.x + NEXT(A).x < 1`, five instructions, on one core of 2024."""
VISIT = 3e-7
"""Seconds per event of a pass over a window."""


def seconds(evaluators: Iterable[Evaluator], chunk: Chunk, runs: Runs) -> float:
    """Of these windows, where they are searched event by event; 0 where time is not quadratic."""
    return sum(_seconds(evaluator, chunk, runs) for evaluator in evaluators)


def slow(expected: float, events: int) -> TrendloomWarning:
    """The warning, once for a run."""
    return TrendloomWarning(
        f"No index serves the conditions of this query: time grows with the square of a window's "
        f"events, and {events:,} events will take {in_words(expected)}.",
        remedy="Use a shorter WITHIN, partition by an attribute ([attribute]), or compare one "
        "attribute of each event (A.x < NEXT(A).x), which is looked up.",
    )


def in_words(expected: float) -> str:
    """`about 3 minutes`."""
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if expected >= 1.5 * size:
            return f"about {round(expected / size):,} {unit}s"
    return f"about {round(expected)} seconds"


def _seconds(by: Evaluator, chunk: Chunk, runs: Runs) -> float:
    part = by.part
    anchors = [one.variable for one in part.bindings if one.kind is BindingKind.ANCHOR]
    sets = [lane.variable for lane in by.layout.distinct]
    compares = part.adjacent and by.semantics is not Semantics.CONTIGUOUS
    if not (anchors or sets or compares) or by.folds or by.steps or by.ranks:
        return 0.0
    masks = by.masks(chunk)
    variables = part.automaton.variables

    def count(variable: int) -> Floats:
        """Events of every run that may be the variable."""
        is_one = (masks >> np.uint64(variable)) & np.uint64(1)
        before = np.append(0.0, np.cumsum(is_one, dtype=np.float64))
        found: Floats = before[runs.hi] - before[runs.lo]
        return found

    cost = VISIT * (runs.hi - runs.lo).astype(np.float64)
    if compares:
        for (earlier, later), program in part.adjacent.items():
            instructions = len(part.programs[program])
            cost += PAIR * instructions * count(earlier) * count(later) / 2
    for variable in anchors:
        cost *= count(variables.index(variable))
    if sets:
        # One pass for each block of the largest set, beside the one for everything else.
        largest = [count(variables.index(name)) for name in sets if name is not None]
        cost *= 1 + np.ceil(np.max(largest, axis=0) / BLOCK_BITS)
    # Threads share out whole windows.
    return float(cost.sum()) / max(1, min(by.threads, len(runs)))
