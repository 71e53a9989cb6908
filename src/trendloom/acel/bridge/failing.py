"""How events fail a condition with an earlier one, said of all of them together.

Under skip-till-next-match an event is left out only if the trend could not go on with it, also by
conditions such as `S.a < NEXT(S).a`. Those that are left out go to variables, one for each way to
fail (`ways`), which are dropped afterwards.

The earlier event is the one right before, or an anchor further back. What fails with the first is
told of each step, what fails with the second of the whole trend.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from itertools import product
from typing import TYPE_CHECKING, NoReturn

from trendloom.acel import conditions as on
from trendloom.acel import nodes as n
from trendloom.acel.bridge.ways import NotSeparable, Way, bounded, every_one, ways

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trendloom.acel.bridge.asked import Asked
    from trendloom.plan.conditions import Pair


def ways_to_fail(asked: Asked, pairs: Iterable[tuple[Pair, str]]) -> tuple[Way, ...]:
    """Of an event that could be next but for these conditions: all that are asked of it hold.

    With each of them the variable of the anchor, or NEAR.
    """
    found: list[Way] = []
    for pair, anchor in pairs:
        try:
            found += ways(asked, pair, anchor, strict=False)
        except NotSeparable:
            refuse_next(asked, pair)
    return bounded(found)


def refuse_next(asked: Asked, pair: Pair) -> NoReturn:
    asked.refuse(
        "Which event is next depends on this comparison with an earlier one, so that all that is "
        "left out would have to be compared with it too",
        pair.place,
        "The logic can do that where the comparison grows or falls with one attribute of the "
        "later event; or use skip-till-any-match or contiguous.",
    )


def all_fail(each_way: list[tuple[Way, ...]]) -> tuple[Way, ...]:
    """The ways in which an event is none of several."""
    return bounded([reduce(Way.__add__, each) for each in product(*each_way)])


@dataclass(frozen=True)
class Failing:
    """The variables of what fails with one earlier event, as they come to be used."""

    asked: Asked
    stem: str
    names: dict[Way, str] = field(default_factory=dict)

    def name(self, way: Way) -> str:
        """The variable of what fails in this way."""
        if way not in self.names:
            self.names[way] = self.asked.free(f"{self.stem}_{len(self.names)}")
        return self.names[way]

    def checked(self, formula: n.Formula, variable: str, made: str) -> n.Formula:
        """The formula, where all that fails does fail; `variable` holds the earlier event."""
        assigns: dict[str, n.Assign] = {}
        every: list[on.Condition] = []
        bound = bound_in(formula)
        for way, label in self.names.items():
            if label in bound:
                every.append(every_one(way, label, variable, assigns))
        if not every:
            return formula
        aggregated = n.Aggregation(formula, made, tuple(assigns.values()))
        return n.Filter(aggregated, made, reduce(on.All, every))


def bound_in(formula: n.Formula) -> set[str]:
    """The variables that AS binds somewhere in it."""
    return {one.variable for one in n.walk(formula) if isinstance(one, n.As)}
