"""How the graph of a listing finds which events an event may follow (CET §4.1, Alg. 3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from trendloom.language.nodes import Semantics
from trendloom.pattern.automaton import DEAD, START
from trendloom.plan.pairs import Op, comparison_of, conjuncts_of

if TYPE_CHECKING:
    from trendloom.plan.pairs import Code
    from trendloom.plan.plan import Part

ORDERS = {Op.LT, Op.LE, Op.GT, Op.GE}


class Search(Enum):
    """What is looked at for the predecessors of an event."""

    EQUAL = "equal"
    """The events of the same value: chains by hash."""
    STAIRS = "stairs"
    """The latest events in an order of values: a tree of maxima."""
    SCAN = "scan"
    """Every earlier event that no kept predecessor covers: a set of ancestors per node."""


@dataclass(frozen=True, slots=True)
class Predecessors:
    """`keys`: program → columns of the earlier and the later event that must be equal."""

    search: Search
    keys: dict[int, tuple[int, int]] = field(default_factory=dict)
    order: tuple[Op, int] | None = None
    """Of STAIRS: the earlier event's column, compared with the later event's same one."""


def predecessors(part: Part, semantics: Semantics) -> Predecessors:
    """Lookups need steps that nothing else decides: no guards, no bound variables."""
    if not is_plain(part) or semantics is not Semantics.ANY:
        return Predecessors(Search.SCAN)
    automaton = part.automaton
    programs = {
        part.adjacent.get((automaton.states[arrow.source].variable, arrow.variable))
        for arrow in automaton.arrows
        if arrow.source != START and arrow.target != DEAD
    }
    keys = {}
    for program in programs:
        equal = None if program is None else equality_of(part.programs[program])
        if program is None or equal is None:
            break
        keys[program] = equal
    else:
        if keys:
            return Predecessors(Search.EQUAL, keys)
    if len(automaton.states) == 1 and len(programs) == 1:
        (program,) = programs
        if program is not None:
            one = comparison_of(part.programs[program])
            if one is not None and one.op in ORDERS and one.left == one.right:
                return Predecessors(Search.STAIRS, order=(one.op, one.left))
    return Predecessors(Search.SCAN)


def is_plain(part: Part) -> bool:
    """Whether an event's variable tells its state, whatever lies around it."""
    states = part.automaton.states
    return (
        not part.automaton.guards
        and not part.bindings
        and len({state.variable for state in states}) == len(states)
    )


def equality_of(code: Code) -> tuple[int, int] | None:
    """Two columns that a program asks to be equal, whatever else it asks."""
    for conjunct in conjuncts_of(code):
        one = comparison_of(conjunct)
        if one is not None and one.op is Op.EQ:
            return one.left, one.right
    return None
