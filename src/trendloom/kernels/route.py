"""The router: which partial trends feed which, for every semantics, grain, guard and predicate.

One run covers the events of one partition and window, a time point at a time:

1. *Extend.* Every event, as every variable it may be, collects the partial trends it extends: the
   empty trend, the band cells of type-grained states (COGRA §4), single entries of event-grained
   states whose predicate holds (COGRA §5). All read the state before this time point, so
   simultaneous events never see one another.
2. *Consume.* Under skip-till-next-match what was extended is gone: each partial trend moves on at
   its first chance. Under contiguous everything older than this time point is gone.
3. *Watch.* Negated letters move the guards' thresholds.
4. *Settle.* The new partial trends join their states, and the finished ones their class of ends.

**Bands.** A guard holds for the step from e to f if no match of the negated pattern lies strictly
between, that is, if e is not before the latest start of a match that ended before f. That latest
start is a threshold on e's order, and so is the latest start of every partial match of the negated
pattern, one per position. Partial trends are kept apart only between those thresholds: band z of a
state holds those that ended at or after threshold z and before the next larger one. A threshold
that moves hands its band to the largest threshold not above its old place. Nothing is ever
subtracted, so minima and sets work like counts.

**Bound variables** (anchors, GROUP-BY V.attr) have one run per value. Another value's event still
counts as the next match of a trend that has not met the variable, but goes nowhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.blocks import select
from trendloom.kernels.compiled import kernel
from trendloom.kernels.guards import reach, truth, watch
from trendloom.kernels.predicates import Predicates, holds
from trendloom.kernels.program import (
    ANCHOR,
    CONTIGUOUS,
    GROUP,
    NEVER,
    NEXT,
    NO_STATE,
    Program,
    Work,
)
from trendloom.kernels.replay import FULL, RESULT, Lanes, emit_slot, replay, write
from trendloom.kernels.tape import ADD, CLEAR, EMIT, ONE, TAPE_LENGTH


def cells_needed(program: Program, span: int, width: int) -> int:
    """How many cells `route` uses in every semiring."""
    classes = program.final_start.shape[0] - 1
    rows = int(program.entry_row.max(initial=-1)) + 1
    return 1 + (program.states + classes + 1) * program.bands + width + rows * span


@kernel
def usable(
    program: Program,
    predicates: Predicates,
    values: NDArray[np.int64],
    bound: NDArray[np.int64],
    event: int,
    variable: int,
) -> int:
    """-1: free for every trend. -2: not at all. b: foreign to bound variable b."""
    verdict = -1
    for b in range(program.bind_kind.shape[0]):
        if program.bind_kind[b] == ANCHOR:
            anchor = bound[b]
            if program.bind_variable[b] == variable:
                if event != anchor:
                    verdict = b
            else:
                for at in range(program.check_start[b], program.check_start[b + 1]):
                    if program.check_variable[at] == variable and not holds(
                        predicates, program.check_predicate[at], anchor, event
                    ):
                        return -2
        elif program.bind_kind[b] == GROUP and program.bind_variable[b] == variable:
            if values[b, event] < 0:
                return -2
            if values[b, event] != bound[b]:
                verdict = b
    return verdict


@kernel
def route(
    program: Program,
    predicates: Predicates,
    order: NDArray[np.int64],
    mask: NDArray[np.uint64],
    values: NDArray[np.int64],
    work: Work,
    lanes: Lanes,
    span: int,
    width: int,
    found: NDArray[np.uint8],
) -> None:
    """Makes every run of `work`; `found[slot]` tells whether the slot has any trend.

    `span` is the largest number of events of a run, `width` the largest number of partial trends
    that one time point may create. Cells: RESULT, states × bands, ends × bands, one spare per band,
    `width` fresh ones, `span` entries per event-grained state (see `cells_needed`).
    """
    semantics = program.semantics
    states, bands = program.states, program.bands
    classes = program.final_start.shape[0] - 1
    guards = program.guard_start.shape[0] - 1
    variables = program.arrow_start.shape[0] - 1
    negated = program.watch_start.shape[0] - 1

    first_end = 1 + states * bands
    first_spare = first_end + classes * bands
    first_fresh = first_spare + bands
    first_entry = first_fresh + width

    tape = np.empty((TAPE_LENGTH, 3), np.int64)
    length = 0
    alive = np.zeros(first_spare, np.uint8)
    consumed = np.zeros(first_spare, np.uint8)
    threshold = np.empty(bands, np.int64)
    moved = np.empty(bands, np.int64)
    shifted = np.zeros(bands, np.bool_)
    reached = np.empty(guards, np.int64)
    band_truth = np.empty(bands, np.int64)

    rows = 0
    for state in range(states):
        rows = max(rows, program.entry_row[state] + 1)
    entry_event = np.empty((rows, span), np.int64)
    entry_cell = np.empty((rows, span), np.int64)
    entry_used = np.zeros((rows, span), np.uint8)
    entries = np.zeros(states, np.int64)
    hits = np.empty(span + 1, np.int64)
    free = np.empty(rows * span, np.int64)

    new_cell = np.empty(max(width, 1), np.int64)
    new_state = np.empty(max(width, 1), np.int64)
    new_event = np.empty(max(width, 1), np.int64)

    for run in range(work.lo.shape[0]):
        if predicates.stop[0] != 0:
            return
        lo, hi, slot = work.lo[run], work.hi[run], work.slot[run]
        bound = work.bound[run]
        if run == 0 or work.slot[run - 1] != slot:
            length = write(tape, length, CLEAR, RESULT, 0)
        for cell in range(1, first_spare):
            if length >= FULL:
                length = replay(tape, length, lanes)
            length = write(tape, length, CLEAR, cell, 0)
            alive[cell] = 0
        for band in range(bands):
            threshold[band] = NEVER
        threshold[0] = NEVER - 1
        for state in range(states):
            entries[state] = 0
        next_entry = first_entry
        n_free = 0

        at = lo
        while at < hi and predicates.stop[0] == 0:
            end = at + 1
            while end < hi and order[end] == order[at]:
                end += 1

            reach(program, threshold, reached)
            for band in range(bands):
                band_truth[band] = truth(threshold[band], reached)
            start_truth = truth(NEVER, reached)

            # 1. Extend.
            created = 0
            any_consumed = False
            for event in range(at, end):
                letters = mask[event]
                for variable in range(variables):
                    if not (letters >> np.uint64(variable)) & np.uint64(1):
                        continue
                    verdict = usable(program, predicates, values, bound, event, variable)
                    if verdict == -2:
                        continue
                    arrow = program.arrow_start[variable]
                    last = program.arrow_start[variable + 1]
                    while arrow < last:
                        target = program.target[arrow]
                        cell = -1
                        while arrow < last and program.target[arrow] == target:
                            if length >= FULL:
                                length = replay(tape, length, lanes)
                            keep = target != NO_STATE
                            if verdict >= 0:
                                if not (program.unbound[arrow] >> verdict) & 1:
                                    arrow += 1
                                    continue
                                keep = False
                            if not keep and semantics != NEXT:
                                arrow += 1
                                continue
                            source = program.source[arrow]
                            care, want = program.care[arrow], program.want[arrow]
                            if source == NO_STATE:
                                if keep and (start_truth & care) == want:
                                    if cell < 0:
                                        cell, next_entry, n_free = _take(
                                            program, target, created, first_fresh,
                                            next_entry, free, n_free,
                                        )  # fmt: skip
                                        length = write(tape, length, CLEAR, cell, 0)
                                    length = write(tape, length, ONE, cell, 0)
                            elif program.entry_row[source] >= 0:
                                row = program.entry_row[source]
                                satisfied = select(
                                    predicates, program.predicate[arrow], entry_event[row],
                                    entries[source], event, hits,
                                )  # fmt: skip
                                for hit in range(satisfied):
                                    if length >= FULL:
                                        length = replay(tape, length, lanes)
                                    k = hits[hit]
                                    if (
                                        care != 0
                                        and (truth(order[entry_event[row, k]], reached) & care)
                                        != want
                                    ):
                                        continue
                                    if semantics == NEXT:
                                        entry_used[row, k] = 1
                                        any_consumed = True
                                    if keep:
                                        if cell < 0:
                                            cell, next_entry, n_free = _take(
                                                program, target, created, first_fresh,
                                                next_entry, free, n_free,
                                            )  # fmt: skip
                                            length = write(tape, length, CLEAR, cell, 0)
                                        length = write(tape, length, ADD, cell, entry_cell[row, k])
                            else:
                                for band in range(bands):
                                    held = 1 + source * bands + band
                                    if not alive[held] or (band_truth[band] & care) != want:
                                        continue
                                    if semantics == NEXT:
                                        consumed[held] = 1
                                        any_consumed = True
                                    if keep:
                                        if cell < 0:
                                            cell, next_entry, n_free = _take(
                                                program, target, created, first_fresh,
                                                next_entry, free, n_free,
                                            )  # fmt: skip
                                            length = write(tape, length, CLEAR, cell, 0)
                                        length = write(tape, length, ADD, cell, held)
                            arrow += 1
                        if cell >= 0:
                            length = write(tape, length, EMIT + variable, cell, event)
                            new_cell[created] = cell
                            new_state[created] = target
                            new_event[created] = event
                            created += 1

            # 2. Consume.
            if semantics == CONTIGUOUS or any_consumed:
                for state in range(states):
                    row = program.entry_row[state]
                    kept = 0
                    for k in range(entries[state]):
                        if semantics == CONTIGUOUS or entry_used[row, k]:
                            entry_used[row, k] = 0
                            free[n_free] = entry_cell[row, k]
                            n_free += 1
                        else:
                            entry_event[row, kept] = entry_event[row, k]
                            entry_cell[row, kept] = entry_cell[row, k]
                            kept += 1
                    entries[state] = kept
                for held in range(1, first_end):
                    if length >= FULL:
                        length = replay(tape, length, lanes)
                    if consumed[held] or (semantics == CONTIGUOUS and alive[held]):
                        length = write(tape, length, CLEAR, held, 0)
                        alive[held] = 0
                        consumed[held] = 0

            # 3. Watch.
            if negated > 0 and watch(program, order, mask, at, end, threshold, moved):
                for group in range(states + classes):
                    if length >= FULL:
                        length = replay(tape, length, lanes)
                    base = 1 + group * bands
                    for band in range(bands):
                        shifted[band] = alive[base + band] and moved[band] != threshold[band]
                        if shifted[band]:
                            spare = first_spare + band
                            length = write(tape, length, CLEAR, spare, 0)
                            length = write(tape, length, ADD, spare, base + band)
                            length = write(tape, length, CLEAR, base + band, 0)
                            alive[base + band] = 0
                    for band in range(bands):
                        if shifted[band]:
                            home = 0
                            for other in range(bands):
                                if threshold[band] >= moved[other] > moved[home]:
                                    home = other
                            length = write(tape, length, ADD, base + home, first_spare + band)
                            alive[base + home] = 1
                for band in range(bands):
                    threshold[band] = moved[band]

            # 4. Settle.
            top = 0
            for band in range(bands):
                if threshold[band] > threshold[top]:
                    top = band
            for k in range(created):
                if length >= FULL:
                    length = replay(tape, length, lanes)
                state = new_state[k]
                if program.final[state] >= 0:
                    held = first_end + program.final[state] * bands + top
                    length = write(tape, length, ADD, held, new_cell[k])
                    alive[held] = 1
                row = program.entry_row[state]
                if row >= 0:
                    entry_event[row, entries[state]] = new_event[k]
                    entry_cell[row, entries[state]] = new_cell[k]
                    entries[state] += 1
                else:
                    held = 1 + state * bands + top
                    length = write(tape, length, ADD, held, new_cell[k])
                    alive[held] = 1
            at = end

        # Ends whose trailing guards hold are the run's trends.
        reach(program, threshold, reached)
        for c in range(classes):
            if not _counts(program, c, bound):
                continue
            for band in range(bands):
                held = first_end + c * bands + band
                if not alive[held]:
                    continue
                bits = truth(threshold[band], reached)
                for k in range(program.final_start[c], program.final_start[c + 1]):
                    if (bits & program.final_care[k]) == program.final_want[k]:
                        length = write(tape, length, ADD, RESULT, held)
                        found[slot] = 1
        if run + 1 == work.lo.shape[0] or work.slot[run + 1] != slot:
            length = replay(tape, length, lanes)
            emit_slot(slot, lo, hi, lanes)


@kernel
def _take(
    program: Program,
    target: int,
    created: int,
    first_fresh: int,
    next_entry: int,
    free: NDArray[np.int64],
    n_free: int,
) -> tuple[int, int, int]:
    """A cell for a new partial trend: an entry that stays, or a fresh one for this time point."""
    if program.entry_row[target] < 0:
        return first_fresh + created, next_entry, n_free
    if n_free > 0:
        return free[n_free - 1], next_entry, n_free - 1
    return next_entry, next_entry + 1, n_free


@kernel
def _counts(program: Program, c: int, bound: NDArray[np.int64]) -> bool:
    """Whether ends of class c are this run's: bound variables met, or absent in the null group."""
    for b in range(program.bind_kind.shape[0]):
        met = (program.final_bound[c] >> b) & 1
        if met != (1 if bound[b] >= 0 else 0):
            return False
    return True
