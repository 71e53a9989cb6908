"""`sum_by_value` where trends are only counted and conditions only compared.

A fifth to a third of the time: the general loop pays for its lanes of three semirings, its trees
and lists. Here a state is one number with its exponent, and an index one tree.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.prefix import WIDE, add_scaled, before_scaled, blocks_needed
from trendloom.kernels.program import NO_STATE, Ints
from trendloom.kernels.ranked import Steps
from trendloom.kernels.ranks import Ranks, is_sparse, narrow, room_to_narrow
from trendloom.kernels.scaled import plus


@kernel
def count_by_value(
    steps: Steps,
    ranks: Ranks,
    order: Ints,
    mask: NDArray[np.uint64],
    first_event: Ints,
    end_event: Ints,
    width: int,
    out_m: NDArray[np.float64],
    out_e: Ints,
) -> None:
    """The number of trends of every run. Arguments as in `sum_by_value`, without equalities."""
    # Views in local names: reading them off the tuples in the loop costs more than the loop.
    arrow_start, source_of, target_of = steps.arrow_start, steps.source, steps.target
    stop = steps.stop
    read_start, read = steps.read_start, steps.read
    write_start, write = steps.write_start, steps.write
    ranking_of, plain, final = steps.ranking, steps.plain, steps.final
    variables = arrow_start.shape[0] - 1
    indexes = ranking_of.shape[0]
    runs = first_event.shape[0]

    own = room_to_narrow(ranks, first_event, end_event)
    held_m, held_e = np.zeros(steps.states), np.zeros(steps.states, np.int64)
    new_m, new_e = np.zeros(max(width, 1)), np.zeros(max(width, 1), np.int64)
    new_state = np.empty(max(width, 1), np.int64)
    new_event = np.empty(max(width, 1), np.int64)
    first_block = np.zeros(indexes + 1, np.int64)
    sizes = np.zeros(max(indexes, 1), np.int64)
    cells = np.zeros(0)

    for run in range(runs):
        if stop[0] != 0:
            break
        lo, hi = int(first_event[run]), int(end_event[run])
        left, right, lefts, shift = ranks.left, ranks.right, ranks.lefts, 0
        if is_sparse(ranks, lo, hi):
            narrow(ranks, lo, hi, own)
            left, right, lefts, shift = own.left, own.right, own.lefts, lo
        for index in range(indexes):
            sizes[index] = lefts[ranking_of[index]]
            first_block[index + 1] = first_block[index] + blocks_needed(sizes[index])
        needed = int(first_block[indexes]) * 2 * WIDE
        if needed > cells.shape[0]:
            cells = np.zeros(needed)
        else:
            cells[:needed] = 0.0
        held_m[:] = 0.0
        held_e[:] = 0
        done_m, done_e = 0.0, 0

        at = lo
        while at < hi and stop[0] == 0:
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
                        m, e = 0.0, 0
                        while arrow < last and target_of[arrow] == target:
                            source = source_of[arrow]
                            lo_read, hi_read = read_start[arrow], read_start[arrow + 1]
                            if source == NO_STATE:
                                m, e = plus(m, e, 1.0, 0)
                            elif lo_read == hi_read:
                                m, e = plus(m, e, held_m[source], held_e[source])
                            for k in range(lo_read, hi_read):
                                index = read[k]
                                reach = right[ranking_of[index], event - shift]
                                if reach > 0:
                                    xm, xe = before_scaled(
                                        cells, first_block[index], sizes[index], reach
                                    )
                                    m, e = plus(m, e, xm, xe)
                            arrow += 1
                        if m != 0.0:
                            new_m[created], new_e[created] = m, e
                            new_state[created], new_event[created] = target, event - shift
                            created += 1
            for k in range(created):
                m, e, state = new_m[k], new_e[k], new_state[k]
                if plain[state]:
                    held_m[state], held_e[state] = plus(held_m[state], held_e[state], m, e)
                if final[state]:
                    done_m, done_e = plus(done_m, done_e, m, e)
                for w in range(write_start[state], write_start[state + 1]):
                    index = write[w]
                    place = left[ranking_of[index], new_event[k]]
                    if place >= 0:
                        add_scaled(cells, first_block[index], sizes[index], place, m, e)
            at = end
        out_m[run], out_e[run] = done_m, done_e
