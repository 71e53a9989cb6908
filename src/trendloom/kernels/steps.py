"""The graph of one run's trends: nodes (event, state), and from each node to those it may follow.

A trend is a path from the empty trend to its end: nodes that may begin one are marked, so are those
that may end one. One pass over the time points, as in `route`; here nothing is summed, so the nodes
stay and every step is kept as an edge.

**Reduced**, for complete trends (CET §4.1, Alg. 3): an edge u → v goes if a longer path from u to v
exists, and so do the marks if anything comes before or after. Predecessors are looked at from the
latest to the earliest; whatever is an ancestor of one that was kept is *covered* and never looked
at again. That leaves the latest compatible predecessors, and needs the ancestors of every node as a
set: row v of a triangle of bits. A later node has the lower bit in its word, so that the lowest bit
is the latest node.

**Not reduced**, for all trends: every step under skip-till-any-match; under skip-till-next-match a
node is gone once any later event could follow it; under contiguous only the last time point stays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trendloom.kernels.bitset import lowest
from trendloom.kernels.compiled import kernel
from trendloom.kernels.guards import reach, truth, watch
from trendloom.kernels.predicates import Predicates, compare, holds, is_comparison
from trendloom.kernels.program import CONTIGUOUS, NEVER, NEXT, NO_STATE, Program
from trendloom.kernels.route import usable

Ints = NDArray[np.int64]
Flags = NDArray[np.uint8]
Words = NDArray[np.uint64]
Steps = tuple[Ints, Ints, Flags, Flags, Ints, Ints, Words]
"""event, state, begins, ends, first edge of each node and behind, predecessors, ancestors."""

FREE, COMPARED, ANYTHING = 0, 1, 2
"""What a step asks: nothing, one comparison of two columns, or whatever else there is."""


@kernel
def row_at(node: int) -> int:
    """Where the ancestors of a node begin: rows before it have a word more every 64 nodes."""
    words = node >> 6
    return (words + 1) * (32 * words + (node & 63))


@kernel
def bit_of(node: int) -> np.uint64:
    return np.uint64(1) << np.uint64(63 - (node & 63))


@kernel
def is_above(above: Words, node: int, ancestor: int) -> bool:
    """Whether a path leads from `ancestor` to `node`."""
    return (above[row_at(node) + (ancestor >> 6)] & bit_of(ancestor)) != np.uint64(0)


@kernel
def nodes_at_most(program: Program, mask: Words, lo: int, hi: int) -> int:
    """How many nodes the events of a run could become."""
    variables = program.arrow_start.shape[0] - 1
    targets = np.zeros(variables, np.int64)
    for variable in range(variables):
        last = NO_STATE
        for arrow in range(program.arrow_start[variable], program.arrow_start[variable + 1]):
            if program.target[arrow] != last:
                last = program.target[arrow]
                targets[variable] += 1
    most = 0
    for event in range(lo, hi):
        for variable in range(variables):
            if (mask[event] >> np.uint64(variable)) & np.uint64(1):
                most += targets[variable]
    return most


@kernel
def _cover(above: Words, node: int, covered: Words) -> None:
    """Adds a node and its ancestors to the covered ones."""
    row = row_at(node)
    for word in range((node >> 6) + 1):
        covered[word] |= above[row + word]
    covered[node >> 6] |= bit_of(node)


@kernel
def grown(values: Ints) -> Ints:
    wider = np.empty(2 * values.shape[0], np.int64)
    wider[: values.shape[0]] = values
    return wider


@kernel
def _follows(
    program: Program,
    predicates: Predicates,
    order: Ints,
    reached: Ints,
    first: int,
    last: int,
    before: int,
    state: int,
    event: int,
) -> bool:
    """Whether one of the arrows `first : last` leads from a node (before, state) to the event."""
    for arrow in range(first, last):
        if program.source[arrow] != state:
            continue
        care = program.care[arrow]
        if care != 0 and (truth(order[before], reached) & care) != program.want[arrow]:
            continue
        predicate = program.predicate[arrow]
        return predicate < 0 or holds(predicates, predicate, before, event)
    return False


@kernel
def _prepare(
    program: Program,
    predicates: Predicates,
    first: int,
    last: int,
    event: int,
    asks: Ints,
    test: Ints,
    value: NDArray[np.float64],
) -> None:
    """What the arrows `first : last` ask of a node, per source: read once, not once per node."""
    code, start = predicates.code, predicates.start
    for arrow in range(first, last):
        source = program.source[arrow]
        if source == NO_STATE:
            continue
        predicate = program.predicate[arrow]
        if program.care[arrow] != 0:
            asks[source] = ANYTHING
        elif predicate < 0:
            asks[source] = FREE
        else:
            at = start[predicate]
            asks[source] = ANYTHING
            if is_comparison(predicates, predicate):
                asks[source] = COMPARED
                test[source, 0], test[source, 1] = code[at + 2, 0], code[at, 1]
                value[source] = predicates.column[code[at + 1, 1], event]


@kernel
def steps_of(
    program: Program,
    predicates: Predicates,
    order: Ints,
    mask: Words,
    values: Ints,
    bound: Ints,
    lo: int,
    hi: int,
    reduced: bool,
    most_edges: int,
) -> Steps:
    """The graph of events `lo : hi`; `pred_start` is empty if it has over `most_edges` edges."""
    semantics = program.semantics
    states = program.states
    variables = program.arrow_start.shape[0] - 1
    most = nodes_at_most(program, mask, lo, hi)
    wide = (most >> 6) + 1
    event_of = np.empty(most, np.int64)
    state_of = np.empty(most, np.int64)
    begins = np.zeros(most, np.uint8)
    ends = np.zeros(most, np.uint8)
    pred_start = np.zeros(most + 1, np.int64)
    pred = np.empty(max(16, 4 * most), np.int64)
    above = np.zeros(row_at(most) if reduced else 0, np.uint64)
    alive = np.zeros((states, wide), np.uint64)
    used = np.zeros(wide, np.uint64)
    covered = np.zeros(wide, np.uint64)
    threshold = np.full(program.bands, NEVER)
    threshold[0] = NEVER - 1
    moved = np.empty(program.bands, np.int64)
    reached = np.full(program.guard_start.shape[0] - 1, NEVER)
    negated = program.watch_start.shape[0] > 1
    asks = np.zeros(states, np.int64)
    test = np.zeros((states, 2), np.int64)
    value = np.zeros(states)
    column = predicates.column
    nodes = 0
    edges = 0

    at = lo
    while at < hi and predicates.stop[0] == 0:
        end = at + 1
        while end < hi and order[end] == order[at]:
            end += 1
        fresh = nodes
        start_truth = truth(NEVER, reached)
        any_used = False
        for event in range(at, end):
            for variable in range(variables):
                if not (mask[event] >> np.uint64(variable)) & np.uint64(1):
                    continue
                verdict = usable(program, predicates, values, bound, event, variable)
                if verdict == -2 or (verdict >= 0 and semantics != NEXT):
                    continue
                first = program.arrow_start[variable]
                while first < program.arrow_start[variable + 1]:
                    target = program.target[first]
                    last = first
                    starts = False
                    while last < program.arrow_start[variable + 1]:
                        if program.target[last] != target:
                            break
                        if program.source[last] == NO_STATE:
                            care, want = program.care[last], program.want[last]
                            starts |= (start_truth & care) == want
                        last += 1
                    keep = target != NO_STATE and verdict < 0
                    if not keep and semantics != NEXT:
                        first = last
                        continue
                    before = edges
                    _prepare(program, predicates, first, last, event, asks, test, value)
                    if reduced:
                        covered[: (fresh >> 6) + 1] = 0
                    for word in range((fresh - 1) >> 6, -1, -1):
                        rest = np.uint64(0)
                        for arrow in range(first, last):
                            source = program.source[arrow]
                            if source != NO_STATE and (
                                verdict < 0 or (program.unbound[arrow] >> verdict) & 1
                            ):
                                rest |= alive[source, word]
                        rest &= ~covered[word]
                        while rest != np.uint64(0):
                            node = (word << 6) + 63 - lowest(rest)
                            rest &= rest - np.uint64(1)
                            state, earlier = state_of[node], event_of[node]
                            if asks[state] == COMPARED:
                                left = column[test[state, 1], earlier]
                                if not compare(test[state, 0], left, value[state]):
                                    continue
                            elif asks[state] == ANYTHING and not _follows(
                                program, predicates, order, reached, first, last,
                                earlier, state, event,
                            ):  # fmt: skip
                                continue
                            if semantics == NEXT:
                                used[word] |= bit_of(node)
                                any_used = True
                            if not keep:
                                continue
                            if edges == pred.shape[0]:
                                pred = grown(pred)
                            pred[edges] = node
                            edges += 1
                            if reduced:
                                _cover(above, node, covered)
                                rest &= ~covered[word]
                    if keep and (starts or edges > before):
                        event_of[nodes] = event
                        state_of[nodes] = target
                        begins[nodes] = starts and not (reduced and edges > before)
                        if reduced:
                            row = row_at(nodes)
                            for word in range(((fresh - 1) >> 6) + 1):
                                above[row + word] = covered[word]
                        nodes += 1
                        pred_start[nodes] = edges
                    if edges > most_edges:
                        return (
                            event_of[:0], state_of[:0], begins[:0], ends[:0],
                            pred_start[:0], pred[:0], above[:0],
                        )  # fmt: skip
                    first = last
        if semantics == CONTIGUOUS:
            alive[:] = 0
        elif any_used:
            for word in range(((fresh - 1) >> 6) + 1):
                if used[word] != np.uint64(0):
                    for state in range(states):
                        alive[state, word] &= ~used[word]
                    used[word] = 0
        for node in range(fresh, nodes):
            alive[state_of[node], node >> 6] |= bit_of(node)
        if negated:
            watch(program, order, mask, at, end, threshold, moved)
            threshold[:] = moved
            reach(program, threshold, reached)
        at = end

    if predicates.stop[0] != 0:
        nodes = 0
    covered[:] = 0
    for node in range(nodes - 1, -1, -1):
        kind = program.final[state_of[node]]
        if kind < 0 or (covered[node >> 6] & bit_of(node)) != np.uint64(0):
            continue
        bits = truth(order[event_of[node]], reached)
        for k in range(program.final_start[kind], program.final_start[kind + 1]):
            if (bits & program.final_care[k]) == program.final_want[k]:
                ends[node] = 1
        if reduced and ends[node]:
            _cover(above, node, covered)
    return (
        event_of[:nodes], state_of[:nodes], begins[:nodes], ends[:nodes],
        pred_start[: nodes + 1], pred[:edges], above,
    )  # fmt: skip
