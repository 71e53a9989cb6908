"""Patterns with NOT, and skip-till-next-match: step by step, with what lies between.

Steps are those of a `course`; its automaton becomes a formula (`elimination`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trendloom.acel.bridge.course import Course
from trendloom.acel.bridge.elimination import EMPTY, Edges
from trendloom.language import nodes as t
from trendloom.pattern.guards import FREE
from trendloom.pattern.positions import Positions

if TYPE_CHECKING:
    from trendloom.acel import nodes as n
    from trendloom.acel.bridge.asked import Asked


def guards_of(pattern: t.Pattern) -> list[t.Not]:
    """The NOTs of a pattern."""
    here = [pattern] if isinstance(pattern, t.Not) else []
    return here + [one for part in t.children(pattern) for one in guards_of(part)]


def refuse_outer_guards(asked: Asked, pattern: t.Pattern) -> None:
    """A complex event tells nothing of what was before it or comes after it."""
    whole = Positions.of(pattern).whole
    for fragment, when in ((whole.first, "before the first"), (whole.last, "after the last")):
        if any(guards != FREE for guards in fragment.values()):
            asked.refuse(
                f"This NOT looks at what happens {when} event of a trend, up to the edge of the "
                "window, and a formula sees only what lies between its start and its end",
                guards_of(pattern)[0 if when.startswith("before") else -1].place,
                "The logic can say NOT between two events of a SEQ.",
            )


def by_steps(asked: Asked, pattern: t.Pattern) -> n.Formula:
    """The formula of a pattern, none of whose guards stands at an end."""
    course = Course(asked, pattern)
    edges: Edges = {("start", state): EMPTY for state in course.first}
    for state in course.states:
        if course.is_last(state):
            edges[state, "end"] = course.event(state)
    for state, target in course.steps:
        edges[state, target] = course.step(state, target)
    return course.closed(course.joined.formula(edges, "start", "end"))
