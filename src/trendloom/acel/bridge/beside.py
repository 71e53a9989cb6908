"""What the other parts of an AND do, in the formula of one part: anything.

Every event may also be in variables of the others, and events of theirs alone may lie wherever
something is left out. So the formulas of all parts agree on exactly the choices of a trend of each:
`AND` of the logic leaves those. A result begins and ends with an event of one part or another,
unless the window's edge decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from trendloom.acel import conditions as on
from trendloom.acel import nodes as n
from trendloom.acel.bridge.elimination import EMPTY, Elimination, Way
from trendloom.acel.check import check

if TYPE_CHECKING:
    from trendloom.acel.bridge.asked import Asked


@dataclass(frozen=True)
class Beside:
    """`contiguous`: all that lies somewhere is spelled out."""

    asked: Asked
    contiguous: bool

    @property
    def before(self) -> Way:
        """Events of the others before one of the part's own, and what lies between."""
        return self._filled(ends_open=True)

    @property
    def after(self) -> Way:
        return self._filled(ends_open=False)

    def bound_in(self, formula: n.Formula) -> list[str]:
        """The variables of the others in it."""
        names = self.asked.with_roles(tuple(str(event.variable) for event in self.asked.beside))
        bound = check(formula) if names else {}
        return [name for name in names if name in bound]

    def all_bound(self, formula: n.Formula) -> n.Formula:
        """The formula, where a variable of theirs that it has no place for is one that is empty.

        A NOT may leave none. Variables that a formula does not know could not be shown.
        """
        bound = self.bound_in(formula)
        for event in self.asked.beside:
            name = str(event.variable)
            if name not in bound:
                made = self.asked.named(event)
                never = on.Comparison("!=", on.Attribute("type"), on.Literally(event.type))
                formula = n.Or(formula, n.Filter(made, name, never))
        return formula

    def _filled(self, *, ends_open: bool) -> Way:
        if not self.asked.beside:
            return EMPTY
        theirs = Way.of(reduce(n.Or, self._theirs()))
        joined = Elimination(contiguous=self.contiguous)
        if not self.contiguous:
            return joined.repeated(theirs)._replace(empty=True)
        anything = joined.repeated(joined.either(theirs, Way.of(self._nobodys())))
        anything = anything._replace(empty=True)
        sides = (theirs, anything) if ends_open else (anything, theirs)
        return joined.then(*sides)._replace(empty=True)

    def _theirs(self) -> list[n.Formula]:
        """An event of one or more of the others."""
        asked = self.asked
        return [made for word in asked.types for made, _ in asked.theirs(word, n.OneEvent(word))]

    def _nobodys(self) -> n.Formula:
        """Any event, in no variable of the pattern."""
        every: list[n.Formula] = [n.OneEvent(word) for word in self.asked.types]
        return self.asked.skipped(reduce(n.Or, every))
