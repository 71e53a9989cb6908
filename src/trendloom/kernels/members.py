"""Sets of events: which events of one variable are in any trend (DISTINCT).

A cell is a bit set over a block of the window's events of that variable; addition is union. The
caller runs one pass per block of BLOCK_BITS events, so memory stays bounded by the block.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.tape import ADD, CLEAR, ONE

BLOCK_WORDS = 64
BLOCK_BITS = BLOCK_WORDS * 64


class Members(NamedTuple):
    """`ordinal[event]` numbers the variable's candidates; `base[0]` is the block's first number."""

    bits: NDArray[np.uint64]
    var: NDArray[np.int64]
    ordinal: NDArray[np.int64]
    base: NDArray[np.int64]
    out_slot: NDArray[np.int64]
    out_event: NDArray[np.int64]
    out_size: NDArray[np.int64]


@kernel
def replay_members(tape: NDArray[np.int64], length: int, lanes: Members) -> None:
    bits = lanes.bits
    words = bits.shape[1]
    for step in range(length):
        what = tape[step, 0]
        cell = tape[step, 1]
        argument = tape[step, 2]
        if what == ADD:
            for word in range(words):
                bits[cell, word] |= bits[argument, word]
        elif what == CLEAR:
            for word in range(words):
                bits[cell, word] = np.uint64(0)
        elif what != ONE and what - 3 == lanes.var[0]:
            bit = lanes.ordinal[argument] - lanes.base[0]
            if 0 <= bit < words * 64:
                bits[cell, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
