"""The steps of a run where every condition asks for equal values: chains instead of a search.

Every arrow has a chain of nodes per value, latest first. An event's candidates are the nodes of one
chain per arrow, taken from the latest to the earliest. A kept candidate covers its ancestors
(`steps`); they are marked by walking back from it, no further than the earliest candidate, so no
set of ancestors is ever stored: memory is linear in nodes and edges.

Where one chain has all candidates and equal values are all that is asked, a node that a later one
of its chain covers stays covered: it leaves the chain. What is left between two lookups needs no
second look, so only nodes that joined since are walked back from. A value that most events have
then costs as much as the steps it has.
"""

from __future__ import annotations

import numpy as np

from trendloom.kernels.compiled import kernel
from trendloom.kernels.predicates import Predicates, holds, is_comparison
from trendloom.kernels.program import NO_STATE, Program
from trendloom.kernels.steps import Ints, Words, grown, nodes_at_most

RawSteps = tuple[Ints, Ints, Ints, Ints]
"""event, state, first edge of each node and behind, predecessors."""


@kernel
def _cover(
    node: int, floor: int, pred_start: Ints, pred: Ints, seen: Ints, stamp: int, stack: Ints
) -> None:
    """Marks the ancestors of a node, down to `floor`."""
    depth = 1
    stack[0] = node
    while depth > 0:
        depth -= 1
        here = stack[depth]
        for k in range(pred_start[here], pred_start[here + 1]):
            before = pred[k]
            if before >= floor and seen[before] != stamp:
                seen[before] = stamp
                stack[depth] = before
                depth += 1


@kernel
def _is_equality(program: Program, predicates: Predicates, arrow: int) -> bool:
    """Whether two equal values are all that the arrow asks for."""
    predicate = program.predicate[arrow]
    return predicate < 0 or is_comparison(predicates, predicate)


@kernel
def equal_steps(
    program: Program,
    predicates: Predicates,
    order: Ints,
    mask: Words,
    earlier: Ints,
    later: Ints,
    values: int,
    lo: int,
    hi: int,
    most_edges: int,
) -> RawSteps:
    """The steps of events `lo : hi`; `pred_start` is empty if there are over `most_edges`.

    `earlier[a, i]` and `later[a, i]` are the numbers, below `values`, of the values that arrow a
    compares if event `lo + i` is the earlier and if it is the later one; -1 for null.
    """
    variables = program.arrow_start.shape[0] - 1
    arrows = program.source.shape[0]
    most = nodes_at_most(program, mask, lo, hi)
    event_of = np.empty(most, np.int64)
    state_of = np.empty(most, np.int64)
    pred_start = np.zeros(most + 1, np.int64)
    pred = np.empty(max(16, 2 * most), np.int64)
    head = np.full((arrows, values), -1, np.int64)
    tail = np.full((arrows, values), -1, np.int64)
    settled = np.full((arrows, values), -1, np.int64)
    chain = np.empty((arrows, most), np.int64)
    cursor = np.empty(arrows, np.int64)
    seen = np.zeros(most, np.int64)
    stack = np.empty(most + 1, np.int64)
    stamp = 0
    nodes = 0
    edges = 0
    at = lo
    while at < hi and predicates.stop[0] == 0:
        end = at + 1
        while end < hi and order[end] == order[at]:
            end += 1
        fresh = nodes
        for event in range(at, end):
            for variable in range(variables):
                if not (mask[event] >> np.uint64(variable)) & np.uint64(1):
                    continue
                first, last = program.arrow_start[variable], program.arrow_start[variable + 1]
                target = NO_STATE
                starts = False
                stamp += 1
                before = edges
                floor = most
                sources, only = 0, first
                for a in range(first, last):
                    cursor[a] = -1
                    if program.target[a] == NO_STATE:
                        continue
                    target = program.target[a]
                    if program.source[a] == NO_STATE:
                        starts = True
                        continue
                    sources, only = sources + 1, a
                    if later[a, event - lo] >= 0:
                        value = later[a, event - lo]
                        cursor[a] = head[a, value]
                        if cursor[a] >= 0:
                            floor = min(floor, tail[a, value])
                if sources == 1 and cursor[only] >= 0 and _is_equality(program, predicates, only):
                    value = later[only, event - lo]
                    known, above, node = settled[only, value], -1, head[only, value]
                    while node >= 0:
                        if seen[node] == stamp:
                            chain[only, above] = chain[only, node]
                        else:
                            if edges == pred.shape[0]:
                                pred = grown(pred)
                            pred[edges] = node
                            edges += 1
                            above = node
                            if node > known and node > floor:
                                _cover(node, floor, pred_start, pred, seen, stamp, stack)
                        node = chain[only, node]
                    tail[only, value] = above
                    settled[only, value] = head[only, value]
                    cursor[only] = -1
                while True:
                    latest = first
                    for a in range(first + 1, last):
                        if cursor[a] > cursor[latest]:
                            latest = a
                    if first == last or cursor[latest] < 0:
                        break
                    node = cursor[latest]
                    cursor[latest] = chain[latest, node]
                    if seen[node] == stamp:
                        continue
                    if not _is_equality(program, predicates, latest) and not holds(
                        predicates, program.predicate[latest], event_of[node], event
                    ):
                        continue
                    if edges == pred.shape[0]:
                        pred = grown(pred)
                    pred[edges] = node
                    edges += 1
                    if node > floor:
                        _cover(node, floor, pred_start, pred, seen, stamp, stack)
                if target != NO_STATE and (starts or edges > before):
                    event_of[nodes], state_of[nodes] = event, target
                    nodes += 1
                    pred_start[nodes] = edges
                if edges > most_edges:
                    return event_of[:0], state_of[:0], pred_start[:0], pred[:0]
        for node in range(fresh, nodes):
            for a in range(arrows):
                if program.source[a] != state_of[node] or program.target[a] == NO_STATE:
                    continue
                value = earlier[a, event_of[node] - lo]
                if value < 0:
                    continue
                chain[a, node] = head[a, value]
                head[a, value] = node
                if tail[a, value] < 0:
                    tail[a, value] = node
        at = end
    return event_of[:nodes], state_of[:nodes], pred_start[: nodes + 1], pred[:edges]
