"""Which sub-patterns of merged queries to chop out, and how their cells lie (A-Seq §4.2).

A-Seq runs a common part once and connects it to what each query has before: a snapshot of the
query's counts per live first event of the part, multiplied by that event's own count whenever a
trend ends. What events do is linear, so the sum over those events needs no snapshots: it is moved
by the very steps that move the part's own counts, one number per query. So a chopped part is one
column of cells per position, a row per query. Its first column takes from wherever each query comes
from (the connection, as many queries as there may be parts in a row), and an event moves a column
as a whole (`kernels/moves.py`). That is k additions side by side for k queries, whatever the number
of live events; with snapshots it would be one per live event, and as many products per trend.

The sharing plan is found greedily: of all substrings of at least two letters that several queries
have at cells of their own, the one that saves most steps is laid out first.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trendloom.pattern.automaton import START

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trendloom.workloads.merging import Merged

LEAST = 2
"""Letters of a part that is worth a connection."""
MOST = 64

Cells = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Chop:
    """A part that several queries have: per query, or queries with a common prefix, its cells."""

    letters: tuple[int, ...]
    copies: tuple[Cells, ...]
    members: tuple[tuple[int, ...], ...]
    """Per copy: whose it is."""


def chop(merged: Merged) -> tuple[Merged, tuple[Chop, ...]]:
    """The same automaton, with the copies of common parts side by side."""
    found = tuple(_plan(merged))
    if not found:
        return merged, ()
    order = _laid_out(merged, found)
    place = {cell: k for k, cell in enumerate(order)}
    moved = _renumbered(merged, place)
    chops = [replace(c, copies=tuple(tuple(place[x] for x in copy) for copy in c.copies))
             for c in found]  # fmt: skip
    return moved, tuple(chops)


def letter_pairs(merged: Merged) -> frozenset[tuple[int, int]]:
    """Letters that follow each other: without a pair in common there is nothing to chop."""
    letter = _letters(merged)
    return frozenset(
        (letter[arrow.source], letter[arrow.target])
        for arrow in merged.folding.arrows
        if arrow.source != START
    )


def _letters(merged: Merged) -> dict[int, int]:
    return {a.target: merged.variables[a.variable][0] for a in merged.folding.arrows}


def _plan(merged: Merged) -> Iterator[Chop]:
    letter = _letters(merged)
    chains: dict[Cells, list[int]] = {}
    for member, chain in _chains(merged):
        chains.setdefault(chain, []).append(member)
    taken: set[int] = set()
    while True:
        best = _best(chains, letter, taken)
        if best is None:
            return
        taken |= {cell for copy in best.copies for cell in copy}
        yield best


def _best(chains: dict[Cells, list[int]], letter: dict[int, int], taken: set[int]) -> Chop | None:
    """What saves most steps: one less than there are copies, times the length."""
    copies: dict[tuple[int, ...], dict[Cells, set[int]]] = defaultdict(dict)
    for chain, members in chains.items():
        for lo in range(len(chain)):
            for hi in range(lo + 1, min(len(chain), lo + MOST) + 1):
                if chain[hi - 1] in taken:
                    break
                if hi - lo >= LEAST:
                    cells = chain[lo:hi]
                    word = tuple(letter[cell] for cell in cells)
                    copies[word].setdefault(cells, set()).update(members)
    best: Chop | None = None
    saved = 0
    for word, having in copies.items():
        if len(having) < 2 or (len(having) - 1) * len(word) <= saved:
            continue
        apart = _apart(having)
        if (len(apart) - 1) * len(word) > saved:
            saved = (len(apart) - 1) * len(word)
            owners = tuple(tuple(sorted(having[cells])) for cells in apart)
            best = Chop(word, tuple(apart), owners)
    return best


def _apart(having: dict[Cells, set[int]]) -> list[Cells]:
    """Copies without a cell in common, and not all of them of one query."""
    used: set[int] = set()
    chosen: list[Cells] = []
    for cells in having:
        if used.isdisjoint(cells):
            used.update(cells)
            chosen.append(cells)
    owners = [having[cells] for cells in chosen]
    return chosen if len(set.union(*owners)) > 1 else chosen[:1]


def _chains(merged: Merged) -> Iterator[tuple[int, Cells]]:
    """Per member: its cells in their order, cut where one does not take from the one before."""
    follows = {(arrow.source, arrow.target) for arrow in merged.folding.arrows}
    for member, blocks in enumerate(merged.blocks):
        cells = tuple(dict.fromkeys(blocks))
        first = 0
        for k in range(1, len(cells) + 1):
            if k == len(cells) or (cells[k - 1], cells[k]) not in follows:
                yield member, cells[first:k]
                first = k


def _laid_out(merged: Merged, chops: Sequence[Chop]) -> list[int]:
    """Column by column. Before the first, what its copies take from, so that this is one move;
    behind, what goes on with the same letter from several copies."""
    letter = _letters(merged)
    sources: dict[int, list[int]] = defaultdict(list)
    targets: dict[int, list[int]] = defaultdict(list)
    for arrow in merged.folding.arrows:
        if arrow.source != START:
            sources[arrow.target].append(arrow.source)
            targets[arrow.source].append(arrow.target)
    columns = [[copy[k] for copy in one.copies] for one in chops for k in range(len(one.letters))]
    used = {cell for column in columns for cell in column}
    order: list[int] = []
    for column in columns:
        before = [sources[cell][0] for cell in column if len(sources[cell]) == 1]
        fresh = len(before) == len(column) and len(set(before)) == len(before)
        if fresh and used.isdisjoint(before):
            order += before
            used.update(before)
        order += column
    # Finished trends are added up in cells behind all others, which stay there.
    cells = len(merged.sharers)
    waiting = deque(columns)
    while waiting:
        further: dict[int, list[int]] = defaultdict(list)
        for cell in waiting.popleft():
            for target in targets[cell]:
                if target < cells and target not in used:
                    used.add(target)
                    further[letter[target]].append(target)
        for column in further.values():
            order += column
            waiting.append(column)
    return order + [cell for cell in range(merged.folding.cells) if cell not in used]


def _renumbered(merged: Merged, place: dict[int, int]) -> Merged:
    fast = merged.folding
    moved = replace(
        fast,
        arrows=tuple(
            replace(a, source=a.source if a.source == START else place[a.source],
                    target=place[a.target])
            for a in fast.arrows
        ),
        accepts=tuple(place[cell] for cell in fast.accepts),
        clears=tuple(tuple(sorted(place[cell] for cell in cells)) for cells in fast.clears),
    )  # fmt: skip
    return replace(
        merged,
        folding=moved,
        ends=tuple(tuple(place[cell] for cell in cells) for cells in merged.ends),
        blocks=tuple(tuple(place[cell] for cell in cells) for cells in merged.blocks),
        finished={place[cell]: place[total] for cell, total in merged.finished.items()},
    )
