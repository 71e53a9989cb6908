"""From the steps of a run to the graph whose paths are exactly its complete trends.

In a reduced graph (`steps`) no step of a path can be refined, so a path is complete as long as a
trend that contains it would run through the same states. Where an event can be the same variable in
several states (lengths, {m,n}, anchors, guards that decide between positions), it need not: the
larger trend may be in another state at a shared event. So a node also remembers its *superiors*:
the states in which longer trends with all of the path's elements can be at this event. A path whose
own state is among them is dominated and ends there; one that ends with superiors left is not
complete, because every live node leads to an end. This is a subset construction, over the graph
instead of the automaton, and its nodes with dead ends removed are the graph.
"""

from __future__ import annotations

import numpy as np

from trendloom.kernels.compiled import kernel
from trendloom.kernels.steps import Flags, Ints, Words, is_above

MOST_PEERS = 63
Graph = tuple[Ints, Ints, Flags, Flags, Ints, Ints]
"""node's origin, superiors (as bits), begins, ends, first edge of each node, predecessors."""


@kernel
def live_nodes(ends: Flags, pred_start: Ints, pred: Ints) -> Flags:
    """From which nodes a path leads to an end."""
    live = ends.copy()
    for node in range(live.shape[0] - 1, -1, -1):
        if live[node]:
            for k in range(pred_start[node], pred_start[node + 1]):
                live[pred[k]] = 1
    return live


@kernel
def peer_blocks(event: Ints, variable: Ints, live: Flags) -> tuple[Ints, int]:
    """Where the nodes of the same event and variable begin, and how many live ones there are."""
    first = np.empty(event.shape[0], np.int64)
    most = 0
    here = 0
    for node in range(event.shape[0]):
        same = node > 0 and event[node] == event[node - 1] and variable[node] == variable[node - 1]
        first[node] = first[node - 1] if same else node
        here = (here if same else 0) + live[node]
        most = max(most, here)
    return first, most


@kernel
def without_dead(
    begins: Flags, ends: Flags, pred_start: Ints, pred: Ints, live: Flags
) -> tuple[Ints, Flags, Flags, Ints, Ints]:
    """The live nodes' old numbers, and their marks and edges under new ones."""
    number = np.empty(live.shape[0], np.int64)
    nodes = 0
    for node in range(live.shape[0]):
        number[node] = nodes
        nodes += live[node]
    old = np.empty(nodes, np.int64)
    begins_, ends_ = np.empty(nodes, np.uint8), np.empty(nodes, np.uint8)
    start = np.zeros(nodes + 1, np.int64)
    kept = np.empty(pred.shape[0], np.int64)
    edges = 0
    for node in range(live.shape[0]):
        if not live[node]:
            continue
        here = number[node]
        old[here] = node
        begins_[here], ends_[here] = begins[node], ends[node]
        for k in range(pred_start[node], pred_start[node + 1]):
            if live[pred[k]]:
                kept[edges] = number[pred[k]]
                edges += 1
        start[here + 1] = edges
    return old, begins_, ends_, start, kept[:edges].copy()


@kernel
def _superiors(
    above: Words, live: Flags, peers: Ints, node: int, before: int, superiors: int
) -> int:
    """The superiors at `node` of a path that comes from `before` with those superiors."""
    found = 0
    first = peers[node]
    peer = first
    while peer < peers.shape[0] and peers[peer] == first:
        if live[peer]:
            # A longer way from `before` itself, or any way from where something was inserted.
            hit = peer != node and is_above(above, peer, before)
            k = 0
            while not hit and (superiors >> k) != 0:
                hit = (superiors >> k) & 1 and is_above(above, peer, peers[before] + k)
                k += 1
            if hit:
                found |= 1 << (peer - first)
        peer += 1
    return found


@kernel
def with_superiors(
    begins: Flags,
    ends: Flags,
    pred_start: Ints,
    pred: Ints,
    above: Words,
    live: Flags,
    peers: Ints,
    most: int,
) -> Graph:
    """The subset construction; no row of edges at all if `most` nodes or edges do not suffice."""
    size = 4 * begins.shape[0] + 16
    origin = np.empty(size, np.int64)
    superiors = np.empty(size, np.int64)
    begins_, ends_ = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    first = np.zeros(begins.shape[0] + 1, np.int64)
    source, target = np.empty(size, np.int64), np.empty(size, np.int64)
    nodes = 0
    edges = 0
    for node in range(begins.shape[0]):
        first[node] = nodes
        ways = pred_start[node + 1] - pred_start[node]
        for k in range(-1, ways if live[node] else -1):
            if k < 0 and not begins[node]:
                continue
            before = -1 if k < 0 else pred[pred_start[node] + k]
            lo, hi = (0, 1) if k < 0 else (first[before], first[before + 1])
            for from_ in range(lo, hi):
                above_it = 0
                if k < 0:
                    peer = peers[node]
                    while peer < peers.shape[0] and peers[peer] == peers[node]:
                        if live[peer] and peer != node:
                            above_it |= 1 << (peer - peers[node])
                        peer += 1
                else:
                    above_it = _superiors(above, live, peers, node, before, superiors[from_])
                if (above_it >> (node - peers[node])) & 1:
                    continue
                here = first[node]
                while here < nodes and superiors[here] != above_it:
                    here += 1
                if max(nodes, edges) + 1 >= origin.shape[0]:
                    more = origin.shape[0]
                    origin = np.append(origin, np.empty(more, np.int64))
                    superiors = np.append(superiors, np.empty(more, np.int64))
                    begins_ = np.append(begins_, np.zeros(more, np.uint8))
                    ends_ = np.append(ends_, np.zeros(more, np.uint8))
                    source = np.append(source, np.empty(more, np.int64))
                    target = np.append(target, np.empty(more, np.int64))
                if here == nodes:
                    origin[here] = node
                    superiors[here] = above_it
                    ends_[here] = ends[node] and above_it == 0
                    nodes += 1
                if k < 0:
                    begins_[here] = 1
                else:
                    source[edges], target[edges] = from_, here
                    edges += 1
                if max(nodes, edges) > most:
                    return origin[:0], origin[:0], begins[:0], ends[:0], first[:0], origin[:0]
        first[node + 1] = nodes
    start = np.zeros(nodes + 1, np.int64)
    for k in range(edges):
        start[target[k] + 1] += 1
    for here in range(nodes):
        start[here + 1] += start[here]
    fill = start[:nodes].copy()
    kept = np.empty(edges, np.int64)
    for k in range(edges):
        kept[fill[target[k]]] = source[k]
        fill[target[k]] += 1
    return origin[:nodes], superiors[:nodes], begins_[:nodes], ends_[:nodes], start, kept
