"""Folds a family's merged automaton: single steps, or stretches of cells where events take more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from trendloom.engine.evaluate import Evaluator
from trendloom.engine.inputs import double_rows, feeding_variables, integer_rows
from trendloom.engine.slots import State
from trendloom.kernels.moves import move_runs
from trendloom.kernels.scaled import RADIX, SHRINK

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.numbers import Doubles, Integers
    from trendloom.engine.windows import Runs
    from trendloom.kernels.table import Table
    from trendloom.workloads.codes import Codes

    Ints = NDArray[np.int64]


@dataclass(frozen=True)
class MergedEvaluator(Evaluator):
    """An event's code has been found by the lens already."""

    codes: Codes | None = None
    chopped: bool = False
    """Copies of chopped parts are moved side by side in a vector, and one by one in a map."""

    def table(self, chunk: Chunk) -> tuple[Table, NDArray[Any]]:
        assert self.codes is not None
        return self.codes.table, chunk.mask

    @property
    def dearer_maps(self) -> float:
        if self.chopped and self.codes is not None:
            return float(self.codes.table.target.shape[1])
        return 1.0

    def fold_runs(
        self, chunk: Chunk, table: Table, codes: NDArray[Any], runs: Runs, state: State
    ) -> None:
        rest = state
        if table.target.shape[1] > 1:
            rest = State(None, None, state.extremes)
            if state.integers is not None and not self._fits(chunk, codes, runs, state.integers):
                state.overflow[:] = True
            if state.doubles is not None:
                left = self._doubles(chunk, codes, runs, state.doubles)
                if (left.lo < left.hi).any():
                    super().fold_runs(chunk, table, codes, left, State(state.doubles, None, None))
        super().fold_runs(chunk, table, codes, runs, rest)

    def _fits(self, chunk: Chunk, codes: NDArray[Any], runs: Runs, state: Integers) -> bool:
        """Moves the integers; False if they left 64 bits."""
        lanes, flag = self.layout.checked or (), np.zeros(1, np.int64)
        x = integer_rows(chunk, lanes)
        self._move(chunk, codes, runs, state.v, lanes, x, flag)
        return bool(flag[0] >= 0)

    def _doubles(self, chunk: Chunk, codes: NDArray[Any], runs: Runs, state: Doubles) -> Runs:
        """What is left of the runs: events from where a number is past the radix, or all."""
        lanes = self.layout.scaled or ()
        x = double_rows(chunk, lanes, self.centres)
        if state.e.any() or not (np.abs(x[1:]) < RADIX).all():
            return runs
        reached = self._move(chunk, codes, runs, state.m, lanes, x, np.zeros(1, np.int64))
        while (full := np.abs(state.m) >= RADIX).any():
            state.m[full] *= SHRINK
            state.e[full] += 1
        return replace(runs, lo=reached)

    def _move(
        self, chunk: Chunk, codes: NDArray[Any], runs: Runs, values: NDArray[Any],
        lanes: tuple[Any, ...], x: NDArray[Any], flag: Ints,
    ) -> Ints:  # fmt: skip
        assert self.codes is not None
        var = feeding_variables(self.part.automaton.variables, lanes)
        moves = self.codes.moves(var)
        reached: Ints = move_runs(
            moves, chunk.order, codes, runs.lo, runs.hi, values, len(var), x, flag
        )
        return reached
