"""`φ FILTER X, Y[…]` as an automaton: what enters one bag is compared with all of the other.

1. How many events of a variable there may be at a state is counted: none, one, or more.
2. Where there is exactly one, registers hold its attributes, and the condition is one on an event
   that is made of these and of the attributes of the other.
3. Else a register collects rows, a set of them. Sets under union are a commutative monoid, so this
   is as much an automaton of the paper as one that sums.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from trendloom.acel import acea
from trendloom.acel.acea import Acea, Renaming, Transition
from trendloom.acel.demands import attributes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trendloom.acel.nodes import PairFilter

    Fresh = Callable[[str], str]

MANY = 2
"""More than one."""


def pairs_filtered(inner: Acea, formula: PairFilter, fresh: Fresh) -> Acea:
    """The automaton, where the condition holds of every pair of events; `fresh` names registers."""
    left, right = (_Side.of(inner, formula, one, fresh) for one in (formula.left, formula.right))

    guards = {
        one: (*_guards(formula, one, left, right), *_guards(formula, one, right, left))
        for one in inner.transitions
    }
    used = set().union(*map(_read, chain.from_iterable(guards.values())))

    def checked(one: Transition) -> Transition:
        held = (pair for side in (left, right) for pair in side.assigns(one) if pair[0] in used)
        return replace(
            one, assigns=(*one.assigns, *held), guards=(*one.guards, *dict.fromkeys(guards[one]))
        )

    return Acea(tuple(map(checked, inner.transitions)))


def _read(guard: acea.Satisfies | acea.Every) -> set[str]:
    """The registers that a guard reads."""
    held = {register for _, register in guard.event.attributes}
    return held | {guard.register} if isinstance(guard, acea.Every) else held


def _guards(
    formula: PairFilter, one: Transition, new: _Side, other: _Side
) -> Iterator[acea.Satisfies | acea.Every]:
    """What enters the one bag fits all that is in the other, together with what enters that now."""
    there = other.counts_after(one)
    for event in new.entering(one) if there != {0} else ():
        own = new.named(event)
        if there == {1}:
            entered = other.entering(one)
            held = other.named(entered[0]) if entered else tuple(other.held.items())
            # In one order, whichever is new: the same two are one guard.
            pairs = Renaming("", tuple(sorted((*own, *held))))
            yield acea.Satisfies(formula.condition, pairs)
        else:
            names = tuple(other.held)
            yield acea.Every(formula.condition, Renaming("", own), other.rows, names)


@dataclass(frozen=True)
class _Side:
    """One of the two variables."""

    variable: str
    attributes: dict[str, str]
    """What the condition calls an attribute → its name."""
    held: dict[str, str]
    """What the condition calls an attribute → the register that holds it of the only event."""
    rows: str
    inner: Acea

    @classmethod
    def of(cls, inner: Acea, formula: PairFilter, variable: str, fresh: Fresh) -> _Side:
        read = sorted(attributes_of(formula.condition), key=lambda one: one.key)
        attributes = {one.key: one.name for one in read if one.variable == variable}
        held = {key: fresh(key) for key in attributes}
        return cls(variable, attributes, held, fresh(f"all {variable}"), inner)

    def entering(self, one: Transition) -> tuple[Renaming, ...]:
        """The events that a transition puts into the variable."""
        return dict(one.outputs).get(self.variable, ())

    def named(self, event: Renaming) -> tuple[tuple[str, str], ...]:
        """The registers of an event's attributes, as the condition calls them."""
        pairs = ((key, event.register(name)) for key, name in self.attributes.items())
        return tuple((key, register) for key, register in pairs if register is not None)

    def counts_after(self, one: Transition) -> set[int]:
        """How many events the variable may have after a transition."""
        entered = len(self.entering(one))
        return {min(count + entered, MANY) for count in self._counts.get(one.source, ())}

    @cached_property
    def _counts(self) -> dict[int, set[int]]:
        """The same at every state."""
        found: dict[int, set[int]] = {Acea.START: {0}}
        pending = [Acea.START]
        while pending:
            state = pending.pop()
            for one in self.inner.leaving[state]:
                entered = len(self.entering(one))
                after = {min(count + entered, MANY) for count in found[state]}
                if not after <= found.setdefault(one.target, set()):
                    found[one.target] |= after
                    pending.append(one.target)
        return found

    def assigns(self, one: Transition) -> Iterator[tuple[str, acea.Expression]]:
        """What is held after a transition."""
        begins, assigned = one.source == Acea.START, dict(one.assigns)
        events = [
            tuple(value_of(event, name, assigned) for name in self.attributes.values())
            for event in self.entering(one)
        ]
        for number, register in enumerate(self.held.values()):
            old: acea.Expression = NULL if begins else acea.Register(register)
            yield register, events[-1][number] if events else old
        rows = acea.Collect(None if begins else self.rows, tuple(events))
        yield self.rows, rows if events or begins else acea.Register(self.rows)


NULL = acea.Finish("MIN", acea.Identity("MIN"))
"""MIN of nothing."""


def value_of(
    event: Renaming, attribute: str, assigned: dict[str, acea.Expression]
) -> acea.Expression:
    """What the attribute of an event put out by this transition is, in terms of what it reads."""
    register = event.register(attribute)
    # An attribute that the event cannot have is null, as is one that the event read lacks.
    return NULL if register is None else assigned[register]
