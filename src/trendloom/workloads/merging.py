"""Automata of several queries → one with several ends: A-Seq's prefix tree (§4.1) for any pattern.

Two cells hold the same partial trends, event by event, if they take events of the same letter,
begin at the same events, are set to zero by the same events, and take from cells of which the same
is true. The coarsest such relation is found by refinement: all cells that look alike are one block,
blocks are split until every cell of a block takes from the same blocks. For sequences that is the
prefix tree; loops, options and guards need nothing of their own.

What semantics do becomes part of the automaton, so that the merged one runs as skip-till-any-match:

- skip-till-next-match: a cell is set to zero by the letters that it goes on with. Cells that go on
  with other letters therefore stay apart, though they have a prefix in common. Only where trends
  end and nothing goes on, any cell will do that takes in the same trends.
- contiguous: every event sets every cell to zero.
- in both, finished trends are added up in a cell of their own, per cell in which they end: by the
  very step that ends them, or (`steps`) by a step of its own, which maps of panes can do as well.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from trendloom.language.nodes import Semantics
from trendloom.pattern.automaton import DEAD, START, Arrow
from trendloom.pattern.folding import Folding

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

Variable = tuple[int, int]
"""(letter, how many variables of the same query have it and come before): what feeds aggregates."""


@dataclass(frozen=True)
class Member:
    """One query's automaton over letters that all queries share."""

    folding: Folding
    letters: tuple[int, ...]
    """Of its letters, positive and then negated ones: the shared ones."""
    variables: int
    """How many of the letters are positive."""

    @property
    def names(self) -> tuple[Variable, ...]:
        """The positive variables."""
        before: Counter[int] = Counter()
        names = []
        for letter in self.letters[: self.variables]:
            names.append((letter, before[letter]))
            before[letter] += 1
        return tuple(names)


@dataclass(frozen=True)
class Merged:
    """One automaton for all members. Bits of its masks: variables, letters, one that all have."""

    folding: Folding
    variables: tuple[Variable, ...]
    letters: tuple[int, ...]
    ends: tuple[tuple[int, ...], ...]
    """Per member: the cells that hold its finished trends."""
    blocks: tuple[tuple[int, ...], ...]
    """Per member: where its cells went."""
    beginnings: frozenset[Hashable]
    """How the cells look that trends begin in."""
    finished: dict[int, int]
    """Cell → the cell where the trends that end in it are added up, by the same step."""

    def mask(self, letters: frozenset[int]) -> int:
        """Of an event that is these letters."""
        mask = sum(1 << k for k, (letter, _) in enumerate(self.variables) if letter in letters)
        size = len(self.variables)
        mask += sum(1 << (size + k) for k, letter in enumerate(self.letters) if letter in letters)
        return mask | 1 << (size + len(self.letters))

    @property
    def sharers(self) -> tuple[tuple[int, ...], ...]:
        """Per cell of the blocks: the members that have it."""
        cells = max((block for blocks in self.blocks for block in blocks), default=-1) + 1
        having: list[list[int]] = [[] for _ in range(cells)]
        for member, blocks in enumerate(self.blocks):
            for block in dict.fromkeys(blocks):
                having[block].append(member)
        return tuple(map(tuple, having))


@dataclass(frozen=True, slots=True)
class _Cell:
    """What can be seen of a cell without its neighbours."""

    variable: Variable
    begins: int
    eaten: frozenset[int]
    """The letters that set it to zero."""


def merge(members: Sequence[Member], semantics: Semantics, *, steps: bool = False) -> Merged:
    """In the order of the members; equal cells of one member become one, too."""
    seen = [_cells(member, semantics) for member in members]
    incoming = [_incoming(member) for member in members]
    refined = _refine(seen, incoming)
    instead = {} if semantics is Semantics.ANY else _idle_ends(refined, seen, incoming)
    block = _numbered([[instead.get(number, number) for number in row] for row in refined])
    blocks = tuple(tuple(numbers) for numbers in block)
    chosen: dict[int, tuple[int, int]] = {}
    for m, numbers in enumerate(blocks):
        for cell, number in enumerate(numbers):
            # An idle end does not know what happens to the trends of the cell it goes with.
            if refined[m][cell] not in instead:
                chosen.setdefault(number, (m, cell))

    names = tuple(dict.fromkeys(name for member in members for name in member.names))
    letters = tuple(dict.fromkeys(letter for member in members for letter in member.letters))
    place = {name: k for k, name in enumerate(names)}
    arrows: list[Arrow] = []
    for number, (m, cell) in chosen.items():
        variable = place[seen[m][cell].variable]
        sources = [START] * seen[m][cell].begins
        sources += [blocks[m][source] for source in incoming[m][cell]]
        arrows += [Arrow(source, variable, number, 0, 0) for source in sources]

    cells = len(chosen)
    ends = [tuple(blocks[m][cell] for cell in one.folding.accepts) for m, one in enumerate(members)]
    totals: dict[int, int] = {}
    if semantics is not Semantics.ANY:
        totals = {number: cells + k for k, number in enumerate(dict.fromkeys(_flat(ends)))}
        if steps:
            ending = [a for a in arrows if a.target in totals]
            arrows += [Arrow(a.source, a.variable, totals[a.target], 0, 0) for a in ending]
        ends = [tuple(totals[number] for number in numbers) for numbers in ends]
        cells += len(totals)
    eaten = {letter: set[int]() for letter in letters}
    for number, (m, cell) in chosen.items():
        for letter in seen[m][cell].eaten:
            eaten[letter].add(number)
    always = tuple(range(len(chosen))) if semantics is Semantics.CONTIGUOUS else ()
    folding = Folding(
        cells,
        tuple(arrows),
        tuple(dict.fromkeys(_flat(ends))),
        (*((),) * len(names), *(tuple(sorted(eaten[letter])) for letter in letters), always),
        (-1,) * len(arrows),
    )
    first = frozenset(cell for cells in seen for cell in cells if cell.begins)
    finished = {} if steps else totals
    return Merged(folding, names, letters, tuple(ends), blocks, first, finished)


def _flat(rows: Sequence[Sequence[int]]) -> list[int]:
    return [value for row in rows for value in row]


def _cells(member: Member, semantics: Semantics) -> list[_Cell]:
    fast, names = member.folding, member.names
    variable: dict[int, Variable] = {}
    begins: Counter[int] = Counter()
    eaten: list[set[int]] = [set() for _ in range(fast.cells)]
    for arrow in fast.arrows:
        if arrow.target != DEAD:
            variable[arrow.target] = names[arrow.variable]
            begins[arrow.target] += arrow.source == START
        if semantics is Semantics.NEXT and arrow.source != START:
            eaten[arrow.source].add(member.letters[arrow.variable])
    for letter, cleared in zip(member.letters, fast.clears, strict=True):
        for cell in cleared:
            eaten[cell].add(letter)
    return [_Cell(variable[c], begins[c], frozenset(eaten[c])) for c in range(fast.cells)]


def _incoming(member: Member) -> list[list[int]]:
    """Per cell: the cells it takes from."""
    sources: list[list[int]] = [[] for _ in range(member.folding.cells)]
    for arrow in member.folding.arrows:
        if arrow.target != DEAD and arrow.source != START:
            sources[arrow.target].append(arrow.source)
    return sources


def _refine(seen: list[list[_Cell]], incoming: list[list[list[int]]]) -> list[list[int]]:
    """The coarsest blocks; numbered in the order of their first cells."""
    keys: list[list[Hashable]] = [list(cells) for cells in seen]
    blocks = _numbered(keys)
    size = -1
    while True:
        found = 1 + max((number for numbers in blocks for number in numbers), default=-1)
        if found == size:
            return blocks
        size = found
        keys = [
            [
                (numbers[cell], tuple(sorted(numbers[source] for source in sources)))
                for cell, sources in enumerate(into)
            ]
            for numbers, into in zip(blocks, incoming, strict=True)
        ]
        blocks = _numbered(keys)


def _idle_ends(
    blocks: list[list[int]], seen: list[list[_Cell]], incoming: list[list[list[int]]]
) -> dict[int, int]:
    """What was finished is added up as it enters a cell: an end that nobody leaves needs none of
    its own where another cell takes in the same trends, whatever happens to them there."""
    left = {
        numbers[source]
        for numbers, into in zip(blocks, incoming, strict=True)
        for sources in into
        for source in sources
    }
    entered: dict[Hashable, int] = {}
    ends: dict[int, Hashable] = {}
    for numbers, cells, into in zip(blocks, seen, incoming, strict=True):
        for number, cell, sources in zip(numbers, cells, into, strict=True):
            taken = tuple(sorted(numbers[source] for source in sources))
            key = cell.variable, cell.begins, taken
            if number in left:
                entered.setdefault(key, number)
            else:
                ends[number] = key
    return {number: entered[key] for number, key in ends.items() if key in entered}


def _numbered(keys: Sequence[Sequence[Hashable]]) -> list[list[int]]:
    numbers: dict[Hashable, int] = {}
    fresh = count()
    return [
        [numbers[k] if k in numbers else numbers.setdefault(k, next(fresh)) for k in row]
        for row in keys
    ]
