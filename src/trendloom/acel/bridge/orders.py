"""Orders that decide what is next: `S.a < NEXT(S).a` under skip-till-next-match.

The next S is the first with a greater value. So those between are not greater than the one before:
the greatest of them is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from trendloom.acel import conditions as on
from trendloom.acel import nodes as n
from trendloom.acel.bridge.pairs import shape_of

if TYPE_CHECKING:
    from collections.abc import Set

    from trendloom.acel.bridge.asked import Asked
    from trendloom.plan.conditions import Pair


@dataclass(frozen=True)
class Order:
    """Of one variable, from each of its events to the next."""

    variable: str
    attribute: str
    falling: bool
    pair: Pair

    def failed(self, formula: n.Formula, failing: str) -> n.Formula:
        """The formula, where no event of `failing` could have been next."""
        extreme, sign = ("MIN", ">=") if self.falling else ("MAX", "<=")
        assigns = (
            n.Assign("own", "MAX", self.variable, self.attribute),
            n.Assign("best", extreme, failing, self.attribute),
        )
        own, best = on.Attribute("own"), on.Attribute("best")
        # Null is not comparable: then no event could have been next.
        condition = on.Any(on.Comparison(sign, best, own), on.IsNull(best))  # type: ignore[arg-type]
        made = n.Aggregation(formula, "left out", assigns)
        return n.Project(
            n.Filter(made, "left out", on.Any(condition, on.IsNull(own))), (self.variable,)
        )


def order_after(asked: Asked, variable: str, following: Set[str]) -> Order | None:
    """The order that decides what is next after an event of the variable; None: nothing does."""
    deciding = [
        pair
        for pair in asked.conditions.adjacent
        if pair.earlier == variable and pair.later in following
    ]
    if not deciding:
        return None
    pair = deciding[0]
    if len(deciding) > 1 or pair.later != variable:
        refuse_order(asked, deciding[-1])
    shape, attribute = shape_of(asked, pair)
    if shape == "same":
        refuse_order(asked, pair)
    return Order(variable, attribute, shape == "decreasing", pair)


def refuse_order(asked: Asked, pair: Pair) -> NoReturn:
    asked.refuse(
        "Which event is next depends on this comparison with an earlier one, so that what is left "
        "out would have to be compared with it too",
        pair.place,
        "The logic can do that for one V.a < NEXT(V).a or > inside of V+; or use "
        "skip-till-any-match or contiguous.",
    )
