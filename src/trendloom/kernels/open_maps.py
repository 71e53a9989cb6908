"""The open maps of many partitions, and what events do to them by address.

    zero · sink · [unit, first, last, events, cell · lane · basis …] · …

A partition's map is a row of `values`. All rows share the source that is always zero and the sink
that nobody reads, of `table`. `unit` is 1 beside the exponent of basis 0, and the times and the
number of events are integers in the same memory (`words`): an event touches few lines of the cache,
which is all that it costs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.program import ANY, Ints
from trendloom.kernels.scaled import SHRINK
from trendloom.kernels.table import Table, feeds_of

Addresses = NDArray[np.uint64]

UNIT, FIRST, LAST, EVENTS, HEAD = range(5)
LATE_UNIT = 2.0 * SHRINK**3
"""Below this unit a trend that begins is too faint to be added to nothing."""
AHEAD = 12
"""So many events ahead a row is fetched into the cache."""
LINE = 8
"""Numbers in a line of the cache."""


class Open(NamedTuple):
    """The open maps; row r begins at `2 · width + r · stride`."""

    values: NDArray[Any]
    words: Ints
    """The same memory as integers."""
    exponent: Ints
    """[row, basis]"""
    lost: NDArray[np.bool_]
    """[row, basis]: integers that overflowed; no rows for doubles."""


class Spill(NamedTuple):
    """Rows that were closed early, as they were."""

    row: Ints
    """Whose they are; as many as there is room for."""
    values: NDArray[Any]
    """[place, stride]"""
    exponent: Ints


class Moves(NamedTuple):
    """A table of one step per code, by address: `own · row + offset`."""

    finishing: bool
    states: int
    begins: Ints
    source: Addresses
    """[code, k, own and offset]"""
    eats: Addresses
    target: Addresses
    """[code, target and finished, own and offset]"""
    feeds: Ints
    """[code, lane]: 1 or 0"""


@kernel
def moves_of(table: Table, var: Ints, bases: int) -> Moves:
    """`bases` are whole packs."""
    width = var.shape[0] * bases
    codes, _, sources = table.source.shape
    source = np.zeros((codes, sources, 2), np.uint64)
    eats = np.zeros((codes, table.eats.shape[1], 2), np.uint64)
    target = np.zeros((codes, 2, 2), np.uint64)
    for c in range(codes):
        for k in range(sources):
            _address(table, table.source[c, 0, k], width, source[c, k])
        for k in range(eats.shape[1]):
            _address(table, table.eats[c, k], width, eats[c, k])
        _address(table, table.target[c, 0], width, target[c, 0])
        _address(table, table.finished[c, 0], width, target[c, 1])
    return Moves(
        table.semantics != ANY,
        table.states,
        np.ascontiguousarray(table.begins[:, 0]),
        source,
        eats,
        target,
        np.ascontiguousarray(feeds_of(table, var)[:, 0, :]).astype(np.int64),
    )


@kernel
def _address(table: Table, cell: int, width: int, at: Addresses) -> None:
    if cell <= table.states:
        at[0], at[1] = 1, HEAD + cell * width
    else:
        at[0], at[1] = 0, (cell - table.states - 1) * width


@kernel
def begin_rows(values: NDArray[Any], words: Ints, lo: int, hi: int, states: int, width: int,
               stride: int, bases: int) -> None:  # fmt: skip
    """Basis 0 has nothing, basis 1 + s one partial trend in state s."""
    for row in range(2 * width + lo * stride, 2 * width + hi * stride, stride):
        values[row : row + stride] = 0
        words[row + FIRST : row + HEAD] = 0
        values[row + UNIT] = 1
        for state in range(states):
            values[row + HEAD + state * width + 1 + state] = 1
