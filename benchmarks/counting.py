"""The roads to a count of `(SEQ(A+, B))+` that benchmarks compare, all below the hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.events import A
from trendloom import query
from trendloom.engine.arrow import read_only
from trendloom.engine.program import compile_table, possible_masks
from trendloom.engine.run import Run
from trendloom.engine.setting import Setting
from trendloom.kernels.fold import fold_doubles, fold_integers
from trendloom.language.nodes import Semantics

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from trendloom.kernels.table import Table
    from trendloom.plan.plan import Plan

RADIX_BITS = 256
RADIX = 2.0**RADIX_BITS


def plan_for(semantics: str) -> Plan:
    """Everything that is decided before the first event."""
    wanted = "COUNT(*) AS trends, LOG2(COUNT(*)) AS log2"
    return query(f"RETURN {wanted} PATTERN (SEQ(A+, B))+ SEMANTICS {semantics}").plan


def by_engine(plan: Plan, events: Iterable[pa.RecordBatch]) -> dict[str, float]:
    """What a host does with its batches. The row of the result."""
    run = Run(Setting(plan, [], [], nanoseconds=1))
    for batch in events:
        run.push(batch)
    (row,) = run.finish().to_pylist()
    return row


def table_of(plan: Plan) -> Table:
    """What the kernel reads of the query."""
    types = [letter.type for letter in plan.scan.letters]
    fast = plan.folding(plan.parts[0])
    assert fast is not None
    return compile_table(fast, plan.semantics, possible_masks(types))


def ends_of(plan: Plan) -> list[int]:
    """The cells whose sum is the number of finished trends."""
    automaton = plan.parts[0].automaton
    if plan.semantics is Semantics.ANY:
        # Nothing is consumed, so the finished trends are all that ended in accepting states.
        return [accept.state for accept in automaton.accepts]
    return [len(automaton.states)]


def by_kernel(plan: Plan, masks: NDArray[np.uint8], times: NDArray[np.int64]) -> float:
    """The compiled loop alone, over all events at once. The count's logarithm."""
    table, ends = table_of(plan), ends_of(plan)
    times, masks = read_only(times), read_only(masks)
    shape = (1, table.states + 3)
    lo, hi = np.zeros(1, np.int64), np.array([len(masks)])
    count_only = np.array([-2])
    if not plan.exponential:
        counts = np.zeros(shape, np.int64)
        none = np.zeros((1, 1), np.int64)
        if not fold_integers(table, times, masks, lo, hi, counts, count_only, none):
            raise OverflowError("The count does not fit 64 bits: not a benchmark of counting.")
        return float(np.log2(counts[0, ends].sum()))
    m, e = np.zeros(shape), np.zeros(shape, np.int64)
    fold_doubles(table, times, masks, lo, hi, m, e, count_only, np.zeros((1, 1)))
    logs = [np.log2(m[0, end]) + RADIX_BITS * e[0, end] for end in ends]
    return float(np.logaddexp2.reduce(logs))


def by_table_in_python(plan: Plan, masks: Sequence[int], times: Sequence[int]) -> float:
    """The kernel's algorithm, for any pattern, as a loop of plain Python over plain lists."""
    table = table_of(plan)
    assert table.target.shape[1] == 1
    target, begins, finished = (
        column[:, 0].tolist() for column in (table.target, table.begins, table.finished)
    )
    source, eats = table.source[:, 0].tolist(), table.eats.tolist()
    sink = table.states + 2
    cells = [0.0] * (table.states + 3)
    unit, exponent = 1.0, 0
    at, end = 0, len(masks)
    while at < end:
        first = at
        time = times[at]
        at += 1
        while at < end and times[at] == time:
            at += 1
        fresh = []
        for mask in masks[first:at]:
            count = unit if begins[mask] else 0.0
            for cell in source[mask]:
                count += cells[cell]
            fresh.append((mask, count))
        for mask, _ in fresh:
            for cell in eats[mask]:
                cells[cell] = 0.0
        full = False
        for mask, count in fresh:
            cells[target[mask]] += count
            cells[finished[mask]] += count
            full |= cells[target[mask]] >= RADIX
        cells[sink] = 0.0
        if full:
            cells = [cell / RADIX for cell in cells]
            unit /= RADIX
            exponent += 1
    return float(np.log2(sum(cells[cell] for cell in ends_of(plan)))) + RADIX_BITS * exponent


def by_hand_in_python(masks: Sequence[int], times: Sequence[int]) -> float:
    """The same written out for this one pattern under any-match."""
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
        if a >= RADIX:
            a, b, unit = a / RADIX, b / RADIX, unit / RADIX
            exponent += 1
    return float(np.log2(b)) + RADIX_BITS * exponent
