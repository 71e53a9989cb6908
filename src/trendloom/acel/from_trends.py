"""Trend queries as formulas: one complex event for every trend (SEMANTICS §2–§5).

1. The pattern: part by part where it only says what happens (`bridge.patterns`), step by step where
   it also says what must not lie between (`bridge.steps`), shuffled for AND (`bridge.shuffles`).
2. Local conditions stand at their events, `S.a < NEXT(S).a` at the repetition of S; any others
   between neighbours need both of them together (`bridge.links`).
3. Conditions between two events, and on the length, are filters on what AGG makes of the events.
4. PROJECT leaves the variables of the pattern, so that equal complex events are equal trends.

Partition and window are not part of formulas: they are beside it. Times of one partition differ,
or a tiebreak makes them differ: the logic orders all events, trends do not order simultaneous ones.
What cannot be said is refused with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trendloom.acel import nodes as n
from trendloom.acel.bridge.asked import Asked
from trendloom.acel.bridge.elimination import MOST_PARTS, too_large
from trendloom.acel.bridge.links import by_links, needs_links
from trendloom.acel.bridge.neighbours import without_guards
from trendloom.acel.bridge.next_of import by_next
from trendloom.acel.bridge.orders import refuse_order
from trendloom.acel.bridge.pairs import Pairs
from trendloom.acel.bridge.patterns import Patterns
from trendloom.acel.bridge.shuffles import shuffled
from trendloom.acel.bridge.steps import by_steps, guards_of, refuse_outer_guards
from trendloom.acel.bridge.text import text_of, window_text
from trendloom.acel.depth import bounded
from trendloom.language import nodes as t
from trendloom.language.naming import name_variables

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Translation", "as_text", "translate", "window_text"]


@dataclass(frozen=True)
class Translation:
    """A formula, and what stands beside it."""

    formula: n.Formula
    partition_by: tuple[str, ...]
    window: t.TimeWindow | t.CountWindow | None
    variables: tuple[str, ...]
    types: tuple[str, ...] = ()
    """If there are any: the formula is of streams that have no other types."""


@bounded
def translate(query: t.Query, types: Iterable[str] = ()) -> Translation:
    """The formula of a query's trends; a QueryMeaningError where the logic cannot say it.

    `types`: what the stream has beside the pattern's own, for formulas that tell what lies between.
    """
    query = name_variables(query)
    asked = Asked.of(query, types)
    for key in query.group_by:
        if key.variable is not None:
            asked.refuse(
                f"GROUP-BY {key.variable}.{key.attribute} groups trends by one of their events",
                key.place,
                "Group by an attribute of all events.",
            )
    formula, between, in_runs = _pattern(asked)
    linked = _is_linked(asked)
    for part in asked.parts:
        positive = without_guards(part)
        assert positive is not None, "a pattern has events"
        formula = Pairs(asked, positive, in_runs, linked).filtered(formula)
    plain = [key.attribute for key in query.group_by]
    partition = tuple(dict.fromkeys((*plain, *asked.conditions.equivalence)))
    formula = n.Project(formula, asked.variables)
    if sum(1 for _ in n.walk(formula)) > MOST_PARTS:
        raise too_large()
    known = asked.types if between else ()
    return Translation(formula, partition, query.window, asked.variables, known)


def _pattern(asked: Asked) -> tuple[n.Formula, bool, bool]:
    """Also: whether it depends on the stream's types; whether runs of V+ are still to be asked."""
    pattern, semantics = asked.query.pattern, asked.query.semantics
    if isinstance(pattern, t.Both):
        return shuffled(asked), False, True
    guards = guards_of(pattern)
    if guards:
        refuse_outer_guards(asked, pattern)
    if semantics is t.Semantics.NEXT:
        if asked.conditions.correlated:
            refuse_order(asked, asked.conditions.correlated[0])
        plain = not guards and not asked.conditions.adjacent
        alone = by_next(asked, pattern) if plain else None
        if alone is not None:
            return alone, False, False
        return by_steps(asked, pattern), True, True
    if guards and semantics is t.Semantics.ANY:
        return by_steps(asked, pattern), True, True
    # Contiguous trends leave nothing between their events: there a NOT always holds.
    positive = without_guards(pattern)
    assert positive is not None, "a pattern has events"
    if _is_linked(asked):
        return by_links(asked, positive), False, False
    return Patterns(asked).formula(positive), False, False


def _is_linked(asked: Asked) -> bool:
    """Whether all conditions between neighbours are asked link by link."""
    pattern, semantics = asked.query.pattern, asked.query.semantics
    if isinstance(pattern, t.Both) or semantics is t.Semantics.NEXT:
        return False
    if guards_of(pattern) and semantics is t.Semantics.ANY:
        return False
    positive = without_guards(pattern)
    return positive is not None and needs_links(asked, positive)


def as_text(query: t.Query, types: Iterable[str] = ()) -> str:
    """The formula, and in comments what stands beside it and how its results are aggregated."""
    return text_of(query, translate(query, types))
