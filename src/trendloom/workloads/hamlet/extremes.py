"""MIN and MAX of queries that share bursts: the least key of a burst is found once for all.

So is the number of time points of a burst, which the longest trend grows by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trendloom.engine.columns import order_keys
from trendloom.engine.inputs import length_steps
from trendloom.kernels.burst_extremes import fold_extremes, least_of_pieces, points_of_pieces
from trendloom.kernels.extreme import ABSENT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.lanes import Extremum
    from trendloom.kernels.burst_pieces import Pieces
    from trendloom.workloads.hamlet.joint import Joint
    from trendloom.workloads.hamlet.member import Member
    from trendloom.workloads.hamlet.net import Wiring

    Ints = NDArray[np.int64]


class Extremes:
    """Of one chunk and one lot of members, cut into pieces."""

    def __init__(
        self, chunk: Chunk, words: NDArray[np.uint64], pieces: Pieces, wiring: Wiring, joint: Joint
    ) -> None:
        self._chunk, self._words, self._pieces = chunk, words, pieces
        self._wiring, self._joint = wiring, joint
        self._order = np.ascontiguousarray(chunk.order)
        self._keys: dict[tuple[int, bool], Ints] = {}
        self._points: dict[int, Ints] = {}
        self._least: dict[tuple[int, int, bool], Ints] = {}

    def of(
        self, place: int, number: int, member: Member, first: Ints, last: Ints
    ) -> dict[Extremum, Ints]:
        """Per window, of the member at a place of the wiring, which is `number` in the group."""
        lanes = self._wiring.extremes[place]
        out = np.full((len(first), len(lanes)), ABSENT, np.int64)
        if not lanes:
            return {}
        names = member.part.automaton.variables
        grows = length_steps(lanes)
        feed = np.zeros((member.letters, len(lanes)), np.int64)
        keys = np.full((len(lanes), len(self._words)), ABSENT, np.int64)
        for k, lane in enumerate(lanes):
            if lane.variable is not None:
                feed[names.index(lane.variable), k] = 1
                keys[k] = self._keys_of(self._operand(number, lane), largest=lane.largest)
        types, pieces = len(self._wiring.types), len(self._pieces.lo)
        uses = np.zeros(types, np.bool_)
        some = np.zeros((types, pieces), np.bool_)
        least = np.full((types * len(lanes), pieces), ABSENT, np.int64)
        for letter in range(member.letters):
            name = member.type_of(letter)
            kind = self._wiring.types.index(name)
            uses[kind] = True
            if name not in member.intakes:
                continue
            bit = self._joint.letters[number][member.part.bits[letter][0]]
            points = self._points_of(bit)
            some[kind] = points > 0
            for k, lane in enumerate(lanes):
                row = least[kind * len(lanes) + k]
                if lane.variable is None:
                    all_of_them = lane.largest and member.intakes[name].own is not None
                    row[:] = grows[k] * (points if all_of_them else 1)
                elif feed[letter, k]:
                    operand = self._operand(number, lane)
                    row[:] = self._least_of(bit, operand, largest=lane.largest)
        fold_extremes(
            self._wiring.net, place, self._words, self._order, self._pieces, first, last,
            keys, feed, grows, uses, some, least, out,
        )  # fmt: skip
        return {lane: np.ascontiguousarray(out[:, k]) for k, lane in enumerate(lanes)}

    def _operand(self, number: int, lane: Extremum) -> int:
        """Of the joint scan."""
        assert lane.operand is not None, "a variable's values are an operand's"
        return self._joint.operands[number][lane.operand]

    def _points_of(self, bit: int) -> Ints:
        if bit not in self._points:
            self._points[bit] = points_of_pieces(
                self._words, bit, self._order, self._pieces.lo, self._pieces.hi
            )
        return self._points[bit]

    def _keys_of(self, operand: int, *, largest: bool) -> Ints:
        key = operand, largest
        if key not in self._keys:
            self._keys[key] = order_keys(self._chunk.operand(operand), largest=largest)
        return self._keys[key]

    def _least_of(self, bit: int, operand: int, *, largest: bool) -> Ints:
        key = bit, operand, largest
        if key not in self._least:
            keys = self._keys_of(operand, largest=largest)
            self._least[key] = least_of_pieces(
                self._words, bit, keys, self._pieces.lo, self._pieces.hi
            )
        return self._least[key]
