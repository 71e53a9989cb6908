"""An automaton as a table: what an event of each code does to a vector of sums.

A row of the state holds, lane after lane, the sums of every state, then those of the finished
trends, then two cells that make the table regular: a source that is always zero and a sink that
nobody reads. With them every code has the same number of sources and of consumed states, so the
inner loops have constant length and the processor predicts them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.program import Ints

CROWD = 64
"""So many simultaneous events are counted without asking for memory."""


class Table(NamedTuple):
    """What an event of code c does: `steps` steps, each with the same number of sources.

    Absent steps go from the zero cell to the sink. Cells are numbered: states, FINISHED = states,
    ZERO = states + 1, SINK = states + 2.
    """

    semantics: int
    states: int
    target: Ints
    """[code, step]"""
    begins: Ints
    """[code, step] 1 if the event alone is a partial trend."""
    variable: Ints
    """[code, step]"""
    finished: Ints
    """[code, step] FINISHED if the step finishes trends that must be added up now, else SINK."""
    source: Ints
    """[code, step, k]"""
    eats: Ints
    """[code, k] states whose partial trends the code consumes (all of them, if contiguous)."""


class Counting(NamedTuple):
    """What `sprint_counting` reads of a table."""

    target: Ints
    finished: Ints
    begins: NDArray[Any]
    source: Ints
    eats: Ints
    keeps: NDArray[Any]
    """[code] 0 if the code consumes what its target holds, else 1."""
    counts: NDArray[Any]
    """Room for the counts of simultaneous events."""


@kernel
def feeds_of(table: Table, var: Ints) -> NDArray[np.bool_]:
    """[code, step, lane]: whether the step's events add to the lane."""
    codes, steps = table.target.shape
    feeds = np.zeros((codes, steps, var.shape[0]), np.bool_)
    for c in range(codes):
        for step in range(steps):
            for lane in range(1, var.shape[0]):
                feeds[c, step, lane] = var[lane] == table.variable[c, step] or var[lane] == -1
    return feeds


@kernel
def counting_of(table: Table, values: NDArray[Any]) -> Counting:
    """The table for counting: step 0 only, every array contiguous, so that an index is one load."""
    codes = table.target.shape[0]
    keeps = np.ones(codes, values.dtype)
    begins = np.zeros(codes, values.dtype)
    for c in range(codes):
        begins[c] = table.begins[c, 0]
        for k in range(table.eats.shape[1]):
            if table.eats[c, k] == table.target[c, 0]:
                keeps[c] = 0
    return Counting(
        np.ascontiguousarray(table.target[:, 0]),
        np.ascontiguousarray(table.finished[:, 0]),
        begins,
        np.ascontiguousarray(table.source[:, 0, :]),
        table.eats,
        keeps,
        np.zeros(CROWD, values.dtype),
    )
