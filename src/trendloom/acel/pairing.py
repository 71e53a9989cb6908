"""`φ FILTER X, Y[…]` and `φ FILTER LAST(X), Y[…]` as automata: an event that enters one bag is
compared with what is in the other.

1. How many events of a variable there may be at a state is counted: none, one, or more.
2. Where it is compared with exactly one, registers hold the attributes of that one, and the
   condition is one on an event that is made of these and of its own.
3. Else a register holds rows, a set of them. Sets under union are a commutative monoid, so this is
   as much an automaton of the paper as one that sums.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
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
    Values = tuple[tuple[str, str], ...]
    """What the condition calls an attribute, and the register of its value."""

MANY = 2
"""More than one."""


def pairs_filtered(inner: Acea, formula: PairFilter, fresh: Fresh) -> Acea:
    """The automaton, where the condition holds of the pairs; `fresh` names registers."""
    kind = _Last if formula.last else _Every
    left = kind.of(inner, formula, formula.left, formula.last, fresh)
    right = kind.of(inner, formula, formula.right, False, fresh)
    compared = [(right, left)] if formula.last else [(left, right), (right, left)]
    guards = {
        one: dict.fromkeys(
            guard for new, other in compared for guard in _guards(formula, one, new, other)
        )
        for one in inner.transitions
    }
    assigns = {
        one: [pair for _, other in compared for pair in other.assigns(one)]
        for one in inner.transitions
    }
    used = set().union(*map(_read, chain.from_iterable(guards.values())))
    # What a register held before is made of that register.
    made = (value for each in assigns.values() for name, value in each if name in used)
    used = used.union(*map(acea.reads, made))
    return Acea(
        tuple(
            replace(
                one,
                assigns=(*one.assigns, *(pair for pair in assigns[one] if pair[0] in used)),
                guards=(*one.guards, *guards[one]),
            )
            for one in inner.transitions
        )
    )


def _guards(
    formula: PairFilter, one: Transition, new: _Side, other: _Side
) -> Iterator[acea.Satisfies | acea.Every]:
    """What enters the one bag fits what is in the other."""
    for event in new.entering(one):
        own, against = new.named(event), other.met_by(one)
        if isinstance(against, str):
            names = tuple(other.attributes)
            yield acea.Every(formula.condition, Renaming("", own), against, names)
        elif against is not None:
            # In one order, whichever is new: the same two are one guard.
            yield acea.Satisfies(formula.condition, Renaming("", tuple(sorted((*own, *against)))))


def _read(guard: acea.Satisfies | acea.Every) -> set[str]:
    """The registers that a guard reads."""
    held = {register for _, register in guard.event.attributes}
    return held | {guard.register} if isinstance(guard, acea.Every) else held


@dataclass(frozen=True)
class _Side(ABC):
    """One of the two variables."""

    inner: Acea
    variable: str
    attributes: dict[str, str]
    """What the condition calls an attribute → its name."""
    held: dict[str, str]
    """What the condition calls an attribute → the register that holds it of a single event."""
    rows: str
    """The register that holds it of several."""
    before: dict[str, str]
    """Registers → what they held before the transition."""

    @classmethod
    def of(cls, inner: Acea, formula: PairFilter, variable: str, last: bool, fresh: Fresh) -> _Side:
        read = sorted(attributes_of(formula.condition), key=lambda one: one.key)
        owner = (variable, last)
        attributes = {one.key: one.name for one in read if (one.variable, one.last) == owner}
        held, rows = {key: fresh(key) for key in attributes}, fresh(f"rows of {variable}")
        before = {name: fresh(f"{name} before") for name in (*held.values(), rows)}
        return cls(inner, variable, attributes, held, rows, before)

    @abstractmethod
    def met_by(self, one: Transition) -> Values | str | None:
        """What is compared with an event of the other variable: one event's values, or those that a
        register holds, or none."""

    @abstractmethod
    def assigns(self, one: Transition) -> Iterator[tuple[str, acea.Expression]]:
        """What is held after a transition."""

    def entering(self, one: Transition) -> tuple[Renaming, ...]:
        """The events that a transition puts into the variable."""
        return dict(one.outputs).get(self.variable, ())

    def named(self, event: Renaming) -> Values:
        """The registers of an event's attributes, as the condition calls them."""
        pairs = ((key, event.register(name)) for key, name in self.attributes.items())
        return tuple((key, register) for key, register in pairs if register is not None)

    def values(self, one: Transition) -> tuple[tuple[acea.Expression, ...], ...]:
        """What the condition reads of each of the events that a transition puts in."""
        assigned = dict(one.assigns)
        return tuple(
            tuple(value_of(event, name, assigned) for name in self.attributes.values())
            for event in self.entering(one)
        )

    def single(self, one: Transition) -> Iterator[tuple[str, acea.Expression]]:
        """The values of the latest event."""
        values = self.values(one)
        for number, register in enumerate(self.held.values()):
            yield register, values[-1][number] if values else _kept(one, register, NULL)

    @cached_property
    def counts(self) -> dict[int, set[int]]:
        """How many events the variable may have at each state."""
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


class _Every(_Side):
    """All events of the variable, together with those that enter it now."""

    def met_by(self, one: Transition) -> Values | str | None:
        entered = self.entering(one)
        after = {min(count + len(entered), MANY) for count in self.counts[one.source]}
        if after == {1}:
            return self.named(entered[0]) if entered else tuple(self.held.items())
        return None if after == {0} else self.rows

    def assigns(self, one: Transition) -> Iterator[tuple[str, acea.Expression]]:
        yield from self.single(one)
        begins, values = one.source == Acea.START, self.values(one)
        more = acea.Collect(None if begins else self.rows, values)
        yield self.rows, more if values else _kept(one, self.rows, NO_ROWS)


class _Last(_Side):
    """The last event of the variable before this transition; of one time, there may be several."""

    def met_by(self, one: Transition) -> Values | str | None:
        there = self.counts[one.source]
        if there == {0}:
            return None
        if 0 not in there and self._comes_alone:
            return tuple((key, self.before[register]) for key, register in self.held.items())
        return self.before[self.rows]

    @cached_property
    def _comes_alone(self) -> bool:
        return all(len(self.entering(one)) <= 1 for one in self.inner.transitions)

    def assigns(self, one: Transition) -> Iterator[tuple[str, acea.Expression]]:
        for register, before in self.before.items():
            yield before, _kept(one, register, NO_ROWS if register == self.rows else NULL)
        yield from self.single(one)
        values = self.values(one)
        latest = acea.Collect(None, values)
        yield self.rows, latest if values else _kept(one, self.rows, NO_ROWS)


NULL = acea.Finish("MIN", acea.Identity("MIN"))
"""MIN of nothing."""
NO_ROWS = acea.Collect(None, ())


def _kept(one: Transition, register: str, first: acea.Expression) -> acea.Expression:
    return first if one.source == Acea.START else acea.Register(register)


def value_of(
    event: Renaming, attribute: str, assigned: dict[str, acea.Expression]
) -> acea.Expression:
    """What the attribute of an event put out by this transition is, in terms of what it reads."""
    register = event.register(attribute)
    # An attribute that the event cannot have is null, as is one that the event read lacks.
    return NULL if register is None else assigned[register]
