"""`A.a < B.b` for every B of a trend, where A occurs once: as ways in which it holds for all B.

If there are several, every B is also in a variable for the way that it goes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

from trendloom.acel import conditions as on
from trendloom.acel import nodes as n
from trendloom.acel.bridge.neighbours import at_most_once, without_guards
from trendloom.acel.bridge.ways import NotSeparable, Way, bounded, every_one, ways

if TYPE_CHECKING:
    from trendloom.acel.bridge.asked import Asked
    from trendloom.plan.conditions import Pair


@dataclass(frozen=True)
class Cases:
    """Of one condition."""

    pair: Pair
    anchor: str
    variable: str
    ways: tuple[Way, ...]
    labels: tuple[str, ...]
    """A variable for each way; the variable itself, if there is one way."""

    @property
    def apart(self) -> tuple[str, ...]:
        """The variables beside the variable."""
        return self.labels if len(self.ways) > 1 else ()

    def event(self, formula: n.Formula) -> n.Formula:
        """One event of the variable, which goes one of the ways."""
        if not self.apart:
            return formula
        made: list[n.Formula] = []
        for way, label in zip(self.ways, self.labels, strict=True):
            one: n.Formula = n.As(formula, label)
            for condition in way.each:
                one = n.Filter(one, label, condition)
            made.append(one)
        return reduce(n.Or, made)

    def compared(self, formula: n.Formula, made: str) -> n.Formula:
        """The formula of trends, in which all events of the variable go their ways."""
        assigns: dict[str, n.Assign] = {}
        if not self.apart:
            for condition in self.ways[0].each:
                formula = n.Filter(formula, self.variable, condition)
        every: list[on.Condition] = [
            every_one(way, label, self.anchor, assigns)
            for way, label in zip(self.ways, self.labels, strict=True)
            if way.own or way.both
        ]
        aggregated = n.Aggregation(formula, made, tuple(assigns.values()))
        return n.Filter(aggregated, made, reduce(on.All, every))


def with_cases(asked: Asked) -> Asked:
    """The same, with the ways of conditions between one event and several."""
    found: list[Cases] = []
    for pair in asked.conditions.correlated:
        names = {pair.earlier, pair.later}
        once: set[str] = set()
        for part in asked.parts:
            positive = without_guards(part)
            assert positive is not None, "a pattern has events"
            once |= at_most_once(positive) & names
        if len(once) != 1:
            continue
        (anchor,) = once
        (variable,) = names - once
        try:
            different = bounded(ways(asked, pair, anchor, strict=True))
        except NotSeparable:
            asked.no_words(pair)
        number = len(found)
        labels = tuple(asked.free(f"{variable}_{number}_{k}") for k in range(len(different)))
        if len(different) == 1:
            labels = (variable,)
        found.append(Cases(pair, anchor, variable, different, labels))
    return replace(asked, cases=tuple(found))
