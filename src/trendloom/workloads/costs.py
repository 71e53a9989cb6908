"""What an event costs in a vector: by the steps of the automaton's table, and the lanes.

A table is regular: every event takes as many steps, from as many sources, as the one that takes the
most (`kernels/table.py`). Merging saves the passes of its members and pays with wider tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trendloom.pattern.automaton import START

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


@dataclass(frozen=True, slots=True)
class Table:
    """The size of an automaton's table, before there is one."""

    steps: int
    sources: int
    eats: int
    lanes: int
    """The count among them."""

    @property
    def event(self) -> float:
        """Nanoseconds."""
        if self.steps == 1 and self.lanes == 1:
            return COUNTED + COUNTED_SOURCE * self.sources + COUNTED_EAT * self.eats
        step = SINGLE if self.steps == 1 else STEP
        lane = self.steps * (step + SOURCE * self.sources) + EAT * self.eats
        return EVENT * (self.steps > 1) + self.lanes * lane


def table_of(family: Family) -> Table:
    """An event may be all letters of its type."""
    merged, letters = family.merged, family.shared.scan.letters
    steps: dict[str, set[int]] = {}
    eats: dict[str, set[int]] = {}
    fan: dict[int, int] = {}
    for arrow in merged.folding.arrows:
        letter, _ = merged.variables[arrow.variable]
        steps.setdefault(letters[letter].type, set()).add(arrow.target)
        fan[arrow.target] = fan.get(arrow.target, 0) + (arrow.source != START)
    clears = merged.folding.clears[len(merged.variables) :]
    for letter, cells in zip(merged.letters, clears, strict=False):
        eats.setdefault(letters[letter].type, set()).update(cells)
    always = len(clears[-1])
    named = [family.lanes(plan) for plan in family.plans.values()]
    lanes = {lane for one in named for lane in (*one.sums.values(), *one.extremes.values())}
    return Table(
        max(1, _most(steps.values())),
        max([1, *fan.values()]),
        max(always, _most(eats.values())),
        1 + len(lanes),
    )


def _most(sets: Iterable[set[int]]) -> int:
    return max((len(one) for one in sets), default=0)


def cost(family: Family) -> float:
    """Nanoseconds per row of the shared scan, if all of its types are equally frequent."""
    scan = family.shared.scan
    types = {letter.type for letter in scan.letters}
    own = {scan.letters[letter].type for letter in family.merged.letters}
    share = 1.0 if family.plan.scan.keep_unmatched else len(own) / len(types)
    return VIEW + share * table_of(family).event
