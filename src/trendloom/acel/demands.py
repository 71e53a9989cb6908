"""What a transition asks of the event it reads, apart from what it asks of registers.

Conditions on the event alone are known before the automaton runs: a host evaluates them on whole
columns, one bit of a mask for each. What is left depends on earlier events.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trendloom.acel import acea
from trendloom.acel import conditions as on
from trendloom.acel.conditions import holds
from trendloom.acel.events import TYPE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trendloom.acel.acea import Acea, Expression, Guard, Transition
    from trendloom.acel.events import Event

NULL = on.Attribute("")
"""Stands for an attribute that an event cannot have: reading it gives null."""


@dataclass(frozen=True, slots=True)
class Letter:
    """An event type and conditions on the event's own attributes. No type: of any type."""

    type: str | None
    conditions: tuple[on.Condition, ...] = ()

    def holds_of(self, event: Event) -> bool:
        fits = self.type is None or event.get(TYPE) == self.type
        return fits and all(holds(condition, event.get) for condition in self.conditions)


@dataclass(frozen=True, slots=True)
class Demand:
    """The event is this letter and of none of these types; then the guards are looked at."""

    letter: Letter
    other_than: frozenset[str]
    guards: tuple[Guard, ...]


def demand(one: Transition) -> Demand | None:
    """None if no event can satisfy it."""
    assigned = dict(one.assigns)
    read: list[on.Condition] = []
    left: list[Guard] = []
    for guard in one.guards:
        local = _local(guard, assigned)
        if local is None:
            left.append(guard)
        elif not isinstance(local, bool):
            read.append(local)
    types: set[str] = set()
    others: set[str] = set()
    conditions: list[on.Condition] = []
    for condition in dict.fromkeys(read):
        match condition:
            case on.Comparison("=", on.Attribute(name), on.Literally(str() as word)) if (
                name == TYPE
            ):
                types.add(word)
            case on.Comparison("!=", on.Attribute(name), on.Literally(str() as word)) if (
                name == TYPE
            ):
                others.add(word)
            case _:
                conditions.append(condition)
    if len(types) > 1:
        return None
    kind: str | None = next(iter(types), None)
    letter = Letter(kind, tuple(conditions))
    made = Demand(letter, frozenset(others) if kind is None else frozenset(), tuple(left))
    return made if kind is None or kind not in others else None


def _local(guard: Guard, assigned: Mapping[str, Expression]) -> on.Condition | bool | None:
    """The guard as a condition on the event; True if it always holds; None: it is no such thing."""
    match guard:
        case acea.Satisfies(condition, made):
            names = {name: _read(assigned[register]) for name, register in made.attributes}
            needed = {one.key: names.get(one.key, NULL) for one in attributes_of(condition)}
            if any(source is None for source in needed.values()):
                return None
            return renamed(condition, needed)  # type: ignore[arg-type]
        case acea.Alike(left, right):
            one, other = _copies(left, assigned), _copies(right, assigned)
            return True if one is not None and one == other else None
        case acea.Follows() | acea.Every():
            return None


def _read(made: Expression) -> on.Attribute | None:
    match made:
        case acea.Read(name):
            return on.Attribute(name)
        case acea.Finish("MIN", acea.Identity()):
            return NULL
    return None


def _copies(
    bag: Iterable[acea.Renaming], assigned: Mapping[str, Expression]
) -> list[tuple[tuple[str, str], ...]] | None:
    """Which attributes of the event make up each copy of it; None if something else is there."""
    found = []
    for made in bag:
        pairs = [(name, _read(assigned[register])) for name, register in made.attributes]
        if any(source is None for _, source in pairs):
            return None
        found.append(tuple(sorted((name, source.name) for name, source in pairs if source)))
    return sorted(found)


def attributes_of(condition: on.Condition | on.Term) -> frozenset[on.Attribute]:
    """The attributes that a condition reads."""
    match condition:
        case on.Attribute():
            return frozenset({condition})
        case on.Literally():
            return frozenset()
        case on.Negative(inner) | on.IsNull(inner) | on.Not(inner):
            return attributes_of(inner)
        case on.Comparison(_, left, right) | on.Arithmetic(_, left, right) | on.Like(left, right):
            return attributes_of(left) | attributes_of(right)
        case on.Call(_, terms):
            return frozenset().union(*map(attributes_of, terms))
        case on.All(first, second) | on.Any(first, second):
            return attributes_of(first) | attributes_of(second)


def renamed(condition: on.Condition, names: Mapping[str, on.Attribute]) -> on.Condition:
    """The condition with other attributes in the place of its own."""
    match condition:
        case on.Comparison(left=left, right=right) | on.Like(left, right):
            return replace(condition, left=_term(left, names), right=_term(right, names))
        case on.IsNull(term):
            return replace(condition, term=_term(term, names))
        case on.Not(inner):
            return replace(condition, condition=renamed(inner, names))
        case on.All(left_part, right_part) | on.Any(left_part, right_part):
            return replace(
                condition, left=renamed(left_part, names), right=renamed(right_part, names)
            )


def _term(term: on.Term, names: Mapping[str, on.Attribute]) -> on.Term:
    match term:
        case on.Attribute(key=key):
            return names[key]
        case on.Literally():
            return term
        case on.Negative(inner):
            return replace(term, term=_term(inner, names))
        case on.Arithmetic(_, left, right):
            return replace(term, left=_term(left, names), right=_term(right, names))
        case on.Call(_, terms):
            return replace(term, terms=tuple(_term(one, names) for one in terms))


def letters_of(automaton: Acea) -> tuple[Letter, ...]:
    """Every letter that some transition asks for, or asks the event not to be."""
    found: dict[Letter, None] = {}
    for one in automaton.transitions:
        made = demand(one)
        if made is not None:
            if made.letter != Letter(None):
                found[made.letter] = None
            found.update((Letter(word), None) for word in sorted(made.other_than))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Step:
    """A transition, by bits: which letters the event must be, which it must not be."""

    transition: Transition
    needs: int
    forbids: int
    guards: tuple[Guard, ...]

    @property
    def is_waiting(self) -> bool:
        """Whether a run that takes it is as it was."""
        one = self.transition
        kept = all(made == acea.Register(name) for name, made in one.assigns)
        return one.source == one.target and kept and not one.outputs and not self.guards

    def fits(self, mask: int) -> bool:
        return mask & self.needs == self.needs and not mask & self.forbids


def steps_of(automaton: Acea, letters: tuple[Letter, ...]) -> dict[int, tuple[Step, ...]]:
    """The transitions that leave each state; those that no event can take are left out."""
    number = {letter: 1 << bit for bit, letter in enumerate(letters)}
    leaving: dict[int, list[Step]] = {state: [] for state in automaton.states}
    for one in automaton.transitions:
        made = demand(one)
        if made is None:
            continue
        needs = 0 if made.letter == Letter(None) else number[made.letter]
        forbids = sum(number[Letter(word)] for word in made.other_than)
        leaving[one.source].append(Step(one, needs, forbids, made.guards))
    return {state: tuple(steps) for state, steps in leaving.items()}
