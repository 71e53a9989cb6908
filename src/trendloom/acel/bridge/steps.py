"""Patterns step by step: with what lies between, and where events are told apart by the one before.

Steps are those of a `course`; its automaton becomes a formula (`elimination`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trendloom.acel.bridge.elimination import Edges, add

if TYPE_CHECKING:
    from trendloom.acel import nodes as n
    from trendloom.acel.bridge.course import Course
    from trendloom.acel.bridge.walk import State

    Entered = tuple[State, str | None]
    """A state, and the variable of events that come there from where they came."""


def by_steps(course: Course) -> n.Formula:
    """The formula of a pattern."""
    reached: list[Entered] = [(state, None) for state in course.first]
    edges: Edges = {("start", one): course.before(one[0]) for one in reached}
    then = course.joined.then
    for here in reached:
        state = here[0]
        event = course.event(*here)
        add(edges, here, "end", then(event, course.after(state)))
        for target in course.following(state):
            there = target, course.label(state, target)
            add(edges, here, there, then(event, course.between(state, target)))
            if there not in reached:
                reached.append(there)
    return course.closed(course.joined.formula(edges, "start", "end"))
