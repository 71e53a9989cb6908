"""skip-till-next-match with conditions that compare neighbours: ends that wait in order of value.

Under skip-till-next-match every partial trend moves on at its first chance. An entry, the partial
trends that end at one event in one state, thus waits until some event may follow it, is extended by
all simultaneous events that may, and is gone. Kept in the order of values (`ranks`), those that an
event takes are a range of places: it looks at nobody else, and each is taken once, so all steps
together cost no more than the sorting.

A time point at a time, as in `route`, and on the same tape:

1. *Ask.* Every event, as every variable it may be, asks for a range of each index it reads. Whoever
   finds no entry there starts nothing.
2. *Sweep.* The entries of all ranges are added up once: ranges of one index that begin at the same
   place are served from the shortest to the longest by one running sum.
3. *Consume.* What was swept leaves all indexes of its state.
4. *Settle.* The new partial trends join their states, the finished ones the result.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.bitset import following, insert, remove, words_needed
from trendloom.kernels.compiled import kernel
from trendloom.kernels.program import NO_STATE, Ints, Work
from trendloom.kernels.ranked import Steps
from trendloom.kernels.ranks import Ranks, is_sparse, narrow, room_to_narrow
from trendloom.kernels.replay import FULL, RESULT, Lanes, emit_slot, replay, write
from trendloom.kernels.tape import ADD, CLEAR, EMIT, ONE, TAPE_LENGTH

EVERY = -1
"""The order of an index that arrows without a condition read: of arrival, all of it."""


def cells_needed(steps: Steps, span: int, width: int) -> int:
    """How many cells `take_next` uses in every semiring."""
    rows = int(np.count_nonzero(np.diff(steps.write_start)))
    return 2 + steps.states + width + rows * span


@kernel
def take_next(
    steps: Steps,
    ranks: Ranks,
    order: Ints,
    mask: NDArray[np.uint64],
    work: Work,
    lanes: Lanes,
    span: int,
    width: int,
    found: NDArray[np.uint8],
) -> None:
    """Makes every run of `work`; arguments as in `route`.

    Cells: RESULT, one per state, a running sum, `width` fresh ones, and `span` entries per state
    that has indexes.
    """
    # Views in local names: reading them off the tuples in the loop costs more than the loop.
    arrow_start, source_of, target_of = steps.arrow_start, steps.source, steps.target
    stop = steps.stop
    read_start, reads = steps.read_start, steps.read
    write_start, written = steps.write_start, steps.write
    ranking_of, final = steps.ranking, steps.final
    states = steps.states
    variables = arrow_start.shape[0] - 1
    rankings = ranks.lefts.shape[0]
    indexes = ranking_of.shape[0]
    running = 1 + states
    first_fresh = running + 1
    first_entry = first_fresh + width

    row_of = np.full(states, -1, np.int64)
    rows = 0
    for state in range(states):
        if write_start[state] < write_start[state + 1]:
            row_of[state] = rows
            rows += 1
    state_of = np.zeros(max(indexes, 1), np.int64)
    for state in range(states):
        for w in range(write_start[state], write_start[state + 1]):
            state_of[written[w]] = state

    own = room_to_narrow(ranks, work.lo, work.hi)
    most = 1
    for ranking in range(rankings):
        most = max(most, ranks.lefts[ranking])
    event_at = np.zeros((rankings, most), np.int32)
    words = np.zeros(0, np.uint64)
    base = np.zeros(indexes + 1, np.int64)
    sizes = np.zeros(max(indexes, 1), np.int64)

    tape = np.empty((TAPE_LENGTH, 3), np.int64)
    length = 0
    alive = np.zeros(1 + states, np.uint8)
    consumed = np.zeros(1 + states, np.uint8)
    swept = np.zeros(rows * span, np.uint8)
    swept_entry = np.empty(rows * span, np.int64)
    room = max(width, 1)
    new_cell = np.empty(room, np.int64)
    new_state = np.empty(room, np.int64)
    new_event = np.empty(room, np.int64)
    new_variable = np.empty(room, np.int64)
    asked = np.empty((1, 4), np.int64)
    keys = np.empty(1, np.int64)

    for run in range(work.lo.shape[0]):
        if stop[0] != 0:
            break
        lo, hi, slot = work.lo[run], work.hi[run], work.slot[run]
        left, right, right_start = ranks.left, ranks.right, ranks.right_start
        lefts, shift = ranks.lefts, 0
        if is_sparse(ranks, lo, hi):
            narrow(ranks, lo, hi, own)
            left, right, right_start = own.left, own.right, own.right_start
            lefts, shift = own.lefts, lo
        for ranking in range(rankings):
            for event in range(lo, hi):
                place = left[ranking, event - shift]
                if place >= 0:
                    event_at[ranking, place] = event - lo
        for index in range(indexes):
            ranking = ranking_of[index]
            sizes[index] = hi - lo if ranking == EVERY else lefts[ranking]
            base[index + 1] = base[index] + words_needed(sizes[index])
        if base[indexes] > words.shape[0]:
            words = np.zeros(base[indexes], np.uint64)
        else:
            words[: base[indexes]] = np.uint64(0)
        length = write(tape, length, CLEAR, RESULT, 0)
        for cell in range(1, 1 + states):
            if length >= FULL:
                length = replay(tape, length, lanes)
            length = write(tape, length, CLEAR, cell, 0)
            alive[cell] = 0

        at = lo
        while at < hi and stop[0] == 0:
            end = at + 1
            while end < hi and order[end] == order[at]:
                end += 1

            # 1. Ask.
            created = 0
            requests = 0
            any_consumed = False
            for event in range(at, end):
                letters = mask[event]
                for variable in range(variables):
                    if not (letters >> np.uint64(variable)) & np.uint64(1):
                        continue
                    arrow = arrow_start[variable]
                    last = arrow_start[variable + 1]
                    while arrow < last:
                        target = target_of[arrow]
                        keep = target != NO_STATE
                        fresh = -1
                        if keep:
                            row = row_of[target]
                            fresh = (
                                first_fresh + created
                                if row < 0
                                else first_entry + row * span + event - lo
                            )
                        opened = False
                        while arrow < last and target_of[arrow] == target:
                            if length >= FULL:
                                length = replay(tape, length, lanes)
                            source = source_of[arrow]
                            lo_read, hi_read = read_start[arrow], read_start[arrow + 1]
                            if source == NO_STATE:
                                if keep:
                                    if not opened:
                                        length = write(tape, length, CLEAR, fresh, 0)
                                        opened = True
                                    length = write(tape, length, ONE, fresh, 0)
                            elif lo_read == hi_read and alive[1 + source]:
                                consumed[1 + source] = 1
                                any_consumed = True
                                if keep:
                                    if not opened:
                                        length = write(tape, length, CLEAR, fresh, 0)
                                        opened = True
                                    length = write(tape, length, ADD, fresh, 1 + source)
                            for k in range(lo_read, hi_read):
                                index = reads[k]
                                ranking = ranking_of[index]
                                start, reach = 0, hi - lo
                                if ranking != EVERY:
                                    start = right_start[ranking, event - shift]
                                    reach = right[ranking, event - shift]
                                if reach <= start or reach <= following(
                                    words, base[index], sizes[index], start
                                ):
                                    continue
                                if keep and not opened:
                                    length = write(tape, length, CLEAR, fresh, 0)
                                    opened = True
                                if requests == asked.shape[0]:
                                    more = np.empty((2 * requests, 4), np.int64)
                                    more[:requests] = asked
                                    asked = more
                                    keys = np.empty(2 * requests, np.int64)
                                asked[requests, 0] = index
                                asked[requests, 1] = start
                                asked[requests, 2] = reach
                                asked[requests, 3] = fresh
                                requests += 1
                            arrow += 1
                        if opened:
                            new_cell[created] = fresh
                            new_state[created] = target
                            new_event[created] = event
                            new_variable[created] = variable
                            created += 1

            # 2. Sweep.
            gone = 0
            if requests > 1:
                # Places of other equal values lie elsewhere, so the ends alone put ranges with the
                # same start beside one another.
                for k in range(requests):
                    keys[k] = (asked[k, 0] << 40) | asked[k, 2]
                asked[:requests] = asked[np.argsort(keys[:requests])]
            k = 0
            while k < requests:
                index, start = asked[k, 0], asked[k, 1]
                beyond = k + 1
                while beyond < requests and asked[beyond, 0] == index and asked[beyond, 1] == start:
                    beyond += 1
                ranking = ranking_of[index]
                entries = row_of[state_of[index]] * span
                several = beyond > k + 1
                if several:
                    length = write(tape, length, CLEAR, running, 0)
                place = following(words, base[index], sizes[index], start)
                while k < beyond:
                    sum_cell = running if several else asked[k, 3]
                    while place < asked[k, 2]:
                        if length >= FULL:
                            length = replay(tape, length, lanes)
                        entry = entries + (place if ranking == EVERY else event_at[ranking, place])
                        if not swept[entry]:
                            swept[entry] = 1
                            swept_entry[gone] = entry
                            gone += 1
                        if sum_cell >= 0:
                            length = write(tape, length, ADD, sum_cell, first_entry + entry)
                        place = following(words, base[index], sizes[index], place + 1)
                    if length >= FULL:
                        length = replay(tape, length, lanes)
                    if several and asked[k, 3] >= 0:
                        length = write(tape, length, ADD, asked[k, 3], running)
                    k += 1

            # 3. Consume.
            for k in range(gone):
                entry = swept_entry[k]
                swept[entry] = 0
                row, event = entry // span, entry % span
                for index in range(indexes):
                    if row_of[state_of[index]] == row:
                        ranking = ranking_of[index]
                        place = event
                        if ranking != EVERY:
                            place = left[ranking, event + lo - shift]
                        if place >= 0:
                            remove(words, base[index], sizes[index], place)
            if any_consumed:
                for held in range(1, 1 + states):
                    if length >= FULL:
                        length = replay(tape, length, lanes)
                    if consumed[held]:
                        length = write(tape, length, CLEAR, held, 0)
                        alive[held] = 0
                        consumed[held] = 0

            # 4. Settle.
            for k in range(created):
                if length >= FULL:
                    length = replay(tape, length, lanes)
                cell, state = new_cell[k], new_state[k]
                length = write(tape, length, EMIT + new_variable[k], cell, new_event[k])
                if final[state]:
                    length = write(tape, length, ADD, RESULT, cell)
                    found[slot] = 1
                if row_of[state] < 0:
                    length = write(tape, length, ADD, 1 + state, cell)
                    alive[1 + state] = 1
                for w in range(write_start[state], write_start[state + 1]):
                    index = written[w]
                    ranking = ranking_of[index]
                    place = new_event[k] - lo
                    if ranking != EVERY:
                        place = left[ranking, new_event[k] - shift]
                    if place >= 0:
                        insert(words, base[index], sizes[index], place)
            at = end

        length = replay(tape, length, lanes)
        emit_slot(slot, lo, hi, lanes)
