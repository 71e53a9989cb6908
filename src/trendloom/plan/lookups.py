"""Which conditions between consecutive events are lookups by value rather than scans.

`X.a op NEXT(Y).b` asks for the X events before a place in the order of a. Two such comparisons ask
for those before a place in each of two orders: skip-till-any-match can tell them in a known window.
Any number of equalities may stand beside: they only say in which group of events to look. Whatever
reads one event is a column already (`pairs`), so there may be any arithmetic on either side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trendloom.language.nodes import Semantics
from trendloom.pattern.automaton import START
from trendloom.plan.pairs import Comparison, Op, comparison_of, conjuncts_of

if TYPE_CHECKING:
    from trendloom.plan.pairs import Code
    from trendloom.plan.plan import Part


MOST_COMPARISONS = {Semantics.ANY: 2, Semantics.NEXT: 1, Semantics.CONTIGUOUS: 0}
"""On one step, beside equalities."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """A conjunction of equalities and of few other comparisons."""

    equalities: tuple[Comparison, ...]
    comparisons: tuple[Comparison, ...]

    @property
    def conditions(self) -> tuple[Comparison, ...]:
        """All of them."""
        return (*self.equalities, *self.comparisons)


def lookup_of(code: Code, most: int = 1) -> Lookup | None:
    """The program as a lookup, if it is one with at most so many comparisons beside equalities."""
    found: list[Comparison] = []
    for conjunct in conjuncts_of(code):
        one = comparison_of(conjunct)
        if one is None:
            return None
        found.append(one)
    equalities = tuple(one for one in found if one.op is Op.EQ)
    others = tuple(one for one in found if one.op is not Op.EQ)
    return Lookup(equalities, others) if len(others) <= most else None


def lookups(part: Part, semantics: Semantics) -> dict[tuple[int, int], Lookup] | None:
    """(earlier variable, later variable) → lookup; None unless every condition is one.

    Guards and bound variables ask more of an entry than its value, so there are no lookups there.
    Contiguous trends look at neighbours only, whatever the condition.
    """
    most = MOST_COMPARISONS[semantics]
    if most == 0 or not part.adjacent or part.automaton.guards or part.bindings:
        return None
    found: dict[tuple[int, int], Lookup] = {}
    for step, program in part.adjacent.items():
        lookup = lookup_of(part.programs[program], most)
        if lookup is None:
            return None
        found[step] = lookup
    return found


def are_paired(lookups: dict[tuple[int, int], Lookup]) -> bool:
    """Whether a step has two comparisons."""
    return any(len(one.comparisons) == 2 for one in lookups.values())


def one_order(part: Part, semantics: Semantics) -> Comparison | None:
    """The comparison of a part that is `S+` with `S.x > NEXT(S).x` alone, None of any other part.

    What then precedes an event is told by its time and one value.
    """
    automaton = part.automaton
    ways = sorted((arrow.source, arrow.target) for arrow in automaton.arrows)
    if ways != [(START, 0), (0, 0)] or not automaton.accepts:
        return None
    found = lookups(part, semantics)
    if found is None or len(found) != 1:
        return None
    (lookup,) = found.values()
    if lookup.equalities or len(lookup.comparisons) != 1:
        return None
    (one,) = lookup.comparisons
    return one if one.op is not Op.NE and one.left == one.right else None
