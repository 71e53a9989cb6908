"""Patterns with NOT, and skip-till-next-match: step by step, with what lies between.

Steps are those of a `course`; its automaton becomes a formula (`elimination`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trendloom.acel.bridge.elimination import Edges, add

if TYPE_CHECKING:
    from trendloom.acel import nodes as n
    from trendloom.acel.bridge.course import Course


def by_steps(course: Course) -> n.Formula:
    """The formula of a pattern."""
    edges: Edges = {("start", state): course.before(state) for state in course.first}
    for state in course.states:
        add(edges, state, "end", course.joined.then(course.event(state), course.after(state)))
    for state, target in course.steps:
        add(edges, state, target, course.step(state, target))
    return course.closed(course.joined.formula(edges, "start", "end"))
