"""Automata with registers (paper, §6): what they are made of.

A transition reads an event, assigns registers, checks guards on the new values, and puts new
events into variables, each a renaming of registers. Unlike in the paper, reading an attribute of
the event and reading a register are two expressions, so that no copies of attributes are needed.

Every automaton made here has one start that nothing leads to and one end that nothing leaves, and
what leaves the start reads no register: an automaton can be entered again without being cleared.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trendloom.acel.conditions import Condition, Shape

State = int


# ── expressions: what is assigned ────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Read:
    """An attribute of the event that is read."""

    attribute: str


@dataclass(frozen=True, slots=True)
class Register:
    """The value of a register before the transition."""

    name: str


@dataclass(frozen=True, slots=True)
class Identity:
    """The identity of an aggregate's monoid."""

    aggregate: str


@dataclass(frozen=True, slots=True)
class Lift:
    """A value, lifted into an aggregate's monoid."""

    aggregate: str
    value: Expression


@dataclass(frozen=True, slots=True)
class Combine:
    """Two elements of an aggregate's monoid, combined."""

    aggregate: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Finish:
    """The value that an element of an aggregate's monoid stands for."""

    aggregate: str
    element: Expression


@dataclass(frozen=True, slots=True)
class Gather:
    """The values of one step, as a tuple: what a bag condition compares the next step with."""

    values: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Collect:
    """The rows that a register holds, if there is one, and those of this step: a set of them."""

    before: str | None
    rows: tuple[tuple[Expression, ...], ...]


Expression = Read | Register | Identity | Lift | Combine | Finish | Gather | Collect


# ── outputs and guards ───────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Renaming:
    """A new event: each attribute takes the value of a register. `origin` is its identity."""

    origin: str
    attributes: tuple[tuple[str, str], ...]

    def register(self, attribute: str) -> str | None:
        return dict(self.attributes).get(attribute)


Outputs = tuple[tuple[str, tuple[Renaming, ...]], ...]
"""Variable → bag of renamings; sorted by variable, no empty bags."""


@dataclass(frozen=True, slots=True)
class Satisfies:
    """The condition holds of the event that the renaming makes."""

    condition: Condition
    event: Renaming


@dataclass(frozen=True, slots=True)
class Alike:
    """Two bags of renamings make equal bags of events (the construction for AND)."""

    left: tuple[Renaming, ...]
    right: tuple[Renaming, ...]


@dataclass(frozen=True, slots=True)
class Follows:
    """The values of this step go on as the shape says from those of the step before.

    Both registers hold what `Gather` made; the first is empty if no step came before.
    """

    shape: Shape
    before: str
    now: str


@dataclass(frozen=True, slots=True)
class Every:
    """The condition holds of the event together with each of the rows that a register holds.

    `Collect` made the register; `names` are what the condition calls the values of a row.
    """

    condition: Condition
    event: Renaming
    register: str
    names: tuple[str, ...]


Guard = Satisfies | Alike | Follows | Every


# ── automata ─────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Transition:
    """From a state to a state, by any event for which the guards hold after the assignments."""

    source: State
    target: State
    assigns: tuple[tuple[str, Expression], ...] = ()
    guards: tuple[Guard, ...] = ()
    outputs: Outputs = ()


@dataclass(frozen=True)
class Acea:
    """An automaton with registers: start 0, end 1."""

    transitions: tuple[Transition, ...]
    START: State = 0
    END: State = 1

    @cached_property
    def states(self) -> tuple[State, ...]:
        ends = {state for one in self.transitions for state in (one.source, one.target)}
        return tuple(sorted(ends | {self.START, self.END}))

    @cached_property
    def registers(self) -> tuple[str, ...]:
        return tuple(sorted({name for one in self.transitions for name, _ in one.assigns}))

    @cached_property
    def leaving(self) -> dict[State, tuple[Transition, ...]]:
        return {
            state: tuple(one for one in self.transitions if one.source == state)
            for state in self.states
        }


def reads(expression: Expression) -> frozenset[str]:
    """The registers that an expression reads."""
    match expression:
        case Read() | Identity():
            return frozenset()
        case Register(name):
            return frozenset({name})
        case Lift(_, inner) | Finish(_, inner):
            return reads(inner)
        case Combine(_, left, right):
            return reads(left) | reads(right)
        case Gather(values):
            return frozenset().union(*map(reads, values))
        case Collect(before, rows):
            held = frozenset() if before is None else frozenset({before})
            return held.union(*(reads(value) for row in rows for value in row))
