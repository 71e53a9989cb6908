"""Trend queries as formulas: one complex event for every trend (SEMANTICS §2–§5).

1. The pattern: part by part where it only says what happens (`bridge.patterns`), step by step where
   it also says what must not lie between (`bridge.steps`). AND: shuffled (`bridge.shuffles`), or
   where that does not say all, a formula for each part on which all agree (`bridge.beside`).
2. Local conditions stand at their events, conditions between two events are filters on pairs, and
   those on the length filters on what AGG counts (`bridge.pairs`).
3. What is asked of neighbours is asked of an event and the last of the other variable before it. If
   that may not be its neighbour, events that come right after one are told apart step by step.
4. PROJECT leaves the variables of the pattern, so that equal complex events are equal trends.

Partition and window are not part of formulas: they are beside it, and so is that a NOT reaches to
the window's edge: only complex events that reach it, too, are trends. Times of one partition
differ, or a tiebreak makes them differ: the logic orders all events, trends do not order
simultaneous ones. What is no query is refused as queries are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from trendloom.acel import nodes as n
from trendloom.acel.bridge.asked import Asked
from trendloom.acel.bridge.course import Course
from trendloom.acel.bridge.elimination import MOST_PARTS, too_large
from trendloom.acel.bridge.groups import agreeing, with_groups
from trendloom.acel.bridge.neighbours import without_guards
from trendloom.acel.bridge.next_of import by_next
from trendloom.acel.bridge.overlaps import in_no_order, names_in_no_order
from trendloom.acel.bridge.pairs import Pairs
from trendloom.acel.bridge.patterns import Patterns
from trendloom.acel.bridge.shuffles import fit_together, shuffled, side_by_side
from trendloom.acel.bridge.steps import by_steps
from trendloom.acel.bridge.text import text_of
from trendloom.acel.check import check
from trendloom.acel.depth import bounded
from trendloom.language import nodes as t
from trendloom.plan.planner import plan

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Translation", "as_text", "translate"]


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
    at_start: bool = False
    """Whether only complex events that begin with the window's first event are trends."""
    at_end: bool = False
    """Whether only those are that end with the window's last event."""
    in_no_order: bool = False
    """Whether they are sets of two trends: which is of which part of AND is not told."""


@bounded
def translate(query: t.Query, types: Iterable[str] = ()) -> Translation:
    """The formula of a query's trends; a LimitError if it would be too large.

    `types`: what the stream has beside the pattern's own, for formulas that tell what lies between.
    """
    planned = plan(query, listing=not query.returns)
    query = planned.query
    asked = Asked.of(query, types)
    overlap = planned.overlap is not None
    made = _unordered(asked) if overlap else _in_order(asked)
    shown = names_in_no_order(asked) if overlap else asked.variables
    formula = n.Project(agreeing(asked, made.formula), shown)
    if sum(1 for _ in n.walk(formula)) > MOST_PARTS:
        raise too_large()
    # SQL may reckon with what the logic does not.
    check(formula)
    return Translation(
        formula,
        partition_by=asked.partition,
        window=query.window,
        variables=shown,
        types=asked.types if made.between else (),
        groups=tuple((key.variable, key.attribute) for key in query.group_by if key.variable),
        at_start=asked.at_start,
        at_end=asked.at_end,
        in_no_order=overlap,
    )


class _Made(NamedTuple):
    """A pattern as a formula."""

    formula: n.Formula
    between: bool = False
    """Whether it depends on the stream's types."""


def _unordered(asked: Asked) -> _Made:
    """AND of two parts that the same events can match."""
    made = []
    for told, differing in in_no_order(asked):
        pairs = _in_order(told)
        both = n.And(n.Project(pairs.formula, told.shown), n.Project(differing, told.shown))
        made.append(pairs._replace(formula=both))
    one, other = made
    return one._replace(formula=n.Or(one.formula, other.formula))


def _in_order(asked: Asked) -> _Made:
    return _both(asked) if isinstance(asked.query.pattern, t.Both) else _pattern(asked)


def _pattern(asked: Asked) -> _Made:
    """A pattern without AND, or a part of one."""
    asked = with_groups(asked)
    pattern = asked.query.pattern
    positive = without_guards(pattern)
    assert positive is not None, "a pattern has events"
    if (alone := by_next(asked, pattern)) is not None:
        return _Made(Pairs(asked, positive, in_runs=True).filtered(alone))
    # Contiguous trends leave nothing between their events: there a NOT always holds.
    ends = asked.at_start or asked.at_end
    course = Course(asked, pattern if ends or not asked.contiguous else positive)
    apart = Pairs(asked, positive, in_runs=True).are_told_apart
    stepwise = course.needs_types or bool(asked.beside) or apart
    formula = by_steps(course) if stepwise else Patterns(asked).formula(positive)
    formula = Pairs(asked, positive, in_runs=not stepwise).filtered(formula)
    return _Made(formula, course.needs_types)


def _both(asked: Asked) -> _Made:
    """A top-level AND: in any order of the events, or where that is not all, part by part."""
    patterns = [without_guards(part) for part in asked.parts]
    positive = [one for one in patterns if one is not None]
    told = asked.at_start or asked.at_end or bool(asked.mixed)
    if not asked.contiguous:
        told = told or asked.query.semantics is t.Semantics.NEXT or positive != [*asked.parts]
    pairs = [Pairs(asked, part, in_runs=False) for part in positive]
    if told or any(part.are_told_apart for part in pairs) or not fit_together(positive):
        made = [_pattern(asked.of_part(part)) for part in asked.parts]
        every: list[n.Formula] = [n.Project(one.formula, asked.shown) for one in made]
        return _Made(reduce(n.And, every), any(one.between for one in made))
    formula = side_by_side(asked, positive) if asked.contiguous else shuffled(asked)
    for part in pairs:
        formula = part.filtered(formula)
    return _Made(formula)


def as_text(query: t.Query, types: Iterable[str] = ()) -> str:
    """The formula, and in comments what stands beside it and how its results are aggregated."""
    return text_of(query, translate(query, types))
