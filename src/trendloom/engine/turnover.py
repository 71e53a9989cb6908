"""At which time points `WITHIN` without `SLIDE` has something to say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trendloom.kernels.turnover import note_turnover

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from trendloom.engine.chunk import Chunk
    from trendloom.engine.evaluate import Evaluator
    from trendloom.engine.windows import Runs


def turnover(evaluators: Sequence[Evaluator], chunk: Chunk, runs: Runs) -> NDArray[np.bool_]:
    """Which of the windows (t - w, t] have other trends than the ones before.

    All of them may, unless every part is folded. `runs` are all windows of the chunk.
    """
    if not all(evaluator.folds for evaluator in evaluators):
        return np.ones(len(runs), np.bool_)
    changed = np.zeros(len(runs), np.bool_)
    for evaluator in evaluators:
        changed |= part_turnover(evaluator, evaluator.fast.accepts, chunk, runs)
    return changed


def part_turnover(
    evaluator: Evaluator, ends: Sequence[int], chunk: Chunk, runs: Runs
) -> NDArray[np.bool_]:
    """The same of one part that is folded, for the trends that end in some of its cells."""
    changed = np.zeros(len(runs), np.bool_)
    table, codes = evaluator.table(chunk)
    accepts = np.zeros(table.states + 3, np.bool_)
    accepts[list(ends)] = True
    note_turnover(
        table, accepts, chunk.order, codes, chunk.bounds, runs.lo, runs.hi, runs.partition, changed
    )
    return changed
