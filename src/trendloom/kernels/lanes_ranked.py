"""`sum_by_value` for windows that overlap: each is a lane of one tree.

Consecutive windows of a partition, a *stretch*, are computed in one pass over their events. Every
number of `sum_by_value` becomes a row with a lane per window, so an event is ranked, looked up and
entered once for all windows of the stretch that hold it. A window opens its lane with its first
event: the empty trend begins there from then on. When it is over, its result is read off and the
lane is closed: nothing is begun or extended there any more, and nothing is taken out of the tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.checked import Checked, plus_checked, times_checked
from trendloom.kernels.compiled import kernel
from trendloom.kernels.extreme import ABSENT, Extreme
from trendloom.kernels.lane_trees import (
    LIMIT,
    Doubles,
    enter_integers,
    enter_keys,
    enter_sums,
    least_row,
    plus_integers,
    plus_row,
    read_integers,
    read_keys,
    read_sums,
    step_keys,
    times_row,
)
from trendloom.kernels.program import NO_STATE, Ints
from trendloom.kernels.ranked import Steps
from trendloom.kernels.ranks import EQUAL, Ranks, narrow
from trendloom.kernels.scaled import RADIX, SHRINK, Scaled

OWN = 2
"""A stretch that holds less than every so many-th place gets places of its own."""


class Rows(NamedTuple):
    """Rows of every semiring in use, flat: doubles and their exponents, integers, keys."""

    m: Doubles
    e: Doubles
    v: Ints
    k: Ints


class Spans(NamedTuple):
    """Numbers of a row: those of lane 0 … lanes - 1 for the first quantity, then for the next."""

    lanes: int
    scaled: int
    checked: int
    extreme: int


@kernel
def _rows(count: int, spans: Spans, exponents: bool) -> Rows:
    return Rows(
        np.zeros(count * spans.scaled),
        np.zeros(count * spans.scaled if exponents else 0),
        np.zeros(count * spans.checked, np.int64),
        np.full(count * spans.extreme, ABSENT, np.int64),
    )


@kernel
def _clear(rows: Rows, first: int, end: int, spans: Spans) -> None:
    rows.m[first * spans.scaled : end * spans.scaled] = 0.0
    if rows.e.shape[0] > 0:
        rows.e[first * spans.scaled : end * spans.scaled] = 0.0
    rows.v[first * spans.checked : end * spans.checked] = 0
    rows.k[first * spans.extreme : end * spans.extreme] = ABSENT


@kernel
def _add(rows: Rows, row: int, others: Rows, other: int, spans: Spans, lost: Ints) -> None:
    s, c, x = spans.scaled, spans.checked, spans.extreme
    if s > 0:
        plus_row(rows.m, rows.e, row * s, others.m, others.e, other * s, s)
    if c > 0:
        plus_integers(rows.v, row * c, others.v, other * c, c, lost)
    if x > 0:
        least_row(rows.k, row * x, others.k, other * x, x)


@kernel
def _begin(rows: Rows, row: int, ones: Rows, spans: Spans, extreme: Extreme, lost: Ints) -> None:
    """Adds the empty trend; where a lane is not open, it is taken off again."""
    s, c, x = spans.scaled, spans.checked, spans.extreme
    if s > 0:
        plus_row(rows.m, rows.e, row * s, ones.m, ones.e, 0, spans.lanes)
    if c > 0:
        plus_integers(rows.v, row * c, ones.v, 0, spans.lanes, lost)
    for lane in range(extreme.step.shape[0]):
        if extreme.step[lane] != 0:
            least_row(rows.k, row * x + lane * spans.lanes, ones.k, 0, spans.lanes)


@kernel
def _only_open(rows: Rows, row: int, is_open: NDArray[np.uint8], spans: Spans) -> bool:
    """Takes off what is in lanes that are not open; false if there is no trend in the others."""
    lanes = spans.lanes
    found = False
    for at in range(row * spans.scaled, (row + 1) * spans.scaled, lanes):
        for j in range(lanes):
            rows.m[at + j] = rows.m[at + j] if is_open[j] else 0.0
    for at in range(row * spans.checked, (row + 1) * spans.checked, lanes):
        for j in range(lanes):
            rows.v[at + j] = rows.v[at + j] if is_open[j] else 0
    for at in range(row * spans.extreme, (row + 1) * spans.extreme, lanes):
        for j in range(lanes):
            rows.k[at + j] = rows.k[at + j] if is_open[j] else ABSENT
    if spans.scaled > 0:
        for j in range(lanes):
            found |= rows.m[row * spans.scaled + j] != 0.0
    else:
        for j in range(lanes):
            found |= rows.v[row * spans.checked + j] != 0
    return found


@kernel
def _take(
    rows: Rows, row: int, variable: int, event: int, product: Rows, spans: Spans,
    scaled: Scaled, checked: Checked, extreme: Extreme, lost: Ints,
) -> bool:  # fmt: skip
    """All trends of a row take the event; false if a number needs an exponent and has none."""
    lanes = spans.lanes
    at = row * spans.scaled
    for q in range(1, scaled.var.shape[0]):
        if scaled.var[q] == variable or scaled.var[q] == -1:
            x = scaled.x[q, event]
            if x != 0.0:
                times_row(product.m, product.e, 0, x, rows.m, rows.e, at, lanes)
                plus_row(rows.m, rows.e, at + q * lanes, product.m, product.e, 0, lanes)
    first = row * spans.checked
    for q in range(1, checked.var.shape[0]):
        if checked.var[q] == variable or checked.var[q] == -1:
            for j in range(lanes):
                here = first + q * lanes + j
                more = times_checked(checked.x[q, event], rows.v[first + j], checked.overflow)
                rows.v[here] = plus_checked(rows.v[here], more, checked.overflow)
    for q in range(extreme.var.shape[0]):
        key = row * spans.extreme + q * lanes
        if extreme.step[q] != 0:
            step_keys(rows.k, key, extreme.step[q], lanes)
        elif extreme.var[q] == variable:
            value = extreme.key[q, event]
            for j in range(lanes):
                counted = rows.m[at + j] != 0.0 if spans.scaled > 0 else rows.v[first + j] != 0
                if counted:
                    rows.k[key + j] = min(rows.k[key + j], value)
    within = True
    if rows.e.shape[0] == 0:
        for j in range(spans.scaled):
            within &= abs(rows.m[at + j]) < LIMIT
    return within


@kernel
def _give(
    run: int, lane: int, held: Rows, finished: int, spans: Spans,
    scaled: Scaled, checked: Checked, extreme: Extreme, lost: Ints, found: NDArray[np.uint8],
) -> None:  # fmt: skip
    """Reads off the finished trends of a window that is over."""
    for q in range(scaled.out_m.shape[1]):
        at = finished * spans.scaled + q * spans.lanes + lane
        m, e = held.m[at], 0
        if held.e.shape[0] > 0:
            e = int(held.e[at]) if m != 0.0 else 0
        while abs(m) >= RADIX:
            m *= SHRINK
            e += 1
        scaled.out_m[run, q], scaled.out_e[run, q] = m, e
        if q == 0 and m != 0.0:
            found[run] = 1
    for q in range(checked.out.shape[1]):
        v = held.v[finished * spans.checked + q * spans.lanes + lane]
        checked.out[run, q] = v
        if q == 0 and v != 0:
            found[run] = 1
        if lost[q * spans.lanes + lane] < 0:
            checked.overflow[0] = -1
    for q in range(extreme.out.shape[1]):
        extreme.out[run, q] = held.k[finished * spans.extreme + q * spans.lanes + lane]


@kernel
def room_of_own(ranks: Ranks, span: int) -> Ranks:
    """Room for the places of so many events."""
    rankings = ranks.lefts.shape[0]
    return Ranks(
        np.zeros((rankings, span), np.int32),
        np.zeros((rankings, span), np.int32),
        np.zeros((rankings, span), np.int32),
        np.zeros((rankings, span), np.int32),
        np.zeros((rankings, span + 1), np.int32),
        np.zeros(rankings, np.int64),
        ranks.kind,
    )


@kernel
def sum_in_lanes(
    steps: Steps,
    ranks: Ranks,
    order: Ints,
    mask: NDArray[np.uint64],
    first_event: Ints,
    end_event: Ints,
    first_run: Ints,
    lanes: int,
    exponents: bool,
    scaled: Scaled,
    checked: Checked,
    extreme: Extreme,
    width: int,
    found: NDArray[np.uint8],
) -> bool:
    """Makes every run; stretch s is the runs `first_run[s] : first_run[s + 1]`, at most `lanes`.

    Runs of a stretch begin and end one after another and cut no time point. Further arguments as in
    `sum_by_value`. False if a sum of doubles needs exponents and there are none.
    """
    spans = Spans(
        lanes, lanes * scaled.out_m.shape[1], lanes * checked.out.shape[1],
        lanes * extreme.out.shape[1],
    )  # fmt: skip
    s, c, x = spans.scaled, spans.checked, spans.extreme
    arrow_start, source_of, target_of = steps.arrow_start, steps.source, steps.target
    stop = steps.stop
    read_start, read = steps.read_start, steps.read
    write_start, write = steps.write_start, steps.write
    ranking_of, plain, final = steps.ranking, steps.plain, steps.final
    kind = ranks.kind
    variables = arrow_start.shape[0] - 1
    indexes = ranking_of.shape[0]
    finished = steps.states

    held = _rows(finished + 1, spans, exponents)
    fresh = _rows(max(width, 1), spans, exponents)
    product = _rows(1, spans, exponents)
    ones = _rows(1, spans, exponents)
    ones.m[:] = 1.0
    ones.v[:] = 1
    ones.k[:] = 0
    lost = np.zeros(c, np.int64)
    is_open = np.zeros(lanes, np.uint8)
    new_state = np.empty(max(width, 1), np.int64)
    new_event = np.empty(max(width, 1), np.int64)
    first_row = np.zeros(indexes + 1, np.int64)
    tree = _rows(0, spans, exponents)
    room = 0
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
        if first_row[indexes] > room:
            room = int(first_row[indexes])
            tree = _rows(room, spans, exponents)
        else:
            _clear(tree, 0, int(first_row[indexes]), spans)
        _clear(held, 0, finished + 1, spans)
        lost[:] = 0
        is_open[:] = 0
        opened, over = run, run

        at = lo
        while at < hi and stop[0] == 0:
            while over < opened and end_event[over] <= at:
                lane = over - run
                _give(over, lane, held, finished, spans, scaled, checked, extreme, lost, found)
                is_open[lane] = 0
                over += 1
            while opened < last_run and first_event[opened] <= at:
                is_open[opened - run] = 1 if first_event[opened] < end_event[opened] else 0
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
                        _clear(fresh, created, created + 1, spans)
                        while arrow < last and target_of[arrow] == target:
                            source = source_of[arrow]
                            lo_read, hi_read = read_start[arrow], read_start[arrow + 1]
                            if source == NO_STATE:
                                _begin(fresh, created, ones, spans, extreme, lost)
                            elif lo_read == hi_read:
                                _add(fresh, created, held, source, spans, lost)
                            for k in range(lo_read, hi_read):
                                ranking = ranking_of[read[k]]
                                start = right_start[ranking, event - shift]
                                reach = right[ranking, event - shift] - start
                                if reach <= 0:
                                    continue
                                if kind[ranking] == EQUAL:
                                    reach = 1
                                first = first_row[read[k]] + start
                                if s > 0:
                                    read_sums(
                                        fresh.m, fresh.e, created * s,
                                        tree.m, tree.e, first, reach, s,
                                    )  # fmt: skip
                                if c > 0:
                                    read_integers(
                                        fresh.v, created * c, tree.v, first, reach, c, lost
                                    )
                                if x > 0:
                                    read_keys(fresh.k, created * x, tree.k, first, reach, x)
                            arrow += 1
                        if _only_open(fresh, created, is_open, spans):
                            if not _take(
                                fresh, created, variable, event, product, spans,
                                scaled, checked, extreme, lost,
                            ):  # fmt: skip
                                return False
                            new_state[created] = target
                            new_event[created] = event - shift
                            created += 1
            for one in range(created):
                state, event = new_state[one], new_event[one]
                if plain[state]:
                    _add(held, state, fresh, one, spans, lost)
                if final[state]:
                    _add(held, finished, fresh, one, spans, lost)
                for w in range(write_start[state], write_start[state + 1]):
                    ranking = ranking_of[write[w]]
                    place = left[ranking, event]
                    if place < 0:
                        continue
                    start = left_start[ranking, event]
                    first, place, size = first_row[write[w]] + start, place - start, 1
                    if kind[ranking] == EQUAL:
                        place = 0
                    else:
                        size = size_of[ranking, start]
                    if s > 0:
                        enter_sums(tree.m, tree.e, first, size, place, fresh.m, fresh.e, one * s, s)
                    if c > 0:
                        enter_integers(tree.v, first, size, place, fresh.v, one * c, c, lost)
                    if x > 0:
                        enter_keys(tree.k, first, size, place, fresh.k, one * x, x)
            at = end
        for one in range(over, last_run):
            lane = one - run
            _give(one, lane, held, finished, spans, scaled, checked, extreme, lost, found)
    return True
