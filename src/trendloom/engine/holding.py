"""What a run holds in memory: an upper estimate, for limits that callers set.

An event that waits is held as it came and once more while its windows are computed, with what the
computation keeps beside it. Per event-grained state that is an entry with a cell of every lane; in
sets of events (DISTINCT) and exact sums a cell is a block. Peaks of processes stayed below it
(`tests/local/test_limits_held.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trendloom.engine.exact import PRIMES_PER_PASS
from trendloom.kernels.members import BLOCK_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from trendloom.engine.evaluate import Evaluator

EVENT = 48
"""Bytes beside an event's own, whatever is computed: its order, its mask, places in an order."""
ENTRY = 32
LANE = 24
ROW = 96
"""Of a result row without its lanes: group, window, and once more in the table."""


def bytes_of_events(evaluators: Sequence[Evaluator], batches: Sequence[pa.RecordBatch]) -> int:
    """Of events that wait until their windows can be computed."""
    rows = sum(batch.num_rows for batch in batches)
    beside = max((_beside(evaluator) for evaluator in evaluators), default=0)
    return int(2 * sum(batch.nbytes for batch in batches) + rows * (EVENT + beside))


def bytes_of_rows(evaluator: Evaluator, rows: int) -> int:
    """Of windows that are over, or of vectors of windows that are not, per row."""
    return rows * (ROW + 3 * LANE * _lanes(evaluator))


def _beside(evaluator: Evaluator) -> int:
    if evaluator.folds:
        return 0
    layout = evaluator.layout
    cell = LANE * _lanes(evaluator)
    if layout.exact is not None:
        cell += 8 * PRIMES_PER_PASS * (1 + len(layout.exact))
    if layout.distinct:
        cell += 8 * BLOCK_WORDS
    states = max(1, sum(evaluator.part.event_grained))
    return states * (ENTRY + cell)


def _lanes(evaluator: Evaluator) -> int:
    layout = evaluator.layout
    sums = (*(layout.scaled or ()), *(layout.checked or ()), *(layout.exact or ()))
    return 1 + len(sums) + len(layout.extremes)
