"""What an event costs in a vector: by the steps of the automaton's table, and the lanes.

A table is regular: every event takes as many steps, from as many sources, as the one that takes the
most (`kernels/table.py`). Merging saves the passes of its members and pays with wider tables. Sums
of events that take several steps are moved by stretches of cells (`kernels/moves.py`); there
chopped parts are what saves, for a stretch costs little more than a step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trendloom.pattern.automaton import START
from trendloom.plan.plan import WindowStrategy
from trendloom.workloads.family import overlap, variable_name
from trendloom.workloads.moves import CodeMoves, Step

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trendloom.workloads.family import Family

# Nanoseconds, measured on a core of an AMD EPYC that had other work beside: ratios matter only.
VIEW = 8.0
"""Of a row that a query or family looks at: its mask, and whether it is wanted."""
COUNTED, COUNTED_SOURCE, COUNTED_EAT = 5.0, 1.0, 1.0
"""Of an event that takes one step and is only counted; of its sources, of cells set to zero."""
SINGLE = 8.0
"""Of each lane of an event that takes one step."""
EVENT, STEP, SOURCE, EAT = 10.0, 15.0, 2.0, 8.0
"""Of any other event; per lane of each of its steps, of their sources, of cells set to zero."""
WIDE, MOVE, NUMBER = 7.0, 2.0, 1.5
"""Of an event moved by stretches; of a stretch, and of each of its numbers."""
PLACES = 2.5
"""Times as much where new sums are put aside before they are added."""
MAPPED, PACKED, PACK = 10.0, 5.0, 4
"""Of an event in the map of a pane, and per lane and pack of cells of that, as `sliding` has it."""
ANSWER, TERM = 100.0, 3.5
"""Of a vector through maps, which windows that slide with every event take; of each product."""


@dataclass(frozen=True, slots=True)
class Table:
    """The size of an automaton's table, before there is one."""

    steps: int
    sources: int
    eats: int
    lanes: int
    """The count among them."""

    extremes: int
    """Of the lanes, those that are no sums."""
    moved: float
    """Nanoseconds of an event's sums, if they are moved by stretches."""

    @property
    def event(self) -> float:
        """Nanoseconds."""
        if self.steps == 1 and self.lanes == 1:
            return COUNTED + COUNTED_SOURCE * self.sources + COUNTED_EAT * self.eats
        if self.steps == 1:
            return self.lanes * (SINGLE + SOURCE * self.sources + EAT * self.eats)
        lane = self.steps * (STEP + SOURCE * self.sources) + EAT * self.eats
        return self.moved + (EVENT + (1 + self.extremes) * lane if self.extremes else 0.0)


def table_of(family: Family) -> Table:
    """An event may be all letters of its type."""
    merged, letters = family.merged, family.shared.scan.letters
    steps: dict[str, dict[int, list[int]]] = {}
    eats: dict[str, set[int]] = {}
    fed: set[str] = set()
    named = [family.lanes(plan) for plan in family.plans.values()]
    sums = {lane for one in named for lane in one.sums.values()}
    extremes = {lane for one in named for lane in one.extremes.values()}
    feeding = {lane.variable for lane in sums}
    for arrow in merged.folding.arrows:
        variable = merged.variables[arrow.variable]
        kind = letters[variable[0]].type
        sources = steps.setdefault(kind, {}).setdefault(arrow.target, [])
        if arrow.source != START:
            sources.append(arrow.source)
        if not feeding.isdisjoint((None, variable_name(variable))):
            fed.add(kind)
    clears = merged.folding.clears[len(merged.variables) :]
    for letter, cells in zip(merged.letters, clears, strict=False):
        eats.setdefault(letters[letter].type, set()).update(cells)
    always = clears[-1]
    moved = [
        _moved(one, {*eats.get(kind, ()), *always}, 1 + len(sums), fed=kind in fed)
        for kind, one in steps.items()
    ]
    return Table(
        max([1, *map(len, steps.values())]),
        max([1, *(len(sources) for one in steps.values() for sources in one.values())]),
        max(len(always), _most(eats.values())),
        1 + len(sums) + len(extremes),
        len(extremes),
        sum(moved) / max(1, len(moved)),
    )


def _moved(steps: dict[int, list[int]], eaten: set[int], lanes: int, *, fed: bool) -> float:
    """Nanoseconds of an event that takes these steps: cells and what they take from."""
    moves = CodeMoves([Step(cell, tuple(sorted(taken))) for cell, taken in steps.items()], eaten)
    numbers = sum(n for *_, n in (*moves.add, *moves.eat))
    spent = MOVE * (len(moves.add) + len(moves.eat)) + NUMBER * numbers * lanes
    return WIDE + spent * (1.0 if moves.direct and not fed else PLACES)


def _most(sets: Iterable[set[int]]) -> int:
    return max((len(one) for one in sets), default=0)


def cost(family: Family) -> float:
    """Nanoseconds per row of the shared scan, if all of its types are equally frequent."""
    scan = family.shared.scan
    types = {letter.type for letter in scan.letters}
    own = {scan.letters[letter].type for letter in family.merged.letters}
    share = 1.0 if family.plan.scan.keep_unmatched else len(own) / len(types)
    return VIEW + share * _visits(family)


def _visits(family: Family) -> float:
    """Of an event in all windows that hold it: in a vector for each, or in maps for all."""
    table, windows = table_of(family), overlap(family.plan)
    if windows == 1:
        return table.event
    cells, lanes = family.merged.folding.cells, table.lanes
    if family.plan.strategy is WindowStrategy.CHANGES:
        maps = ANSWER + TERM * cells * cells * (2 * lanes - 1) + 2 * STEP * (1 + cells) * lanes
    else:
        maps = MAPPED + PACKED * lanes * -(-(1 + cells) // PACK)
    return min(windows * table.event, maps * table.steps)
