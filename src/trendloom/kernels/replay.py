"""A tape and what it is replayed on: shared by all that decide which partial trends feed which."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.checked import Checked, replay_checked
from trendloom.kernels.compiled import kernel
from trendloom.kernels.extreme import Extreme, replay_extreme
from trendloom.kernels.members import Members, replay_members
from trendloom.kernels.modular import Modular, replay_modular
from trendloom.kernels.scaled import Scaled, replay_scaled
from trendloom.kernels.tape import TAPE_LENGTH

Lanes = tuple[Scaled, Checked, Modular, Extreme, Members]

RESULT = 0
"""The cell that collects a slot's finished trends."""
FULL = TAPE_LENGTH - 1_024
"""Replay from here on; between two looks at it fewer than 1,024 instructions are written."""


@kernel
def replay(tape: NDArray[np.int64], length: int, lanes: Lanes) -> int:
    """Runs the tape on every semiring in use, and returns the emptied tape's length."""
    scaled, checked, modular, extreme, members = lanes
    if scaled.m.shape[1] > 0:
        replay_scaled(tape, length, scaled)
    if checked.v.shape[1] > 0:
        replay_checked(tape, length, checked)
    if modular.u.shape[1] > 0:
        replay_modular(tape, length, modular)
    if extreme.k.shape[1] > 0:
        replay_extreme(tape, length, extreme)
    if members.bits.shape[1] > 0:
        replay_members(tape, length, members)
    return 0


@kernel
def write(tape: NDArray[np.int64], length: int, what: int, cell: int, argument: int) -> int:
    tape[length, 0] = what
    tape[length, 1] = cell
    tape[length, 2] = argument
    return length + 1


@kernel
def emit_slot(slot: int, lo: int, hi: int, lanes: Lanes) -> None:
    """Copies the RESULT cell to the output of every semiring in use."""
    scaled, checked, modular, extreme, members = lanes
    for lane in range(scaled.m.shape[1]):
        scaled.out_m[slot, lane] = scaled.m[RESULT, lane]
        scaled.out_e[slot, lane] = scaled.e[RESULT, lane]
    for lane in range(checked.v.shape[1]):
        checked.out[slot, lane] = checked.v[RESULT, lane]
    for lane in range(modular.u.shape[1]):
        modular.out[slot, lane] = modular.u[RESULT, lane]
    for lane in range(extreme.k.shape[1]):
        extreme.out[slot, lane] = extreme.k[RESULT, lane]
    words = members.bits.shape[1]
    if words > 0:
        for event in range(lo, hi):
            bit = members.ordinal[event] - members.base[0]
            if (
                members.ordinal[event] >= 0
                and 0 <= bit < words * 64
                and (members.bits[RESULT, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1)
            ):
                at = members.out_size[0]
                members.out_slot[at] = slot
                members.out_event[at] = event
                members.out_size[0] = at + 1
