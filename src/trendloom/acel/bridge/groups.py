"""GROUP-BY V.a: all V of a trend agree on a, and none lacks it. Groups stand beside the formula.

That is `same(a)`. Under skip-till-next-match it also decides which V is next.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from trendloom.acel import conditions as on
from trendloom.acel import nodes as n
from trendloom.acel.bridge.neighbours import at_most_once, without_guards
from trendloom.language import nodes as t
from trendloom.language.expressions import Reference, column
from trendloom.plan.conditions import Pair
from trendloom.plan.shape import positive_events

if TYPE_CHECKING:
    from trendloom.acel.bridge.asked import Asked
    from trendloom.errors import Place


def with_groups(asked: Asked) -> Asked:
    """The same, with the agreements that decide what is next."""
    if asked.query.semantics is not t.Semantics.NEXT:
        return asked
    pattern = without_guards(asked.query.pattern)
    assert pattern is not None, "a pattern has events"
    several = {str(event.variable) for event in positive_events(pattern)} - at_most_once(pattern)
    agreements = (
        agreement(key.variable, key.attribute, key.place)
        for key in asked.query.group_by
        if key.variable in several
    )
    return replace(asked, agreements=tuple(agreements))


def agreement(variable: str, attribute: str, place: Place) -> Pair:
    """That two events of the variable have the same value."""
    here, then = (column(Reference(variable, attribute, later), place) for later in (False, True))
    return Pair(variable, variable, exp.EQ(this=here, expression=then), place)


def agreeing(asked: Asked, formula: n.Formula) -> n.Formula:
    """The formula of trends, those whose events do not agree left out."""
    for key in asked.query.group_by:
        if key.variable is not None:
            same = on.BagCondition("same", key.attribute)
            formula = n.Filter(formula, key.variable, same)
    return formula
