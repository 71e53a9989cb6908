"""Products of maps of sums, as `maps` defines them, in tagged numbers (`tagged`).

Maps lie one behind another in a flat array, [map, basis, cell, lane], and are named by where they
begin; behind them is room for two vectors. A view of each, or one tuple of all that is needed,
would cost more than the numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.compiled import kernel
from trendloom.kernels.program import Ints
from trendloom.kernels.stacks import ANSWER, APPEND
from trendloom.kernels.table import Table
from trendloom.kernels.tagged import added, multiplied, weighed


@kernel(inline="always")
def _carry(
    m: NDArray[Any], e: Ints, v: int, at: int, begin: bool, states: int, lanes: int, width: int,
    out: int,
) -> None:  # fmt: skip
    """What the map at `at` makes of the vector at `v`; of its own trends only if they `begin`."""
    for k in range(width):
        if begin:
            m[out + k], e[out + k] = m[at + k], e[at + k]
        else:
            m[out + k], e[out + k] = 0, 0
    for k in range(states * lanes, width):
        m[out + k], e[out + k] = added(m[out + k], e[out + k], m[v + k], e[v + k])
    for state in range(states):
        own = v + state * lanes
        count, tag = m[own], e[own]
        if count == 0:
            continue
        basis = at + (1 + state) * width
        for cell in range(0, width, lanes):
            inner, inner_tag = m[basis + cell], e[basis + cell]
            if inner == 0:
                continue
            to = out + cell
            xm, xe = multiplied(inner, inner_tag, count, tag)
            m[to], e[to] = added(m[to], e[to], xm, xe)
            for lane in range(1, lanes):
                xm, xe = multiplied(m[basis + cell + lane], e[basis + cell + lane], count, tag)
                ym, ye = multiplied(m[own + lane], e[own + lane], inner, inner_tag)
                xm, xe = added(xm, xe, ym, ye)
                m[to + lane], e[to + lane] = added(m[to + lane], e[to + lane], xm, xe)


@kernel(inline="always")
def _append_point(
    target: Ints, finished: Ints, begins: Ints, source: Ints, eats: Ints, code: Ints,
    first: int, end: int, feeds: NDArray[np.bool_], x: NDArray[Any],
    m: NDArray[Any], e: Ints, at: int, spare: int, states: int, lanes: int, width: int,
) -> None:  # fmt: skip
    """The map at `at`, then the simultaneous events `first : end`."""
    steps, sources = source.shape[1], source.shape[2]
    # Sums wait until all events have read the map; those of a single one need not.
    alone = end - first == 1 and steps == 1
    for basis in range(at, at + (1 + states) * width, width):
        to = basis if alone else spare + width
        if not alone:
            for k in range(to, to + width):
                m[k], e[k] = 0, 0
        for event in range(first, end):
            c = code[event]
            for step in range(steps):
                for k in range(spare, spare + lanes):
                    m[k], e[k] = 0, 0
                if basis == at:
                    m[spare] = begins[c, step]
                for which in range(sources):
                    cell = basis + source[c, step, which] * lanes
                    if source[c, step, which] < states and m[cell] != 0:
                        for lane in range(lanes):
                            k = spare + lane
                            m[k], e[k] = added(m[k], e[k], m[cell + lane], e[cell + lane])
                if alone:
                    _consume(m, e, basis, eats, c, states, lanes)
                if m[spare] == 0:
                    continue
                for lane in range(1, lanes):
                    if feeds[c, step, lane]:
                        k = spare + lane
                        xm, xe = weighed(x[lane, event], m[spare], e[spare])
                        m[k], e[k] = added(m[k], e[k], xm, xe)
                for place in (target[c, step], finished[c, step]):
                    if place * lanes < width:
                        for lane in range(lanes):
                            k = to + place * lanes + lane
                            m[k], e[k] = added(m[k], e[k], m[spare + lane], e[spare + lane])
        if not alone:
            for event in range(first, end):
                _consume(m, e, basis, eats, code[event], states, lanes)
            for k in range(width):
                m[basis + k], e[basis + k] = added(m[basis + k], e[basis + k], m[to + k], e[to + k])


@kernel(inline="always")
def _consume(
    m: NDArray[Any], e: Ints, basis: int, eats: Ints, code: int, states: int, lanes: int
) -> None:
    for which in range(eats.shape[1]):
        if eats[code, which] < states:
            cell = basis + eats[code, which] * lanes
            for k in range(cell, cell + lanes):
                m[k], e[k] = 0, 0


@kernel(inline="always")
def _prepend_point(
    target: Ints, finished: Ints, begins: Ints, source: Ints, eats: Ints, code: Ints,
    first: int, end: int, feeds: NDArray[np.bool_], x: NDArray[Any],
    m: NDArray[Any], e: Ints, then: int, states: int, lanes: int, width: int, out: int,
) -> None:  # fmt: skip
    """The simultaneous events `first : end`, then the map at `then`, which is not `out`.

    A partial trend goes on as it would without the events, unless they consume it, and for every
    step it takes also as one in the state that the step leads to.
    """
    for k in range((1 + states) * width):
        m[out + k], e[out + k] = m[then + k], e[then + k]
    for event in range(first, end):
        for which in range(eats.shape[1]):
            if eats[code[event], which] < states:
                basis = out + (1 + eats[code[event], which]) * width
                for k in range(basis, basis + width):
                    m[k], e[k] = 0, 0
    for event in range(first, end):
        c = code[event]
        for step in range(source.shape[1]):
            place = target[c, step]
            if place >= states:
                continue
            inner = then + (1 + place) * width
            for which in range(-1, source.shape[2]):
                # Trends that begin are what the events make of nothing: basis 0.
                basis = 0 if which < 0 else 1 + source[c, step, which]
                if basis > states or (which < 0 and begins[c, step] == 0):
                    continue
                to = out + basis * width
                for cell in range(0, width, lanes):
                    count, tag = m[inner + cell], e[inner + cell]
                    if count == 0:
                        continue
                    for lane in range(lanes):
                        k = to + cell + lane
                        m[k], e[k] = added(
                            m[k], e[k], m[inner + cell + lane], e[inner + cell + lane]
                        )
                        if lane > 0 and feeds[c, step, lane]:
                            xm, xe = weighed(x[lane, event], count, tag)
                            m[k], e[k] = added(m[k], e[k], xm, xe)
                if finished[c, step] == states:
                    k = to + states * lanes
                    one = m.dtype.type(1)
                    m[k], e[k] = added(m[k], e[k], one, 0)
                    for lane in range(1, lanes):
                        if feeds[c, step, lane]:
                            xm, xe = weighed(x[lane, event], one, 0)
                            m[k + lane], e[k + lane] = added(m[k + lane], e[k + lane], xm, xe)


@kernel(inline="always")
def _identity(m: NDArray[Any], e: Ints, at: int, states: int, lanes: int, width: int) -> None:
    for k in range(at, at + (1 + states) * width):
        m[k], e[k] = 0, 0
    for state in range(states):
        m[at + (1 + state) * width + state * lanes] = 1


@kernel
def replay_sums(
    tape: Ints,
    length: int,
    cut: Ints,
    ready: Ints,
    table: Table,
    order: Ints,
    code: Ints,
    feeds: NDArray[np.bool_],
    x: NDArray[Any],
    shape: tuple[int, int, int],
    m: NDArray[Any],
    e: Ints,
    back: Ints,
    out_m: NDArray[Any],
    out_e: Ints,
) -> None:
    """Does what the tape says (`stacks`). `out` has a row per run, of more cells than the maps.

    `shape`: states, lanes, numbers per basis. Behind the front's maps are those of large panes,
    `ready[pane]` being the number or -1; then two maps for the back and two to build with, each by
    turns, `back` saying whose turn it is; then two vectors.
    """
    states, lanes, width = shape
    target, finished, begins = table.target, table.finished, table.begins
    source, eats = table.source, table.eats
    size = width * (1 + states)
    spare = m.shape[0] - 2 * width
    building = spare - 2 * size
    for row in range(length):
        what, number, one, two = tape[row, 0], tape[row, 1], tape[row, 2], tape[row, 3]
        now = building - (1 + back[0]) * size
        if what == ANSWER:
            blank = True
            vector = spare
            for k in range(width):
                m[spare + k], e[spare + k] = out_m[number, k], out_e[number, k]
                blank = blank and m[spare + k] == 0
            for through in (one * size, now if two else -1):
                if through < 0:
                    continue
                if blank:
                    # What a map makes of nothing is its first basis.
                    vector = through
                    blank = False
                else:
                    other = spare + width if vector == spare else spare
                    _carry(m, e, vector, through, True, states, lanes, width, other)
                    vector = other
            for k in range(width):
                out_m[number, k], out_e[number, k] = m[vector + k], e[vector + k]
        elif ready[number] >= 0:
            pane = ready[number] * size
            if what == APPEND:
                first, then, alone = now, pane, one != 0
                back[0] = 1 - back[0]
                to = building - (1 + back[0]) * size
            else:
                first, then, to, alone = pane, two * size, one * size, two < 0
            for basis in range(0, size, width):
                if alone:
                    for k in range(basis, basis + width):
                        m[to + k], e[to + k] = m[pane + k], e[pane + k]
                else:
                    _carry(m, e, first + basis, then, basis == 0, states, lanes, width, to + basis)
        elif what == APPEND:
            if one != 0:
                _identity(m, e, now, states, lanes, width)
            at, end = cut[number], cut[number + 1]
            while at < end:
                first = at
                at += 1
                while at < end and order[at] == order[first]:
                    at += 1
                _append_point(
                    target,
                    finished,
                    begins,
                    source,
                    eats,
                    code,
                    first,
                    at,
                    feeds,
                    x,
                    m,
                    e,
                    now,
                    spare,
                    states,
                    lanes,
                    width,
                )
        else:
            then = two * size
            if two < 0:
                then = building
                _identity(m, e, then, states, lanes, width)
            lo, end = cut[number], cut[number + 1]
            while end > lo:
                first = end - 1
                while first > lo and order[first - 1] == order[end - 1]:
                    first -= 1
                to = one * size
                if first > lo:
                    to = building + size if then == building else building
                _prepend_point(
                    target,
                    finished,
                    begins,
                    source,
                    eats,
                    code,
                    first,
                    end,
                    feeds,
                    x,
                    m,
                    e,
                    then,
                    states,
                    lanes,
                    width,
                    to,
                )
                then, end = to, first
