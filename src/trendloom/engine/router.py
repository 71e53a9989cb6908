"""The router's arguments for one chunk, and the passes that need it.

One pass sums, checks and minimises together. Exact integers take further passes with residues,
DISTINCT one pass per block of events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trendloom.engine.cells import Cells, longest_tie
from trendloom.engine.exact import PRIMES_PER_PASS, join_residues, primes_needed
from trendloom.engine.lanes import TRENDS, Lane, Sum
from trendloom.engine.numbers import Doubles, Exact
from trendloom.engine.pair_programs import predicates_of
from trendloom.engine.program import compile_program
from trendloom.engine.stopping import check_stop
from trendloom.kernels.members import BLOCK_BITS, BLOCK_WORDS, Members
from trendloom.kernels.program import Work
from trendloom.kernels.route import cells_needed, route

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.kernels.checked import Checked
    from trendloom.kernels.extreme import Extreme
    from trendloom.kernels.modular import Modular
    from trendloom.kernels.replay import Lanes
    from trendloom.kernels.scaled import Scaled
    from trendloom.language.nodes import Semantics
    from trendloom.plan.plan import Part

    Ints = NDArray[np.int64]


class Router(Cells):
    """A part's program over a chunk: the same runs, pass after pass."""

    def __init__(
        self,
        part: Part,
        semantics: Semantics,
        chunk: Chunk,
        masks: NDArray[np.uint64],
        codes: Ints,
        work: Work,
        slots: int,
    ) -> None:
        self.masks = masks
        self.codes = codes
        self.work = work
        self.program = compile_program(part, semantics)
        self.predicates = predicates_of(part, chunk)
        self.span = int((work.hi - work.lo).max(initial=0))
        self.width = longest_tie(chunk.order) * len(part.automaton.states)
        cells = cells_needed(self.program, self.span, self.width)
        super().__init__(part.automaton.variables, chunk, cells, slots)
        self.found = np.zeros(slots, np.uint8)

    def run(
        self,
        *,
        work: Work | None = None,
        scaled: Scaled | None = None,
        checked: Checked | None = None,
        modular: Modular | None = None,
        extreme: Extreme | None = None,
        members: Members | None = None,
    ) -> None:
        """One pass. Semirings that are not given take no part."""
        lanes: Lanes = (
            scaled or self.scaled(None, {}),
            checked or self.checked(None),
            modular or self.modular(None, 0, 0),
            extreme or self.extreme(()),
            members or self.members(None, 0),
        )
        self.make(work or self.work, lanes)
        check_stop()

    def make(self, work: Work, lanes: Lanes) -> None:
        """The runs of one pass."""
        route(
            self.program,
            self.predicates,
            self.chunk.order,
            self.masks,
            self.codes,
            work,
            lanes,
            self.span,
            self.width,
            self.found,
        )

    # ── sets of events ───────────────────────────────────────────────────────────────────────

    def members(self, variable: str | None, base: int) -> Members:
        if variable is None:
            none = np.zeros(0, np.int64)
            bits = np.zeros((0, 0), np.uint64)
            return Members(bits, np.full(1, -1), none, np.zeros(1, np.int64), none, none, none)
        number = self.variables.index(variable)
        candidate = ((self.masks >> np.uint64(number)) & np.uint64(1)).astype(np.bool_)
        last_of_slot = np.append(np.diff(self.work.slot) != 0, True)[: len(self.work.slot)]
        room = int((self.work.hi - self.work.lo)[last_of_slot].sum())
        return Members(
            np.zeros((self.cells, BLOCK_WORDS), np.uint64),
            np.array([number], np.int64),
            np.where(candidate, np.cumsum(candidate) - 1, -1),
            np.array([base], np.int64),
            np.zeros(room, np.int64),
            np.zeros(room, np.int64),
            np.zeros(1, np.int64),
        )

    # ── passes of their own ──────────────────────────────────────────────────────────────────

    def exact(self, lanes: Sequence[Sum], bounds: Scaled) -> dict[Lane, Exact]:
        """Exact sums: residues modulo as many primes as the magnitudes in `bounds` ask for."""
        width = 1 + len(lanes)
        bits = np.zeros(self.slots)
        for k in range(width):
            column = Doubles(bounds.out_m[:, k], bounds.out_e[:, k])
            bits = np.maximum(bits, np.where(column.nonzero, column.log2(), 0.0))
        needed = primes_needed(bits)
        most = int(needed.max(initial=0))
        residues: list[Ints] = []
        for first in range(0, most, PRIMES_PER_PASS):
            count = min(PRIMES_PER_PASS, most - first)
            block = self.modular(lanes, first, count)
            self.run(work=self._some(needed[self.work.slot] > first), modular=block)
            residues.append(block.out.reshape(self.slots, width, count))
        columns: dict[Lane, Exact] = {}
        names: tuple[Lane, ...] = (TRENDS, *lanes)
        joined = np.concatenate(residues, axis=2) if residues else None
        for k, name in enumerate(names):
            values = np.zeros(self.slots, np.object_)
            if joined is not None:
                for slot in range(self.slots):
                    values[slot] = join_residues(joined[slot, k, : needed[slot]])
            columns[name] = Exact(values)
        return columns

    def members_of(self, variable: str) -> tuple[Ints, Ints]:
        """(slot, event) for every event that is the variable in any trend of the slot."""
        candidates = self.members(variable, 0).ordinal >= 0
        before = np.append(0, np.cumsum(candidates))
        low, high = before[self.work.lo], before[self.work.hi]
        slots: list[Ints] = [np.zeros(0, np.int64)]
        events: list[Ints] = [np.zeros(0, np.int64)]
        for base in range(0, int(high.max(initial=0)), BLOCK_BITS):
            touched = (low < base + BLOCK_BITS) & (high > base)
            if touched.any():
                block = self.members(variable, base)
                self.run(work=self._some(touched), members=block)
                size = int(block.out_size[0])
                slots.append(block.out_slot[:size])
                events.append(block.out_event[:size])
        return np.concatenate(slots), np.concatenate(events)

    def _some(self, rows: NDArray[np.bool_]) -> Work:
        work = self.work
        return Work(work.lo[rows], work.hi[rows], work.slot[rows], work.bound[rows])
