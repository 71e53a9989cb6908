"""Between which windows the set of finished trends differs, for `WITHIN` without `SLIDE`.

A window that begins later has lost trends if one began at an event that it has no more, and was
finished; it has gained some if one ends at a new event and began late enough. Two passes find, per
event, the latest beginning of the trends that end there, and the earliest end of those that begin
there. Where neither is so, the aggregates are those of the window before, to the last bit: adding
the same numbers up in another order may tell otherwise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.program import Ints
from trendloom.kernels.table import Table

Bools = NDArray[np.bool_]


@kernel
def _latest_beginnings(
    table: Table, accepts: Bools, order: Ints, code: NDArray[Any], lo: int, hi: int, out: Ints
) -> None:
    """Of the trends that end at each event, -1 if there are none."""
    source, target, states = table.source, table.target, table.states
    steps, sources = source.shape[1], source.shape[2]
    # With the table's cell that is never anything, and the one that nobody reads.
    latest = np.full(states + 3, -1, np.int64)
    fresh = np.full(states + 3, -1, np.int64)
    at = lo
    while at < hi:
        first = at
        while at < hi and order[at] == order[first]:
            at += 1
        for event in range(first, at):
            c = code[event]
            for step in range(steps):
                found = first if table.begins[c, step] != 0 else -1
                for k in range(sources):
                    found = max(found, latest[source[c, step, k]])
                place = target[c, step]
                fresh[place] = max(fresh[place], found)
                if accepts[place]:
                    out[event] = max(out[event], found)
        for event in range(first, at):
            for k in range(table.eats.shape[1]):
                latest[table.eats[code[event], k]] = -1
        for state in range(states):
            latest[state] = max(latest[state], fresh[state])
        fresh[:] = -1


@kernel
def _earliest_ends(
    table: Table, accepts: Bools, order: Ints, code: NDArray[Any], lo: int, hi: int, out: Ints
) -> None:
    """Of the trends that begin at each event, `out` as it was if there are none."""
    source, target, states = table.source, table.target, table.states
    steps, sources = source.shape[1], source.shape[2]
    never = np.iinfo(np.int64).max
    ends = np.full(states + 3, never, np.int64)
    fresh = np.full(states + 3, never, np.int64)
    end = hi
    while end > lo:
        first = end
        while first > lo and order[first - 1] == order[end - 1]:
            first -= 1
        for event in range(first, end):
            c = code[event]
            for step in range(steps):
                place = target[c, step]
                if place >= states:
                    continue
                found = first if accepts[place] else ends[place]
                if table.begins[c, step] != 0:
                    out[event] = min(out[event], found)
                for k in range(sources):
                    cell = source[c, step, k]
                    fresh[cell] = min(fresh[cell], found)
        for event in range(first, end):
            for k in range(table.eats.shape[1]):
                ends[table.eats[code[event], k]] = never
        for state in range(states):
            ends[state] = min(ends[state], fresh[state])
        fresh[:] = never
        end = first


@kernel
def note_turnover(
    table: Table,
    accepts: Bools,
    order: Ints,
    code: NDArray[Any],
    bounds: Ints,
    lo: Ints,
    hi: Ints,
    partition: Ints,
    out: Bools,
) -> None:
    """Sets `out[r]` where run r has other finished trends than the run before.

    Runs are windows of growing bounds, by partition; before a partition's first there is nothing.
    `accepts` is by cell. Events of one time point begin and end trends together.
    """
    events = order.shape[0]
    begun = np.full(events, -1, np.int64)
    ended = np.full(events, np.iinfo(np.int64).max, np.int64)
    for p in range(bounds.shape[0] - 1):
        _latest_beginnings(table, accepts, order, code, bounds[p], bounds[p + 1], begun)
        _earliest_ends(table, accepts, order, code, bounds[p], bounds[p + 1], ended)
    old_lo = old_hi = 0
    for run in range(lo.shape[0]):
        if run == 0 or partition[run] != partition[run - 1]:
            old_lo = old_hi = lo[run]
        changed = False
        for event in range(old_lo, min(lo[run], old_hi)):
            changed |= ended[event] < old_hi
        for event in range(max(old_hi, lo[run]), hi[run]):
            changed |= begun[event] >= lo[run]
        out[run] |= changed
        old_lo, old_hi = lo[run], hi[run]
