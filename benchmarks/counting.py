"""The roads to a count of `(SEQ(A+, B))+` that benchmarks compare, all below the hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.events import A
from trendloom.api import query
from trendloom.engine.program import compile_table, possible_masks
from trendloom.engine.run import Run
from trendloom.kernels.fold import fold_doubles, fold_integers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from trendloom.plan.plan import Plan

RADIX_BITS = 256


def plan_for(semantics: str) -> Plan:
    """Everything that is decided before the first event."""
    wanted = "COUNT(*) AS trends, LOG2(COUNT(*)) AS log2"
    return query(f"RETURN {wanted} PATTERN (SEQ(A+, B))+ SEMANTICS {semantics}").plan


def by_engine(plan: Plan, events: Iterable[pa.RecordBatch]) -> dict[str, float]:
    """What a host does with its batches. The row of the result."""
    run = Run(plan, [], [], nanoseconds=1)
    for batch in events:
        run.push(batch)
    (row,) = run.finish().to_pylist()
    return row


def by_kernel(plan: Plan, masks: NDArray[np.uint8], times: NDArray[np.int64]) -> float:
    """The compiled loop alone, over all events at once. The count's logarithm."""
    (evaluator,) = Run(plan, [], [], nanoseconds=1).evaluators
    types = [letter.type for letter in plan.scan.letters]
    table = compile_table(evaluator.part, plan.semantics, possible_masks(types))
    doubles, integers = evaluator.blank(1)
    lo, hi = np.zeros(1, np.int64), np.array([len(masks)])
    count_only = np.array([-2])
    if doubles is not None:
        nothing = np.zeros((1, 1))
        fold_doubles(table, times, masks, lo, hi, doubles.m, doubles.e, count_only, nothing)
    if integers is not None:
        none = np.zeros((1, 1), np.int64)
        if not fold_integers(table, times, masks, lo, hi, integers.v, count_only, none):
            raise OverflowError("The count does not fit 64 bits: not a benchmark of counting.")
    counts = evaluator.read(doubles, integers).columns
    (trends,) = counts.values()
    return float(trends.log2()[0])


def by_python(masks: Sequence[int], times: Sequence[int]) -> float:
    """The same algorithm as a loop of plain Python, any-match. The count's logarithm."""
    a = b = 0.0
    unit, exponent = 1.0, 0
    at, end = 0, len(masks)
    while at < end:
        time = times[at]
        after = at + 1
        if after == end or times[after] != time:
            if masks[at] == A:
                a += unit + a + b
            else:
                b += a
        else:
            while after < end and times[after] == time:
                after += 1
            more_a = sum(mask == A for mask in masks[at:after])
            a, b = a + more_a * (unit + a + b), b + (after - at - more_a) * a
        at = after
        if a + b >= 2.0**RADIX_BITS:
            a, b, unit = a * 2.0**-RADIX_BITS, b * 2.0**-RADIX_BITS, unit * 2.0**-RADIX_BITS
            exponent += 1
    return float(np.log2(b)) + RADIX_BITS * exponent if b else float("-inf")
