"""What a transition does with registers: new values, guards on them, events made of them (§6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from trendloom.acel import acea
from trendloom.acel.acea import Expression, Guard, Renaming, Transition, reads
from trendloom.acel.aggregates import aggregate
from trendloom.acel.conditions import all_same, holds, in_order
from trendloom.acel.demands import Step, attributes_of
from trendloom.acel.events import ComplexEvent, Event

Registers = Mapping[str, Any]


def assigned(one: Transition, before: Registers, event: Event) -> dict[str, Any]:
    """All registers after the transition, from those before it."""
    return {name: _value(made, before, event) for name, made in one.assigns}


def _value(expression: Expression, before: Registers, event: Event) -> Any:
    match expression:
        case acea.Read(attribute):
            return event.get(attribute)
        case acea.Register(name):
            return before[name]
        case acea.Identity(name):
            return aggregate(name).identity
        case acea.Lift(name, inner):
            return aggregate(name).lifted(_value(inner, before, event))
        case acea.Combine(name, left, right):
            combine = aggregate(name).combine
            return combine(_value(left, before, event), _value(right, before, event))
        case acea.Finish(name, inner):
            return aggregate(name).finish(_value(inner, before, event))
        case acea.Gather(values):
            return tuple(_value(value, before, event) for value in values)


def passes(guard: Guard, after: Registers, time: int) -> bool:
    """Whether a guard holds of the registers after the transition."""
    match guard:
        case acea.Satisfies(condition, made):
            held = dict(made.attributes)
            return holds(condition, lambda name: after.get(held.get(name, "")))
        case acea.Alike(left, right):
            return _bag(left, after, time) == _bag(right, after, time)
        case acea.Follows(shape, before, now):
            if shape == "same":
                return all_same((*after[before], *after[now]))
            return all(in_order(shape, one, other) for one in after[before] for other in after[now])


def event_of(made: Renaming, after: Registers, time: int) -> Event:
    """The event that a renaming makes of the registers."""
    return Event.of(time, {name: after[register] for name, register in made.attributes})


def _bag(made: Iterable[Renaming], after: Registers, time: int) -> ComplexEvent:
    """The bag as the only one of a complex event, which knows when bags are equal."""
    return ComplexEvent.of(time, time, (("", event_of(one, after, time)) for one in made))


def lean(
    steps: Mapping[int, tuple[Step, ...]],
) -> tuple[dict[int, tuple[Step, ...]], dict[int, frozenset[str]]]:
    """The steps without assignments that nothing reads; and per state the registers that matter.

    Runs that differ in other registers do not differ.
    """
    live: dict[int, frozenset[str]] = {state: frozenset() for state in steps}
    changed = True
    while changed:
        changed = False
        for state, leaving in steps.items():
            read = live[state].union(
                *(reads(made) for step in leaving for _, made in _needed(step, live))
            )
            if read != live[state]:
                live[state], changed = read, True
    return {
        state: tuple(
            replace(step, transition=replace(step.transition, assigns=_needed(step, live)))
            for step in leaving
        )
        for state, leaving in steps.items()
    }, live


def _needed(
    step: Step, live: Mapping[int, frozenset[str]]
) -> tuple[tuple[str, acea.Expression], ...]:
    """What is assigned and then read by the step's guards and outputs, or after it."""
    one = step.transition
    read = {r for _, bag in one.outputs for made in bag for _, r in made.attributes}
    for guard in step.guards:
        match guard:
            case acea.Satisfies(condition, made):
                names = attributes_of(condition)
                read |= {register for name, register in made.attributes if name in names}
            case acea.Alike(left, right):
                read |= {r for made in (*left, *right) for _, r in made.attributes}
            case acea.Follows(_, before, now):
                read |= {before, now}
    read |= live[one.target]
    return tuple(pair for pair in one.assigns if pair[0] in read)
