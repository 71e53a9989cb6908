"""`sum_in_lanes` where trends are only counted: a row is one number per window."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.lane_trees import LIMIT, enter_sums, plus_row, read_sums
from trendloom.kernels.lanes_ranked import OWN, room_of_own
from trendloom.kernels.program import NO_STATE, Ints
from trendloom.kernels.ranked import Steps
from trendloom.kernels.ranks import EQUAL, Ranks, narrow
from trendloom.kernels.scaled import RADIX, SHRINK


@kernel
def count_in_lanes(
    steps: Steps,
    ranks: Ranks,
    order: Ints,
    mask: NDArray[np.uint64],
    first_event: Ints,
    end_event: Ints,
    first_run: Ints,
    lanes: int,
    exponents: bool,
    width: int,
    out_m: NDArray[np.float64],
    out_e: Ints,
) -> bool:
    """The number of trends of every run. Arguments and result as in `sum_in_lanes`."""
    arrow_start, source_of, target_of = steps.arrow_start, steps.source, steps.target
    stop = steps.stop
    read_start, read = steps.read_start, steps.read
    write_start, write = steps.write_start, steps.write
    ranking_of, plain, final = steps.ranking, steps.plain, steps.final
    kind = ranks.kind
    variables = arrow_start.shape[0] - 1
    indexes = ranking_of.shape[0]
    finished = steps.states
    with_e = 1 if exponents else 0

    held_m = np.zeros((finished + 1) * lanes)
    held_e = np.zeros(held_m.shape[0] * with_e)
    fresh_m = np.zeros(max(width, 1) * lanes)
    fresh_e = np.zeros(fresh_m.shape[0] * with_e)
    tree_m, tree_e = np.zeros(0), np.zeros(0)
    one_m, one_e = np.zeros(lanes), np.zeros(lanes * with_e)
    new_state = np.empty(max(width, 1), np.int64)
    new_event = np.empty(max(width, 1), np.int64)
    first_row = np.zeros(indexes + 1, np.int64)
    own = room_of_own(ranks, 0)
    most = 0
    for ranking in range(ranks.lefts.shape[0]):
        most = max(most, int(ranks.lefts[ranking]))

    for stretch in range(first_run.shape[0] - 1):
        if stop[0] != 0:
            break
        run, last_run = int(first_run[stretch]), int(first_run[stretch + 1])
        lo, hi = int(first_event[run]), int(end_event[last_run - 1])
        places, shift = ranks, 0
        if most > OWN * (hi - lo):
            if own.left.shape[1] < hi - lo:
                own = room_of_own(ranks, hi - lo)
            narrow(ranks, lo, hi, own)
            places, shift = own, lo
        left, left_start, right, right_start = (
            places.left, places.left_start, places.right, places.right_start,
        )  # fmt: skip
        size_of = places.size
        for index in range(indexes):
            first_row[index + 1] = first_row[index] + places.lefts[ranking_of[index]]
        needed = int(first_row[indexes]) * lanes
        if needed > tree_m.shape[0]:
            tree_m, tree_e = np.zeros(needed), np.zeros(needed * with_e)
        else:
            tree_m[:needed] = 0.0
            tree_e[: needed * with_e] = 0.0
        held_m[:] = 0.0
        held_e[:] = 0.0
        one_m[:] = 0.0
        opened, over = run, run

        at = lo
        while at < hi and stop[0] == 0:
            while over < opened and end_event[over] <= at:
                one_m[over - run] = 0.0
                over += 1
            while opened < last_run and first_event[opened] <= at:
                one_m[opened - run] = 1.0 if first_event[opened] < end_event[opened] else 0.0
                opened += 1
            end = at + 1
            while end < hi and order[end] == order[at]:
                end += 1
            created = 0
            for event in range(at, end):
                letters = mask[event]
                for variable in range(variables):
                    if not (letters >> np.uint64(variable)) & np.uint64(1):
                        continue
                    arrow = arrow_start[variable]
                    last = arrow_start[variable + 1]
                    while arrow < last:
                        target = target_of[arrow]
                        row = created * lanes
                        for j in range(lanes):
                            fresh_m[row + j] = 0.0
                        while arrow < last and target_of[arrow] == target:
                            source = source_of[arrow]
                            lo_read, hi_read = read_start[arrow], read_start[arrow + 1]
                            if source == NO_STATE:
                                plus_row(fresh_m, fresh_e, row, one_m, one_e, 0, lanes)
                            elif lo_read == hi_read:
                                plus_row(
                                    fresh_m, fresh_e, row, held_m, held_e, source * lanes, lanes
                                )
                            for k in range(lo_read, hi_read):
                                ranking = ranking_of[read[k]]
                                start = right_start[ranking, event - shift]
                                reach = right[ranking, event - shift] - start
                                if reach > 0:
                                    if kind[ranking] == EQUAL:
                                        reach = 1
                                    read_sums(
                                        fresh_m, fresh_e, row, tree_m, tree_e,
                                        first_row[read[k]] + start, reach, lanes,
                                    )  # fmt: skip
                            arrow += 1
                        found, within = False, True
                        for j in range(lanes):
                            count = fresh_m[row + j] if one_m[j] != 0.0 else 0.0
                            found |= count != 0.0
                            within &= count < LIMIT
                            fresh_m[row + j] = count
                        if not within:
                            return False
                        if found:
                            new_state[created] = target
                            new_event[created] = event - shift
                            created += 1
            for one in range(created):
                state, event, row = new_state[one], new_event[one], one * lanes
                if plain[state]:
                    plus_row(held_m, held_e, state * lanes, fresh_m, fresh_e, row, lanes)
                if final[state]:
                    plus_row(held_m, held_e, finished * lanes, fresh_m, fresh_e, row, lanes)
                for w in range(write_start[state], write_start[state + 1]):
                    ranking = ranking_of[write[w]]
                    place = left[ranking, event]
                    if place >= 0:
                        start = left_start[ranking, event]
                        first, place, size = first_row[write[w]] + start, place - start, 1
                        if kind[ranking] == EQUAL:
                            place = 0
                        else:
                            size = size_of[ranking, start]
                        enter_sums(tree_m, tree_e, first, size, place, fresh_m, fresh_e, row, lanes)
            at = end
        for lane in range(last_run - run):
            m, e = held_m[finished * lanes + lane], 0
            if exponents and m != 0.0:
                e = int(held_e[finished * lanes + lane])
            while m >= RADIX:
                m *= SHRINK
                e += 1
            out_m[run + lane], out_e[run + lane] = m, e
    return True
