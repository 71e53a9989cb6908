"""Trend queries as formulas: one complex event for every trend (SEMANTICS §2–§5).

1. The pattern: part by part where it only says what happens (`bridge.patterns`), step by step where
   it also says what must not lie between (`bridge.steps`), shuffled for AND (`bridge.shuffles`).
2. Local conditions stand at their events, `S.a < NEXT(S).a` at the repetition of S; any others
   between neighbours need both of them together (`bridge.links`, `bridge.shuffled_links`).
3. Conditions between two events, and on the length, are filters on what AGG makes of the events;
   where one of the two comes several times, of their extremes (`bridge.ways`).
4. PROJECT leaves the variables of the pattern, so that equal complex events are equal trends.

Partition and window are not part of formulas: they are beside it. Times of one partition differ,
or a tiebreak makes them differ: the logic orders all events, trends do not order simultaneous ones.
What cannot be said is refused with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from trendloom.acel import nodes as n
from trendloom.acel.bridge.asked import Asked
from trendloom.acel.bridge.cases import with_cases
from trendloom.acel.bridge.elimination import MOST_PARTS, too_large
from trendloom.acel.bridge.groups import agreeing, with_groups
from trendloom.acel.bridge.links import by_links, needs_links
from trendloom.acel.bridge.neighbours import without_guards
from trendloom.acel.bridge.next_of import by_next
from trendloom.acel.bridge.pairs import Pairs
from trendloom.acel.bridge.patterns import Patterns
from trendloom.acel.bridge.shuffled_links import shuffled_by_links
from trendloom.acel.bridge.shuffles import refuse_pairs, shuffled, side_by_side
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
    groups: tuple[tuple[str, str], ...] = ()
    """Variables, and the attribute on which their events agree, that tell the group of a result."""


@bounded
def translate(query: t.Query, types: Iterable[str] = ()) -> Translation:
    """The formula of a query's trends; a QueryMeaningError where the logic cannot say it.

    `types`: what the stream has beside the pattern's own, for formulas that tell what lies between.
    """
    query = name_variables(query)
    asked = with_cases(with_groups(Asked.of(query, types)))
    formula, between, in_runs, linked = _pattern(asked)
    for part in asked.parts:
        positive = without_guards(part)
        assert positive is not None, "a pattern has events"
        formula = Pairs(asked, positive, in_runs, linked).filtered(formula)
    formula = agreeing(asked, formula)
    plain = [key.attribute for key in query.group_by if key.variable is None]
    partition = tuple(dict.fromkeys((*plain, *asked.conditions.equivalence)))
    formula = n.Project(formula, asked.variables)
    if sum(1 for _ in n.walk(formula)) > MOST_PARTS:
        raise too_large()
    known = asked.types if between else ()
    groups = tuple((key.variable, key.attribute) for key in query.group_by if key.variable)
    return Translation(formula, partition, query.window, asked.variables, known, groups)


class _Made(NamedTuple):
    """A pattern as a formula."""

    formula: n.Formula
    between: bool = False
    """Whether it depends on the stream's types."""
    in_runs: bool = False
    """Whether conditions inside of V+ are still to be asked."""
    linked: bool = False
    """Whether all conditions between neighbours have been asked."""


def _pattern(asked: Asked) -> _Made:
    pattern, semantics = asked.query.pattern, asked.query.semantics
    if isinstance(pattern, t.Both):
        return _both(asked)
    positive = without_guards(pattern)
    assert positive is not None, "a pattern has events"
    guards = guards_of(pattern)
    if guards:
        refuse_outer_guards(asked, pattern)
    to_next = semantics is t.Semantics.NEXT
    # Contiguous trends leave nothing between their events: there a NOT always holds.
    between = to_next or (bool(guards) and semantics is t.Semantics.ANY)
    if to_next:
        plain = not (guards or asked.conditions.adjacent or asked.conditions.correlated)
        alone = by_next(asked, pattern) if plain else None
        if alone is not None:
            return _Made(alone)
    if needs_links(asked, positive, in_runs=between):
        made = by_links(asked, pattern if between else positive)
        return _Made(made, between, linked=True)
    if between:
        return _Made(by_steps(asked, pattern), between=True, in_runs=True)
    return _Made(Patterns(asked).formula(positive))


def _both(asked: Asked) -> _Made:
    """A top-level AND; if one part is read link by link, conditions of all parts are asked so."""
    refuse_pairs(asked)
    adjacent = asked.conditions.adjacent
    patterns = [without_guards(part) for part in asked.parts]
    positive = [one for one in patterns if one is not None]
    linked = any(needs_links(asked, part, in_runs=True) for part in positive)
    if asked.query.semantics is t.Semantics.CONTIGUOUS:
        for part in asked.parts:
            refuse_outer_guards(asked, part)
        if linked:
            asked.no_words(adjacent[0])
        return _Made(side_by_side(asked, positive), in_runs=True)
    if not linked:
        return _Made(shuffled(asked), in_runs=True)
    names = [{str(event.variable) for event in t.events_of(part)} for part in asked.parts]
    parts = [
        k for k, some in enumerate(names) if any({p.earlier, p.later} <= some for p in adjacent)
    ]
    return _Made(shuffled_by_links(asked, parts), linked=True)


def as_text(query: t.Query, types: Iterable[str] = ()) -> str:
    """The formula, and in comments what stands beside it and how its results are aggregated."""
    return text_of(query, translate(query, types))
