"""Any conditions between neighbours, `X.a < NEXT(Y).b`: the links of a trend, taken two by two.

A formula can compare two events that it binds together, and what it repeats does not overlap. So
one formula reads the trend as pairs from its first event on, another from its second event on, and
each filters its pairs: together they have seen every link. `AND` leaves what both of them denote.
Where no event has a condition with the one before and with the one after it, one formula suffices.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from trendloom.acel import conditions as on
from trendloom.acel import nodes as n
from trendloom.acel.bridge.elimination import NO_WAY, Edges, Way, add
from trendloom.acel.bridge.neighbours import at_most_once, one_run, only_neighbours, repeats_only
from trendloom.acel.bridge.pairs import is_order
from trendloom.plan.shape import positive_events

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trendloom.acel.bridge.asked import Asked
    from trendloom.acel.bridge.course import Course
    from trendloom.acel.bridge.walk import State
    from trendloom.language import nodes as t

START, END = "start", "end"


def needs_links(asked: Asked, pattern: t.Pattern, in_runs: bool) -> bool:
    """Whether a condition between neighbours is neither an order in `V+` nor of single events.

    `in_runs`: orders are asked of all V of a trend together.
    """
    once = at_most_once(pattern)
    known = {str(event.variable) for event in positive_events(pattern)}
    for pair in asked.conditions.adjacent:
        if not {pair.earlier, pair.later} <= known:
            continue
        if pair.earlier == pair.later:
            simple = is_order(pair) and repeats_only(pattern, pair.earlier)
            simple = simple and (not in_runs or one_run(pattern, pair.earlier))
        else:
            simple = {pair.earlier, pair.later} <= once
            simple = simple and only_neighbours(pattern, pair.earlier, pair.later)
        if not simple:
            return True
    return False


def by_links(course: Course) -> n.Formula:
    """The formula of a pattern, with all conditions between neighbours."""
    made, asked = _Links(course), course.asked
    if made.are_apart:
        return made.alone()
    held = asked.holders(*asked.variables)
    one, other = (n.Project(made.formula(first), held) for first in (2, 1))
    return one if one == other else n.And(one, other)


class _Links:
    def __init__(self, course: Course) -> None:
        self._course = course
        self._asked = course.asked
        self._joined = course.joined

    @property
    def are_apart(self) -> bool:
        """Whether no event has a condition on both sides."""
        entered, left = set(), set()
        for state, target in self._course.steps:
            if self._course.pairs(state, target):
                entered.add(target)
                left.add(state)
        return not entered & left

    def alone(self) -> n.Formula:
        """Event by event, two at once where there is something to compare."""
        course, then = self._course, self._joined.then
        edges: Edges = {(START, state): course.before(state) for state in course.first}
        for state in course.states:
            add(edges, state, END, then(course.event(state), course.after(state)))
        for state, target in course.steps:
            if not course.pairs(state, target):
                add(edges, state, target, course.step(state, target))
                continue
            two = self._two(state, target)
            add(edges, state, END, then(two, course.after(target)))
            for third in course.following(target):
                add(edges, state, third, then(two, course.behind(target, third)))
        return course.closed(self._joined.formula(edges, START, END))

    def formula(self, first: int) -> n.Formula:
        """As many events first, then pairs, and perhaps a single one at the end."""
        course, then = self._course, self._joined.then
        edges: Edges = {}
        beginnings = [(state, course.before(state)) for state in course.first]
        if first == 1:
            for state, before in beginnings:
                add(edges, START, state, then(before, course.event(state)))
        else:
            self._go_on(edges, START, beginnings)
        for state in course.states:
            add(edges, state, END, course.after(state))
            following = course.following(state)
            self._go_on(edges, state, ((one, course.between(state, one)) for one in following))
        return course.closed(self._joined.formula(edges, START, END))

    def _go_on(self, edges: Edges, source: object, following: Iterable[tuple[State, Way]]) -> None:
        course, then = self._course, self._joined.then
        for state, gap in following:
            add(edges, source, END, then(then(gap, course.event(state)), course.after(state)))
            for target in course.following(state):
                add(edges, source, target, then(gap, self._two(state, target)))

    def _two(self, state: State, target: State) -> Way:
        """Both events, if what is asked of the two together holds."""
        asked, course = self._asked, self._course
        event = course.event(target)
        pairs = course.pairs(state, target)
        if not pairs:
            return self._joined.then(course.step(state, target), event)
        own, following = asked.free("own"), asked.free("following")
        assert event.formula is not None
        second = Way.of(n.As(event.formula, following))
        both = self._joined.then(course.step(state, target, own), second).formula
        if both is None:
            return NO_WAY
        condition = reduce(on.All, [asked.between(pair, own, following) for pair in pairs])
        compared = n.PairFilter(both, own, following, condition)
        names = asked.holders(course.variable(state), course.variable(target))
        return Way.of(n.Project(compared, tuple(dict.fromkeys((*names, *course.labels(both))))))
