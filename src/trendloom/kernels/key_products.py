"""Products of maps of keys, as `lattice_maps` defines them; laid out as in `sum_products`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.extreme import ABSENT
from trendloom.kernels.lattice import move_keys
from trendloom.kernels.program import Ints
from trendloom.kernels.stacks import ANSWER, APPEND
from trendloom.kernels.table import Table


@kernel
def _carry(
    keys: Ints, v: int, at: int, begin: bool, states: int, lanes: int, width: int, step: Ints,
    out: int,
) -> None:  # fmt: skip
    """What the map at `at` makes of the vector at `v`; of its own trends only if they `begin`."""
    for k in range(width):
        keys[out + k] = keys[at + k] if begin else ABSENT
    for k in range(states * lanes, width):
        keys[out + k] = min(keys[out + k], keys[v + k])
    for state in range(states):
        own = v + state * lanes
        if keys[own] == ABSENT:
            continue
        basis = at + (1 + state) * width
        for cell in range(0, width, lanes):
            if keys[basis + cell] == ABSENT:
                continue
            keys[out + cell] = 0
            for lane in range(1, lanes):
                one, other = keys[own + lane], keys[basis + cell + lane]
                both = min(one, other) if step[lane - 1] == 0 else one + other
                keys[out + cell + lane] = min(keys[out + cell + lane], both)


@kernel
def replay_keys(
    tape: Ints,
    length: int,
    cut: Ints,
    table: Table,
    order: Ints,
    code: Ints,
    feeds: NDArray[np.bool_],
    step: Ints,
    key: Ints,
    shape: tuple[int, int, int],
    keys: Ints,
    back: Ints,
    out: Ints,
) -> None:
    """Does what the tape says (`stacks`). `shape` and `out` are as in `replay_sums`.

    Behind the front's `keys` are a pane's map, two for the back by turns, and two vectors. `back`
    says which of them is the back's.
    """
    states, lanes, width = shape
    bases = 1 + states
    size = width * bases
    spare = keys.shape[0] - 2 * width
    made, first_back = spare - 3 * size, spare - 2 * size
    # A map while events move it, [cell · lane · basis] with all of the table's cells.
    loose = np.empty((states + 3) * lanes * bases, np.int64)
    for row in range(length):
        what, number, one, two = tape[row, 0], tape[row, 1], tape[row, 2], tape[row, 3]
        if what == ANSWER:
            vector = spare
            for k in range(width):
                keys[spare + k] = out[number, k]
            for through in (one * size, first_back + back[0] * size if two else -1):
                if through >= 0:
                    other = spare + width if vector == spare else spare
                    _carry(keys, vector, through, True, states, lanes, width, step, other)
                    vector = other
            for k in range(width):
                out[number, k] = keys[vector + k]
            continue
        loose[:] = ABSENT
        for state in range(states):
            own = state * lanes * bases + 1 + state
            loose[own] = 0
            for lane in range(1, lanes):
                if step[lane - 1] != 0:
                    loose[own + lane * bases] = 0
        move_keys(table, order, code, cut[number], cut[number + 1], loose, bases, feeds, step, key)
        for basis in range(bases):
            for k in range(width):
                keys[made + basis * width + k] = loose[k * bases + basis]
        if what == APPEND:
            first, then = first_back + back[0] * size, made
            back[0] = 1 - back[0]
            to = first_back + back[0] * size
            alone = one != 0
        else:
            first, then, to, alone = made, two * size, one * size, two < 0
        for basis in range(0, size, width):
            if alone:
                for k in range(basis, basis + width):
                    keys[to + k] = keys[made + k]
            else:
                _carry(
                    keys, first + basis, then, basis == 0, states, lanes, width, step, to + basis
                )
